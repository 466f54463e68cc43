"""The options that say what good and bad mean, and what they come to."""

from typing import TYPE_CHECKING, Annotated

from envtrack.cli.grammar import option
from envtrack.errors import UsageProblem

if TYPE_CHECKING:
    from envtrack.model.condition import Condition

_PANEL = "What good and bad mean"
_MOST_RUNS = 100

InvertOption = Annotated[
    bool,
    option(
        "--invert",
        help="Find what fixed it: GOOD is an older revision that fails, BAD a newer one that "
        "passes.",
        panel=_PANEL,
    ),
]
MetricOption = Annotated[
    str | None,
    option(
        "--metric",
        metavar="NAME",
        help="A figure decides, not the exit code: the last `NAME: 12.5`, `NAME=12.5` or JSON line "
        "that the smoke test prints.",
        panel=_PANEL,
    ),
]
MetricFileOption = Annotated[
    str | None,
    option(
        "--metric-file",
        metavar="PATH",
        help="Read the figure from this JSON file, which the smoke test writes: `eval.loss`.",
        panel=_PANEL,
    ),
]
ThresholdOption = Annotated[
    str | None,
    option(
        "--threshold",
        metavar="LIMIT",
        help="What is bad: `'>12'`, `'<0.9'`, or relative to GOOD, `'>10%'`. By default the limit "
        "is drawn halfway between what both ends measure.",
        panel=_PANEL,
    ),
]
GoodMetricOption = Annotated[
    str | None,
    option("--good-metric", metavar="NUMBER", help="What it is where it is good.", panel=_PANEL),
]
BadMetricOption = Annotated[
    str | None,
    option("--bad-metric", metavar="NUMBER", help="What it is where it is bad.", panel=_PANEL),
]
MetricRunsOption = Annotated[
    int | None,
    option(
        "--metric-runs",
        metavar="N",
        help="Run the smoke test so often for one verdict; by default 3, and more near the limit.",
        panel=_PANEL,
    ),
]


def choose_condition(
    *,
    invert: bool,
    metric: str | None,
    metric_file: str | None,
    threshold: str | None,
    good_metric: str | None,
    bad_metric: str | None,
    metric_runs: int | None,
    trust_ends: bool,
) -> "Condition":
    """The condition that the options say.

    Raises:
        UsageProblem: they say nothing that can be judged by.
    """
    from envtrack.model.condition import Condition

    more = (metric_file, threshold, good_metric, bad_metric, metric_runs)
    if not metric:
        if any(value is not None for value in more):
            raise UsageProblem("which figure? `--metric NAME` names it")
        return Condition(invert=invert)
    _require_sense(
        invert=invert, threshold=threshold, given=(good_metric, bad_metric), runs=metric_runs
    )
    condition = Condition(
        metric=metric,
        metric_file=metric_file or "",
        threshold=threshold or "",
        good_metric=_read_number("--good-metric", good_metric),
        bad_metric=_read_number("--bad-metric", bad_metric),
        metric_runs=metric_runs or Condition().metric_runs,
    )
    if condition.good_metric is not None and condition.good_metric == condition.bad_metric:
        raise UsageProblem("--good-metric and --bad-metric are the same figure")
    if trust_ends and condition.needs_ends:
        raise UsageProblem(
            "the limit is drawn from the ends, which `--trust-ends` does not measure",
            hint="`--threshold '>NUMBER'`, or `--good-metric` and `--bad-metric`",
        )
    return condition


def _require_sense(
    *, invert: bool, threshold: str | None, given: tuple[str | None, ...], runs: int | None
) -> None:
    from envtrack.probe.metric_limit import parse_threshold

    if invert:
        raise UsageProblem(
            "--invert does not go with --metric: turn the limit round",
            hint="`--threshold '<12'` seeks where it fell below 12",
        )
    if threshold is not None and any(value is not None for value in given):
        raise UsageProblem("--threshold, or --good-metric and --bad-metric: not both")
    if threshold is not None and parse_threshold(threshold) is None:
        raise UsageProblem(
            f"--threshold: `{threshold}` is no limit", hint="`'>12'`, `'<0.9'`, `'>10%'`"
        )
    if runs is not None and not 0 < runs <= _MOST_RUNS:
        raise UsageProblem(f"--metric-runs: a number from 1 to {_MOST_RUNS}")


def _read_number(name: str, text: str | None) -> float | None:
    import math

    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise UsageProblem(f"{name}: `{text}` is no number")
    return number
