"""A pyproject.toml between its old and its new state: what some packages' steps need, and no more.

Whatever else differs (scripts, tools, the project's own version) stays as it was: the last step
takes the new file as it is. Comments and form are kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any, Final, TypeAlias

from envtrack.compare.index import find_names
from envtrack.model.names import normalise

_Table: TypeAlias = MutableMapping[str, Any]
_Place: TypeAlias = tuple[str, ...]

PROJECT: Final = "pyproject.toml"
SETTINGS: Final = "uv.toml"
REQUIRES_PYTHON: Final = "requires-python"
# Tables of lists, a list an extra or a group.
_GROUPED: Final = (("project", "optional-dependencies"), ("dependency-groups",))
_LISTS: Final = (
    ("project", "dependencies"),
    ("tool", "uv", "dev-dependencies"),
    ("tool", "uv", "constraint-dependencies"),
    ("tool", "uv", "override-dependencies"),
)
_TOOL: Final = ("tool", "uv")
# What of uv's own table is edited name by name; all else in it is a setting.
_BY_NAME: Final = frozenset({*(place[-1] for place in _LISTS), "sources", "index"})


def find_asked(old: str, new: str) -> frozenset[str]:
    """The names of which two states of a pyproject.toml ask for something else.

    Also names of which only the source differs, and `requires-python`.
    """
    before, after = _load(old), _load(new)
    names = set()
    for place in _list_places(before, after):
        rows = [_by_name(_find(side, place) or []) for side in (before, after)]
        names |= {name for name in {*rows[0], *rows[1]} if rows[0].get(name) != rows[1].get(name)}
    sources = [_read_sources(side) for side in (before, after)]
    names |= {n for n in {*sources[0], *sources[1]} if sources[0].get(n) != sources[1].get(n)}
    pythons = [_find(side, ("project", REQUIRES_PYTHON)) for side in (before, after)]
    return frozenset(names - {""} | ({REQUIRES_PYTHON} if pythons[0] != pythons[1] else set()))


def has_other_settings(old: str, new: str) -> bool:
    """Whether uv is told something else that belongs to no single package."""
    before, after = ((_find(_load(text), _TOOL) or {}) for text in (old, new))
    left_out = _BY_NAME - {"index"}
    return any(
        before.get(key) != after.get(key) for key in {*before, *after} if key not in left_out
    )


def edit_file(path: str, old: str, new: str, taken: frozenset[str], *, with_settings: bool) -> str:
    """The same as `edit_project` for any file that decides the environment, by its name.

    What names a Python goes with `REQUIRES_PYTHON`; uv's own file is a setting.

    Raises:
        ValueError: a pyproject.toml is no TOML.
    """
    name = path.rpartition("/")[2]
    if name == PROJECT:
        return edit_project(old, new, taken, with_settings=with_settings)
    is_new = with_settings if name == SETTINGS else REQUIRES_PYTHON in taken
    return new if is_new else old


def edit_project(old: str, new: str, taken: frozenset[str], *, with_settings: bool) -> str:
    """The old text, asking for the packages `taken` as the new text does.

    Args:
        old: the older state.
        new: the newer one.
        taken: normalised names; `REQUIRES_PYTHON` among them takes that over.
        with_settings: whether the rest of ``[tool.uv]`` is as in the newer state.

    Raises:
        ValueError: one of them is no TOML.
    """
    import tomlkit

    document: _Table = tomlkit.parse(old)
    goal = tomlkit.parse(new)
    for place in tuple(_list_places(document, goal)):
        _edit_list(document, place, _find(goal, place) or [], taken)
    _edit_sources(document, goal, taken)
    if REQUIRES_PYTHON in taken:
        _put(document, ("project", REQUIRES_PYTHON), _find(goal, ("project", REQUIRES_PYTHON)))
    if with_settings:
        _take_settings(document, goal)
    _edit_indexes(document, goal, with_settings=with_settings)
    return tomlkit.dumps(document)


def _load(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text)


def _list_places(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[_Place]:
    yield from _LISTS
    for place in _GROUPED:
        tables = [_find(side, place) or {} for side in (before, after)]
        yield from ((*place, name) for name in dict.fromkeys((*tables[0], *tables[1])))


def _find(document: Mapping[str, Any], place: _Place) -> Any:  # noqa: ANN401 - TOML
    found: Any = document
    for key in place:
        if not isinstance(found, Mapping) or key not in found:
            return None
        found = found[key]
    return found


def _put(document: _Table, place: _Place, value: Any) -> None:  # noqa: ANN401 - TOML
    """Sets a value, or with `None` takes it away; tables on the way are made."""
    import tomlkit

    *way, last = place
    table: Any = document
    for key in way:
        if key not in table:
            if value is None:
                return
            table[key] = tomlkit.table()
        table = table[key]
    if value is not None:
        table[last] = value
    elif last in table:
        del table[last]


def _name_of(element: object) -> str:
    return (
        next((name for name, _ in find_names((element,))), "") if isinstance(element, str) else ""
    )


def _by_name(elements: Sequence[object]) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    for element in elements:
        found.setdefault(_name_of(element), []).append(element)
    return found


def _edit_list(
    document: _Table, place: _Place, goal: Sequence[object], taken: frozenset[str]
) -> None:
    wanted = _by_name(goal)
    rows: MutableSequence[object] | None = _find(document, place)
    if rows is None:
        import tomlkit

        if not taken & wanted.keys():
            return
        rows = tomlkit.array()
        _put(document, place, rows)
    for name in sorted(taken & {*wanted, *_by_name(rows)}):
        _edit_name(rows, name, [str(one) for one in wanted.get(name, ())], goal)


def _edit_name(
    rows: MutableSequence[object], name: str, wanted: list[str], goal: Sequence[object]
) -> None:
    """Makes the requirements of one name those that are wanted."""
    at = [position for position, row in enumerate(rows) if _name_of(row) == name]
    if [rows[position] for position in at] == wanted:
        return
    for position, text in zip(at, wanted, strict=False):
        if rows[position] != text:
            rows[position] = text
    for position in reversed(at[len(wanted) :]):
        del rows[position]
    place = at[-1] + 1 if at else _find_gap(rows, name, goal)
    for offset, text in enumerate(wanted[len(at) :]):
        rows.insert(place + offset, text)


def _find_gap(rows: Sequence[object], name: str, goal: Sequence[object]) -> int:
    """Where a new name goes: behind what stands before it in the new list."""
    names = [_name_of(one) for one in goal]
    before = set(names[: names.index(name)])
    return max((at + 1 for at, row in enumerate(rows) if _name_of(row) in before), default=0)


def _read_sources(document: Mapping[str, Any]) -> dict[str, Any]:
    table = _find(document, (*_TOOL, "sources")) or {}
    return {normalise(name): value for name, value in table.items()}


def _edit_sources(document: _Table, goal: Mapping[str, Any], taken: frozenset[str]) -> None:
    place = (*_TOOL, "sources")
    spelt = {
        normalise(name): name for side in (goal, document) for name in (_find(side, place) or {})
    }
    for name in sorted(taken & spelt.keys()):
        value = _find(goal, (*place, spelt[name]))
        if value != _find(document, (*place, spelt[name])):
            _put(document, (*place, spelt[name]), value)


def _take_settings(document: _Table, goal: Mapping[str, Any]) -> None:
    old, new = _find(document, _TOOL) or {}, _find(goal, _TOOL) or {}
    for key in [*new, *(key for key in old if key not in new)]:
        if key not in _BY_NAME and old.get(key) != new.get(key):
            _put(document, (*_TOOL, key), new.get(key))


def _edit_indexes(document: _Table, goal: Mapping[str, Any], *, with_settings: bool) -> None:
    """Brings the indexes that sources name now, and takes away those that none names any more."""
    place = (*_TOOL, "index")
    old, new = ([*(_find(side, place) or [])] for side in (document, goal))
    used = set(_find_index_names(document))
    by_name = {entry.get("name"): entry for entry in new if entry.get("name")}
    kept = []
    for entry in old:
        name = entry.get("name")
        if name in by_name and (with_settings or name in used):
            kept.append(by_name[name])
        elif name in used or not (with_settings or _is_left(goal, document, name)):
            kept.append(entry)
    known = {entry.get("name") for entry in kept}
    kept += [
        entry
        for entry in new
        if entry not in kept
        and entry.get("name") not in known - {None}
        and (with_settings or entry.get("name") in used)
    ]
    if [dict(entry) for entry in kept] != [dict(entry) for entry in old]:
        _put(document, place, _make_tables(kept) if kept else None)


def _is_left(goal: Mapping[str, Any], document: Mapping[str, Any], name: object) -> bool:
    """Whether an index was there for sources alone that are all gone over to another."""
    there = {entry.get("name") for entry in _find(goal, (*_TOOL, "index")) or []}
    explicit = {
        entry.get("name")
        for entry in _find(document, (*_TOOL, "index")) or []
        if entry.get("explicit")
    }
    return name in explicit and name not in there


def _find_index_names(document: Mapping[str, Any]) -> Iterator[str]:
    for value in (_find(document, (*_TOOL, "sources")) or {}).values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, Mapping) and "index" in one:
                yield str(one["index"])


def _make_tables(entries: Sequence[Mapping[str, Any]]) -> Any:  # noqa: ANN401 - TOML
    import tomlkit

    tables = tomlkit.aot()
    for entry in entries:
        table = tomlkit.table()
        for key, value in entry.items():
            table[key] = value
        tables.append(table)
    return tables
