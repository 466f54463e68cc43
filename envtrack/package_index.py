"""Which releases of a package an index has: the simple API, as JSON, HTML, or a folder.

Read by the specifications: PEP 503 (HTML), PEP 592 (yanked), PEP 691 (JSON), PEP 700 (sizes and
upload times); and the flat form that uv reads as well, one page or folder with the files of all
packages. Nothing is asked for that uv would not ask the same index for when it resolves.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

from envtrack.errors import RigFailed
from envtrack.model.names import normalise
from envtrack.model.redact import redact_url

_TIMEOUT_S: Final = 60.0
_MOST_BYTES: Final = 64 * 1024 * 1024
# PEP 691: the older form for indexes that know no other.
_ACCEPT: Final = (
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
    "text/html;q=0.01"
)
_ENDINGS: Final = (".whl", ".tar.gz", ".zip")


class IndexFile(NamedTuple):
    """One file of a release.

    Attributes:
        filename: its name.
        location: URL, or a path from the folder of the index.
        hash: ``sha256:…``; empty where the index has none.
        size: bytes; ``None`` where the index does not say.
        is_yanked: its authors have taken it back.
    """

    filename: str
    location: str
    hash: str = ""
    size: int | None = None
    is_yanked: bool = False


class Release(NamedTuple):
    """One release of a package.

    Attributes:
        version: as its files have it.
        files: wheels and source distributions.
    """

    version: str
    files: tuple[IndexFile, ...]

    @property
    def is_yanked(self) -> bool:
        """Whether all its files were taken back."""
        return all(file.is_yanked for file in self.files)


def list_releases(index: str, name: str, *, folder: Path) -> tuple[Release, ...]:
    """The releases of a package, by the order of their versions (PEP 440).

    Args:
        index: as a uv.lock names it: the address of an index, or a path.
        name: the package's, normalised.
        folder: of the lockfile, from where a path counts.

    Raises:
        RigFailed: the index does not answer, or has no such package.
    """
    files = _read_folder(folder / index, name) if "://" not in index else _fetch(index, name)
    by_version: dict[str, list[IndexFile]] = {}
    for file in files:
        version = _read_version(file.filename, name)
        if version:
            by_version.setdefault(version, []).append(file)
    if not by_version:
        raise RigFailed(f"{redact_url(index)}: has no releases of {name}")
    from packaging.version import Version

    return tuple(
        Release(version=version, files=tuple(by_version[version]))
        for version in sorted(by_version, key=Version)
    )


def _read_version(filename: str, name: str) -> str:
    """The version that a file's name says; empty if it is no file of this package."""
    from packaging.utils import (
        InvalidSdistFilename,
        InvalidWheelFilename,
        parse_sdist_filename,
        parse_wheel_filename,
    )

    try:
        if filename.endswith(".whl"):
            found, version, *_ = parse_wheel_filename(filename)
        elif filename.endswith(_ENDINGS):
            found, version = parse_sdist_filename(filename)
        else:
            return ""
    except (InvalidWheelFilename, InvalidSdistFilename):
        return ""  # of the time before the rules; uv passes them over too
    return str(version) if normalise(found) == name else ""


def _read_folder(index: Path, name: str) -> Sequence[IndexFile]:
    """An index that is a folder: a page a package, or all files in one place."""
    page = index / name / "index.html"
    try:
        if page.is_file():
            links = _parse_html(page.read_text("utf-8", "replace"), "")
            return [link._replace(location=_join(f"{name}/", link.location)) for link in links]
        return [IndexFile(filename=one.name, location=one.name) for one in index.iterdir()]
    except OSError as error:
        raise RigFailed(f"{index}: {error.strerror or error}") from error


def _join(base: str, location: str) -> str:
    return location if "://" in location else urljoin(base, location)


def _fetch(index: str, name: str) -> Sequence[IndexFile]:
    """An index that is asked for: its page of the package, or the one page of a flat index."""
    if urlsplit(index).scheme == "file":
        return _read_folder(Path(unquote(urlsplit(index).path)), name)
    first: RigFailed | None = None
    for address in (f"{index.rstrip('/')}/{name}/", index):
        try:
            files = _ask(address)
        except RigFailed as error:
            first = first or error
            continue
        if any(_read_version(file.filename, name) for file in files):
            return files
    raise first or RigFailed(f"{redact_url(index)}: has no releases of {name}")


def _ask(address: str) -> Sequence[IndexFile]:
    shown = redact_url(address)
    if urlsplit(address).scheme not in {"http", "https"}:
        raise RigFailed(f"{shown}: no address of an index")
    try:
        with urllib.request.urlopen(_make_request(address), timeout=_TIMEOUT_S) as answer:  # noqa: S310 - looked at
            content = answer.read(_MOST_BYTES + 1)
            kind = answer.headers.get_content_type()
            base = answer.geturl()
    except urllib.error.HTTPError as error:
        error.close()
        raise RigFailed(f"{shown}: {error}", hint="is it open to you?") from error
    except (OSError, ValueError) as error:
        raise RigFailed(f"{shown}: {error}", hint="is it up?") from error
    if len(content) > _MOST_BYTES:
        raise RigFailed(f"{shown}: its answer is longer than any list of files")
    text = content.decode("utf-8", "replace")
    try:
        return list(
            _parse_json(json.loads(text), base) if "json" in kind else _parse_html(text, base)
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise RigFailed(f"{shown}: not an answer of the simple API") from error


def _make_request(address: str) -> urllib.request.Request:
    """The login that an address carries goes where a server looks for it (RFC 7617)."""
    parts = urlsplit(address)
    headers = {"Accept": _ACCEPT}
    host = parts.netloc
    if parts.username is not None:
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {b64encode(login.encode()).decode()}"
        host = host.rpartition("@")[2]
    return urllib.request.Request(parts._replace(netloc=host).geturl(), headers=headers)  # noqa: S310


def _parse_json(document: Mapping[str, Any], base: str) -> Iterator[IndexFile]:
    for row in document["files"]:
        digest = row["hashes"].get("sha256")
        yield IndexFile(
            filename=row["filename"],
            location=urljoin(base, row["url"]),
            hash=f"sha256:{digest}" if digest else "",
            size=row.get("size"),
            is_yanked=bool(row.get("yanked")),
        )


def _parse_html(text: str, base: str) -> Sequence[IndexFile]:
    parser = _Anchors()
    parser.feed(text)
    files = []
    for found in parser.found:
        href, _, fragment = (found.get("href") or "").partition("#")
        algorithm, _, digest = fragment.partition("=")
        files.append(
            IndexFile(
                filename=unquote(href.split("?")[0].rpartition("/")[2]),
                location=urljoin(base, href) if base else unquote(href),
                hash=f"sha256:{digest}" if algorithm == "sha256" else "",
                is_yanked="data-yanked" in found,
            )
        )
    return files


class _Anchors(HTMLParser):
    """The attributes of every anchor."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[dict[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.found.append(dict(attrs))
