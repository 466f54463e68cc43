"""What a lockfile may hold: pins, bans, sources, builds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from envtrack.compare.pairing import parse_version
from envtrack.model.comparison import ChangeKind
from envtrack.model.lock import SourceKind
from envtrack.model.names import normalise
from envtrack.model.redact import redact_url
from envtrack.policy.interface import Fault, Step, join_names, say_change
from envtrack.policy.one_layer import tell_way_back

if TYPE_CHECKING:
    from envtrack.config.policy_schema import Bans, Pins, Rule, Sources, Variants
    from envtrack.model.lock import Source

WHY_PINS = "somebody decided that this stays as it is"
WHY_BANS = "this version is known to be bad"
WHY_SOURCES = "whoever can publish there can put code on this machine"
WHY_VARIANTS = "this build does not use the GPU"
WHY_REBUILDS = (
    "a release never changes: another hash under the same version is a rebuild, a mistake of the "
    "index, or an attack"
)
_FIXED = re.compile(r"(?:rev=[0-9a-f]{7,64}|tag=.+|rev=v?[0-9][\w.+-]*)", re.ASCII)


def judge_pins(step: Step, options: Pins) -> Iterator[Fault]:
    """Whether something moves that may not."""
    moved = [
        change
        for change in (*step.facts, *step.list_moved(with_forced=True))
        if change.layer in options.layers
        or (not change.is_fact and _fits(change.name, options.packages))
    ]
    if moved:
        yield Fault(
            found=f"pinned, and moves: {join_names([say_change(change) for change in moved])}",
            ways_out=tuple(tell_way_back(step, moved)),
            names=tuple(change.name for change in moved),
        )


def judge_bans(step: Step, options: Bans) -> Iterator[Fault]:
    """Whether a version comes in that is known to be bad."""
    from packaging.requirements import Requirement

    banned = [Requirement(text) for text in options.versions]
    for package in step.list_new():
        version = parse_version(package.version or "")
        for ban in banned:
            is_meant = normalise(ban.name) == package.name and version is not None
            if is_meant and ban.specifier.contains(str(version), prereleases=True):
                yield Fault(
                    found=f"{package.name} {package.version} is banned ({ban})",
                    ways_out=(f"`uv lock --upgrade-package '{ban.name}!={package.version}'`",),
                    names=(package.name,),
                )


def judge_sources(step: Step, options: Sources) -> Iterator[Fault]:
    """Whether a package comes from where none may, or from a branch that moves."""
    wrong: dict[str, list[str]] = {}
    for package in step.list_new():
        said = _find_fault(package.source, options)
        if said:
            wrong.setdefault(said, []).append(package.name)
    for said, names in wrong.items():
        yield Fault(found=f"{said}: {join_names(sorted(set(names)))}", names=tuple(names))


def _find_fault(source: Source, options: Sources) -> str:
    where = redact_url(source.location)
    if any(source.location.startswith(one) for one in options.denied):
        return f"from {where}, which is not allowed"
    is_remote = source.kind in {SourceKind.REGISTRY, SourceKind.URL, SourceKind.GIT}
    is_asked = bool(options.allowed) and is_remote and bool(source.location)
    if is_asked and not any(source.location.startswith(one) for one in options.allowed):
        return f"from {where}, which is none of the allowed ones"
    is_floating = source.kind is SourceKind.GIT and not _FIXED.fullmatch(source.reference)
    if options.floating_git and is_floating:
        asked = source.reference or "its default branch"
        return f"from {where} at {asked}, which moves: name a tag or a commit"
    return ""


def judge_variants(step: Step, options: Variants) -> Iterator[Fault]:
    """Whether a build comes in that does not fit this machine."""
    if options.only_on_gpu_hosts and step.has_gpu is not True:
        return
    for package in step.list_new():
        version = parse_version(package.version or "")
        local = "" if version is None else version.local or ""
        if local and _fits(local, options.denied):
            where = "which has a GPU" if options.only_on_gpu_hosts else "here"
            yield Fault(
                found=f"{package.name} {package.version} is a +{local} build, {where}",
                ways_out=("choose the index of the GPU builds (`[tool.uv.sources]`), and lock",),
                names=(package.name,),
            )


def judge_rebuilds(step: Step, _: Rule) -> Iterator[Fault]:
    """Whether a hash changed under the same version."""
    rebuilt = [change for change in step.changes if change.kind is ChangeKind.REBUILD]
    if rebuilt:
        told = [f"{change.name} {change.after} ({change.detail})" for change in rebuilt]
        yield Fault(
            found=f"the same version with another hash: {join_names(told)}",
            ways_out=(
                (
                    "ask whoever runs the index; `git restore --source HEAD --staged --worktree "
                    f"{step.lockfile}` takes the step back"
                ),
            ),
            names=tuple(change.name for change in rebuilt),
        )


def _fits(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
