"""Whether a representative experiment still gives what it gave."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from envtrack.policy.interface import Fault, Step

if TYPE_CHECKING:
    from envtrack.config.policy_schema import Experiment, Metric

WHY = "an environment can pass every smoke test and train another model"
_RUN = "run the experiment with this lockfile, and stage its figures with it"


def judge_experiment(step: Step, options: Experiment) -> Iterator[Fault]:
    """Whether the figures beside the lockfile are new, and near enough to those before.

    The figures that were committed before are the last good record: they were let in by this rule.
    """
    if step.after is None or not step.list_moved(with_forced=True):
        return
    texts = step.read_beside(options.file)
    if texts[1] is None:
        yield Fault(found=f"no {options.file} stands beside {step.lockfile}", ways_out=(_RUN,))
        return
    if texts[0] == texts[1]:
        said = f"{options.file} is what it was: the experiment was not run with these packages"
        yield Fault(found=said, ways_out=(_RUN,))
        return
    before, after = (None if text is None else _read(text) for text in texts)
    if after is None:
        yield Fault(found=f"{options.file} is no JSON object", ways_out=(_RUN,))
    elif before is not None:
        yield from _compare(before, after, options)


def _read(text: str) -> dict[str, Any] | None:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _compare(before: dict[str, Any], after: dict[str, Any], options: Experiment) -> Iterator[Fault]:
    for name in options.same:
        if before.get(name) != after.get(name):
            said = f"{name} was {before.get(name)} and is {after.get(name)}: no like is compared"
            yield Fault(found=said, ways_out=(f"run the experiment with the same {name}",))
            return
    for metric in options.metrics:
        yield from _compare_one(metric, before.get(metric.name), after.get(metric.name))


def _compare_one(metric: Metric, before: object, after: object) -> Iterator[Fault]:
    if not _is_figure(after):
        # Missing data is no zero, and no pass.
        yield Fault(found=f"{metric.name} is missing, or no finite number", ways_out=(_RUN,))
        return
    if not _is_figure(before):
        return  # it is measured for the first time
    old, new = float(str(before)), float(str(after))
    room = float(metric.within.removesuffix("%"))
    if metric.within.endswith("%"):
        room *= abs(old) / 100
    worse = {"lower": new - old, "higher": old - new, "neither": abs(new - old)}[metric.better]
    # Sums of decimal figures are off by some 1e-16 of them; that is no difference.
    if worse > room and not math.isclose(worse, room, rel_tol=1e-9):
        yield Fault(
            found=f"{metric.name} was {before} and is {after}: more than {metric.within} off",
            ways_out=("find what moved it: `envtrack bisect` with a smoke test that looks at it",),
            names=(metric.name,),
        )


def _is_figure(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and math.isfinite(float(str(value)))
