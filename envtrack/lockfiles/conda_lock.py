"""conda-lock.yml, the unified format of version 1, and the pixi.lock of versions 1 to 3 like it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.artifacts import make_artifact, pick_hash
from envtrack.lockfiles.conda_names import split_conda_filename, split_conda_url
from envtrack.lockfiles.requirement_edges import read_conda_edges
from envtrack.lockfiles.tables import (
    OddValueError,
    find_key_line,
    take,
    take_tables,
    take_text,
    take_texts,
)
from envtrack.lockfiles.text import Include
from envtrack.lockfiles.versions import read_schema
from envtrack.lockfiles.yaml_text import find_row_line, load_yaml
from envtrack.model.lock import (
    Dependency,
    Knowledge,
    Lock,
    LockedPackage,
    Source,
    SourceKind,
)
from envtrack.model.names import normalise

NEWEST = 1

_GIT = re.compile(
    r"git\+(?P<url>[^#]+)@(?P<commit>[0-9a-f]{7,64})(?:#(?:.*&)?(?:subdirectory=(?P<below>[^&]+))?.*)?",
    re.IGNORECASE,
)
_ROW = re.compile(r"^- ", re.MULTILINE)


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:  # noqa: ARG001 - as all formats
    """What a conda-lock.yml pins, for all its platforms; what was asked for is not in it.

    An entry for each manager, name and platform; the categories that hold it are its groups. The
    content hashes are passed over.

    Args:
        text: the file's content.
        path: how messages name the file.
        include: not used: the format names no other file.

    Raises:
        LockfileProblem: empty, an unresolved merge, not YAML, of a newer version, or something in
            it is missing or of a wrong type.
    """
    return read_rows(load_yaml(text, path=path), text, path, name="conda-lock.yml", newest=NEWEST)


def read_rows(document: Mapping[str, Any], text: str, path: str, *, name: str, newest: int) -> Lock:
    """A lock of the rows that conda-lock writes.

    Args:
        document: the whole of it.
        text: its text, for the lines of faults.
        path: how messages name the file.
        name: the format's name.
        newest: the newest version of it that has this form.

    Raises:
        LockfileProblem: see `parse`.
    """
    try:
        if "package" not in document:
            raise OddValueError(f"`package` is missing: it is no {name}")  # noqa: TRY301 - told below
        schema, _ = read_schema(document, "version", newest)
        rows = take_tables(document, "package")
    except OddValueError as error:
        raise LockfileProblem(path, find_key_line(text, str(error)), str(error)) from error
    start = max(text.find("\npackage:"), 0)
    lines = _line_numbers(text, start)
    lines = lines if len(lines) == len(rows) else [0] * len(rows)
    packages: dict[tuple[str, ...], LockedPackage] = {}
    for position, (row, line) in enumerate(zip(rows, lines, strict=True)):
        try:
            package = _read_row(row, line)
        except OddValueError as error:
            where = line or find_row_line(text, "package", position)
            raise LockfileProblem(path, where, f"a package: {error}") from error
        key = (
            package.ecosystem,
            package.name,
            *package.platforms,
            package.version or "",
            package.build,
        )
        first = packages.get(key)
        if first is not None:
            together = dict.fromkeys((*first.belongs_to, *package.belongs_to))
            package = first._replace(belongs_to=tuple(together))
        packages[key] = package
    return Lock(
        format=name,
        path=path,
        schema=schema,
        knows=frozenset({Knowledge.HASHES, Knowledge.GROUPS, Knowledge.GRAPH}),
        packages=tuple(packages.values()),
    )


def _line_numbers(text: str, start: int) -> list[int]:
    """The lines of the rows, counted from one to the next."""
    found = []
    line, position = 1, 0
    for row in _ROW.finditer(text, start):
        line += text.count("\n", position, row.start())
        position = row.start()
        found.append(line)
    return found


def _read_row(row: Mapping[str, Any], line: int) -> LockedPackage:
    manager = take(row, "manager", str, "conda")
    url = take(row, "url", str, "")
    category = take(row, "category", str, "")
    platform = take(row, "platform", str, "")
    name = take_text(row, "name")
    package = LockedPackage(
        name=name.lower() if manager == "conda" else normalise(name),
        version=take_text(row, "version"),
        source=Source(kind=SourceKind.REGISTRY, location=""),
        dependencies=tuple(_read_edges(row, manager)),
        belongs_to=(category,) if category else (),
        platforms=(platform,) if platform else (),
        line=line,
    )
    hashes: dict[str, Any] = take(row, "hash", dict, {})
    digest = pick_hash(hashes)
    if manager == "conda":
        return as_conda(package, url, digest)
    git = _GIT.fullmatch(url)
    if git:
        # conda-lock writes the commit, and for files the whole address, where the hash belongs.
        source = Source(
            kind=SourceKind.GIT,
            location=git["url"],
            commit=git["commit"],
            subdirectory=git["below"] or "",
        )
        return package._replace(source=source)
    kind = SourceKind.URL if take(row, "source", dict, {}) else SourceKind.REGISTRY
    source = Source(kind=kind, location=url if kind is SourceKind.URL else "")
    return package._replace(source=source, artifacts=(make_artifact(url, digest=digest),))


def as_conda(package: LockedPackage, url: str, digest: str) -> LockedPackage:
    """A package of conda: channel and build are known by its address alone."""
    channel, _, filename = split_conda_url(url)
    parts = split_conda_filename(filename)
    return package._replace(
        source=Source(kind=SourceKind.REGISTRY, location=channel),
        artifacts=(make_artifact(url, digest=digest),),
        ecosystem="conda",
        build=parts[2] if parts else "",
    )


def _read_edges(row: Mapping[str, Any], manager: str) -> Iterator[Dependency]:
    """Needs are packages of the same manager's index, and spelt as there."""
    needs = _find_needs(row)
    if manager == "conda":
        yield from read_conda_edges(needs)
    else:
        yield from (Dependency(name=normalise(name)) for name in needs)


def _find_needs(row: Mapping[str, Any]) -> Iterable[str]:
    """By name in a table, or in the oldest files as a list."""
    value = row.get("dependencies")
    return value if isinstance(value, dict) else take_texts(row, "dependencies")
