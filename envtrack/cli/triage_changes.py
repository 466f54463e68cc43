"""What moved since the last state that a smoke test called good, in the layer that failed."""

from typing import TYPE_CHECKING

from envtrack.cli.context import Place, open_context
from envtrack.errors import EnvtrackError
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from envtrack.model.comparison import Change
    from envtrack.triage.findings import TriageFinding

_MOST = 8


def tell_changes(root: "TriageFinding", place: Place) -> tuple[str, ...]:
    """Lines that say what changed; none where nothing is recorded, or no repository is there."""
    layer = _find_layer(root.layer)
    try:
        return tuple(_tell(layer, place))
    except EnvtrackError:
        # A log may be read anywhere; the link to the records is a gift where there are some.
        return ()


def _find_layer(name: str) -> Layer | None:
    return Layer(name) if name in set(Layer) else None


def _tell(layer: Layer | None, place: Place) -> list[str]:
    from envtrack.compare.records import compare_records
    from envtrack.compare.suspects import find_suspects
    from envtrack.model.verdict import Verdict
    from envtrack.record.operands import read_now
    from envtrack.record.revisions import read_revision
    from envtrack.record.verdicts import find_newest_good

    context = open_context(place)
    bench, repository = context.bench, context.repository
    head = repository.find_commit("HEAD")
    if head is None:
        return []
    good = find_newest_good(repository, bench.machine, bench.lockfile, head)
    if good is None:
        return []
    before = read_revision(repository, good.hex, lockfile=bench.lockfile, machine=bench.machine)
    now = read_now(bench)
    after = now._replace(verdict=Verdict.BAD)
    comparison = compare_records(before, after, layer_rules=context.settings.layers)
    suspicion = find_suspects(before, after, comparison, failed_layer=layer)
    changes = list(comparison.changes)
    lines = [f"since {before.name}, the last one that the smoke test called good:"]
    if not changes:
        return [*lines, "nothing that is recorded moved: not the lockfile, not this machine"]
    if layer is not None:
        inside = [change for change in changes if change.layer is layer]
        said = "; ".join(map(_say, inside[:_MOST])) or "nothing moved"
        lines.append(f"in the {layer} layer: {said}")
    if suspicion is not None and suspicion.suspects:
        ranked = [_say(suspect.change) for suspect in suspicion.suspects[:_MOST]]
        lines.append(f"likeliest first: {'; '.join(ranked)}")
        if suspicion.next_step:
            lines.append(f"next: {suspicion.next_step}")
    return lines


def _say(change: "Change") -> str:
    ends = " → ".join(part or "absent" for part in (change.before, change.after))
    return f"{change.name} {ends}"
