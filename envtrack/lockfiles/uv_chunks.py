"""A uv.lock cut into its packages, each distinct one read once.

Two states of one lockfile share nearly all of their `[[package]]` tables, letter by letter; in a
history of hundreds of commits one in twenty is new. A TOML parser reads some 10 MB a second, and
cutting text at lines some hundred times that. So the text is cut, and each piece is read on its own
and remembered by its text. Where the cutting could be wrong the whole document is read instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, SupportsIndex, overload

from envtrack.lockfiles.artifacts import find_filename
from envtrack.lockfiles.plain_toml import INNER, load_plain
from envtrack.lockfiles.tables import OddValueError
from envtrack.lockfiles.toml_text import parse_toml
from envtrack.lockfiles.uv_package import read_package
from envtrack.lockfiles.uv_source import parse_source
from envtrack.lockfiles.uv_tables import read_rows, read_tables
from envtrack.model.lock import Artifact, LockedPackage, Source

_HEADER: Final = "\n[[package]]\n"
# More text than this is forgotten: a day's work on one history is well below it.
_MOST_CHARACTERS: Final = 64 * 1024 * 1024
# Within a package only its own sub-tables may follow.
_FOREIGN = re.compile(r"^[ \t]*\[(?!package\.|\[package\.)", re.MULTILINE)
# A text of several lines may hold what looks like a header; and an unresolved merge is no lock.
_UNTRUSTED: Final = ('"""', "'''", "\r", "<<<<<<<")

_TEXT = f'"{INNER}*"'
_FILE = (
    rf"\{{ (?:url|path|filename) = {_TEXT}(?:, hash = {_TEXT})?(?:, size = [0-9]{{1,15}})?"
    rf"(?:, upload-time = {_TEXT})? \}}"
)
# A package as uv writes it, up to its sub-tables; what is written otherwise the TOML parser reads.
_PLAIN = re.compile(
    rf'name = "(?P<name>[a-z0-9]+(?:-[a-z0-9]+)*)"\n'
    rf'(?:version = "(?P<version>{INNER}+)"\n)?'
    rf"source = \{{ (?P<kind>registry|git|url|editable|directory|virtual|path) = "
    rf'"(?P<location>{INNER}*)" \}}\n'
    rf"(?:resolution-markers = \[\n(?P<forks>(?:    {_TEXT},\n)*)\]\n)?"
    rf"(?:dependencies = \[\n(?P<edges>(?:    \{{ name = [^\n]+ \}},\n)*)\]\n)?"
    rf"(?P<files>(?:sdist = {_FILE}\n)?(?:wheels = \[\n(?:    {_FILE},\n)*\]\n)?)"
    r"(?P<rest>\n*|\n\[package\.[\s\S]*)"
)
_FORK = re.compile(r'    "([^"]*)"')
_FILE_PARTS = re.compile(
    r'(?P<at>sdist = |    )\{ (?:url|path|filename) = "(?P<location>[^"]*)"'
    r'(?:, hash = "(?P<hash>[^"]*)")?(?:, size = (?P<size>[0-9]+))?'
    r'(?:, upload-time = "(?P<time>[^"]*)")?'
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

    def __iter__(self) -> Iterator[Artifact]:
        # Sequence's own asks for one place after the other.
        return iter(self._read())

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
        head_text, *chunks = text.split(_HEADER)
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
            _check_text(text)
            head = _load(text)
            self._heads[self._keep(text)] = head
        return head

    def _read(self, chunk: str) -> LockedPackage:
        _check_text(chunk)
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


def _check_text(piece: str) -> None:
    """Whether the cuts around a piece can be trusted.

    Raises:
        ValueError: they can't.
    """
    if any(mark in piece for mark in _UNTRUSTED):
        raise ValueError(piece)


def _read_chunk(chunk: str) -> tuple[LockedPackage, frozenset[str]]:
    plain = _PLAIN.fullmatch(chunk)
    package = None if plain is None else _read_plain(plain)
    if package is not None:
        return package, frozenset()
    strange: set[str] = set()
    return read_package(_load_package(chunk), strange=strange), frozenset(strange)


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


def _read_plain(found: re.Match[str]) -> LockedPackage | None:
    """The package; `None` if a row of it is not plain after all."""
    forks = found["forks"]
    tables = read_tables(found["rest"])
    edges = read_rows(found["edges"] or "")
    if tables is None or edges is None:
        return None
    return LockedPackage(
        name=found["name"],
        version=found["version"],
        source=_source(found["kind"], found["location"]),
        resolution_markers=tuple(_FORK.findall(forks)) if forks else (),
        dependencies=edges,
        artifacts=LazyFiles(found["files"]) if found["files"] else (),
        **tables,
    )


@lru_cache(maxsize=1000)
def _source(kind: str, location: str) -> Source:
    """One value for all packages of one index."""
    return parse_source({kind: location})


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
            uploaded_at=found["time"] or "",
        )
