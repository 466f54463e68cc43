"""Ranks what changed between a good and a bad state, and names the next experiment.

The rule. A package's weight is 8 for a major release, 4 for a minor one, 2 for a patch or a
pre-release; 6 for another build, variant or source of the same version, which nobody expects to
matter; 4 where it came or went, 1 where only its selectors moved. A fact of a system layer 3.
It is doubled if it was asked for, halved if it only follows from another, and 2 more if it is
compiled: compiled code breaks by crashing, and against what is around it. Where the error names a
layer, changes of that layer and of those below it weigh double: what stands above did not reach it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from envtrack.compare.going_back import PACKAGE_LAYERS, can_go_back, say_going_back
from envtrack.compare.pairing import parse_version
from envtrack.compare.records import Part, Record
from envtrack.model.comparison import Change, ChangeKind, Comparison, Origin
from envtrack.model.fact import Known
from envtrack.model.layer import Layer
from envtrack.model.suspect import Suspect, Suspicion
from envtrack.model.verdict import Verdict

if TYPE_CHECKING:
    from envtrack.model.lock import Lock

_SAME_VERSION: Final = {
    ChangeKind.VARIANT: "another variant of the same release",
    ChangeKind.REBUILD: "the same version, rebuilt",
    ChangeKind.SOURCE: "another source",
}
_LEVELS: Final = (("major", 8.0), ("minor", 4.0), ("patch", 2.0))
_BACK: Final = {
    Layer.KERNEL: "boot the kernel from before",
    Layer.DRIVER: "install the driver from before and reboot",
    Layer.CONTAINER: "start the image from before",
    Layer.SETTINGS: "set the variable as it was",
}


def find_suspects(
    before: Record, after: Record, comparison: Comparison, *, failed_layer: Layer | None = None
) -> Suspicion | None:
    """What the verdicts of two records say of their differences.

    Args:
        before: the older record.
        after: the newer one.
        comparison: what differs between them.
        failed_layer: the layer that the error speaks of, if that is known.

    Returns:
        ``None`` where neither has a verdict.
    """
    verdicts = before.verdict, after.verdict
    if verdicts == (None, None):
        return None
    if None in verdicts:
        there, missing = (after, before) if before.verdict is None else (before, after)
        return Suspicion(
            situation=f"{there.name} is {there.verdict}; of {missing.name} there is no verdict",
            next_step=f"run the smoke test at {missing.name}: `envtrack smoke` records its verdict",
        )
    said = f"{before.name} is {before.verdict}, {after.name} is {after.verdict}"
    if set(verdicts) != {Verdict.GOOD, Verdict.BAD}:
        return Suspicion(situation=f"{said}: nothing to suspect")
    differences = (*comparison.changes, *comparison.apart)
    if not differences:
        return Suspicion(
            situation=said,
            next_step="nothing that was compared differs: run the smoke test again on both sides, "
            "it may be flaky, or the code changed",
        )
    compiled = _find_compiled((before, after), {change.name for change in differences})
    suspects = sorted(
        (_weigh(change, compiled, failed_layer) for change in differences),
        key=lambda suspect: (-suspect.weight, -suspect.change.layer.height, suspect.change.name),
    )
    is_uvs = not isinstance(after.lock, Part) and after.lock.format == "uv.lock"
    step, command = _choose_step(suspects, is_uvs=is_uvs)
    healed = verdicts[0] is Verdict.BAD
    return Suspicion(
        situation=said + (": one of these changes healed it" if healed else ""),
        suspects=tuple(suspects),
        cleared=tuple(_clear(before, after, comparison)),
        next_step=step,
        command=command,
    )


def _weigh(change: Change, compiled: Collection[str], failed_layer: Layer | None) -> Suspect:
    weight, because = _weigh_kind(change)
    reasons = [because]
    if change.origin is Origin.ROOT:
        weight *= 2
        reasons.append("asked for")
    elif change.origin is Origin.FORCED:
        weight /= 2
        reasons.append("follows from another")
    if change.name in compiled:
        weight += 2
        reasons.append("compiled")
    if failed_layer is not None and change.layer.height <= failed_layer.height:
        weight *= 2
        reasons.append(f"not above the {failed_layer} that the error names")
    return Suspect(change=change, weight=weight, because=tuple(reasons))


def _weigh_kind(change: Change) -> tuple[float, str]:
    if change.layer not in PACKAGE_LAYERS or "." in change.name:
        return 3.0, f"of the {change.layer}"
    if change.kind in _SAME_VERSION:
        return 6.0, _SAME_VERSION[change.kind]
    if change.kind is ChangeKind.SELECTOR:
        return 1.0, "only when it is installed"
    if change.kind in {ChangeKind.ADDED, ChangeKind.REMOVED}:
        return 4.0, str(change.kind)
    return _weigh_versions(change.before or "", change.after or "")


def _weigh_versions(before: str, after: str) -> tuple[float, str]:
    """By the first number that differs (PEP 440: epoch, release, then pre-, post- and so on)."""
    old, new = parse_version(before), parse_version(after)
    if old is None or new is None:
        return 4.0, "another version"
    if old.epoch != new.epoch:
        return 8.0, "major release"
    for (level, weight), one, other in zip(
        _LEVELS, _three(old.release), _three(new.release), strict=True
    ):
        if one != other:
            return weight, f"{level} release"
    return 2.0, "pre- or post-release"


def _three(release: Sequence[int]) -> tuple[int, ...]:
    return (*release, 0, 0)[:3]


def _find_compiled(records: Iterable[Record], names: Collection[str]) -> frozenset[str]:
    """The packages of which a wheel is for one platform or one Python's ABI."""
    found: set[str] = set()
    for record in records:
        lock: Lock | Part = record.lock
        if isinstance(lock, Part):
            continue
        for package in lock.packages:
            if package.name in names and any(
                artifact.is_wheel and not artifact.filename.endswith("-none-any.whl")
                for artifact in package.artifacts
            ):
                found.add(package.name)
    return frozenset(found)


