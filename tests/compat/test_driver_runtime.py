"""Properties of the rule that holds drivers against runtimes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from envtrack.compat.versions import numbers
from envtrack.model.finding import Finding, Fit
from tests.compat.stacks import judge_rule, read_tables

# From the oldest branch of the tables to one that nobody has seen yet.
DRIVERS = st.tuples(st.integers(384, 720), st.integers(0, 199), st.integers(0, 20)).map(
    lambda parts: ".".join(f"{part:02d}" for part in parts)
)
KNOWN = [
    f"{major}.{minor}"
    for major, last in ((10, 2), (11, 8), (12, 9), (13, 5))
    for minor in range(last + 1)
]
RUNTIMES = st.sampled_from([*KNOWN, "12.10", "13.10", "14.0"])
RANKS = [Fit.MISFIT, Fit.UNKNOWN, Fit.LIMITED, Fit.FITS]


def verdict(driver: str, runtime: str) -> Fit:
    found = judge_rule(f"driver={driver} torch=2.99.0 torch.cuda={runtime}", "driver-runtime")
    assert isinstance(found, Finding)
    return found.fit


@given(DRIVERS, DRIVERS, RUNTIMES)
def test_a_newer_driver_never_fits_less(first: str, second: str, runtime: str) -> None:
    older, newer = sorted((first, second), key=numbers)
    assert RANKS.index(verdict(older, runtime)) <= RANKS.index(verdict(newer, runtime))


@given(DRIVERS, st.sampled_from(KNOWN), st.sampled_from(KNOWN))
def test_an_older_runtime_of_one_family_never_fits_less(
    driver: str, first: str, second: str
) -> None:
    older, newer = sorted((first, second), key=numbers)
    if numbers(older).major == numbers(newer).major:
        assert RANKS.index(verdict(driver, newer)) <= RANKS.index(verdict(driver, older))


@given(DRIVERS)
def test_a_runtime_beyond_the_tables_is_never_judged(driver: str) -> None:
    assert verdict(driver, "14.0") is Fit.UNKNOWN


@given(st.sampled_from(KNOWN), st.sampled_from(KNOWN))
def test_the_driver_s_own_word_runs_everything_that_is_not_newer(cuda: str, runtime: str) -> None:
    found = judge_rule(f"cuda={cuda} torch=2.99.0 torch.cuda={runtime}", "driver-runtime")
    assert isinstance(found, Finding)
    assert (found.fit is Fit.FITS) == (numbers(runtime) <= numbers(cuda))


def test_every_branch_runs_the_cuda_that_it_reports() -> None:
    tables = read_tables()
    for branch in tables.branches:
        assert verdict(f"{branch.number}.10", str(branch.cuda)) is Fit.FITS


def test_a_misfit_names_a_driver_that_would_fit() -> None:
    found = judge_rule("driver=550.54.15 torch=2.9.0+cu130", "driver-runtime")
    assert isinstance(found, Finding)
    assert found.remedy.startswith("a driver of branch 580 or newer runs it")
    assert verdict("580.65.06", "13.0") is Fit.FITS


def test_a_misfit_names_builds_of_the_same_torch_that_would_fit() -> None:
    found = judge_rule("driver=550.54.15 torch=2.9.0+cu130", "driver-runtime")
    assert isinstance(found, Finding)
    assert "torch 2.9.0 for an older CUDA: +cu128, +cu126" in found.remedy
    for tag in ("cu128", "cu126"):
        other = judge_rule(f"driver=550.54.15 torch=2.9.0+{tag}", "driver-runtime")
        assert isinstance(other, Finding)
        assert other.fit is Fit.LIMITED


def test_the_sources_of_the_tables_are_named_with_their_day() -> None:
    found = judge_rule("driver=550.54.15 torch=2.7.0+cu126", "driver-runtime")
    assert isinstance(found, Finding)
    assert any("minor-version-compatibility" in source for source in found.sources)
    assert all("(as of 2026-" in source for source in found.sources)


def test_a_fact_goes_before_the_tables() -> None:
    """A driver that reports another CUDA than its branch mostly does is believed."""
    found = judge_rule("driver=550.54.15 cuda=12.6 torch=2.6.0+cu126", "driver-runtime")
    assert isinstance(found, Finding)
    assert found.fit is Fit.FITS
