"""A uv.lock cut into its packages, each distinct one read once.

Two states of one lockfile share nearly all of their `[[package]]` tables, letter by letter; in a
history of hundreds of commits one in twenty is new. A TOML parser reads some 10 MB a second, and
cutting text at lines some hundred times that. So the text is cut, and each piece is read on its own
and remembered by its text. Where the cutting could be wrong the whole document is read instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, SupportsIndex, overload

from envtrack.lockfiles.artifacts import find_filename
from envtrack.lockfiles.plain_toml import INNER, load_plain
from envtrack.lockfiles.tables import OddValueError
from envtrack.lockfiles.toml_text import parse_toml
from envtrack.lockfiles.uv_package import plain_edge, read_edges, read_package
from envtrack.model.lock import Artifact, Dependency, LockedPackage, Source, SourceKind
from envtrack.model.names import normalise

_HEADER: Final = "\n[[package]]\n"
# More text than this is forgotten: a day's work on one history is well below it.
_MOST_CHARACTERS: Final = 64 * 1024 * 1024
# Within a package only its own sub-tables may follow.
_FOREIGN = re.compile(r"^[ \t]*\[(?!package\.|\[package\.)", re.MULTILINE)
_MULTILINE_TEXT: Final = ('"""', "'''", "\r")

_TEXT = f'"{INNER}*"'
_FILE = (
    rf"\{{ (?:url|path|filename) = {_TEXT}(?:, hash = {_TEXT})?(?:, size = [0-9]{{1,15}})?"
    rf"(?:, upload-time = {_TEXT})? \}}"
)
# A package as uv writes it, up to its sub-tables; what is written otherwise the TOML parser reads.
_PLAIN = re.compile(
    rf'name = "(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)"\n'
    rf'(?:version = "(?P<version>{INNER}+)"\n)?'
    rf"source = \{{ (?P<kind>registry|editable|directory|virtual|path) = "
    rf'"(?P<location>{INNER}*)" \}}\n'
    rf"(?:resolution-markers = \[\n(?P<forks>(?:    {_TEXT},\n)*)\]\n)?"
    rf"(?:dependencies = \[\n(?P<edges>(?:    \{{ name = [^\n]+ \}},\n)*)\]\n)?"
    rf"(?P<files>(?:sdist = {_FILE}\n)?(?:wheels = \[\n(?:    {_FILE},\n)*\]\n)?)"
    r"(?P<rest>\n*|\n\[package\.[\s\S]*)"
)
_FORK = re.compile(r'    "([^"]*)"')
_EDGE = re.compile(rf'    \{{ name = "([a-z0-9-]+)"(?:, marker = "({INNER}*)")? \}},')
# The sub-tables that may follow; a key that repeats one of the package's own would be a fault.
_TABLES: Final = frozenset({"optional-dependencies", "dev-dependencies", "metadata"})
_FILE_PARTS = re.compile(
    r'(?P<at>sdist = |    )\{ (?:url|path|filename) = "(?P<location>[^"]*)"'
    r'(?:, hash = "(?P<hash>[^"]*)")?(?:, size = (?P<size>[0-9]+))?'
)


class LazyFiles(Sequence[Artifact]):
    """The files of a package, read when they are looked at: most comparisons look at few."""

    __slots__ = ("_files", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._files: tuple[Artifact, ...] | None = None

    def _read(self) -> tuple[Artifact, ...]:
        if self._files is None:
            self._files = tuple(_read_files(self._text))
        return self._files

    @overload
    def __getitem__(self, index: SupportsIndex) -> Artifact: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Artifact]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Artifact | Sequence[Artifact]:
        return self._read()[index]

    def __len__(self) -> int:
        return len(self._read())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LazyFiles) and other._text == self._text:
            return True
        return isinstance(other, Sequence) and self._read() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._read())

    def __repr__(self) -> str:
        return repr(self._read())


