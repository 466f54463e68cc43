"""pixi.lock, versions 1 to 7."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.artifacts import make_artifact, pick_hash
from envtrack.lockfiles.conda_lock import as_conda, read_rows
from envtrack.lockfiles.conda_names import split_conda_filename, split_conda_url
from envtrack.lockfiles.flat import MAIN
from envtrack.lockfiles.requirement_edges import read_conda_edges, read_pypi_edges
from envtrack.lockfiles.requirement_places import split_archive
from envtrack.lockfiles.tables import OddValueError, take, take_tables, take_texts
from envtrack.lockfiles.text import Include, find_quoted_line
from envtrack.lockfiles.versions import read_schema
from envtrack.lockfiles.yaml_text import load_yaml
from envtrack.model.lock import (
    Artifact,
    Knowledge,
    Lock,
    LockedPackage,
    Source,
    SourceKind,
)
from envtrack.model.names import normalise

NEWEST: Final = 7

# Up to here pixi wrote the rows of conda-lock.
_LIKE_CONDA_LOCK: Final = 3
_ECOSYSTEMS: Final = ("conda", "pypi")


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:  # noqa: ARG001 - as all formats
    """What a pixi.lock pins, for all its environments and platforms.

    The environment ``default`` is the group ``main``, others are groups of their names. From
    version 7 on platforms name what the machine must have; that is in `Lock.options` as
    ``platform.<name>.__cuda``. What was asked for is not in the file.

    Args:
        text: the file's content.
        path: how messages name the file.
        include: not used: the format names no other file.

    Raises:
        LockfileProblem: empty, an unresolved merge, not YAML, of a newer version, or something in
            it is missing or of a wrong type.
    """
    document = load_yaml(text, path=path)
    try:
        schema, _ = read_schema(document, "version", NEWEST)
        if "environments" not in document and schema <= _LIKE_CONDA_LOCK:
            return read_rows(document, text, path, name="pixi.lock", newest=_LIKE_CONDA_LOCK)
        rows = {_identify(row): row for row in take_tables(document, "packages")}
        platforms = take_tables(document, "platforms")
        subdirs = {
            take(row, "name", str, ""): take(row, "subdir", str, "") or take(row, "name", str, "")
            for row in platforms
        }
        options = dict(_read_needs(platforms))
        packages = tuple(_read_environments(document, rows, subdirs, text))
    except OddValueError as error:
        raise LockfileProblem(path, find_quoted_line(text, str(error)), str(error)) from error
    return Lock(
        format="pixi.lock",
        path=path,
        schema=schema,
        knows=frozenset({Knowledge.HASHES, Knowledge.GROUPS, Knowledge.GRAPH}),
        options=options,
        packages=packages,
    )


def _read_needs(platforms: tuple[dict[str, Any], ...]) -> Iterator[tuple[str, str]]:
    for row in platforms:
        name = take(row, "name", str, "")
        for need in take_texts(row, "virtual-packages"):
            what, _, version = need.partition("=")
            yield f"platform.{name}.{what}", version


def _identify(row: Mapping[str, Any]) -> str:
    """What an environment calls a row: its address."""
    for key in (*_ECOSYSTEMS, "url", "path"):
        if isinstance(value := row.get(key), str) and value:
            return value
    raise OddValueError("a row of `packages` has no address")


def _read_environments(
    document: Mapping[str, Any],
    rows: Mapping[str, Mapping[str, Any]],
    subdirs: Mapping[str, str],
    text: str,
) -> Iterator[LockedPackage]:
    """One package a row, ecosystem and platform; the environments that hold it are its groups."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    environments: dict[str, Any] = take(document, "environments", dict, {})
    for environment in environments:
        inner: dict[str, Any] = take(environments, environment, dict, {})
        by_platform: dict[str, Any] = take(inner, "packages", dict, {})
        group = MAIN if environment == "default" else environment
        for platform in by_platform:
            for entry in take_tables(by_platform, platform):
                key = next((name for name in _ECOSYSTEMS if name in entry), "")
                address = take(entry, key, str, "") if key else ""
                if not address:
                    raise OddValueError(f"an entry of `{platform}` names no package")
                where = subdirs.get(platform, platform)
                found.setdefault((key, address, where), {})[group] = None
    lines = _find_lines(text)
    for (ecosystem, address, platform), groups in found.items():
        package = _read_package(ecosystem, address, rows.get(address, {}))
        yield replace(
            package,
            platforms=(platform,),
            belongs_to=tuple(groups),
            line=lines.get(address, 0),
        )


def _read_package(ecosystem: str, address: str, row: Mapping[str, Any]) -> LockedPackage:
    digest = pick_hash(row)
    if ecosystem == "conda":
        parts = split_conda_filename(split_conda_url(address)[2])
        name = take(row, "name", str, "") or (parts[0] if parts else address)
        version = take(row, "version", str, "") or (parts[1] if parts else "")
        package = LockedPackage(
            name=name.lower(),
            version=version or None,
            source=Source(kind=SourceKind.REGISTRY, location=""),
            dependencies=tuple(read_conda_edges(take_texts(row, "depends"))),
        )
        found = as_conda(package, address, digest)
        return replace(found, build=found.build or take(row, "build", str, ""))
    return _read_pypi(address, row, digest)


def _read_pypi(address: str, row: Mapping[str, Any], digest: str) -> LockedPackage:
    told_name, told_version = split_archive(address)
    name = take(row, "name", str, "") or told_name
    version = take(row, "version", str, "") or told_version
    artifacts: tuple[Artifact, ...] = ()
    if address.startswith("git+"):
        location, _, commit = address.removeprefix("git+").partition("#")
        source = Source(kind=SourceKind.GIT, location=location.partition("?")[0], commit=commit)
    elif "://" in address:
        source = Source(kind=SourceKind.REGISTRY, location="")
        artifacts = (make_artifact(address, digest=digest),)
    else:
        is_editable = row.get("editable") == "true"
        source = Source(
            kind=SourceKind.EDITABLE if is_editable else SourceKind.DIRECTORY, location=address
        )
    return LockedPackage(
        name=normalise(name) or address,
        version=version,
        source=source,
        dependencies=tuple(read_pypi_edges(take_texts(row, "requires_dist"))),
        artifacts=artifacts,
    )


def _find_lines(text: str) -> dict[str, int]:
    """The line on which each row begins, by its address."""
    found = {}
    for number, line in enumerate(text.splitlines(), start=1):
        key, _, value = line.strip().removeprefix("- ").partition(": ")
        if key in {*_ECOSYSTEMS, "url", "path"} and not line.startswith("    "):
            found[value.strip().strip("'\"")] = number
    return found
