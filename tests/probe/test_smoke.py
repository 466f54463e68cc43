from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from envtrack.bisect.rig import Rig
from envtrack.errors import RigFailed
from envtrack.model.oid import Oid
from envtrack.model.verdict import Judgement, Verdict
from envtrack.probe.bounded import Ended
from envtrack.probe.smoke import judge_smoke
from tests.support.history import History, Script, judge, open_bench, read_log
from tests.test_process import wait_until_gone

G, B, U, A = Verdict.GOOD, Verdict.BAD, Verdict.UNTESTABLE, Verdict.ABORTED


def say(
    code: int | None, *, command: str = "python smoke.py", output: str = "", timeout_is: Verdict = B
) -> Judgement:
    ended = Ended(code=code, seconds=1.0)
    return judge_smoke(ended, command=command, output=output, timeout_is=timeout_is, timeout_s=90)


@pytest.mark.parametrize(
    ("code", "verdict", "kind"),
    [
        (0, G, "exit"),
        (1, B, "exit"),
        (2, B, "exit"),
        (124, B, "exit"),  # what timeout(1) ends in, which git also reads as bad
        (125, U, "skip"),
        (126, A, "command-missing"),
        (127, A, "command-missing"),
        (128, B, "exit"),
        (130, B, "signal"),
        (137, B, "signal"),
        (139, B, "signal"),
        (-11, B, "signal"),
        (-9, B, "signal"),
        (245, B, "exit"),  # Python's sys.exit(-11)
        (255, B, "exit"),
    ],
)
def test_every_exit_code_has_its_meaning(code: int, verdict: Verdict, kind: str) -> None:
    judged = say(code)
    assert (judged.verdict, judged.kind, judged.exit_code) == (verdict, kind, code)


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        ("OSError: [Errno 28] No space left on device", "disk-full"),
        ("Failed to initialize NVML: Driver/library version mismatch", "driver-mismatch"),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", "gpu-lost"),
        ("CUDA error: all CUDA-capable devices are busy or unavailable", "gpu-lost"),
        ("socket.gaierror: [Errno -3] Temporary failure in name resolution", "name-resolution"),
    ],
)
def test_a_machine_that_fails_says_nothing_of_the_commit(output: str, kind: str) -> None:
    judged = say(1, output=f"step 1\n{output}\n")
    assert (judged.verdict, judged.kind) == (A, kind)
    assert say(0, output=output).verdict is G


def test_a_driver_that_is_too_old_for_the_new_cuda_is_a_finding() -> None:
    said = "RuntimeError: The NVIDIA driver on your system is too old (found version 11040)."
    assert say(1, output=said).verdict is B


def test_a_limit_is_what_the_user_says() -> None:
    assert say(None).verdict is B
    assert say(None, timeout_is=U).verdict is U
    assert say(None).reason == "the smoke test was still running after 90 s"


def test_a_signal_is_named() -> None:
    assert say(139).reason == "the smoke test died of SIGSEGV"
    assert say(-signal.SIGKILL).reason == "the smoke test died of SIGKILL"


def test_a_full_disk_is_no_verdict_unless_the_test_passed() -> None:
    output = "OSError: [Errno 28] No space left on device: '/x'"
    assert say(1, output=output).kind == "disk-full"
    assert say(1, output=output).verdict is A
    assert say(0, output=output).verdict is G


PYTEST = ["pytest -q", "python -m pytest tests", "cd x && .venv/bin/pytest", "uv run py.test -x"]


