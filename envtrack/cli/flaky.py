"""The options for smoke tests that do not always say the same."""

from typing import Annotated

from envtrack.cli.grammar import option
from envtrack.errors import UsageProblem

RepeatOption = Annotated[
    int | None,
    option(
        "--repeat",
        metavar="N",
        help="Run the smoke test up to N times for one verdict; see `--quorum`.",
    ),
]
QuorumOption = Annotated[
    int | None,
    option(
        "--quorum",
        metavar="K",
        help="Of N runs K must fail for a bad verdict; by default more than half of them.",
    ),
]


def check_repeat(repeat: int | None, quorum: int | None) -> dict[str, int]:
    """``--repeat`` and ``--quorum`` as the plan has them.

    Raises:
        UsageProblem: there can't be so many runs, or so many of them can't fail.
    """
    runs = 1 if repeat is None else repeat
    if runs < 1:
        raise UsageProblem(f"--repeat: {runs} runs say nothing", hint="1 or more")
    needed = runs // 2 + 1 if quorum is None else quorum
    if not 1 <= needed <= runs:
        raise UsageProblem(
            f"--quorum: {needed} of {runs} runs can't fail",
            hint=f"`--repeat` says how many: 1 to {runs}",
        )
    return {"repeat": runs, "quorum": needed}
