from __future__ import annotations

import os
import shlex
import sys
import threading
import time
from pathlib import Path

import pytest

from envtrack.abandon import run_or_abandon
from envtrack.collect.ask import Programs
from envtrack.collect.interface import Said
from envtrack.model.fact import Absent, Unknown
from envtrack.process import kill_group

MIB = 1024 * 1024


def add_program(tmp_path: Path, text: str, name: str = "tool") -> Path:
    """A program on the machine's PATH: a shell script."""
    path = tmp_path / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def programs(tmp_path: Path, *, limit_s: float = 20.0, **environ: str) -> Programs:
    """Programs of a machine whose PATH is ``bin`` and then the real one."""
    search = {"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    return Programs({**search, **environ}, folder=tmp_path, limit_s=limit_s)


def python(text: str) -> str:
    return f"exec {shlex.quote(sys.executable)} -I -S -c {shlex.quote(text)}"


def is_gone(pid: int) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in {"Z", "X"}:
                return True
        except (FileNotFoundError, ProcessLookupError):  # it can go between opening and reading
            return True
        time.sleep(0.02)
    return False


def test_both_pipes_and_the_exit_code_come_back(tmp_path: Path) -> None:
    add_program(tmp_path, "echo out; echo err >&2; exit 3")
    assert programs(tmp_path)(["tool"]) == Said(code=3, out="out\n", err="err\n")


def test_arguments_reach_the_program_without_a_shell(tmp_path: Path) -> None:
    add_program(tmp_path, "printf '%s|' \"$@\"")
    said = programs(tmp_path)(["tool", "a b", "$HOME;*", "\xe9"])
    assert said == Said(code=0, out="a b|$HOME;*|\xe9|", err="")


# collect_env split its commands at blanks, and lost pip where Python stood in such a folder
# (pytorch pull requests 137430 and 151607).
def test_a_program_in_a_folder_with_blanks_is_run(tmp_path: Path) -> None:
    path = add_program(tmp_path / "my tools", "echo here")
    assert programs(tmp_path)([str(path)]) == Said(code=0, out="here\n", err="")


def test_the_locale_is_c_whatever_the_user_has_set(tmp_path: Path) -> None:
    add_program(tmp_path, 'echo "$LC_ALL $LANG"')
    said = programs(tmp_path, LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8")(["tool"])
    assert said == Said(code=0, out="C de_DE.UTF-8\n", err="")


def test_a_real_program_speaks_english_under_another_locale(tmp_path: Path) -> None:
    ask = programs(tmp_path, LC_ALL="de_DE.UTF-8", LANGUAGE="de")
    said = ask(["ls", "/gone/for/good"])
    assert isinstance(said, Said)
    assert "No such file or directory" in said.err


# PyTorch's collect_env decoded strictly by the locale and fell over nvidia-smi, lspci and
# localised compilers (pytorch issues 15214 and 22570).
def test_bytes_that_are_no_text_are_shown_and_do_no_harm(tmp_path: Path) -> None:
    add_program(tmp_path, r"printf 'GPU \377\303 \303\251'")
    assert programs(tmp_path)(["tool"]) == Said(code=0, out="GPU \\xff\\xc3 \xe9", err="")


def test_a_program_that_prints_nothing_says_nothing(tmp_path: Path) -> None:
    add_program(tmp_path, ":")
    assert programs(tmp_path)(["tool"]) == Said(code=0, out="", err="")


def test_nothing_is_to_be_read_from_stdin(tmp_path: Path) -> None:
    add_program(tmp_path, 'read line && echo "got $line" || echo end')
    assert programs(tmp_path)(["tool"]) == Said(code=0, out="end\n", err="")


@pytest.mark.parametrize("pipe", ["stdout", "stderr"])
def test_megabytes_are_cut_at_one_and_the_exit_code_stays(tmp_path: Path, pipe: str) -> None:
    add_program(tmp_path, python(f"import sys; sys.{pipe}.write('x' * 5 * {MIB}); sys.exit(4)"))
    said = programs(tmp_path)(["tool"])
    assert isinstance(said, Said)
    assert said.code == 4
    assert len(said.out) + len(said.err) == MIB


def test_output_without_end_is_ended_long_before_the_limit(tmp_path: Path) -> None:
    add_program(tmp_path, "exec yes")
    started = time.monotonic()
    said = programs(tmp_path)(["tool"], timeout_s=15)
    assert time.monotonic() - started < 10
    assert isinstance(said, Said)
    assert said.code == -9
    assert said.out == "y\n" * (MIB // 2)


def test_a_program_that_is_not_there_is_absent(tmp_path: Path) -> None:
    assert programs(tmp_path)(["no-such-program"]) == Absent()
    assert programs(tmp_path)([str(tmp_path / "gone")]) == Absent()


def test_the_path_of_the_machine_counts_and_not_ours(tmp_path: Path) -> None:
    assert Programs({}, folder=tmp_path, limit_s=5)(["sh", "-c", ":"]) == Absent()
    assert Programs({"PATH": ""}, folder=tmp_path, limit_s=5)(["sh", "-c", ":"]) == Absent()


def test_nothing_is_started_from_the_current_folder(tmp_path: Path) -> None:
    path = add_program(tmp_path, "echo danger", name="local-tool")
    ask = Programs({"PATH": ".::bin"}, folder=path.parent, limit_s=5)
    assert ask(["local-tool"]) == Absent()


def test_a_folder_of_that_name_is_no_program(tmp_path: Path) -> None:
    (tmp_path / "bin" / "tool").mkdir(parents=True)
    assert programs(tmp_path)(["tool"]) == Absent()
    assert programs(tmp_path)([str(tmp_path / "bin" / "tool")]) == Unknown("is a directory")


def test_a_folder_before_the_program_does_not_hide_it(tmp_path: Path) -> None:
    add_program(tmp_path, "echo here")
    (tmp_path / "first" / "tool").mkdir(parents=True)
    environ = {"PATH": f"{tmp_path / 'first'}:{tmp_path / 'bin'}"}
    said = Programs(environ, folder=tmp_path, limit_s=5)(["tool"])
    assert said == Said(code=0, out="here\n", err="")


def test_a_file_that_may_not_be_executed_is_unknown(tmp_path: Path) -> None:
    add_program(tmp_path, ":").chmod(0o644)
    assert programs(tmp_path)(["tool"]) == Unknown("not permitted to execute it")


def test_a_program_for_another_machine_is_unknown(tmp_path: Path) -> None:
    add_program(tmp_path, ":").write_bytes(b"\x7fELF" + b"\0" * 60)
    assert programs(tmp_path)(["tool"]) == Unknown("`tool` can't be started: exec format error")


def test_a_script_whose_interpreter_is_gone_is_unknown_and_not_absent(tmp_path: Path) -> None:
    add_program(tmp_path, ":").write_text("#!/gone/python\n")
    said = programs(tmp_path)(["tool"])
    assert said == Unknown("`tool` can't be started: its interpreter is missing")


def test_a_program_that_hangs_is_unknown_and_killed_with_all_it_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    add_program(tmp_path, f"trap '' TERM; sleep 60 & echo $$ $! >{pids}; wait")
    assert programs(tmp_path)(["tool"], timeout_s=1.0) == Unknown("`tool` timed out")
    assert all(is_gone(int(pid)) for pid in pids.read_text().split())


def test_a_program_that_hung_is_not_started_again(tmp_path: Path) -> None:
    count = tmp_path / "count"
    add_program(tmp_path, f"echo x >>{count}; sleep 60")
    ask = programs(tmp_path)
    assert ask(["tool", "a"], timeout_s=0.5) == Unknown("`tool` timed out")
    started = time.monotonic()
    assert ask(["tool", "b"], timeout_s=20) == Unknown("`tool` hangs")
    assert time.monotonic() - started < 5
    assert count.read_text() == "x\n"


def test_a_machine_on_which_everything_hangs_costs_one_limit(tmp_path: Path) -> None:
    names = [f"tool{number}" for number in range(5)]
    for name in names:
        add_program(tmp_path, "sleep 60", name=name)
    ask = programs(tmp_path, limit_s=0.6)
    started = time.monotonic()
    answers = [ask([name], timeout_s=0.5) for name in names]
    assert time.monotonic() - started < 4
    assert answers[0] == Unknown("`tool0` timed out")
    assert answers[-1] == Unknown("no time was left to ask `tool4`")


def test_a_daemon_that_keeps_the_pipe_open_does_not_hold_us_up(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    add_program(tmp_path, f"sleep 60 & echo $! >{pids}; echo done")
    started = time.monotonic()
    said = programs(tmp_path)(["tool"], timeout_s=15)
    assert time.monotonic() - started < 10
    assert said == Said(code=0, out="done\n", err="")
    os.kill(int(pids.read_text()), 9)


def test_the_same_question_is_asked_once(tmp_path: Path) -> None:
    count = tmp_path / "count"
    add_program(tmp_path, f"echo x >>{count}; sleep 0.2; echo same")
    ask = programs(tmp_path)
    answers: list[object] = []
    threads = [threading.Thread(target=lambda: answers.append(ask(["tool"]))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [Said(code=0, out="same\n", err="")] * 4
    assert count.read_text() == "x\n"


def test_programs_run_in_the_given_folder_or_the_root(tmp_path: Path) -> None:
    assert programs(tmp_path)(["pwd", "-P"]) == Said(code=0, out=f"{tmp_path.resolve()}\n", err="")
    ask = Programs(dict(os.environ), folder=tmp_path / "gone", limit_s=5)
    assert ask(["pwd", "-P"]) == Said(code=0, out="/\n", err="")


# Uninterruptible sleep can't be made on purpose without a broken driver or mount. What sets it
# apart is that SIGKILL does nothing: so here the killing does nothing.
def test_a_program_that_can_not_be_killed_is_left_behind(tmp_path: Path) -> None:
    asked: list[int] = []
    started = time.monotonic()
    done = run_or_abandon(
        ("sleep", "60"),
        timeout_s=0.3,
        env=dict(os.environ),
        cwd=tmp_path,
        limit_bytes=MIB,
        kill=asked.append,
    )
    assert done is None
    assert time.monotonic() - started < 5
    (pid,) = asked
    assert not Path(f"/proc/{pid}").exists() or os.getpgid(pid) == pid
    kill_group(pid)
    assert is_gone(pid)


def test_our_own_end_does_not_wait_for_what_was_left_behind(tmp_path: Path) -> None:
    script = (
        "import os, pathlib\n"
        "from envtrack.abandon import run_or_abandon\n"
        "def keep(pid): pathlib.Path('pid').write_text(str(pid))\n"
        "run_or_abandon(('sleep', '60'), timeout_s=0.3, env=dict(os.environ),"
        " cwd=pathlib.Path('.'), limit_bytes=10, kill=keep)\n"
        "print('over')\n"
    )
    add_program(tmp_path, f"exec {shlex.quote(sys.executable)} -c {shlex.quote(script)}")
    source = str(Path(__file__).parents[2])
    started = time.monotonic()
    said = programs(tmp_path, PYTHONPATH=source)(["tool"], timeout_s=20)
    assert time.monotonic() - started < 15
    assert said == Said(code=0, out="over\n", err="")
    kill_group(int((tmp_path / "pid").read_text()))
