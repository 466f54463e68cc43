"""uv.lock, from the July 2024 preview on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.tables import (
    OddValueError,
    find_key_line,
    load_toml,
    read_packages,
    take,
    take_tables,
    take_text,
    take_texts,
    type_name,
)
from envtrack.lockfiles.text import Include, clean_text
from envtrack.lockfiles.uv_chunks import ChunkReader
from envtrack.lockfiles.uv_package import (
    note_strange,
    read_groups,
    read_package,
    read_requirements,
)
from envtrack.model.lock import Lock, LockedPackage
from envtrack.model.names import normalise

SCHEMA = 1

# Two states of one file share most of their packages.
_READER = ChunkReader()

_TOP_KEYS = frozenset(
    [
        "version",
        "revision",
        "requires-python",
        "resolution-markers",
        "environment-markers",
        "supported-markers",
        "required-markers",
        "conflicts",
        "options",
        "manifest",
        "package",
        "distribution",
    ]
)
_MANIFEST_KEYS = frozenset(
    [
        "members",
        "requirements",
        "dependency-groups",
        "constraints",
        "overrides",
        "excludes",
        "build-constraints",
        "dependency-metadata",
    ]
)


def parse(
    text: str,
    *,
    path: str,
    include: Include | None = None,  # noqa: ARG001 - as all formats
    reader: ChunkReader | None = None,
) -> Lock:
    """What a uv.lock pins; keys it does not know are named in `Lock.unknown_keys`.

    Args:
        text: the file's content.
        path: how messages name the file.
        include: not used: the format names no other file.
        reader: knows the packages of other states of the file; one for all if not given.

    Raises:
        LockfileProblem: empty, an unresolved merge, not TOML, of a newer schema, or something in it
            is missing or of a wrong type.
    """
    # What it has read once is in order, so only what is new in this text is looked at for faults.
    cut = (reader or _READER).read(text.removeprefix("\ufeff"))
    if cut is not None:
        document, packages, strange = cut
        try:
            schema = _read_schema(document)
            return _build(path, schema, _read_head(document, strange), packages, strange)
        except OddValueError:
            pass  # told below, with its line
    return _parse_whole(clean_text(text, path=path), path)


def _parse_whole(text: str, path: str) -> Lock:
    """The lock by way of the whole document: slower, and it knows the line of every fault."""
    document = load_toml(text, path=path)
    strange: set[str] = set()
    try:
        schema = _read_schema(document)
        head = _read_head(document, strange)
        tables = take_tables(document, "package", alias="distribution")
    except OddValueError as error:
        reason = str(error)
        hint = "upgrade envtrack" if "newer" in reason else ""
        raise LockfileProblem(path, find_key_line(text, reason), reason, hint=hint) from error
    packages = read_packages(
        tables, text, path, lambda table, _: read_package(table, strange=strange)
    )
    return _build(path, schema, head, tuple(packages), strange)


def _build(
    path: str,
    schema: int,
    head: dict[str, Any],
    packages: Sequence[LockedPackage],
    strange: set[str],
) -> Lock:
    return Lock(
        format="uv.lock",
        path=path,
        schema=schema,
        packages=tuple(packages),
        unknown_keys=tuple(sorted(strange)),
        **head,
    )


def _read_schema(document: Mapping[str, Any]) -> int:
    schema = document.get("version")
    if schema is None:
        raise OddValueError("`version`, the schema number of a uv.lock, is missing")
    if not isinstance(schema, int) or isinstance(schema, bool):
        raise OddValueError(f"`version` is {type_name(schema)}, not the schema number of a uv.lock")
    if schema > SCHEMA:
        raise OddValueError(f"`version` {schema} is newer than the schema that is read ({SCHEMA})")
    return schema


def _read_head(document: Mapping[str, Any], strange: set[str]) -> dict[str, Any]:
    """The arguments of `Lock` that stand above the packages."""
    note_strange(document, _TOP_KEYS, "", strange)
    manifest: dict[str, Any] = take(document, "manifest", dict, {})
    note_strange(manifest, _MANIFEST_KEYS, "manifest.", strange)
    return {
        "revision": take(document, "revision", int, 0),
        "requires_python": take(document, "requires-python", str, ""),
        "resolution_markers": take_texts(
            document, "resolution-markers", alias="environment-markers"
        ),
        "supported_markers": take_texts(document, "supported-markers"),
        "required_markers": take_texts(document, "required-markers"),
        "conflicts": _read_conflicts(take(document, "conflicts", list, [])),
        "options": dict(_flatten(take(document, "options", dict, {}))),
        "members": tuple(normalise(name) for name in take_texts(manifest, "members")),
        "manifest_groups": read_groups(manifest, "dependency-groups"),
        "manifest_requirements": read_requirements(manifest, "requirements"),
        "constraints": read_requirements(manifest, "constraints"),
        "overrides": read_requirements(manifest, "overrides"),
        "excludes": take_texts(manifest, "excludes"),
        "build_constraints": read_requirements(manifest, "build-constraints"),
        "dependency_metadata": tuple(
            _render_metadata(table) for table in take_tables(manifest, "dependency-metadata")
        ),
    }


def _read_conflicts(sets: list[Any]) -> tuple[tuple[str, ...], ...]:
    found = []
    for members in sets:
        rows = take_tables({"conflicts": members}, "conflicts")
        try:
            found.append(tuple(_render_conflict(row) for row in rows))
        except OddValueError as error:
            raise OddValueError(f"in `conflicts`, {error}") from error
    return tuple(found)


def _render_conflict(row: Mapping[str, Any]) -> str:
    package = normalise(take(row, "package", str, ""))
    if extra := take(row, "extra", str, ""):
        return f"{package}[{normalise(extra)}]"
    group = take(row, "group", str, "")
    return f"{package}:{normalise(group)}" if group else package


def _flatten(table: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{key}.")
        else:
            yield prefix + key, str(value).lower() if isinstance(value, bool) else str(value)


def _render_metadata(table: Mapping[str, Any]) -> str:
    version = take(table, "version", str, "")
    needs = ", ".join(read_requirements(table, "requires-dist"))
    return take_text(table, "name") + (f"=={version}" if version else "") + f": {needs}"
