"""environment.yml as ``conda env export`` and people write it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.requirements import parse as parse_requirements
from envtrack.lockfiles.tables import OddValueError, find_key_line, take_texts
from envtrack.lockfiles.text import Include, find_quoted_line
from envtrack.lockfiles.yaml_text import load_yaml
from envtrack.model.lock import Knowledge, Lock, LockedPackage, Source, SourceKind

# channel::name=version=build; conda's names may begin with an underscore.
_SPEC = re.compile(
    r"(?:(?P<channel>[^\s:]+)::)?(?P<name>[A-Za-z0-9_][\w.-]*)\s*"
    r"(?:(?P<sign>===?|=|(?=[<>!~\s]))\s*(?P<version>[^=\s,|<>!~*]+)(?:=(?P<build>[^=\s*]+))?)?"
)


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:
    """What the file pins, and in `Lock.unpinned` what it asks for without pinning it.

    Pinned are ``name=version=build`` and ``name==version``. A single ``=`` without a build
    (``--no-builds``) is a pin where the file is an export, which its ``prefix:`` shows; elsewhere
    ``python=3.11`` allows every 3.11.x. There are no hashes, no graph and no groups.

    Args:
        text: the file's content.
        path: how messages name the file.
        include: reads the files that the ``pip:`` part names.

    Raises:
        LockfileProblem: empty, an unresolved merge, not YAML, or something in it is no list of
            packages.
    """
    document = load_yaml(text, path=path)
    rows = document.get("dependencies")
    if not isinstance(rows, list):
        reason = "`dependencies` is no list" if rows else "`dependencies` is missing"
        raise LockfileProblem(path, find_key_line(text, reason), reason)
    packages: list[LockedPackage] = []
    unpinned: list[str] = []
    notes: tuple[str, ...] = ()
    channels = _read_channels(document, text, path)
    for row in rows:
        if isinstance(row, dict):
            pip = _read_pip(row, text, path, include)
            if pip is not None:
                packages += pip.packages
                unpinned += pip.unpinned
                notes += pip.notes
            continue
        spec = " ".join(row.split()) if isinstance(row, str) else ""
        found = _read_spec(spec, channels, is_export="prefix" in document)
        if found is None and not _SPEC.match(spec):
            raise LockfileProblem(
                path, find_quoted_line(text, f"`{spec}`"), f"no package: `{spec[:80]}`"
            )
        if found is None:
            unpinned.append(spec)
        else:
            packages.append(found)
    return Lock(
        format="environment.yml",
        path=path,
        schema=0,
        knows=frozenset({Knowledge.REQUESTS} if "prefix" not in document else ()),
        packages=tuple(packages),
        unpinned=tuple(unpinned),
        notes=notes,
    )


def _read_channels(document: Mapping[str, Any], text: str, path: str) -> tuple[str, ...]:
    try:
        return take_texts(document, "channels")
    except OddValueError as error:
        raise LockfileProblem(path, find_key_line(text, str(error)), str(error)) from error


def _read_pip(row: Mapping[str, Any], text: str, path: str, include: Include | None) -> Lock | None:
    try:
        lines = take_texts(row, "pip")
    except OddValueError as error:
        raise LockfileProblem(path, find_key_line(text, str(error)), str(error)) from error
    placed = _place_lines(lines, text)
    return parse_requirements(placed, path=path, include=include) if placed.strip() else None


def _place_lines(lines: tuple[str, ...], text: str) -> str:
    """The requirements, each on the line on which it stands in the file: faults say it."""
    placed: list[str] = []
    position, line = 0, 1
    for one in lines:
        found = text.find(one, position)
        if found >= 0:
            line += text.count("\n", position, found)
            position = found
        placed += [""] * (line - len(placed) - 1)
        placed += one.split("\n")
    return "\n".join(placed)


def _read_spec(spec: str, channels: tuple[str, ...], *, is_export: bool) -> LockedPackage | None:
    found = _SPEC.fullmatch(spec)
    if found is None or not found["version"]:
        return None
    is_pinned = bool(found["build"]) or found["sign"] in {"==", "==="} or is_export
    if not is_pinned:
        return None
    channel = found["channel"] or (channels[0] if len(channels) == 1 else "")
    return LockedPackage(
        name=found["name"].lower(),
        version=found["version"],
        source=Source(kind=SourceKind.REGISTRY, location=channel),
        ecosystem="conda",
        build=found["build"] or "",
    )
