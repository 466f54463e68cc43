"""Colours, pipes and widths, in a process of their own where a terminal matters."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.cli.lab import Lab

ROOT = str(Path(__file__).parents[2])


def run_in_terminal(lab: Lab, columns: int, *arguments: str, **environ: str) -> str:
    """What a terminal of this width is sent."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-m", "envtrack", *arguments],
        cwd=lab.repo.path,
        env={**os.environ, "PYTHONPATH": ROOT, "TERM": "xterm-256color", **environ},
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    parts = []
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    os.close(leader)
    child.wait()
    return b"".join(parts).decode()


@pytest.fixture
def moved(lab: Lab) -> Lab:
    lab.lock("wick")
    lab.repo.commit("two")
    return lab


def test_a_terminal_is_coloured_and_no_color_respected(moved: Lab) -> None:
    words = ("diff", "HEAD~1", "HEAD")
    assert "\x1b[32mupgraded" in run_in_terminal(moved, 80, *words)
    for environ in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        assert "\x1b[" not in run_in_terminal(moved, 80, *words, **environ)
    assert "\x1b[" not in run_in_terminal(moved, 80, *words, "--color", "never")
    always = run_in_terminal(moved, 80, *words, "--color", "always", NO_COLOR="1")
    assert "\x1b[32m" in always


@pytest.mark.parametrize("columns", [80, 200])
def test_lines_fit_the_terminal(moved: Lab, columns: int) -> None:
    sent = run_in_terminal(moved, columns, "snapshot", NO_COLOR="1", LD_LIBRARY_PATH="/x" * 300)
    assert max(map(len, sent.splitlines())) <= columns


def test_a_pipe_has_no_colours_unless_asked(moved: Lab) -> None:
    assert "\x1b" not in moved.run("diff", "HEAD~1", "HEAD").out
    assert "\x1b[" in moved.run("diff", "HEAD~1", "HEAD", "--color", "always").out


def test_a_file_has_no_colours(moved: Lab) -> None:
    moved.run("diff", "HEAD~1", "HEAD", "-o", "out.txt")
    assert "\x1b" not in (moved.repo.path / "out.txt").read_text()


def test_a_reader_that_goes_away_is_no_crash(moved: Lab) -> None:
    done = subprocess.run(
        f"{sys.executable} -m envtrack diff HEAD~1 HEAD | true",
        shell=True,
        cwd=moved.repo.path,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


def test_a_terminal_without_utf8_is_survived(moved: Lab) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "envtrack", "diff", "HEAD~1", "HEAD"],
        cwd=moved.repo.path,
        env={**os.environ, "PYTHONPATH": ROOT, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    assert b"1.0 \\u2192 1.1" in done.stdout


def test_an_output_that_can_not_be_written_is_the_rigs_fault(moved: Lab) -> None:
    moved.repo.write("file", "x")
    done = moved.run("diff", "-o", "file/below.txt")
    assert done.code == 4
    assert "can't be written" in done.err


def test_the_version_is_said_without_a_heavy_import() -> None:
    code = (
        "import sys; from envtrack.cli.main import main; main(['--version']);"
        "heavy = ('typer', 'git', 'deepdiff', 'pydantic', 'rich', 'yaml');"
        "print([m for m in heavy if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    version, imported = done.stdout.splitlines()
    assert version.startswith("envtrack ")
    assert imported == "[]"


def test_help_groups_the_commands(lab: Lab) -> None:
    out = lab.run("--help").out
    for group in ("See what changed", "Record", "Start"):
        assert group in out
    for command in ("diff", "show", "snapshot", "smoke", "init"):
        assert lab.run(command, "--help").code == 0
