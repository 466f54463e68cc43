from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envtrack.culprit.changes import Ask, Guilt, Taken, find_change_sets, run_search
from envtrack.culprit.said import Said

Sets = list[frozenset[int]]


class World:
    """Environments that fail where they hold all of one of some sets of changes.

    `needs` says what a change can't be without: without it nothing can be judged.
    """

    def __init__(
        self, count: int, guilty: Sequence[Taken], *, needs: dict[int, Taken] | None = None
    ) -> None:
        self.count = count
        self.guilty = guilty
        self.needs = needs or {}
        self.asked: list[Ask] = []

    def say(self, ask: Ask) -> Said:
        self.asked.append(ask)
        return self.judge(ask.taken)

    def judge(self, taken: Taken) -> Said:
        if any(not wanted <= taken for change, wanted in self.needs.items() if change in taken):
            return Said.UNRESOLVED
        fails = any(one <= taken for one in self.guilty)
        return Said.FAILS if fails else Said.PASSES

    def find(self, *suspects: Taken) -> tuple[Guilt, ...]:
        return run_search(find_change_sets(self.count, suspects=suspects), self.say)

    @property
    def probes(self) -> int:
        return len(self.asked)


def sets(found: Sequence[Guilt]) -> Sets:
    return [guilt.changes for guilt in found]


@pytest.mark.parametrize("guilty", range(12))
def test_one_change_of_twelve_is_found_by_halving(guilty: int) -> None:
    world = World(12, [frozenset({guilty})])
    (found,) = world.find()
    assert found.changes == {guilty}
    assert found.is_shown
    assert found.is_minimal
    # Halving, the found one alone, and two fresh trials.
    assert world.probes <= math.ceil(math.log2(12)) + 3


def test_both_ways_are_tried_afresh() -> None:
    world = World(8, [frozenset({5})])
    world.find()
    fresh = [ask.taken for ask in world.asked if ask.fresh]
    assert fresh == [frozenset(range(8)) - {5}, frozenset({5})]


def test_two_changes_that_fail_only_together_are_one_culprit() -> None:
    world = World(40, [frozenset({3, 31})])
    (found,) = world.find()
    assert found.changes == {3, 31}
    assert found.is_shown
    assert found.is_minimal


def test_two_changes_that_fail_each_alone_are_two_culprits() -> None:
    world = World(40, [frozenset({3}), frozenset({31})])
    found = world.find()
    assert sorted(map(sorted, sets(found))) == [[3], [31]]
    assert all(guilt.is_shown for guilt in found)


def test_a_pair_and_a_single_one_are_told_apart() -> None:
    world = World(30, [frozenset({3, 20}), frozenset({11})])
    assert sorted(map(sorted, sets(world.find()))) == [[3, 20], [11]]


def test_a_right_suspicion_costs_two_trials_and_their_proof() -> None:
    world = World(300, [frozenset({123})])
    (found,) = world.find(frozenset({123}))
    assert found.changes == {123}
    assert [ask.fresh for ask in world.asked] == [False, True, True]


def test_a_wrong_suspicion_costs_one_trial_more() -> None:
    plain, misled = World(64, [frozenset({9})]), World(64, [frozenset({9})])
    plain.find()
    (found,) = misled.find(frozenset({40}))
    assert found.changes == {9}
    assert misled.probes == plain.probes + 1


def test_what_can_not_be_judged_is_stepped_round() -> None:
    # Half of the prefixes end between a change and what it needs.
    needs = {2 * n: frozenset({2 * n + 1}) for n in range(20)}
    world = World(40, [frozenset({17})], needs=needs)
    (found,) = world.find()
    assert found.changes == {17}
    assert found.alone is Said.FAILS
    # 16 needs 17: nobody can try all but 17.
    assert found.without is Said.UNRESOLVED
    assert not found.is_shown


def test_a_change_that_needs_another_is_blamed_with_it() -> None:
    world = World(10, [frozenset({4})], needs={4: frozenset({7})})
    (found,) = world.find()
    assert found.changes == {4, 7}
    assert found.is_shown
    # {4} alone can't be judged, so nobody can say that 7 has a part in it.
    assert not found.is_minimal


def test_without_any_judged_mixture_all_are_in_doubt() -> None:
    needs = {n: frozenset(range(6)) - {n} for n in range(6)}
    world = World(6, [frozenset({2})], needs=needs)
    (found,) = world.find()
    assert found.changes == set(range(6))
    assert not found.is_minimal


def test_a_single_change_needs_no_search() -> None:
    world = World(1, [frozenset({0})])
    (found,) = world.find()
    assert found.changes == {0}
    assert found.is_shown


def test_a_failure_that_comes_and_goes_is_not_called_shown() -> None:
    world = World(6, [frozenset({2})])

    def moody(ask: Ask) -> Said:
        said = world.say(ask)
        return Said.PASSES if ask.fresh and ask.taken == {2} else said

    (found,) = run_search(find_change_sets(6), moody)
    assert found.changes == {2}
    assert found.alone is Said.PASSES
    assert not found.is_shown


@st.composite
def worlds(draw: st.DrawFn) -> World:
    count = draw(st.integers(1, 24))
    some = st.frozensets(st.integers(0, count - 1), min_size=1, max_size=3)
    guilty = draw(st.lists(some, min_size=1, max_size=3))
    needs = draw(
        st.dictionaries(
            st.integers(0, count - 1),
            st.frozensets(st.integers(0, count - 1), min_size=1, max_size=2),
            max_size=count // 2,
        )
    )
    return World(count, guilty, needs=needs)


@given(worlds())
def test_what_is_found_fails_and_no_smaller_set_by_one_does(world: World) -> None:
    for guilt in world.find():
        assert world.judge(guilt.changes) is Said.FAILS
        smaller = [world.judge(guilt.changes - {change}) for change in guilt.changes]
        assert Said.FAILS not in smaller
        assert guilt.is_minimal == all(said is Said.PASSES for said in smaller)


@given(worlds())
def test_nothing_is_tried_twice_but_afresh(world: World) -> None:
    world.find()
    plain = [ask.taken for ask in world.asked if not ask.fresh]
    assert len(plain) == len(set(plain))


@given(worlds())
def test_with_all_that_can_be_judged_the_planted_sets_are_found(world: World) -> None:
    world.needs = {}
    found = sets(world.find())
    assert set(found) <= set(world.guilty)
    # What is left does not fail: every planted set has lost a change to one that was found.
    assert all(any(one & other for other in found) for one in world.guilty)


def test_the_same_questions_are_asked_again_from_the_start() -> None:
    first, again = (World(50, [frozenset({7, 30}), frozenset({41})]) for _ in range(2))
    first.find()
    again.find()
    assert first.asked == again.asked
