"""The sub-tables of a package of a uv.lock, each distinct row read once.

The project's own tables change with nearly every commit, by one row of a hundred. So the text is
cut at its lines, and what a row says is remembered by its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final, TypeAlias

from envtrack.lockfiles.plain_toml import INNER, load_plain
from envtrack.lockfiles.tables import OddValueError, take_texts
from envtrack.lockfiles.uv_package import plain_edge, read_edges, read_requirements
from envtrack.lockfiles.uv_source import render_requirement
from envtrack.model.lock import Dependency
from envtrack.model.names import normalise

_Arrays: TypeAlias = dict[str, list[str]]

_METADATA: Final = "[package.metadata]"
_EXTRAS: Final = "[package.optional-dependencies]"
_GROUPS: Final = "[package.dev-dependencies]"
_ASKED_GROUPS: Final = "[package.metadata.requires-dev]"
_SECTIONS: Final = frozenset({_METADATA, _EXTRAS, _GROUPS, _ASKED_GROUPS})
_METADATA_KEYS: Final = frozenset({"requires-dist", "provides-extras"})
_INDENT: Final = "    "
_KEY = re.compile(r"[A-Za-z0-9_-]+")
_EDGE = re.compile(rf'\[\{{ name = "([a-z0-9-]+)"(?:, marker = "({INNER}*)")? \}}\]')
_REQUIREMENT = re.compile(
    rf'\[\{{ name = "(?P<name>{INNER}+)"(?:, marker = "(?P<marker>{INNER}*)")?'
    rf'(?:, specifier = "(?P<specifier>{INNER}*)")? \}}\]'
)


def read_tables(text: str) -> dict[str, Any] | None:
    """The arguments of `LockedPackage` that the sub-tables hold.

    Returns:
        ``None`` where something is not as uv writes it, or is wrong.
    """
    if not text.strip():
        return {}
    try:
        tables = _cut(text)
        metadata = tables.get(_METADATA, {})
        asked = _METADATA in tables or _ASKED_GROUPS in tables
        wanted = metadata.get("requires-dist", ())
        return {
            "optional_dependencies": _read_groups(tables.get(_EXTRAS, {})),
            "groups": _read_groups(tables.get(_GROUPS, {})),
            "requirements": _join_requirements(wanted) if asked else None,
            "group_requirements": {
                normalise(name): _join_requirements(rows)
                for name, rows in tables.get(_ASKED_GROUPS, {}).items()
            },
            "provides_extras": tuple(
                name for array in metadata.get("provides-extras", ()) for name in _names_in(array)
            ),
        }
    except (ValueError, OddValueError):
        return None


def read_rows(text: str) -> tuple[Dependency, ...] | None:
    """The edges of indented rows with a comma at each end; ``None`` as in `read_tables`."""
    try:
        rows = text.split("\n")[:-1]
        return tuple(edge for row in rows for edge in _edges_in(f"[{row[len(_INDENT) : -1]}]"))
    except (ValueError, OddValueError):
        return None


def _cut(text: str) -> dict[str, _Arrays]:
    """By section and key the arrays, each row of one an array of its own."""
    tables: dict[str, _Arrays] = {}
    arrays: _Arrays | None = None
    rows: list[str] | None = None
    for line in text.split("\n"):
        if rows is not None:
            if line == "]":
                rows = None
            elif line.startswith(_INDENT) and line.endswith(",") and not line.endswith(",,"):
                rows.append(f"[{line[len(_INDENT) : -1]}]")
            else:
                raise ValueError(line)
        elif line in _SECTIONS and line not in tables:
            arrays = tables[line] = {}
        elif line:
            if arrays is None:
                raise ValueError(line)
            rows = _open_array(line, arrays)
    if rows is not None or not _METADATA_KEYS.issuperset(tables.get(_METADATA, {})):
        raise ValueError(text)
    return tables


def _open_array(line: str, arrays: _Arrays) -> list[str] | None:
    """The rows that follow; `None` if the whole array stands on the line."""
    key, _, value = line.partition(" = ")
    if key in arrays or not _KEY.fullmatch(key) or not value.startswith("["):
        raise ValueError(line)
    if value == "[":
        arrays[key] = []
        return arrays[key]
    arrays[key] = [value]
    return None


def _read_groups(arrays: Mapping[str, list[str]]) -> dict[str, tuple[Dependency, ...]]:
    return {
        normalise(name): tuple(edge for row in rows for edge in _edges_in(row))
        for name, rows in arrays.items()
    }


def _join_requirements(rows: Iterable[str]) -> tuple[str, ...]:
    if len({row[1:2] for row in rows if row != "[]"}) > 1:
        raise ValueError("texts among tables")
    return tuple(text for row in rows for text in _requirements_in(row))


@lru_cache(maxsize=20_000)
def _edges_in(array: str) -> tuple[Dependency, ...]:
    """The edges of an array such as ``[{ name = "numpy" }]``.

    Raises:
        ValueError: it is not plain, or holds a key that is not known.
        OddValueError: something in it is of a wrong type.
    """
    plain = _EDGE.fullmatch(array)
    if plain is not None:
        name, marker = plain.groups()
        return (Dependency(name=normalise(name), marker=marker) if marker else plain_edge(name),)
    strange: set[str] = set()
    edges = read_edges(_load(array), "rows", strange)
    if strange:
        raise ValueError(array)
    return edges


@lru_cache(maxsize=20_000)
def _requirements_in(array: str) -> tuple[str, ...]:
    plain = _REQUIREMENT.fullmatch(array)
    if plain is not None:
        return (render_requirement(plain.groupdict(default="")),)
    return read_requirements(_load(array), "rows")


@lru_cache(maxsize=1_000)
def _names_in(array: str) -> tuple[str, ...]:
    return tuple(map(normalise, take_texts(_load(array), "rows")))


def _load(array: str) -> dict[str, Any]:
    document = load_plain(f"rows = {array}")
    if document is None or list(document) != ["rows"]:
        raise ValueError(array)
    return document