def _clear(before: Record, after: Record, comparison: Comparison) -> Iterator[str]:
    """The layers that are known on both sides and did not change."""
    if isinstance(before.snapshot, Part) or isinstance(after.snapshot, Part):
        return
    known = [
        {name.partition(".")[0] for name, state in record.facts.items() if isinstance(state, Known)}
        for record in (before.snapshot, after.snapshot)
    ]
    moved = {change.layer for change in (*comparison.changes, *comparison.apart)}
    same = [
        layer
        for layer in Layer
        if layer.value in known[0] & known[1] and layer not in moved and layer not in PACKAGE_LAYERS
    ]
    if Layer.KERNEL in moved and Layer.DRIVER in same:
        yield (
            "the driver is the same on both sides, so the kernel did not break it "
            "through the driver"
        )
        same.remove(Layer.DRIVER)
    if same:
        yield f"the same on both sides: {', '.join(same)}"


def _choose_step(suspects: Sequence[Suspect], *, is_uvs: bool) -> tuple[str, str]:
    """The experiment that splits the suspects best: about half of their weight is put back.

    Packages before system layers: to put one back takes a minute and no reboot. What follows from
    another package goes back with it. A command is given where the lockfile is uv's.
    """
    packages = [
        s for s in suspects if can_go_back(s.change) and s.change.origin is not Origin.FORCED
    ]
    if not packages:
        return _say_by_hand(suspects[0].change), ""
    half = sum(suspect.weight for suspect in suspects) / 2
    chosen: list[Change] = []
    weight = 0.0
    for suspect in packages:
        if chosen and weight + suspect.weight > half * 1.5:
            continue
        chosen.append(suspect.change)
        weight += suspect.weight
        if weight >= half:
            break
    names = [change.name for change in chosen]
    command = ""
    if is_uvs:
        command = f"{say_going_back(chosen)} && uv sync --locked && envtrack smoke"
    whom = names[0] if len(names) == 1 else ", ".join(names[:-1]) + f" and {names[-1]}"
    return f"put only {whom} back, in the newer state, and run the smoke test", command


def _say_by_hand(change: Change) -> str:
    how = _BACK.get(change.layer, f"put back {change.name}")
    was = f" ({change.name} {change.before})" if change.before else ""
    return f"{how}{was}, and run the smoke test"
