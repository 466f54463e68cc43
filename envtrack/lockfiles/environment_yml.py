"""environment.yml as ``conda env export`` and people write it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.artifacts import make_artifact
from envtrack.lockfiles.conda_names import split_conda_filename, split_conda_url
from envtrack.lockfiles.requirements import parse as parse_requirements
from envtrack.lockfiles.tables import OddValueError, find_key_line, take_texts
from envtrack.lockfiles.text import Include, line_of
from envtrack.lockfiles.yaml_text import load_yaml
from envtrack.model.lock import Knowledge, Lock, LockedPackage, Source, SourceKind

# channel::name=version=build; conda's names may begin with an underscore.
_SPEC = re.compile(
    r"(?:(?P<channel>[^\s:]+)::)?(?P<name>[A-Za-z0-9_][\w.-]*)\s*"
    r"(?:(?P<sign>===?|=|(?=[<>!~\s]))\s*(?P<version>[^=\s,|<>!~*]+)(?:=(?P<build>[^=\s*]+))?)?"
)

# conda's own way to write it: `name version build`.
_SPACED = re.compile(
    r"(?:(?P<channel>[^\s:]+)::)?(?P<name>[A-Za-z0-9_][\w.-]*) (?P<sign>==)?"
    r"(?P<version>[^=\s,|<>!~*]+) (?P<build>[^=\s*]+)"
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
    reader = _Reader(path, document, include, text)
    reader.read()
    return Lock(
        format="environment.yml",
        path=path,
        schema=0,
        knows=frozenset({Knowledge.REQUESTS} if not reader.is_export else ()),
        packages=tuple(reader.packages),
        unpinned=tuple(reader.unpinned),
        notes=tuple(reader.notes),
    )


class _Reader:
    """Reads one file, row by row."""

    def __init__(
        self,
        path: str,
        document: Mapping[str, Any],
        include: Include | None,
        text: str,
    ) -> None:
        self._path = path
        self._document = document
        self._include = include
        self._text = text
        self._lines = _find_lines(text)
        self.is_export = "prefix" in document
        self.packages: list[LockedPackage] = []
        self.unpinned: list[str] = []
        self.notes: list[str] = []

    def read(self) -> None:
        """Takes all rows."""
        rows = self._document.get("dependencies")
        if not isinstance(rows, list):
            raise self._refuse("`dependencies` is no list" if rows else "`dependencies` is missing")
        try:
            channels = take_texts(self._document, "channels")
            for row in rows:
                if isinstance(row, dict):
                    self._read_part(row)
                else:
                    self._read_row(row, channels)
        except OddValueError as error:
            raise self._refuse(str(error)) from error

    def _refuse(self, reason: str) -> LockfileProblem:
        return LockfileProblem(self._path, find_key_line(self._text, reason), reason)

    def _read_row(self, row: object, channels: tuple[str, ...]) -> None:
        spec = " ".join(row.split()) if isinstance(row, str) else ""
        line = self._lines.get(spec, 0)
        found = _read_address(spec) or _read_spec(spec, channels, is_export=self.is_export)
        if found is not None:
            self.packages.append(found._replace(line=line))
        elif _SPEC.match(spec):
            self.unpinned.append(spec)
        else:
            raise LockfileProblem(
                self._path, line or self._find(spec), f"no package: `{spec[:80]}`"
            )

    def _find(self, spec: str) -> int | None:
        """The line of a row that is quoted in a way of its own: where its longest word stands."""
        word = max(spec.split(), key=len, default="")
        position = self._text.find(word) if word else -1
        return None if position < 0 else line_of(self._text, position)

    def _read_part(self, row: Mapping[str, Any]) -> None:
        """``pip:``, or what other tools have beside it (``sel(linux):``)."""
        self.notes += [f"`{key}` is passed over" for key in row if key != "pip"]
        rows = [" ".join(text.split()) for text in take_texts(row, "pip")]
        if not rows:
            return
        places = [self._lines.get(text, 0) for text in rows]
        try:
            pip = parse_requirements("\n".join(rows), path=self._path, include=self._include)
        except LockfileProblem as problem:
            raise self._place(problem, places) from problem
        self.packages += [one._replace(line=_at(places, one.line)) for one in pip.packages]
        self.unpinned += pip.unpinned
        own = re.compile(rf"{re.escape(self._path)}:(\d+)(?=:)")
        self.notes += [
            own.sub(lambda found: f"{self._path}:{_at(places, int(found[1]))}", note, count=1)
            for note in pip.notes
        ]

    def _place(self, problem: LockfileProblem, places: Sequence[int]) -> LockfileProblem:
        """The same problem, where it stands in this file and not in the list."""
        if problem.path != self._path:
            return problem
        line = _at(places, problem.line or 0)
        return LockfileProblem(self._path, line or None, problem.reason, hint=problem.hint)


def _at(places: Sequence[int], number: int) -> int:
    return places[number - 1] if 0 < number <= len(places) else 0


def _find_lines(text: str) -> dict[str, int]:
    """The line of each item of a list, by its text."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        item = line.strip()
        if item.startswith("- "):
            plain = item[2:].partition(" #")[0].strip().strip("'\"")
            found.setdefault(" ".join(plain.split()), number)
    return found


def _read_address(spec: str) -> LockedPackage | None:
    """A build by its address, as ``conda create`` takes it too."""
    if "://" not in spec:
        return None
    channel, platform, filename = split_conda_url(spec)
    parts = split_conda_filename(filename)
    if parts is None:
        return None
    name, version, build = parts
    return LockedPackage(
        name=name,
        version=version,
        source=Source(kind=SourceKind.REGISTRY, location=channel),
        artifacts=(make_artifact(spec.partition("#")[0]),),
        ecosystem="conda",
        build=build,
        platforms=(platform,),
    )


def _read_spec(spec: str, channels: tuple[str, ...], *, is_export: bool) -> LockedPackage | None:
    found = _SPEC.fullmatch(spec) or _SPACED.fullmatch(spec)
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
