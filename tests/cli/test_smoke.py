from __future__ import annotations

import json
import time

import pytest

from tests.cli.lab import Lab


def notes_of(lab: Lab, revision: str = "HEAD") -> list[dict[str, object]]:
    text = lab.repo.git("notes", "--ref=envtrack", "show", revision, check=False)
    return [json.loads(line) for line in text.splitlines() if line]


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("true", 0, "good: the smoke test passed"),
        ("exit 3", 1, "bad: the smoke test ended with 3"),
        ("kill -SEGV $$", 1, "bad: the smoke test died of SIGSEGV"),
        ("exit 137", 1, "bad: the smoke test died of SIGKILL"),
        ("exit 125", 3, "untestable: the smoke test ended with 125 (skip)"),
    ],
)
def test_the_verdict_is_said_recorded_and_in_the_exit_code(
    lab: Lab, command: str, code: int, said: str
) -> None:
    done = lab.run("smoke", "--command", command)
    assert done.code == code
    assert done.out == f"{said}; recorded on {lab.short()}\n"
    (note,) = notes_of(lab)
    assert note["schema"] == 1
    assert note["kind"] == "verdict"
    assert note["machine"] == "testbed"
    assert note["lockfile"] == {"path": "uv.lock", "blob": lab.blob().hex}
    assert note["verdict"] == said.partition(":")[0]
    assert note["command"] == command


@pytest.mark.parametrize("command", ["no-such-program-at-all", "exit 126"])
def test_a_command_that_can_not_run_says_nothing_of_a_commit(lab: Lab, command: str) -> None:
    done = lab.run("smoke", "-c", command)
    assert done.code == 4
    assert done.out.startswith("aborted: ")
    assert "not recorded: the smoke test could not run" in done.err
    assert notes_of(lab) == []


def test_the_configured_command_runs_as_written(lab: Lab) -> None:
    lab.repo.write(".envtrack/config.yaml", "smoke:\n  command: test $((1 + 1)) = 2 && echo fine\n")
    done = lab.run("smoke")
    assert done.code == 0
    assert "fine\n" in done.err
    assert done.out.startswith("good: ")


def test_words_after_two_dashes_are_one_command(lab: Lab) -> None:
    done = lab.run("smoke", "--", "printf", "[%s]", "a b", "--color")
    assert done.code == 0
    assert "[a b][--color]" in done.err


def test_no_command_at_all_is_said(lab: Lab) -> None:
    done = lab.run("smoke")
    assert done.code == 2
    assert done.err.startswith("envtrack: no smoke test is configured\n")
    assert lab.run("smoke", "-c", "true", "--", "true").code == 2


def test_the_limit_ends_it_with_all_it_started(lab: Lab) -> None:
    marker = lab.repo.path / "late"
    started = time.monotonic()
    command = f"(sleep 3; touch {marker}) & sleep 60"
    done = lab.run("smoke", "-c", command, "--timeout", "300ms")
    assert time.monotonic() - started < 10
    assert done.code == 1
    assert "still running after 0.3 s" in done.out
    time.sleep(3.2)
    assert not marker.exists()


def test_a_limit_can_mean_untestable(lab: Lab) -> None:
    config = "smoke: {command: sleep 9, timeout: 200ms, timeout-is: untestable}\n"
    lab.repo.write(".envtrack/config.yaml", config)
    assert lab.run("smoke").code == 3
    assert lab.run("smoke", "--timeout", "soon").code == 2


def test_it_runs_in_the_lockfiles_folder_with_its_environment_first(lab: Lab) -> None:
    lab.sync()
    check = (
        "import os, sys, wick; assert wick.VERSION == '1.0';"
        "assert os.environ['VIRTUAL_ENV'] == sys.prefix; print(os.getcwd())"
    )
    done = lab.run("smoke", "--", "python", "-c", check)
    assert done.code == 0, done.err
    assert str(lab.repo.path) in done.err


def test_gits_variables_do_not_reach_it(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_INDEX_FILE", str(lab.repo.path / ".git/index"))
    assert lab.run("smoke", "-c", 'test -z "$GIT_INDEX_FILE"').code == 0


def test_another_lockfile_than_heads_is_not_recorded(lab: Lab) -> None:
    lab.lock("wick")
    done = lab.run("smoke", "-c", "true")
    assert done.code == 0
    assert "not recorded: uv.lock is not the one of HEAD; commit it first" in done.err
    assert notes_of(lab) == []


def test_another_environment_than_locked_is_not_recorded(lab: Lab) -> None:
    lab.sync()
    lab.lock("wick")
    lab.repo.commit("two")
    done = lab.run("smoke", "-c", "true")
    assert done.code == 0
    assert (
        "not recorded: uv.lock: installed is not what is locked: flint 1.5 (locked: 2.0)"
        in done.err
    )
    assert notes_of(lab) == []


def test_no_record_records_nothing(lab: Lab) -> None:
    assert lab.run("smoke", "-c", "true", "--no-record").out == "good: the smoke test passed\n"
    assert notes_of(lab) == []


def test_json_is_alone_on_stdout(lab: Lab) -> None:
    done = lab.run("smoke", "-c", "echo noise; exit 1", "-f", "json")
    document = json.loads(done.out)
    assert document["verdict"] == "bad"
    assert document["recorded_on"] == lab.short()
    assert "noise" in done.err


def test_output_that_is_no_text_is_shown(lab: Lab) -> None:
    assert "caf\\xe9" in lab.run("smoke", "-c", "printf 'caf\\351\\n'").err


def test_head_index_and_tree_stay_as_they_are(lab: Lab) -> None:
    lab.repo.write("staged.txt", "x")
    lab.repo.git("add", "staged.txt")
    before = lab.repo.state()
    lab.run("smoke", "-c", "true")
    after = lab.repo.state()
    assert (
        after.pop("refs")
        == before.pop("refs")
        + "\n"
        + f"refs/notes/envtrack {lab.repo.git('rev-parse', 'refs/notes/envtrack')}"
    )
    assert after == before


def test_secrets_of_a_command_are_not_recorded(lab: Lab) -> None:
    lab.run("smoke", "-c", "true https://me:hunter2@example.org/x")
    (note,) = notes_of(lab)
    assert "hunter2" not in json.dumps(note)


def test_a_commit_made_meanwhile_gets_no_verdict(lab: Lab) -> None:
    done = lab.run("smoke", "-c", "git commit -q --allow-empty -m meanwhile")
    assert done.code == 0
    assert "not recorded: HEAD moved while the smoke test ran" in done.err
    assert notes_of(lab) == []
    assert notes_of(lab, "HEAD~1") == []
