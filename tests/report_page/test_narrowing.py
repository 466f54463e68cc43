from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from envtrack.model.oid import Commit, Oid
from envtrack.model.story import Probed
from envtrack.model.verdict import Judgement, Observation, Verdict
from envtrack.report.html.narrowing import follow


def oid(number: int) -> Oid:
    return Oid(f"{number:040x}")


def probed(number: int, verdict: Verdict) -> Probed:
    said = Judgement(verdict=verdict, stage="smoke", reason="", kind="exit")
    return Probed(
        Observation(
            id=number, commit=oid(number), key="", started_at=0, seconds=1,
            judgement=said, same_as=None, log="",
        )
    )  # fmt: skip


def commits(*parents: tuple[int, ...]) -> list[Commit]:
    """Commit 1, 2… with these parents."""
    return [
        Commit(oid=oid(at), parents=tuple(map(oid, some)), subject="", author="", authored_at="")
        for at, some in enumerate(parents, start=1)
    ]


def left(candidates: list[Commit], *said: tuple[int, Verdict]) -> set[int]:
    after = list(follow(candidates, [probed(*one) for one in said]))[-1][1]
    return {int(one.hex, 16) for one in after}


@given(st.integers(1, 40), st.data())
def test_a_straight_line_narrows_to_its_first_bad_commit(count: int, data: st.DataObject) -> None:
    first_bad = data.draw(st.integers(1, count))
    tried = data.draw(st.lists(st.integers(1, count), min_size=1))
    line = commits(*[(at,) for at in range(count)])
    said = [(n, Verdict.BAD if n >= first_bad else Verdict.GOOD) for n in tried]
    low = max([n for n in tried if n < first_bad], default=0)
    high = min([n for n in tried if n >= first_bad], default=count)
    assert left(line, *said) == set(range(low + 1, high + 1))


def test_a_good_commit_clears_its_own_side_of_a_fork_alone() -> None:
    fork = commits((), (1,), (1,), (2, 3))
    assert left(fork, (2, Verdict.GOOD)) == {3, 4}
    assert left(fork, (3, Verdict.BAD)) == {1, 3}


def test_what_can_not_be_judged_leaves_all_open() -> None:
    line = commits((), (1,), (2,))
    for verdict in (Verdict.UNTESTABLE, Verdict.DIFFERENT, Verdict.ABORTED):
        assert left(line, (2, verdict)) == {1, 2, 3}
