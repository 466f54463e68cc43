from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import envtrack
from tests.cli.lab import Lab
from tests.cli.test_schemas import check

LOG = "Traceback (most recent call last):\n  File \"/work/run.py\", line 1\nModuleNotFoundError: No module named 'wick'\n"
ENVIRON = {**os.environ, "PYTHONPATH": str(Path(envtrack.__file__).parents[1])}
RULES = """\
schema: 1
kind: TriageRules
rules:
  - id: licence-server
    layer: network
    kind: licence
    says: ["no licence from {{server}}"]
    means: The licence server gave no licence.
    examples: ["{example}"]
    {more}
"""


def write(folder: Path, text: str, name: str = "run.log") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def rules(lab: Lab, *, example: str = "no licence from lic01", more: str = "weight: 60") -> None:
    lab.repo.write(".envtrack/triage/own.yaml", RULES.format(example=example, more=more))


def run_program(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "envtrack", "triage", *words]
    return subprocess.run(
        command, cwd=folder, env=ENVIRON, input=LOG, capture_output=True, text=True, check=False
    )


def test_a_log_is_read_and_the_root_stands_first(lab: Lab, tmp_path: Path) -> None:
    log = write(tmp_path, f"{LOG}make: *** [run] Error 1\n")
    done = lab.run("triage", "--no-probe", log)
    assert done.code == 0
    assert "packages · module-missing (line 3)" in done.out
    assert "beside it" in done.out
    told = lab.run_json("triage", "--no-probe", log)
    check("triage", told)
    assert told["layer"] == told["findings"][0]["layer"] == "packages"
    assert told["findings"][0]["line"] == 3
    assert (
        "## packages · module-missing" in lab.run("triage", "--no-probe", "-f", "markdown", log).out
    )


def test_without_a_probe_every_hypothesis_is_open_and_no_remedy_is_offered(
    lab: Lab, tmp_path: Path
) -> None:
    told = lab.run_json("triage", "--no-probe", write(tmp_path, LOG))
    hypotheses = told["findings"][0]["hypotheses"]
    assert hypotheses
    assert {one["standing"] for one in hypotheses} == {"open"}
    assert {one["remedy"] for one in hypotheses} == {None}
    assert all(one["evidence"] == [] for one in hypotheses)


def test_a_module_that_is_locked_and_not_installed_is_told_by_the_evidence(
    lab: Lab, tmp_path: Path
) -> None:
    lab.lock("wick")
    lab.repo.commit("lock")
    told = lab.run_json("triage", write(tmp_path, LOG))
    root = told["findings"][0]
    standing = {one["claim"]: one["standing"] for one in root["hypotheses"]}
    assert standing["It is in the lockfile, and not installed."] == "supported"
    assert standing["It is neither locked nor installed."] == "refuted"
    assert root["points_to"] == ["packages"]


def test_a_file_of_the_project_that_stands_in_the_way_is_named(lab: Lab, tmp_path: Path) -> None:
    lab.lock("wick")
    lab.repo.write("gadget.py", "")
    lab.repo.commit("lock")
    log = write(tmp_path, LOG.replace("wick", "gadget"))
    evidence = [
        one
        for hypothesis in lab.run_json("triage", log)["findings"][0]["hypotheses"]
        for one in hypothesis["evidence"]
        if one["points_to"] == "supported"
    ]
    assert [(one["name"], one["seen"]) for one in evidence] == [
        ("evidence.module.shadowed", "<project>/gadget.py")
    ]


def test_what_changed_since_the_last_good_record_is_told(lab: Lab, tmp_path: Path) -> None:
    lab.lock("wick==1.0")
    lab.repo.commit("good")
    lab.sync()
    assert lab.run("smoke", "--", "true").code == 0
    lab.lock("wick")
    lab.repo.commit("worse")
    lab.sync()
    changes = lab.run_json("triage", write(tmp_path, LOG))["changes"]
    assert "the last one that the smoke test called good" in changes[0]
    assert any("wick 1.0 →" in line for line in changes)


def test_the_repositorys_own_rules_are_in_force(lab: Lab, tmp_path: Path) -> None:
    rules(lab)
    told = lab.run_json("triage", "--no-probe", write(tmp_path, "E: no licence from lic07\n"))
    assert (told["layer"], told["findings"][0]["rule"]) == ("network", "licence-server")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"example": "another text"}, "own.yaml:4: rules[1]: the example"),
        (
            {"more": "wieght: 3"},
            "own.yaml:10: rules[1].wieght: unknown key; did you mean `weight`?",
        ),
        ({"more": "role: boss"}, "own.yaml:10: rules[1].role: expected one of cause"),
    ],
)
def test_a_rule_that_says_what_it_may_not_is_refused_with_its_line(
    lab: Lab, tmp_path: Path, changed: dict[str, str], said: str
) -> None:
    rules(lab, **changed)
    done = lab.run("triage", "--no-probe", write(tmp_path, LOG))
    assert done.code == 2
    assert f".envtrack/triage/{said}" in done.err


def test_a_log_that_is_not_there_is_wrong_usage(lab: Lab) -> None:
    done = lab.run("triage", "nowhere.log")
    assert done.code == 2
    assert "nowhere.log: can't be read: No such file or directory" in done.err


def test_two_logs_are_wrong_usage(lab: Lab) -> None:
    assert lab.run("triage", "a.log", "b.log").code == 2


def test_a_command_keeps_its_exit_code_and_its_output(tmp_path: Path) -> None:
    script = "echo data; echo 'OSError: [Errno 28] No space left on device' >&2; exit 7"
    done = run_program("--no-probe", "--", "sh", "-c", script, folder=tmp_path)
    assert done.returncode == 7
    assert done.stdout == "data\n"
    assert "resources · disk" in done.stderr


def test_a_command_that_a_signal_ends_ends_us_by_that_signal(tmp_path: Path) -> None:
    done = run_program("--no-probe", "--", "sh", "-c", "kill -SEGV $$", folder=tmp_path)
    assert done.returncode == -signal.SIGSEGV
    assert "unclassified · native-crash" in done.stderr


def test_a_command_that_ends_well_is_not_spoken_of(tmp_path: Path) -> None:
    done = run_program("--", "sh", "-c", "echo 'KeyError: 1'", folder=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "KeyError: 1\n", "")


def test_a_command_that_is_not_there_is_a_missing_tool(tmp_path: Path) -> None:
    assert run_program("--", "no-such-program-here", folder=tmp_path).returncode == 4


def test_a_report_of_a_command_goes_to_the_file_that_is_named(tmp_path: Path) -> None:
    words = (
        "--no-probe",
        "-f",
        "json",
        "-o",
        "out.json",
        "--",
        "sh",
        "-c",
        "echo 'KeyError: 1'; exit 1",
    )
    assert run_program(*words, folder=tmp_path).returncode == 1
    assert json.loads((tmp_path / "out.json").read_text())["layer"] == "code"


def test_stdin_is_read_where_no_file_is_named(tmp_path: Path) -> None:
    done = run_program("--no-probe", "-f", "json", folder=tmp_path)
    assert json.loads(done.stdout)["source"] == "stdin"
    assert json.loads(done.stdout)["lines"] == 3


def test_what_a_log_says_of_homes_and_credentials_is_hidden(lab: Lab, tmp_path: Path) -> None:
    secret = "ERROR: HTTP error 403 while getting https://user:hunter2@registry.example/home/ada/x"
    done = lab.run("triage", "--no-probe", "-f", "markdown", write(tmp_path, secret))
    assert "hunter2" not in done.out
