"""Which half of a guilty commit is to blame, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from envtrack.model.attribution import Attribution

if TYPE_CHECKING:
    from envtrack.model.answer import Answer

_SAID: Final = {
    Attribution.ENVIRONMENT: "the environment: it breaks the old code too; the code is innocent",
    Attribution.CODE: "the code: it breaks in the old environment, too; the lockfile is innocent",
    Attribution.EITHER: "either: new code and new environment each break it without the other",
    Attribution.BOTH: "only both together: each works with the other as it was before",
    Attribution.UNKNOWN: "code or environment: that could not be told",
}


def say_crossings(answer: Answer) -> Iterator[str]:
    """Which half it is, with the evidence; nothing where that was not asked."""
    crossed = answer.crossed
    if crossed is None:
        return
    yield f"It changes code and environment. It is {_SAID[crossed.attribution]}."
    for what, said in (
        ("old code, new environment", crossed.environment_alone),
        ("new code, old environment", crossed.code_alone),
    ):
        yield f"  {what}: {said.verdict}: {said.reason}"
