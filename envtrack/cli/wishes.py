"""What the options of ``bisect`` and the configuration come to."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from envtrack.cli.context import Context
from envtrack.errors import UsageProblem
from envtrack.model.verdict import Verdict

if TYPE_CHECKING:
    from envtrack.model.selection import Selection
    from envtrack.probe.plan import Plan


def choose_selection(
    context: Context, extras: Sequence[str], groups: Sequence[str], everything: tuple[bool, ...]
) -> "Selection":
    """What is installed: the options where they say something, else the configuration.

    Args:
        context: where.
        extras: ``--extra``.
        groups: ``--group``.
        everything: ``--all-extras``, ``--all-groups``, ``--all-packages``.
    """
    from dataclasses import replace

    chosen = context.settings.selection
    all_extras, all_groups, all_packages = everything
    return replace(
        chosen,
        extras=tuple(extras) or chosen.extras,
        groups=tuple(groups) or chosen.groups,
        all_extras=all_extras or chosen.all_extras,
        all_groups=all_groups or chosen.all_groups,
        all_packages=all_packages or chosen.all_packages,
    )


def make_plan(context: Context, *, timeout: str | None, **values: Any) -> "Plan":  # noqa: ANN401
    """The parts of a plan that the options say; the session fills in the rest."""
    from envtrack.config.durations import parse_duration
    from envtrack.probe.plan import Plan
    from envtrack.uv import find_uv

    seconds: float | None = context.settings.smoke.timeout_s
    if timeout is not None:
        seconds = parse_duration(timeout)
    if not seconds:
        raise UsageProblem(f"--timeout: `{timeout}` is no duration", hint="`90s`, `10m`, `1h`")
    if values["timeout_is"] not in (Verdict.BAD, Verdict.UNTESTABLE):
        raise UsageProblem("--timeout-is: bad or untestable")
    return Plan.of(
        smoke_timeout_s=seconds,
        uv=str(find_uv(context.repository.environ)),
        machine=context.bench.machine,
        layers=context.settings.layers,
        **values,
    )


def check_match(text: str | None) -> str:
    """``--match`` as it was given; empty without it.

    Raises:
        UsageProblem: it is no regular expression.
    """
    import re

    try:
        re.compile(text or "")
    except re.error as error:
        raise UsageProblem(f"--match: `{text}` is no regular expression: {error}") from error
    return text or ""


def newest_good(context: Context, bad: str, smoke: str) -> str:
    """The newest good commit below the bad end: of this smoke test, or else of any."""
    from envtrack.record.verdicts import find_newest_good

    repository, bench = context.repository, context.bench
    end = repository.get_commit(bad)
    found = None
    for command in dict.fromkeys((smoke, "")):
        found = found or find_newest_good(
            repository, bench.machine, bench.lockfile, end, command=command
        )
    if found is None:
        raise UsageProblem(
            f"no commit up to `{bad}` has a recorded good verdict",
            hint="name a revision that works: `envtrack bisect GOOD`; `envtrack smoke` records "
            "verdicts",
        )
    if found == end:
        raise UsageProblem(
            f"`{bad}` itself has a recorded good verdict on {bench.machine}: if it fails now, "
            "something below the lockfile has changed",
            hint="`envtrack diff` compares the record with this machine; or name a good revision",
        )
    return found.hex