class ChunkReader:
    """Reads the packages of uv.locks; what it has read once it knows.

    One that lives as long as a history is walked makes a later lockfile cost what is new in it.
    """

    def __init__(self) -> None:
        self._known: dict[str, LockedPackage] = {}
        self._strange: dict[str, frozenset[str]] = {}
        self._heads: dict[str, dict[str, Any]] = {}
        self._characters = 0

    def read(self, text: str) -> tuple[dict[str, Any], list[LockedPackage], set[str]] | None:
        """Head, packages and the names of keys that were passed over.

        Returns:
            ``None`` if the text is not of the form that uv writes, or something in it is wrong:
            the whole of it has to be read to say what.
        """
        cut = cut_text(text)
        if cut is None:
            return None
        head_text, chunks = cut
        try:
            head = self._find_head(head_text)
            if "package" in head or "distribution" in head:
                return None
            packages = [self._known.get(chunk) or self._read(chunk) for chunk in chunks]
        except (OddValueError, RecursionError, ValueError):  # the TOML reader's is a ValueError
            return None
        strange: set[str] = set()
        if self._strange:
            for chunk in self._strange.keys() & set(chunks):
                strange |= self._strange[chunk]
        return head, packages, strange

    def _find_head(self, text: str) -> dict[str, Any]:
        """What stands above the packages; it is not to be changed by who gets it."""
        head = self._heads.get(text)
        if head is None:
            head = _load(text)
            self._heads[self._keep(text)] = head
        return head

    def _read(self, chunk: str) -> LockedPackage:
        package, strange = _read_chunk(chunk)
        if strange:
            self._strange[chunk] = strange
        self._known[self._keep(chunk)] = package
        return package

    def _keep(self, text: str) -> str:
        """The text, after everything was forgotten if it is one too many."""
        if self._characters > _MOST_CHARACTERS:
            self._characters = 0
            for memory in (self._known, self._strange, self._heads):
                memory.clear()
        self._characters += len(text)
        return text


def cut_text(text: str) -> tuple[str, list[str]] | None:
    """The text above the first package, and that of each package without its header.

    Returns:
        ``None`` where a line that looks like a header may be none.
    """
    if any(mark in text for mark in _MULTILINE_TEXT):
        return None
    head, *chunks = text.split(_HEADER)
    return head, chunks


def _read_chunk(chunk: str) -> tuple[LockedPackage, frozenset[str]]:
    strange: set[str] = set()
    plain = _PLAIN.fullmatch(chunk)
    if plain is None:
        package = read_package(_load_package(chunk), strange=strange)
    else:
        package = _read_plain(plain, strange)
        rest = plain["rest"].strip()
        if rest:
            package = _add_tables(package, _load_package(rest), strange)
    return package, frozenset(strange)


def _load_package(text: str) -> dict[str, Any]:
    plain = load_plain(text) if "package = " not in text else None
    if plain is not None:
        sections = f"\n{text}".split("\n[")[1:]
        if not all(section.startswith(("package.", "[package.")) for section in sections):
            raise OddValueError("a table that is no package's")
        # Sub-tables name the package above; its own keys stand alone.
        inner = plain.pop("package", {})
        return {**plain, **inner} if plain.keys().isdisjoint(inner) else _load_slowly(text)
    return _load_slowly(text)


def _load_slowly(text: str) -> dict[str, Any]:
    if _FOREIGN.search(text):
        raise OddValueError("a table that is no package's")
    document = parse_toml(f"[[package]]\n{text}")
    if list(document) != ["package"] or len(document["package"]) != 1:
        raise OddValueError("a table that is no package's")
    table: dict[str, Any] = document["package"][0]
    return table


def _load(text: str) -> dict[str, Any]:
    plain = load_plain(text)
    return parse_toml(text) if plain is None else plain


def _add_tables(package: LockedPackage, tables: dict[str, Any], strange: set[str]) -> LockedPackage:
    if not _TABLES.issuperset(tables):
        raise OddValueError("a table that is not plain")
    told = read_package(
        {"name": package.name, "source": {"virtual": "."}, **tables}, strange=strange
    )
    return replace(
        package,
        optional_dependencies=told.optional_dependencies,
        groups=told.groups,
        requirements=told.requirements,
        group_requirements=told.group_requirements,
        provides_extras=told.provides_extras,
    )


def _read_plain(found: re.Match[str], strange: set[str]) -> LockedPackage:
    edges = found["edges"]
    forks = found["forks"]
    return LockedPackage(
        name=found["name"],
        version=found["version"],
        source=_source(found["kind"], found["location"]),
        resolution_markers=tuple(_FORK.findall(forks)) if forks else (),
        dependencies=tuple(_read_edges(edges, strange)) if edges else (),
        artifacts=LazyFiles(found["files"]) if found["files"] else (),
    )


@lru_cache(maxsize=1000)
def _source(kind: str, location: str) -> Source:
    """One value for all packages of one index."""
    return Source(kind=SourceKind(kind), location=location)


def _read_edges(text: str, strange: set[str]) -> Iterator[Dependency]:
    for row in text.splitlines():
        plain = _EDGE.fullmatch(row)
        if plain is None:
            yield from read_edges(_load(f"rows = [{row}]"), "rows", strange)
        elif plain[2]:
            yield Dependency(name=normalise(plain[1]), marker=plain[2])
        else:
            yield plain_edge(plain[1])


def _read_files(text: str) -> Iterator[Artifact]:
    for found in _FILE_PARTS.finditer(text):
        location = found["location"]
        size = found["size"]
        yield Artifact(
            filename=find_filename(location),
            location=location,
            hash=found["hash"] or "",
            size=None if size is None else int(size),
            is_wheel=found["at"] == "    ",
        )
