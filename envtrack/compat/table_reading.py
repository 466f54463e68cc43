"""Makes `Tables` of the YAML files: entries are grouped by source there, and alone here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from envtrack.compat.tables import (
    Branch,
    Capability,
    Cited,
    Compilers,
    Confidence,
    Family,
    FirstRelease,
    Forward,
    GpuModel,
    LastBranch,
    NewestCuda,
    PlatformTag,
    SharedFile,
    Tables,
    TorchBuild,
    TorchRelease,
)
from envtrack.compat.versions import Numbers, numbers

Row: TypeAlias = tuple[Mapping[str, Any], Cited]

FILES = ("compilers", "drivers", "gpus", "numpy", "platforms", "torch", "wheels")


def parse_tables(documents: Mapping[str, Mapping[str, Any]]) -> Tables:
    """All tables.

    Args:
        documents: what each of `FILES` (without its ending) holds.

    Raises:
        KeyError: an entry has no source, or a file or a key is missing.
        ValueError: a version is none, or a confidence.
    """
    drivers, gpus, torch = documents["drivers"], documents["gpus"], documents["torch"]
    newest, cited = next(_rows(drivers, "newest"))
    return Tables(
        newest=NewestCuda(cuda=numbers(newest["cuda"]), cited=cited),
        families=tuple(_parse_families(drivers)),
        branches=tuple(sorted(_parse_branches(drivers), key=lambda branch: branch.number)),
        last_branches=tuple(_parse_last_branches(drivers)),
        forward=tuple(_parse_forward(drivers)),
        forward_kinds=frozenset(row["class"] for row, _ in _rows(drivers, "forward_classes")),
        compilers=tuple(_parse_compilers(documents["compilers"])),
        capabilities=tuple(_parse_capabilities(gpus)),
        tegra=frozenset(
            numbers(text) for row, _ in _rows(gpus, "tegra") for text in row["capabilities"].split()
        ),
        gpus=tuple(_parse_gpus(gpus)),
        releases=tuple(_parse_releases(torch)),
        builds=(*_parse_builds(torch, "builds"), *_parse_builds(torch, "builds_aarch64")),
        tags=tuple(_parse_platforms(documents["platforms"])),
        numpy2=tuple(_parse_numpy(documents["numpy"])),
        shared_files=tuple(
            SharedFile(component=row["component"], file=row["file"], cited=cited)
            for row, cited in _rows(documents["wheels"], "shared_files")
        ),
    )


def _rows(document: Mapping[str, Any], table: str) -> Iterator[Row]:
    """The entries or groups of a table, each with its source."""
    sources = document["sources"]
    for row in document[table]:
        source = sources[row["source"]]
        yield (
            row,
            Cited(
                where=source["where"],
                as_of=source["as_of"],
                confidence=Confidence(row["confidence"]),
            ),
        )


def _pairs(row: Mapping[str, Any], key: str) -> Iterator[tuple[str, str]]:
    for name, value in row[key].items():
        yield str(name), str(value)


def _parse_families(document: Mapping[str, Any]) -> Iterator[Family]:
    for row, cited in _rows(document, "families"):
        yield Family(major=int(row["cuda"]), least_driver=numbers(row["least_driver"]), cited=cited)


def _parse_branches(document: Mapping[str, Any]) -> Iterator[Branch]:
    for row, cited in _rows(document, "branches"):
        for number, cuda in _pairs(row, "cuda"):
            yield Branch(number=int(number), cuda=numbers(cuda), cited=cited)


def _parse_last_branches(document: Mapping[str, Any]) -> Iterator[LastBranch]:
    for row, cited in _rows(document, "last_branches"):
        yield LastBranch(
            first=numbers(row["from"]), last=numbers(row["to"]), branch=row["branch"], cited=cited
        )


def _parse_forward(document: Mapping[str, Any]) -> Iterator[Forward]:
    for row, cited in _rows(document, "forward"):
        branches = tuple(int(text) for text in row["branches"].split())
        yield Forward(cuda=numbers(row["cuda"]), branches=branches, cited=cited)


def _parse_compilers(document: Mapping[str, Any]) -> Iterator[Compilers]:
    for row, cited in _rows(document, "compilers"):
        yield Compilers(
            nvcc=numbers(row["nvcc"]),
            gcc=_parse_span(row["gcc"]),
            clang=_parse_span(row["clang"]),
            cited=cited,
        )


def _parse_span(text: str) -> tuple[int, int]:
    first, _, last = text.partition("-")
    return int(first), int(last)


def _parse_capabilities(document: Mapping[str, Any]) -> Iterator[Capability]:
    for row, cited in _rows(document, "capabilities"):
        for number, toolkits in _pairs(row, "toolkits"):
            first, _, last = toolkits.partition("-")
            yield Capability(
                number=numbers(number),
                first=numbers(first),
                last=numbers(last) if last else None,
                cited=cited,
            )


def _parse_gpus(document: Mapping[str, Any]) -> Iterator[GpuModel]:
    for row, cited in _rows(document, "gpus"):
        for name in row["names"]:
            capability = numbers(row["capability"])
            yield GpuModel(name=name, capability=capability, kind=row["class"], cited=cited)


def _parse_releases(document: Mapping[str, Any]) -> Iterator[TorchRelease]:
    for row, cited in _rows(document, "releases"):
        yield TorchRelease(
            torch=row["torch"],
            default=row["default"],
            glibc=numbers(row["glibc"]),
            abi=_parse_abi(row["abi"]),
            pins=dict(_parse_pins(row["pins"])),
            cited=cited,
        )


def _parse_abi(text: str) -> dict[str, bool]:
    """``new``, or ``cu124=old, cu126=new``."""
    parts = [part.strip().rpartition("=") for part in text.split(",")]
    return {tag: _ABI[abi] for tag, _, abi in parts}


_ABI = {"new": True, "old": False}


def _parse_pins(text: str) -> Iterator[tuple[str, Numbers]]:
    for part in text.split():
        name, _, version = part.partition("=")
        yield name, numbers(version)


def _parse_builds(document: Mapping[str, Any], table: str) -> Iterator[TorchBuild]:
    for row, cited in _rows(document, table):
        yield TorchBuild(
            torch=tuple(row["torch"].split()),
            tag=row["tag"],
            cuda=numbers(row["cuda"]),
            archs=tuple(row["archs"].split()),
            machine="aarch64" if table.endswith("aarch64") else "x86_64",
            cited=cited,
        )


def _parse_platforms(document: Mapping[str, Any]) -> Iterator[PlatformTag]:
    for row, cited in _rows(document, "tags"):
        yield PlatformTag(
            tag=row["tag"],
            alias=row.get("alias", ""),
            glibc=numbers(row["glibc"]),
            glibcxx=numbers(row["glibcxx"]),
            cited=cited,
        )


def _parse_numpy(document: Mapping[str, Any]) -> Iterator[FirstRelease]:
    for row, cited in _rows(document, "first_releases"):
        for package, version in _pairs(row, "packages"):
            yield FirstRelease(package=package, version=numbers(version), cited=cited)
