"""What the file names and addresses of conda packages say."""

from __future__ import annotations

from typing import Final

from envtrack.lockfiles.artifacts import find_filename

EXTENSIONS: Final = (".conda", ".tar.bz2")


def split_conda_filename(filename: str) -> tuple[str, str, str] | None:
    """Name, version and build string of ``name-version-build.conda``; ``None``: it is none.

    A name may hold hyphens; version and build string never do (conda's package specification).
    """
    for extension in EXTENSIONS:
        if filename.endswith(extension):
            parts = filename.removesuffix(extension).rsplit("-", 2)
            if len(parts) == len(("name", "version", "build")) and all(parts):
                return parts[0], parts[1], parts[2]
    return None


def split_conda_url(url: str) -> tuple[str, str, str]:
    """Channel, platform and file name of ``<channel>/<platform>/<file>``."""
    address = url.partition("#")[0].partition("?")[0]
    head, _, _ = address.rpartition("/")
    channel, _, platform = head.rpartition("/")
    return channel, platform, find_filename(address)
