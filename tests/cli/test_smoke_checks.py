"""The named checks of a smoke test: each with its verdict, one alone, values recorded."""

from __future__ import annotations

import json
import sys

import pytest

from tests.cli.lab import Lab
from tests.cli.test_smoke import notes_of

# The generated test's own runner, with checks that need no package.
CHECKS = '''
def arithmetic():
    """Adds."""
    expect("sum", 1.0 + float(os.environ.get("OFF", "0")), 1e-6)


def always():
    """Passes."""


CHECKS = (arithmetic, always)
'''


@pytest.fixture
def named(lab: Lab) -> Lab:
    lab.sync()
    assert lab.run("init", "--yes", "--smoke", "plain").code == 0
    path = lab.repo.path / ".envtrack/smoke.py"
    path.write_text(path.read_text().replace("CHECKS = (metadata,)\n", CHECKS))
    lab.repo.commit("a smoke test of our own")
    return lab


def verdicts(document: dict[str, list[dict[str, str]]]) -> dict[str, str]:
    return {one["name"]: one["verdict"] for one in document["checks"]}


def test_each_check_says_its_own_verdict_and_so_does_the_note(named: Lab) -> None:
    document = named.run_json("smoke")
    assert document["verdict"] == "good"
    assert verdicts(document) == {"arithmetic": "good", "always": "good"}
    assert all(one["seconds"] >= 0 for one in document["checks"])
    assert document["environment"] == {"python": sys.version.split()[0]}
    assert notes_of(named)[-1]["checks"] == {"arithmetic": "good", "always": "good"}


def test_a_value_that_has_left_its_tolerance_turns_its_check_bad(
    named: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = named.run("smoke", "--record")
    assert done.code == 0
    written = json.loads((named.repo.path / ".envtrack/smoke_expected.json").read_text())
    assert written["values"] == {"sum": 1.0}
    assert written["environment"]["python"] == sys.version.split()[0]
    monkeypatch.setenv("OFF", "0.1")
    document = named.run_json("smoke")
    assert document["verdict"] == "bad"
    assert verdicts(document) == {"arithmetic": "bad", "always": "good"}
    assert document["reason"].endswith("(checks: arithmetic)")
    assert named.run("smoke", "--check", "always").code == 0
    assert named.run("smoke", "--check", "arithmetic").code == 1
    monkeypatch.setenv("OFF", "nan")
    assert named.run("smoke", "--check", "arithmetic").code == 1


def test_a_check_that_does_not_exist_is_not_bad(named: Lab) -> None:
    done = named.run("smoke", "--check", "no-such")
    assert done.code == 3
    assert "there is no check named no-such" in done.err


def test_a_name_is_never_run_as_shell(named: Lab) -> None:
    done = named.run("smoke", "--check", "x; touch pwned")
    assert done.code == 2
    assert not (named.repo.path / "pwned").exists()


def test_a_smoke_test_without_names_has_nothing_to_record(named: Lab) -> None:
    done = named.run("smoke", "--record", "-c", "true")
    assert done.code == 2
    assert "reports no values" in done.err
