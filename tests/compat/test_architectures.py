from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envtrack.compat.architectures import Code, find_code
from envtrack.compat.versions import numbers
from tests.compat.stacks import read_tables

TEGRA = read_tables().tegra
CAPABILITIES = [one.number for one in read_tables().capabilities]
DESKTOP = [one for one in CAPABILITIES if one not in TEGRA]


def code(capability: str, archs: str) -> Code:
    return find_code(numbers(capability), archs.split(), tegra=TEGRA).code


@pytest.mark.parametrize(
    ("capability", "archs", "wanted"),
    [
        ("8.9", "sm_80", Code.BINARY),
        ("8.0", "sm_86", Code.NONE),
        ("9.0", "sm_80", Code.NONE),
        ("9.0", "sm_80 compute_80", Code.PTX),
        ("8.0", "compute_90", Code.NONE),
        ("12.1", "sm_120", Code.BINARY),
        ("10.3", "sm_100", Code.BINARY),
        ("10.0", "sm_90 sm_103", Code.NONE),
        ("9.0", "sm_90a", Code.BINARY),
        ("10.3", "sm_100a", Code.NONE),
        ("10.3", "sm_100f", Code.BINARY),
        ("12.0", "sm_100f compute_100f", Code.NONE),
        ("12.0", "compute_90a", Code.NONE),
        ("8.7", "sm_80 sm_86", Code.NONE),
        ("8.7", "sm_87", Code.BINARY),
        ("8.9", "sm_87", Code.NONE),
        ("11.0", "sm_110", Code.BINARY),
        ("9.0", "gfx90a gfx942", Code.NONE),
        ("9.0", "", Code.NONE),
    ],
)
def test_what_of_the_code_a_gpu_can_use(capability: str, archs: str, wanted: Code) -> None:
    assert code(capability, archs) is wanted


def test_binary_code_goes_before_ptx() -> None:
    assert find_code(numbers("9.0"), ["compute_80", "sm_90"], tegra=TEGRA).arch == "sm_90"


@given(st.sampled_from(CAPABILITIES))
def test_a_gpu_always_runs_its_own_binary(capability: object) -> None:
    assert code(str(capability), f"sm_{str(capability).replace('.', '')}") is Code.BINARY


@given(st.sampled_from(DESKTOP), st.sampled_from(DESKTOP))
def test_what_runs_on_a_gpu_runs_on_the_later_ones_of_its_generation(
    target: object, capability: object
) -> None:
    a, b = numbers(str(target)), numbers(str(capability))
    runs = code(str(capability), f"sm_{str(target).replace('.', '')}") is Code.BINARY
    assert runs == (a.major == b.major and a <= b)


@given(st.lists(st.sampled_from(DESKTOP), min_size=1), st.sampled_from(DESKTOP))
def test_more_architectures_never_run_less(targets: list[object], capability: object) -> None:
    archs = [f"sm_{str(target).replace('.', '')}" for target in targets]
    if code(str(capability), " ".join(archs[:1])) is Code.BINARY:
        assert code(str(capability), " ".join(archs)) is Code.BINARY
