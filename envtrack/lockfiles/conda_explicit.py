"""Lists of conda packages by URL, as ``conda list --explicit`` and conda-lock write them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.artifacts import make_artifact
from envtrack.lockfiles.conda_names import split_conda_filename, split_conda_url
from envtrack.lockfiles.requirements import parse as parse_requirements
from envtrack.lockfiles.text import Include, clean_text
from envtrack.model.lock import Knowledge, Lock, LockedPackage, Source, SourceKind

_MARK = "@EXPLICIT"
_HEX = re.compile(r"[0-9a-f]+", re.IGNORECASE)
_PLATFORM = re.compile(r"#\s*platform:\s*(\S+)")
# conda-lock notes there what it installs with pip once conda is done.
_PIP = re.compile(r"#\s*pip\s+(\S+ (?:@|===) \S.*)")
_HASHES = {32: "md5", 64: "sha256"}


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:  # noqa: ARG001 - as all formats
    """What the list pins: one build of each package, for one platform; no graph and no groups.

    What conda-lock adds for pip, as comments, is part of it.

    Args:
        text: the file's content.
        path: how messages name the file.
        include: not used: the format names no other file.

    Raises:
        LockfileProblem: empty, an unresolved merge, no ``@EXPLICIT`` line, or a line that is no
            address of a conda package.
    """
    lines = clean_text(text, path=path).splitlines()
    if _MARK not in (line.strip() for line in lines):
        raise LockfileProblem(path, None, f"there is no line `{_MARK}`")
    packages = tuple(_read_lines(lines, path))
    has_hashes = any(artifact.hash for package in packages for artifact in package.artifacts)
    return Lock(
        format="conda explicit list",
        path=path,
        schema=0,
        knows=frozenset({Knowledge.HASHES} if has_hashes else ()),
        packages=packages,
    )


def _read_lines(lines: list[str], path: str) -> Iterator[LockedPackage]:
    here = ""
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        if found := _PLATFORM.match(line):
            here = found[1]
        if found := _PIP.match(line):
            yield from _read_pip(found[1], here, number, path)
        if not line or line.startswith("#") or line == _MARK:
            continue
        channel, platform, filename = split_conda_url(line)
        parts = split_conda_filename(filename)
        if parts is None:
            raise LockfileProblem(path, number, f"no address of a conda package: `{line[:80]}`")
        name, version, build = parts
        digest = line.partition("#")[2].removeprefix("sha256:")
        kind = _HASHES.get(len(digest)) if _HEX.fullmatch(digest) else None
        yield LockedPackage(
            name=name,
            version=version,
            source=Source(kind=SourceKind.REGISTRY, location=channel),
            artifacts=(
                make_artifact(line.partition("#")[0], digest=f"{kind}:{digest}" if kind else ""),
            ),
            ecosystem="conda",
            build=build,
            # The whole list is for one platform; noarch packages are installed there too.
            platforms=(here or platform,),
            line=number,
        )


def _read_pip(requirement: str, platform: str, number: int, path: str) -> Iterator[LockedPackage]:
    try:
        found = parse_requirements(requirement, path=path).packages
    except LockfileProblem:
        raise LockfileProblem(path, number, f"no requirement: `{requirement[:80]}`") from None
    for package in found:
        yield package._replace(platforms=(platform,) if platform else (), line=number)