@pytest.mark.parametrize("command", PYTEST)
@pytest.mark.parametrize(
    ("code", "output", "verdict", "kind"),
    [
        (0, "", G, "exit"),
        (1, "1 failed", B, "exit"),
        (2, "!!! KeyboardInterrupt !!!", A, "pytest"),
        (2, "!!! Interrupted: 1 error during collection !!!", B, "collection"),
        (2, "!!! Interrupted: 12 errors during collection !!!", B, "collection"),
        (3, "INTERNALERROR>", A, "pytest"),
        (4, "ERROR: file or directory not found: tests", U, "pytest"),
        (4, "ImportError while loading conftest '/x/conftest.py'.", B, "collection"),
        (5, "no tests ran", U, "pytest"),
        (139, "Fatal Python error: Segmentation fault", B, "signal"),
    ],
)
def test_pytests_codes_count_when_the_command_is_pytest(
    command: str, code: int, output: str, verdict: Verdict, kind: str
) -> None:
    judged = say(code, command=command, output=output)
    assert (judged.verdict, judged.kind) == (verdict, kind)


@pytest.mark.parametrize("command", ["python pytest_like.py", "./run-pytests", "mypytest"])
def test_other_commands_may_end_in_pytests_codes(command: str) -> None:
    assert {say(code, command=command).verdict for code in (2, 3, 4, 5)} == {B}


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    script = Script().add("good", "1.0")
    for number in range(12):
        script.add(f"n{number}", f"1.{number}")
    return script.build(tmp_path_factory.mktemp("smoke") / "repo")


@pytest.fixture
def rig(history: History, request: pytest.FixtureRequest) -> Iterator[Rig]:
    smoke, settings = request.param
    with open_bench(history.repo, history["good"], smoke=smoke, **settings) as rig:
        yield rig


def smoke(command: str, **settings: object) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("rig", [(command, settings)], indirect=True)


@smoke("echo out; echo err >&2; kill -SEGV $$")
def test_a_shell_that_dies_of_a_signal_is_bad(rig: Rig, history: History) -> None:
    judged = judge(rig, history["n1"])
    assert (judged.verdict, judged.kind, judged.exit_code) == (B, "signal", -signal.SIGSEGV)
    assert read_log(rig) == "out\nerr\n"


@smoke("python -c 'import os; os.kill(os.getpid(), 9)'; exit $?")
def test_a_program_that_dies_of_a_signal_is_bad(rig: Rig, history: History) -> None:
    assert judge(rig, history["n1"]).reason == "the smoke test died of SIGKILL"


@smoke("no-such-command --at all")
def test_a_command_that_is_missing_stops_the_search(rig: Rig, history: History) -> None:
    with pytest.raises(RigFailed, match=r"can't run: .*no-such-command.*not found") as caught:
        rig.probe(Oid(history["n1"]))
    assert caught.value.exit_code == 4
    assert "resume" in caught.value.hint
    assert rig.store.find_known(rig.plan.id, Oid(history["n1"])) is None


HANG = (
    "trap '' TERM; (trap '' TERM HUP; echo $$ > \"$OUT/pid\"; sleep 300) & echo $! > \"$OUT/pid\";"
    " echo waiting; wait; sleep 300"
)


@pytest.mark.parametrize("timeout_is", [B, U])
def test_a_limit_ends_all_that_the_smoke_test_started(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timeout_is: Verdict
) -> None:
    monkeypatch.setenv("OUT", str(tmp_path))
    started = time.monotonic()
    with open_bench(
        history.repo, history["good"], smoke=HANG, smoke_timeout_s=1.0, timeout_is=timeout_is
    ) as rig:
        judged = judge(rig, history["n1"])
        assert (judged.verdict, judged.kind, judged.exit_code) == (timeout_is, "timeout", None)
        assert read_log(rig).startswith("waiting\n")
        assert wait_until_gone(int((tmp_path / "pid").read_text()))
    assert time.monotonic() - started < 60


def test_a_script_called_pytest_is_judged_by_pytests_codes(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "bin" / "pytest"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho 'Interrupted: 1 error during collection'; exit 2\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
    with open_bench(history.repo, history["good"], smoke="pytest -q") as rig:
        assert judge(rig, history["n1"]).kind == "collection"
        tool.write_text("#!/bin/sh\nexit 5\n")
        assert judge(rig, history["n2"]).verdict is U
