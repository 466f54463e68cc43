"""pixi.lock, versions 1 to 7."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.conda_lock import read_rows
from envtrack.lockfiles.flat import MAIN
from envtrack.lockfiles.pixi_package import KEYS as _KEYS
from envtrack.lockfiles.pixi_package import read_package
from envtrack.lockfiles.tables import OddValueError, take, take_tables, take_texts
from envtrack.lockfiles.text import Include, line_of
from envtrack.lockfiles.versions import read_schema
from envtrack.lockfiles.yaml_text import load_yaml
from envtrack.model.lock import Knowledge, Lock, LockedPackage

NEWEST: Final = 7

# Up to here pixi wrote the rows of conda-lock.
_LIKE_CONDA_LOCK: Final = 3
_DEFAULT: Final = "default"


def parse(text: str, *, path: str, include: Include | None = None) -> Lock:  # noqa: ARG001 - as all formats
    """What a pixi.lock pins, for all its environments and platforms.

    The environment ``default`` is the group ``main``, others are groups of their names; one of
    them is installed. From version 7 on platforms name what the machine must have; that is in
    `Lock.options` as ``platform.<name>.__cuda``. What was asked for is not in the file.

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
        rows = _index_rows(document)
        platforms = tuple(_read_platforms(document))
        packages = tuple(_read_environments(document, rows, platforms, text))
    except OddValueError as error:
        raise LockfileProblem(path, _find_key_line(text, str(error)), str(error)) from error
    return Lock(
        format="pixi.lock",
        path=path,
        schema=schema,
        knows=frozenset({Knowledge.HASHES, Knowledge.GROUPS, Knowledge.GRAPH}),
        group_names=tuple(MAIN if e == _DEFAULT else e for e in document.get("environments", ())),
        options={f"platform.{p.name}.{what}": v for p in platforms for what, v in p.needs},
        packages=packages,
        notes=tuple(_note_alike(platforms)),
    )


@dataclass(frozen=True, slots=True)
class _Platform:
    """One row of `platforms`, as files from version 7 on have them."""

    name: str
    subdir: str
    needs: tuple[tuple[str, str], ...]


def _read_platforms(document: Mapping[str, Any]) -> Iterator[_Platform]:
    for row in take_tables(document, "platforms"):
        name = take(row, "name", str, "")
        needs = (text.partition("=") for text in take_texts(row, "virtual-packages"))
        yield _Platform(
            name,
            take(row, "subdir", str, "") or name,
            tuple((what, version) for what, _, version in needs),
        )


def _note_alike(platforms: Iterable[_Platform]) -> Iterator[str]:
    """Platforms of one kind of machine, between which what it has decides: its CUDA, its libc."""
    by_subdir: dict[str, list[_Platform]] = {}
    for platform in platforms:
        by_subdir.setdefault(platform.subdir, []).append(platform)
    for subdir, some in by_subdir.items():
        if len(some) > 1:
            told = ", ".join(
                " ".join([one.name, *(f"{what}={version}" for what, version in one.needs)])
                for one in some
            )
            yield f"several platforms are {subdir}, and the packages of all of them count: {told}"


def _index_rows(document: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The rows by what an environment calls them: several outputs of one source share a name."""
    found: dict[str, list[dict[str, Any]]] = {}
    for row in take_tables(document, "packages"):
        found.setdefault(_identify(row), []).append(row)
    return found


def _identify(row: Mapping[str, Any]) -> str:
    """What an environment calls a row: its address."""
    for key in (*_KEYS, "url", "path"):
        if isinstance(value := row.get(key), str) and value:
            return value
    raise OddValueError("a row of `packages` has no address")


def _read_environments(
    document: Mapping[str, Any],
    rows: Mapping[str, Sequence[Mapping[str, Any]]],
    platforms: Iterable[_Platform],
    text: str,
) -> Iterator[LockedPackage]:
    """One package a row, ecosystem and platform; the environments that hold it are its groups."""
    subdirs = {platform.name: platform.subdir for platform in platforms}
    found: dict[tuple[str, str, int, str], dict[str, None]] = {}
    for group, platform, entry in _read_entries(document):
        key = next((name for name in _KEYS if name in entry), "")
        address = take(entry, key, str, "") if key else ""
        if not address:
            raise OddValueError(f"an entry of `{platform}` names no package")
        place = _find_row(entry, rows.get(address, ()))
        where = subdirs.get(platform, platform)
        found.setdefault((key, address, place, where), {})[group] = None
    lines = _find_lines(text)
    for (key, address, place, where), groups in found.items():
        row = rows[address][place] if address in rows else {}
        yield read_package(key, address, row)._replace(
            platforms=(where,),
            belongs_to=tuple(groups),
            line=lines.get(address, 0),
        )


def _read_entries(document: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Each entry with its group and its platform."""
    environments: dict[str, Any] = take(document, "environments", dict, {})
    for environment in environments:
        inner: dict[str, Any] = take(environments, environment, dict, {})
        by_platform: dict[str, Any] = take(inner, "packages", dict, {})
        group = MAIN if environment == _DEFAULT else environment
        for platform in by_platform:
            for entry in take_tables(by_platform, platform):
                yield group, platform, entry


def _find_row(entry: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> int:
    """Which of the rows the entry means: what else it says of the package tells them apart."""
    fits = (at for at, row in enumerate(rows) if all(row.get(k) == v for k, v in entry.items()))
    return next(fits, 0)


def _find_key_line(text: str, message: str) -> int | None:
    """The line of the key that a message quotes, the outermost of that name."""
    key = message.partition("`")[2].partition("`")[0]
    found = re.finditer(rf"^(?P<indent> *)(?:- )?{re.escape(key)}:", text, re.MULTILINE)
    first = min(found, key=lambda one: len(one["indent"]), default=None)
    return None if first is None or not key else line_of(text, first.start())


def _find_lines(text: str) -> dict[str, int]:
    """The line on which each row begins, by its address."""
    found: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        key, _, value = line.strip().removeprefix("- ").partition(": ")
        if key in {*_KEYS, "url", "path"} and not line.startswith("    "):
            found.setdefault(value.strip().strip("'\""), number)
    return found
