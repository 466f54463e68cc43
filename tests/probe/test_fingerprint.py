from __future__ import annotations

import pytest

from envtrack.bisect.rig import Rig
from envtrack.model.oid import Oid
from envtrack.model.verdict import Verdict
from envtrack.probe.failures import hunt
from envtrack.probe.fingerprint import Fingerprint, Hunted, find_fingerprint, tell_difference
from tests.support.history import Script, judge, open_bench

TOP, OUTSIDE = "/scratch/tree", "/scratch/env"

PLAIN = f"""\
epoch 1
Traceback (most recent call last):
  File "smoke.py", line 7, in <module>
    train()
  File "{TOP}/lab/train.py", line 17, in fit_all
    weights = fit(data)
              ^^^^^^^^^
  File "{OUTSIDE}/lib/python3.11/site-packages/lantern/loop.py", line 28, in fit
    steps = epochs * len(batches)
TypeError: object of type 'generator' has no len()
"""
CHAINED = f"""\
Traceback (most recent call last):
  File "{TOP}/lab/io.py", line 3, in read
    return open(path)
FileNotFoundError: [Errno 2] No such file or directory: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "smoke.py", line 9, in <module>
    main()
  File "{TOP}/lab/io.py", line 5, in read_or_make
    raise lab.errors.DataError("no data") from None
lab.errors.DataError: no data
"""
PYTEST = """\
=================================== FAILURES ===================================
E       assert 3 == 4
=========================== short test summary info ============================
FAILED tests/test_loss.py::test_falls[cuda-1] - AssertionError: assert 3 == 4
FAILED tests/test_loss.py::test_is_finite - assert not True
ERROR tests/test_data.py - ModuleNotFoundError: No module named 'zarr'
========================= 2 failed, 1 error in 1.20s ==========================
"""


def of(output: str, *, kind: str = "exit", code: int | None = 1) -> Fingerprint:
    return find_fingerprint(output, kind=kind, code=code, top=TOP, outside=OUTSIDE)


def test_the_exception_and_the_innermost_frame_of_the_project_mark_a_failure() -> None:
    assert of(PLAIN) == Fingerprint("exit", exception="TypeError", place="lab/train.py:fit_all")


def test_of_chained_exceptions_the_last_one_counts() -> None:
    told = of(CHAINED)
    assert (told.exception, told.place) == ("DataError", "lab/io.py:read_or_make")


def test_failed_tests_are_named() -> None:
    told = of(PYTEST)
    assert told.tests == (
        "tests/test_data.py",
        "tests/test_loss.py::test_falls[cuda-1]",
        "tests/test_loss.py::test_is_finite",
    )
    assert told.exception == "AssertionError"


@pytest.mark.parametrize("code", [139, -11])
def test_a_signal_is_the_same_however_it_is_told(code: int) -> None:
    assert of("", kind="signal", code=code).signal == 11


def test_output_without_a_traceback_has_no_marks() -> None:
    assert of("loss: nan\n") == Fingerprint("exit")


@pytest.mark.parametrize(
    ("hunted", "seen", "same"),
    [
        (of(PLAIN), of(PLAIN), True),
        (of(PLAIN), of(PLAIN.replace("line 17", "line 90")), True),
        (of(PLAIN), of(PLAIN.replace("TypeError", "ImportError")), False),
        (of(PLAIN), of(PLAIN.replace("lab/train.py", "lab/data.py")), False),
        (of(PLAIN), of("it failed\n"), False),
        (of("it failed\n"), of(PLAIN), True),  # nothing marks what is hunted
        (of(PYTEST), of(PYTEST.replace("FAILED tests/test_loss.py::test_is_finite", "")), True),
        (of(PYTEST), of("FAILED tests/test_other.py::test_x - ValueError: 1\n"), False),
        (of("", kind="signal", code=139), of("", kind="signal", code=139), True),
        (of("", kind="signal", code=139), of("", kind="signal", code=134), False),
        (of("", kind="signal", code=139), of(PLAIN), False),
        (of("", kind="timeout", code=None), of("", kind="timeout", code=None), True),
        (of("", kind="timeout", code=None), of(PLAIN), False),
    ],
)
def test_two_failures_are_told_apart(hunted: Fingerprint, seen: Fingerprint, same: bool) -> None:  # noqa: FBT001
    assert (tell_difference(Hunted(hunted), seen, "") == "") is same


def test_a_pattern_of_the_users_decides_alone() -> None:
    hunted = Hunted(of(PLAIN), match=r"^loss: nan$")
    assert tell_difference(hunted, of("epoch 2\nloss: nan\n"), "epoch 2\nloss: nan\n") == ""
    assert tell_difference(hunted, of(PLAIN), PLAIN) == (
        "its output has nothing like '^loss: nan$'"
    )


SMOKE = """python -c '
import dial
if dial.VERSION == "2.1":
    raise ImportError("dial lacks what is wanted")
if dial.CODE:
    raise ValueError("nan")'"""


@pytest.fixture
def history(tmp_path_factory: pytest.TempPathFactory) -> Script:
    script = Script()
    for number, dial in enumerate(("1.0", "2.1", "2.2", "2.3")):
        script.add(f"c{number}", dial)
    return script


def test_a_commit_that_fails_otherwise_is_different(
    history: Script, tmp_path_factory: pytest.TempPathFactory
) -> None:
    built = history.build(tmp_path_factory.mktemp("different") / "repo")
    with open_bench(built.repo, built["c0"], smoke=SMOKE) as rig:
        _hunt_for(rig, built["c3"])
        assert judge(rig, built["c2"]).verdict is Verdict.BAD
        other = judge(rig, built["c1"])
        assert (other.verdict, other.kind) == (Verdict.DIFFERENT, "different")
        assert other.reason == "it fails otherwise: ImportError, not ValueError"
        assert judge(rig, built["c0"]).verdict is Verdict.GOOD


def test_with_any_failure_none_is_different(
    history: Script, tmp_path_factory: pytest.TempPathFactory
) -> None:
    built = history.build(tmp_path_factory.mktemp("any") / "repo")
    with open_bench(built.repo, built["c0"], smoke=SMOKE, any_failure=True) as rig:
        _hunt_for(rig, built["c3"])
        assert judge(rig, built["c1"]).verdict is Verdict.BAD


def test_a_pattern_hunts_from_the_first_probe_on(
    history: Script, tmp_path_factory: pytest.TempPathFactory
) -> None:
    built = history.build(tmp_path_factory.mktemp("match") / "repo")
    with open_bench(built.repo, built["c0"], smoke=SMOKE, match="lacks what") as rig:
        assert judge(rig, built["c2"]).verdict is Verdict.DIFFERENT
        assert judge(rig, built["c1"]).verdict is Verdict.BAD


def _hunt_for(rig: Rig, commit: str) -> None:
    hunt(rig.files, rig.probe(Oid(commit)))
