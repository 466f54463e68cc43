from __future__ import annotations

import io

import pytest

from envtrack.config.policies import parse_policies, read_policies
from envtrack.config.policy_schema import describe_default
from envtrack.config.settings import Settings, read_settings
from envtrack.model.breach import Level
from envtrack.model.policy import parse_policy
from tests.cli.lab import Lab

CONFIG = ".envtrack/config.yaml"

SMOKE_FILES = (".envtrack/smoke.py", ".envtrack/smoke_expected.json")


def test_a_configuration_is_written_and_read(lab: Lab) -> None:
    done = lab.run("init", "--yes")
    assert (done.code, done.err) == (0, "")
    assert (
        done.out
        == """\
Lockfile found:
  uv.lock
Recorded beside it, one file a machine, with `envtrack snapshot --save`:
  kernel and operating system, driver and GPUs, compilers, Python, the installed
  packages and the environment variables that change behaviour. Secrets, and the
  names of users and hosts, are left out.
wrote .envtrack/config.yaml
wrote .envtrack/policies/upgrade.yaml
Next:
  git add .envtrack uv.lock
  git commit -m "Set up envtrack"
  envtrack hooks install
  envtrack snapshot --commit -m "First snapshot"
"""
    )
    settings = read_settings(lab.repo.path)
    assert len(settings.salt) == 32
    assert settings == Settings(salt=settings.salt)


def test_the_policy_of_the_template_is_the_default_one(lab: Lab) -> None:
    lab.run("init", "--yes")
    (policy,) = read_policies(lab.repo.path)
    assert policy.where == ".envtrack/policies/upgrade.yaml"
    assert policy.value.rules == parse_policy(describe_default()).rules


def test_every_rule_that_the_template_comments_out_is_a_rule(lab: Lab) -> None:
    lab.run("init", "--yes")
    path = lab.repo.path / ".envtrack/policies/upgrade.yaml"
    lines = path.read_text().split("\n")
    # Prose ends with a full stop or a colon, an example does not.
    bare = [
        line.replace("# ", "", 1)
        if line.lstrip().startswith("# ") and line[-1] not in ".:"
        else line
        for line in lines
    ]
    bare = [
        line.replace("# ", "", 1)
        if line.lstrip() in {"# freeze:", "#   frozen:", "# waivers:", "# elsewhere:"}
        else line
        for line in bare
    ]
    (policy,) = parse_policies([("p.yaml", "\n".join(bare))])
    assert policy.value.rules["soak"].level is Level.ERROR
    assert policy.value.rules["freeze"].frozen[2].every == "week"
    assert policy.value.waivers[0].rule == "sources"
    assert policy.value.elsewhere[0][1] == {"one-layer": {"level": Level.WARN}}


def test_a_filter_that_would_change_records_is_kept_away_from_them(lab: Lab) -> None:
    lab.repo.write(".gitattributes", "*.json filter=lfs diff=lfs merge=lfs -text\n")
    assert "wrote .envtrack/.gitattributes\n" in lab.run("init", "--yes").out
    written = (lab.repo.path / ".envtrack/.gitattributes").read_text()
    assert written.endswith("\nsnapshots/** -filter -working-tree-encoding\n")
    assert ".gitattributes" not in lab.run("init", "--yes").out


def test_a_policy_that_is_there_stays_the_only_one(lab: Lab) -> None:
    lab.repo.write(".envtrack/policies/own.yml", "kind: UpgradePolicy\n")
    out = lab.run("init", "--yes").out
    assert ".envtrack/policies/own.yml is there already and stays as it is" in out
    assert not (lab.repo.path / ".envtrack/policies/upgrade.yaml").exists()


def test_every_commented_key_of_the_template_is_a_known_one(lab: Lab) -> None:
    lab.run("init", "--yes")
    text = (lab.repo.path / CONFIG).read_text()
    lines = []
    for line in text.splitlines():
        bare = line.lstrip()
        is_key = (
            bare.startswith("# ")
            and ": " in bare
            and bare[2:].split(":")[0]
            in {
                "machine",
                "command",
                "timeout",
                "timeout-is",
                "files",
                "extras",
                "groups",
                "python",
                "stale",
                "package",
            }
        )
        lines.append(line.replace("# ", "", 1) if is_key else line)
    (lab.repo.path / CONFIG).write_text("\n".join(lines))
    settings = read_settings(lab.repo.path)
    assert settings.smoke.command == "python .envtrack/smoke.py"
    assert settings.smoke.files == SMOKE_FILES
    assert settings.selection.package == "member"
    assert settings.python == "3.12"


@pytest.mark.parametrize("kind", ["torch", "jax", "numpy", "plain"])
def test_a_smoke_test_is_written_and_configured(lab: Lab, kind: str) -> None:
    done = lab.run("init", "--yes", "--smoke", kind)
    assert "wrote .envtrack/smoke.py\n" in done.out
    text = (lab.repo.path / ".envtrack/smoke.py").read_text()
    assert text.startswith('"""The smoke test')
    compile(text, "smoke.py", "exec")
    smoke = read_settings(lab.repo.path).smoke
    assert (smoke.command, smoke.files) == ("python .envtrack/smoke.py", SMOKE_FILES)


def test_the_plain_smoke_test_passes_in_a_whole_environment(lab: Lab) -> None:
    lab.sync()
    lab.run("init", "--yes", "--smoke", "plain")
    assert lab.run("smoke").code == 0


def test_a_smoke_test_is_found_from_a_lockfile_below_the_top(empty_lab: Lab) -> None:
    empty_lab.lock("wick", folder="services/api/")
    empty_lab.repo.commit("one")
    empty_lab.run("init", "--yes", "--smoke", "plain")
    done = empty_lab.run("smoke", "-C", "services/api")
    assert done.out.startswith("good: "), done.err


def test_what_is_there_stays_as_it_is(lab: Lab) -> None:
    lab.repo.write(CONFIG, "stale: frozen\n")
    lab.repo.write(".envtrack/smoke.py", "mine\n")
    done = lab.run("init", "--yes", "--smoke", "torch")
    assert done.code == 0
    assert f"{CONFIG} is there already and stays as it is\n" in done.out
    assert (lab.repo.path / CONFIG).read_text() == "stale: frozen\n"
    assert (lab.repo.path / ".envtrack/smoke.py").read_text() == "mine\n"


def test_hooks_are_installed_when_asked_for(lab: Lab) -> None:
    done = lab.run("init", "--yes", "--hooks")
    assert done.code == 0
    assert (lab.repo.path / ".git/hooks/pre-commit").is_file()
    assert "envtrack hooks install" not in done.out


def test_a_lockfile_that_git_does_not_know_yet_is_found(empty_lab: Lab) -> None:
    empty_lab.lock("wick")
    assert "  uv.lock\n" in empty_lab.run("init").out


def test_no_lockfile_is_said(empty_lab: Lab) -> None:
    done = empty_lab.run("init", "--yes")
    assert done.code == 2
    assert done.err.endswith("  `uv lock` makes one; then `envtrack init` again\n")
    assert not (empty_lab.repo.path / ".envtrack").exists()


def test_without_a_terminal_nothing_is_asked(lab: Lab) -> None:
    done = lab.run("init")
    assert done.code == 0
    assert "Go on?" not in done.out


def test_the_end_of_input_is_no(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal(""))
    done = lab.run("init")
    assert done.code == 0
    assert not (lab.repo.path / ".envtrack/config.yaml").exists()
    monkeypatch.setattr("sys.stdin", Terminal("y\n"))
    assert lab.run("init").code == 0
    assert (lab.repo.path / ".envtrack/config.yaml").exists()
