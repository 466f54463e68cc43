"""The distributions of one site-packages folder."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.collect.direct_url import describe_direct_url
from envtrack.collect.reading import Missing, read_text
from envtrack.model.fact import Absent, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The headers end at the first empty line; what follows may be a README of megabytes.
_HEAD_BYTES = 8 * 1024
_ALL_HEADERS_BYTES = 256 * 1024
_HEADERS = ("name", "version", "requires-dist", "requires-python")
_INITIALS = "nvrNVR"
_EDITABLE_PTH = re.compile(r"__editable__[._](?P<name>.+)-(?P<version>[^-]+)\.pth")
_NO_VERSION = Unknown("its metadata has no version")
_NORMAL = re.compile(r"[-_.]+")


@dataclass(frozen=True, slots=True)
class Distribution:
    """One distribution as its files describe it.

    Attributes:
        name: normalised.
        version: empty where it can't be read; `fault` says why.
        origin: see `InstalledPackage`.
        fault: why there is no version.
        is_condas: conda installed it.
        info: its ``.dist-info`` folder; ``None`` for older forms.
        requires: its ``Requires-Dist`` lines.
        requires_python: such as ``>=3.9``; empty without.
    """

    name: str
    version: str
    origin: str = ""
    fault: Unknown = _NO_VERSION
    is_condas: bool = False
    info: Path | None = None
    requires: tuple[str, ...] = ()
    requires_python: str = ""


def normalise_name(name: str) -> str:
    """A distribution's name in the form of PEP 503."""
    return _NORMAL.sub("-", name).lower()


def read_distributions(site: Path) -> Iterator[Distribution]:
    """All distributions of one folder, in no particular order.

    Raises:
        OSError: the folder can't be listed.
    """
    with os.scandir(site) as entries:
        names = [entry.name for entry in entries]
    editable = dict(_read_editable_paths(site, names))
    for name in names:
        stem, _, suffix = name.rpartition(".")
        folder = site / name
        match suffix:
            case "dist-info" if not name.startswith("~"):  # pip's leftovers of a failed removal
                yield _read_dist_info(folder, editable)
            case "egg-info":
                where = folder / "PKG-INFO" if folder.is_dir() else folder
                yield _read_metadata(where, stem)
            case "egg" if folder.is_dir():
                yield _read_metadata(folder / "EGG-INFO" / "PKG-INFO", stem)
            case "egg-link":
                yield _read_egg_link(folder, stem)
            case _:
                pass


def find_info_folders(site: Path) -> dict[str, Path]:
    """The ``.dist-info`` folders of one site-packages by normalised name; nothing is opened.

    Raises:
        OSError: the folder can't be listed.
    """
    with os.scandir(site) as entries:
        names = sorted(entry.name for entry in entries if entry.name.endswith(".dist-info"))
    return {normalise_name(name.partition("-")[0]): site / name for name in names}


def read_distribution(info: Path) -> Distribution:
    """The one that a ``.dist-info`` folder describes, without where it came from."""
    stem = info.name.removesuffix(".dist-info")
    return replace(_read_metadata(info / "METADATA", stem), info=info)


def _read_dist_info(folder: Path, editable: Mapping[str, str]) -> Distribution:
    found = read_distribution(folder)
    text = read_text(folder / "direct_url.json")
    if isinstance(text, Absent):
        return replace(found, origin=editable.get(found.name, ""))
    if isinstance(text, str) and "file://" in text and is_condas(folder):
        # conda builds with pip in a folder of the build machine and ships what pip noted there.
        return replace(found, is_condas=True)
    return replace(found, origin=describe_direct_url(text if isinstance(text, str) else ""))


def is_condas(folder: Path) -> bool:
    """Whether conda installed what a ``.dist-info`` folder describes."""
    installer = read_text(folder / "INSTALLER")
    return isinstance(installer, str) and installer.strip() == "conda"


def _read_metadata(path: Path, stem: str) -> Distribution:
    """What the headers say, the name from the folder's where they have none."""
    from_folder = normalise_name(stem.partition("-")[0])
    text = read_text(path, limit_bytes=_HEAD_BYTES)
    if not isinstance(text, str):
        return Distribution(from_folder, "", fault=_fault(path, text))
    headers, has_end = _parse_headers(text)
    if not has_end:
        longer = read_text(path, limit_bytes=_ALL_HEADERS_BYTES)
        headers, _ = _parse_headers(f"{longer if isinstance(longer, str) else text}\n")
    version = next(iter(headers["version"]), "")
    # Old setuptools wrote the word None, UNKNOWN or 0.0.0 for a version that it did not find.
    if version in {"None", "UNKNOWN"}:
        version = ""
    return Distribution(
        normalise_name(next(iter(headers["name"]), "")) or from_folder,
        version,
        requires=tuple(headers["requires-dist"]),
        requires_python=next(iter(headers["requires-python"]), ""),
    )


def _fault(path: Path, state: Missing) -> Unknown:
    if isinstance(state, Unknown):
        return Unknown(f"{path.name}: {state.reason}")
    return Unknown(f"{path.name} is missing")


def _parse_headers(text: str) -> tuple[dict[str, list[str]], bool]:
    """The values of `_HEADERS` before the first empty line, and whether there is one."""
    headers: dict[str, list[str]] = {name: [] for name in _HEADERS}
    for line in text.split("\n")[:-1]:  # what follows the last line end may be cut off
        if line[:1] in _INITIALS:  # also an empty line: the empty text is in every text
            key, colon, value = line.partition(":")
            if colon and (values := headers.get(key.lower())) is not None:
                values.append(value.strip())
            elif not line:
                return headers, True
        elif line == "\r":
            return headers, True
    return headers, False


def _read_editable_paths(site: Path, names: list[str]) -> Iterator[tuple[str, str]]:
    """Editable installs that only a ``.pth`` file tells of: setuptools's, by its name."""
    for name in names:
        found = _EDITABLE_PTH.fullmatch(name)
        if found is None:
            continue
        text = read_text(site / name)
        line = text.strip().partition("\n")[0] if isinstance(text, str) else ""
        is_path = line.startswith("/") or re.match(r"[A-Za-z]:[/\\]", line)
        yield normalise_name(found["name"]), f"editable {line}" if is_path else "editable"


def _read_egg_link(path: Path, stem: str) -> Distribution:
    """``setup.py develop``: the metadata stands in the source folder that the link names."""
    text = read_text(path)
    name = normalise_name(stem)
    if not isinstance(text, str):
        return Distribution(name, "", fault=_fault(path, text))
    source = Path(text.strip().partition("\n")[0].strip())
    info = source / f"{stem.replace('-', '_')}.egg-info" / "PKG-INFO"
    found = _read_metadata(info, stem)
    return Distribution(name, found.version, f"editable {source}", fault=found.fault)
