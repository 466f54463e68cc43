"""What holds for every history: no wrong name without a reservation, and no probe too many."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from envtrack.bisect.search import Found
from envtrack.errors import RigFailed
from envtrack.model.answer import Outcome
from envtrack.model.verdict import Verdict
from tests.support.simulated import Lab, Step, World, simulate

G, B, U, D = Verdict.GOOD, Verdict.BAD, Verdict.UNTESTABLE, Verdict.DIFFERENT
ENVIRONMENTS = tuple(f"env {number}" for number in range(6))


def search_to_its_end(lab: Lab) -> Found:
    """As `bisect resume` does after every failure of the rig."""
    for _ in range(10):
        try:
            return lab.search()
        except RigFailed:
            continue
    return lab.search()


@given(st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_culprit_is_wrong_and_no_environment_is_tried_twice(data: st.DataObject) -> None:
    steps = data.draw(
        st.lists(
            st.builds(Step, st.sampled_from(ENVIRONMENTS), st.sampled_from("abc")),
            min_size=2,
            max_size=24,
        )
    )
    distinct = sorted(set(steps))
    said = data.draw(
        st.lists(
            st.sampled_from((G, G, B, B, U, D)), min_size=len(distinct), max_size=len(distinct)
        )
    )
    # What can't be installed can't be installed, whatever the code.
    broken = {step.env for step, verdict in zip(distinct, said, strict=True) if verdict is U}
    verdicts = {
        step: U if step.env in broken else verdict
        for step, verdict in zip(distinct, said, strict=True)
    }
    aborts = data.draw(st.sets(st.integers(0, 12), max_size=4))
    with (
        TemporaryDirectory() as name,
        simulate(Path(name), steps, World(verdicts), aborts=aborts) as lab,
    ):
        found = search_to_its_end(lab)
        # Once each, and once more for each end.
        ends = Counter((steps[0], steps[-1]))
        assert all(number <= 1 + ends[step] for step, number in lab.rig.tried.items())
        broken_tried = [step.env for step in lab.rig.tried if step.env in broken]
        assert len(broken_tried) == len(set(broken_tried))
        if found.outcome is Outcome.FOUND:
            assert found.first_bad is not None
            at = lab.commits.index(found.first_bad)
            assert verdicts[steps[at]] is B
            assert verdicts[steps[at - 1]] is G
            assert found.predecessor == lab.commits[at - 1]
        if found.outcome is Outcome.SEVERAL:
            places = [lab.commits.index(commit) for commit in found.possible]
            turns = {at for at in range(1, len(steps)) if verdicts[steps[at]] is B or at in places}
            assert set(places) <= turns
            # Somewhere among them it turns: the one before is good, the last is bad.
            assert verdicts[steps[min(places) - 1]] is G
            assert verdicts[steps[max(places)]] is B
