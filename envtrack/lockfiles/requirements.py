"""requirements.txt as pip-compile, uv, `pip freeze` and people write it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from packaging.requirements import InvalidRequirement, Requirement

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.artifacts import make_artifact
from envtrack.lockfiles.requirement_places import is_path, read_place
from envtrack.lockfiles.requirement_text import LogicalLine, split_lines
from envtrack.lockfiles.text import Include, clean_text
from envtrack.model.lock import Dependency, Knowledge, Lock, LockedPackage, Source, SourceKind
from envtrack.model.names import normalise

_DEEPEST = 20
_WORD = re.compile(r"(--?[A-Za-z][\w-]*)(?:\s*=\s*|\s+|$)(.*)", re.DOTALL)
_SHORT = re.compile(r"(-[rcefi])(\S.*)", re.DOTALL)
_KNOWN: Final = frozenset(
    {
        *("-i", "--index-url", "--extra-index-url", "--no-index", "-f", "--find-links"),
        *("--no-binary", "--only-binary", "--prefer-binary", "--require-hashes", "--pre"),
        *("--trusted-host", "--use-feature", "--no-build-isolation", "--use-pep517"),
    }
)


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:
    """What the file pins, and in `Lock.unpinned` what it asks for without pinning it.

    Pinned are ``==`` without a wildcard, ``===``, a commit, an archive by its address, a folder.
    The `# via` comments of pip-compile and uv tell the graph, and what was asked for; without them
    neither is known. Constraints (``-c``) limit and ask for nothing.

    Args:
        text: the file's content.
        path: how messages name the file.
        include: reads the files of ``-r`` and ``-c``.

    Raises:
        LockfileProblem: empty, an unresolved merge, or a line that is no requirement.
    """
    reader = _Reader(include)
    reader.read(clean_text(text, path=path), path, "", depth=0)
    return reader.finish(path)


@dataclass(slots=True)
class _Reader:
    include: Include | None
    packages: list[tuple[LockedPackage, list[str] | None]] = field(default_factory=list)
    unpinned: list[str] = field(default_factory=list)
    constraints: list[str] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    seen: set[str] = field(default_factory=set)
    index: str = ""

    def read(self, text: str, path: str, folder: str, *, depth: int) -> None:
        for line in split_lines(text):
            if line.text.startswith("-"):
                self._read_option(line, path, folder, depth)
            elif line.text:
                self._add(_read_requirement(line, path, self.index), line)

    def _add(self, package: LockedPackage | None, line: LogicalLine) -> None:
        if package is None:
            self.unpinned.append(line.text)
        else:
            self.packages.append((package, line.via))

    def _read_option(self, line: LogicalLine, path: str, folder: str, depth: int) -> None:
        found = _WORD.fullmatch(line.text) or _SHORT.fullmatch(line.text)
        short = _SHORT.fullmatch(line.text)
        if short and not (found and found[1] in _KNOWN) and not line.text.startswith("--"):
            found = short
        if found is None:
            raise LockfileProblem(path, line.number, f"no requirement: `{line.text[:80]}`")
        option, value = found[1], found[2].strip()
        if option in {"-e", "--editable"}:
            self._add(read_place(line, value, is_editable=True), line)
        elif option in {"-r", "--requirement", "-c", "--constraint"}:
            is_limit = option in {"-c", "--constraint"}
            self._follow(value, path, folder, depth, line.number, is_limit=is_limit)
        elif option in {"-i", "--index-url"}:
            self.index = value
        elif option not in _KNOWN:
            self.notes[f"{path}:{line.number}: an option that is not known: {option}"] = None

    def _follow(
        self, value: str, path: str, folder: str, depth: int, number: int, *, is_limit: bool
    ) -> None:
        name = posixpath.normpath(posixpath.join(folder, value))
        if name in self.seen:
            return
        self.seen.add(name)
        text = self.include(name) if self.include is not None and depth < _DEEPEST else None
        if text is None:
            self.notes[f"{path}:{number}: `{value}` is not followed"] = None
            return
        shown = posixpath.join(posixpath.dirname(path), value)
        if not is_limit:
            self.read(text, shown, posixpath.dirname(name), depth=depth + 1)
            return
        self.constraints += [
            line.text for line in split_lines(text) if line.text and not line.text.startswith("-")
        ]

    def finish(self, path: str) -> Lock:
        has_via = any(via is not None for _, via in self.packages)
        packages = [package for package, _ in self.packages]
        asked: tuple[str, ...] = ()
        if has_via:
            packages, asked = _read_graph(self.packages)
        known = {Knowledge.MARKERS}
        known |= {Knowledge.GRAPH, Knowledge.REQUESTS} if has_via else set()
        if any(artifact.hash for package in packages for artifact in package.artifacts):
            known.add(Knowledge.HASHES)
        return Lock(
            format="requirements.txt",
            path=path,
            schema=0,
            knows=frozenset(known),
            constraints=tuple(self.constraints),
            manifest_requirements=asked,
            packages=tuple(packages),
            unpinned=tuple(self.unpinned),
            notes=(*self.notes, *_find_twice(packages)),
        )


def _read_graph(
    found: Iterable[tuple[LockedPackage, list[str] | None]],
) -> tuple[list[LockedPackage], tuple[str, ...]]:
    """The packages with their edges, and the names that the project itself asks for."""
    found = list(found)
    needs: dict[str, list[str]] = {}
    asked: dict[str, None] = {}
    names = {package.name for package, _ in found}
    for package, via in found:
        if via is None and not package.source.kind.is_local_tree:
            # The first pip-compile said nothing of what was asked for itself.
            asked[package.name] = None
        for one in via or ():
            asker = normalise(one.partition("[")[0].partition(" ")[0])
            if one.startswith(("-c ", "--override", "--constraint")):
                continue
            if one.startswith("-") or one.endswith(")") or asker not in names:
                asked[package.name] = None
            else:
                needs.setdefault(asker, []).append(package.name)
    packages = [
        package._replace(
            dependencies=tuple(
                Dependency(name=name) for name in dict.fromkeys(needs.get(package.name, ()))
            ),
        )
        for package, _ in found
    ]
    return packages, tuple(asked)


def _find_twice(packages: Iterable[LockedPackage]) -> Iterable[str]:
    versions: dict[str, set[str | None]] = {}
    for package in packages:
        if not package.resolution_markers:
            versions.setdefault(package.name, set()).add(package.version)
    for name, found in versions.items():
        if len(found) > 1:
            listed = " and ".join(sorted(one or "?" for one in found))
            yield f"{name} is pinned twice: {listed}"


def _read_requirement(line: LogicalLine, path: str, index: str) -> LockedPackage | None:
    text = line.text
    if "://" in text.partition(" ")[0] or is_path(text):
        return read_place(line, text, is_editable=False)
    try:
        wanted = Requirement(text)
    except InvalidRequirement as error:
        raise LockfileProblem(path, line.number, f"no requirement: `{text[:80]}`") from error
    if wanted.url:
        marker = f" ; {wanted.marker}" if wanted.marker else ""
        found = read_place(line, f"{wanted.url}{marker}", is_editable=False)
        return None if found is None else found._replace(name=normalise(wanted.name))
    clauses = list(wanted.specifier)
    is_pinned = len(clauses) == 1 and (
        clauses[0].operator == "==="
        or (clauses[0].operator == "==" and not clauses[0].version.endswith(".*"))
    )
    if not is_pinned:
        return None
    return LockedPackage(
        name=normalise(wanted.name),
        version=clauses[0].version,
        source=Source(kind=SourceKind.REGISTRY, location=index),
        resolution_markers=(str(wanted.marker),) if wanted.marker else (),
        artifacts=tuple(make_artifact("", digest=digest) for digest in sorted(line.hashes)),
        line=line.number,
    )
