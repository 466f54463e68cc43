"""The distributions of one site-packages folder."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.collect.direct_url import describe_direct_url
from envtrack.collect.reading import Missing, read_text
from envtrack.model.fact import Absent, Unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# Name and Version stand among the first lines; what follows may be a README of megabytes.
_HEAD_BYTES = 1024
_ALL_HEADERS_BYTES = 256 * 1024
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
    """

    name: str
    version: str
    origin: str = ""
    fault: Unknown = _NO_VERSION
    is_condas: bool = False


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
                yield _read_dist_info(folder, stem, editable)
            case "egg-info":
                where = folder / "PKG-INFO" if folder.is_dir() else folder
                yield _read_metadata(where, stem)
            case "egg" if folder.is_dir():
                yield _read_metadata(folder / "EGG-INFO" / "PKG-INFO", stem)
            case "egg-link":
                yield _read_egg_link(folder, stem)
            case _:
                pass


def _read_dist_info(folder: Path, stem: str, editable: Mapping[str, str]) -> Distribution:
    found = _read_metadata(folder / "METADATA", stem)
    text = read_text(folder / "direct_url.json")
    if isinstance(text, Absent):
        return _with_origin(found, editable.get(found.name, ""))
    if isinstance(text, str) and "file://" in text and _is_condas(folder):
        # conda builds with pip in a folder of the build machine and ships what pip noted there.
        return Distribution(found.name, found.version, fault=found.fault, is_condas=True)
    return _with_origin(found, describe_direct_url(text if isinstance(text, str) else ""))


def _with_origin(found: Distribution, origin: str) -> Distribution:
    return Distribution(found.name, found.version, origin, fault=found.fault)


def _is_condas(folder: Path) -> bool:
    installer = read_text(folder / "INSTALLER")
    return isinstance(installer, str) and installer.strip() == "conda"


def _read_metadata(path: Path, stem: str) -> Distribution:
    """Name and version from the headers, the name from the folder's where they have none."""
    from_folder = normalise_name(stem.partition("-")[0])
    text = read_text(path, limit_bytes=_HEAD_BYTES)
    if not isinstance(text, str):
        return Distribution(from_folder, "", fault=_fault(path, text))
    headers = _parse_headers(text)
    if not {"name", "version"} <= headers.keys() and len(text) >= _HEAD_BYTES // 4:
        longer = read_text(path, limit_bytes=_ALL_HEADERS_BYTES)
        headers = _parse_headers(longer) if isinstance(longer, str) else headers
    version = headers.get("version", "")
    # Old setuptools wrote the word None, UNKNOWN or 0.0.0 for a version that it did not find.
    if version in {"None", "UNKNOWN"}:
        version = ""
    return Distribution(normalise_name(headers.get("name", "")) or from_folder, version)


def _fault(path: Path, state: Missing) -> Unknown:
    if isinstance(state, Unknown):
        return Unknown(f"{path.name}: {state.reason}")
    return Unknown(f"{path.name} is missing")


def _parse_headers(text: str) -> dict[str, str]:
    """``Name`` and ``Version`` as far as the first empty line; the first of each counts."""
    headers: dict[str, str] = {}
    for line in text.splitlines():
        if not line:
            break
        key, colon, value = line.partition(":")
        lower = key.lower()
        if colon and lower in {"name", "version"} and lower not in headers:
            headers[lower] = value.strip()
    return headers


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
