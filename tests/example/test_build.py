"""The bundled example is what its README says, tried with the real git and the real uv."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "lockfile-repo"
ABSOLUTE_PATH = re.compile(r'"(/|[A-Za-z]:|file:)')


def load_build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("lockfile_repo_build", EXAMPLE / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def find_uv() -> str:
    on_path = shutil.which("uv")
    if on_path:
        return on_path
    from uv import find_uv_bin

    return os.fsdecode(find_uv_bin())


build = load_build()
UV = find_uv()


@dataclass(frozen=True, slots=True)
class Example:
    """A built repository, and what the tests ask of it."""

    path: Path
    good: str
    head: str
    commits: int
    lock_commits: int
    environment: Mapping[str, str]

    def run(self, *command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=cwd or self.path,
            env=self.environment,
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",
            check=False,
        )

    def git(self, *arguments: str) -> str:
        done = self.run("git", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.removesuffix("\n")

    def find(self, subject: str) -> str:
        """The one commit with that subject."""
        log = self.git("log", "--format=%H %s", "main").splitlines()
        (found,) = [line[:40] for line in log if line[41:] == subject]
        return found

    def lock_commits_after_good(self) -> list[str]:
        """What a bisection chooses from, oldest first."""
        span = f"{self.good}..{self.head}"
        paths = ("uv.lock", "pyproject.toml")
        return self.git("rev-list", "--reverse", "--first-parent", span, "--", *paths).splitlines()

    def lock_text(self, revision: str) -> str:
        return self.git("show", f"{revision}:uv.lock")

    def versions(self, revision: str) -> dict[str, str]:
        packages = tomllib.loads(self.lock_text(revision))["package"]
        return {package["name"]: package["version"] for package in packages}

    def changed_files(self, revision: str) -> list[str]:
        span = (f"{revision}~1", revision)
        return self.git("diff-tree", "-r", "--name-only", *span).splitlines()


@dataclass(frozen=True, slots=True)
class Checkout:
    """A worktree of the example at one commit, with an environment of its own."""

    example: Example
    path: Path

    def uv(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = (UV, *arguments, "--offline", f"--python={sys.executable}")
        return self.example.run(*command, cwd=self.path)

    def sync(self) -> subprocess.CompletedProcess[str]:
        return self.uv("sync", "--locked")

    def smoke(self) -> subprocess.CompletedProcess[str]:
        done = self.sync()
        assert done.returncode == 0, done.stderr
        folder = "Scripts" if os.name == "nt" else "bin"
        return self.example.run(
            str(self.path / ".venv" / folder / "python"), "-B", "smoke.py", cwd=self.path
        )


def clean_environment(cache: Path) -> dict[str, str]:
    # UV_NO_CONFIG has to go with the rest: it hides the index in the project's own pyproject.toml.
    dropped = ("GIT_", "UV_", "VIRTUAL_ENV", "PYTHON")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C",
        "PYTHONUTF8": "1",
        "UV_CACHE_DIR": str(cache),
        "UV_NO_SYSTEM_CONFIG": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "XDG_CONFIG_HOME": str(cache / "no-settings"),
    }


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Example:
    cache = tmp_path_factory.mktemp("cache")
    built = build.build(tmp_path_factory.mktemp("example") / "repo", uv=UV, cache=cache)
    return Example(
        path=built.path,
        good=built.good,
        head=built.head,
        commits=built.commits,
        lock_commits=built.lock_commits,
        environment=clean_environment(cache),
    )


def check_out(example: Example, revision: str, tmp_path: Path) -> Checkout:
    path = tmp_path / revision[:12]
    example.git("worktree", "add", "--quiet", "--detach", str(path), revision)
    return Checkout(example, path)


def test_history_is_long_and_half_of_it_moves_the_lockfile(example: Example) -> None:
    revisions = example.git("rev-list", "main").splitlines()
    assert len(revisions) == example.commits >= 60
    moved = [
        name for name in revisions if lock_blob(example, name) != lock_blob(example, f"{name}~1")
    ]
    assert len(moved) == example.lock_commits >= 30
    assert 32 <= len(example.lock_commits_after_good()) <= 40


def lock_blob(example: Example, revision: str) -> str:
    """The name of the lockfile's content; empty if there is none, or no such commit."""
    done = example.run("git", "rev-parse", "--verify", "--quiet", f"{revision}:uv.lock")
    return done.stdout


def test_readme_has_the_right_numbers_and_subjects(example: Example) -> None:
    text = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    shelf = example.git("ls-tree", "-r", "--name-only", "main", "index").splitlines()
    releases = [name for name in shelf if not name.endswith(".html")]
    packages = [name for name in shelf if name.endswith(".html")]
    assert len(packages) == 11
    assert f"eleven packages, {len(releases)} releases" in text
    assert f"{example.commits} commits, {example.lock_commits} of which" in " ".join(text.split())
    for kind in ("CULPRIT", "STALE", "CONFLICT", "FORMAT", "MERGE", "UNINSTALLABLE"):
        assert f"| *{getattr(build, f'{kind}_SUBJECT')}* |" in text


def test_built_commits_are_named_and_the_culprit_is_not(example: Example) -> None:
    assert example.git("rev-parse", "main") == example.git("rev-parse", "HEAD") == example.head
    assert example.git("for-each-ref", "--format=%(refname) %(objecttype)").splitlines() == [
        "refs/heads/main commit",
        f"refs/tags/{build.GOOD_TAG} commit",
    ]
    assert example.git("rev-parse", build.GOOD_TAG) == example.good
    assert example.git("fsck", "--strict") == ""


def test_worktree_is_clean_after_the_build(example: Example) -> None:
    assert example.git("status", "--porcelain") == ""


def test_dates_increase_from_commit_to_commit(example: Example) -> None:
    dates = example.git("log", "--topo-order", "--reverse", "--first-parent", "--format=%ct")
    stamps = [int(date) for date in dates.splitlines()]
    assert stamps == sorted(set(stamps))


def test_people_are_fictional(example: Example) -> None:
    mails = set(example.git("log", "--format=%ae%n%ce").splitlines())
    assert len(mails) > 1
    assert all(mail.endswith("@example.org") for mail in mails)


def test_second_build_elsewhere_gives_the_same_commits(
    example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "settings"
    (settings / "uv").mkdir(parents=True)
    (settings / "uv" / "uv.toml").write_text('exclude-newer = "2020-01-01T00:00:00Z"\n')
    (settings / "git").mkdir()
    (settings / "git" / "config").write_text("[commit]\ngpgSign = true\n[core]\nautocrlf = true\n")
    for name, value in {
        "GIT_AUTHOR_DATE": "2001-01-01T00:00:00Z",
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_DIR": str(tmp_path / "elsewhere"),
        "TZ": "Asia/Kathmandu",
        "UV_FROZEN": "1",
        "UV_NO_CONFIG": "1",
        "XDG_CONFIG_HOME": str(settings),
    }.items():
        monkeypatch.setenv(name, value)
    again = build.build(tmp_path / "il mio \"lavoro\" è 'qui' $x", uv=UV)
    assert (again.good, again.head) == (example.good, example.head)
    assert not (tmp_path / "elsewhere").exists()


def test_no_lockfile_names_a_registry_or_a_folder_of_this_machine(example: Example) -> None:
    revisions = example.git("rev-list", "main", "--", "uv.lock").splitlines()
    texts = {example.lock_text(revision) for revision in revisions}
    assert len(texts) >= 30
    for text in texts:
        assert "http" not in text
        assert not ABSOLUTE_PATH.search(text)
        assert str(example.path) not in text
        assert 'source = { registry = "index" }' in text


def test_archives_are_in_the_first_commit_and_never_change(example: Example) -> None:
    (root,) = example.git("rev-list", "--max-parents=0", "main").splitlines()
    assert example.git("rev-parse", f"{root}:index") == example.git("rev-parse", "main:index")


def test_smoke_test_passes_at_the_good_commit(example: Example, tmp_path: Path) -> None:
    done = check_out(example, example.good, tmp_path).smoke()
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("smoke: slope ")


def test_smoke_test_fails_at_the_tip_in_the_code_of_an_innocent_package(
    example: Example, tmp_path: Path
) -> None:
    done = check_out(example, example.head, tmp_path).smoke()
    assert done.returncode == 1
    assert done.stderr.endswith("TypeError: object of type 'generator' has no len()\n")
    (*_, last) = re.findall(r'File "([^"]+)"', done.stderr)
    assert Path(last).parent.name == build.ACCUSED_PACKAGE.replace("-", "_")
    assert build.GUILTY_PACKAGE.replace("-", "_") not in done.stderr


def test_culprit_moves_seven_packages_the_guilty_one_by_minor_releases(example: Example) -> None:
    culprit = example.find(build.CULPRIT_SUBJECT)
    before, after = example.versions(f"{culprit}~1"), example.versions(culprit)
    moved = {name for name in before if before[name] != after[name]}
    assert set(before) == set(after)
    assert len(moved) == 7
    assert {build.GUILTY_PACKAGE, build.ACCUSED_PACKAGE} <= moved
    assert example.changed_files(culprit) == ["uv.lock"]
    old, guilty, new = (
        version.split(".")
        for version in (
            before[build.GUILTY_PACKAGE],
            build.GUILTY_RELEASE,
            after[build.GUILTY_PACKAGE],
        )
    )
    assert old[0] == guilty[0] == new[0]
    assert old < guilty < new


def test_first_bad_commit_is_the_culprit_and_its_neighbours_can_be_judged(
    example: Example, tmp_path: Path
) -> None:
    candidates = example.lock_commits_after_good()
    place = candidates.index(example.find(build.CULPRIT_SUBJECT))
    asked = [f"{candidates[place]}~1", *candidates[place - 1 : place + 2]]
    revisions = [example.git("rev-parse", revision) for revision in asked]
    codes = [check_out(example, name, tmp_path).smoke().returncode for name in revisions]
    assert codes == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("guilty", "code"), [("2.1.0", 0), ("2.1.2", 0), ("2.2.0", 1), ("2.2.1", 1)]
)
def test_guilty_release_breaks_whatever_else_is_installed(
    example: Example, tmp_path: Path, guilty: str, code: int
) -> None:
    culprit = example.find(build.CULPRIT_SUBJECT)
    for name, revision in (("old", f"{culprit}~1"), ("new", culprit)):
        checkout = check_out(example, example.git("rev-parse", revision), tmp_path / name)
        pin = f"--upgrade-package={build.GUILTY_PACKAGE}=={guilty}"
        locked = checkout.uv("lock", pin)
        assert locked.returncode == 0, locked.stderr
        assert checkout.smoke().returncode == code


def test_lockfile_of_the_culprit_is_what_uv_writes_from_its_parent(
    example: Example, tmp_path: Path
) -> None:
    culprit = example.find(build.CULPRIT_SUBJECT)
    before, after = example.versions(f"{culprit}~1"), example.versions(culprit)
    pins = [f"-P{name}=={after[name]}" for name in before if before[name] != after[name]]
    checkout = check_out(example, example.git("rev-parse", f"{culprit}~1"), tmp_path)
    assert checkout.uv("lock", *pins).returncode == 0
    written = (checkout.path / "uv.lock").read_text(encoding="utf-8")
    assert written.removesuffix("\n") == example.lock_text(culprit)


def test_stale_commit_is_refused_until_the_next_lock_commit(
    example: Example, tmp_path: Path
) -> None:
    stale = example.find(build.STALE_SUBJECT)
    candidates = example.lock_commits_after_good()
    assert example.changed_files(stale) == ["pyproject.toml"]
    assert candidates.index(stale) > candidates.index(example.find(build.CULPRIT_SUBJECT))
    done = check_out(example, stale, tmp_path).sync()
    assert done.returncode == 1
    assert "needs to be updated" in done.stderr
    assert check_out(example, following(example, stale), tmp_path).sync().returncode == 0


def following(example: Example, revision: str) -> str:
    candidates = example.lock_commits_after_good()
    return candidates[candidates.index(revision) + 1]


def test_conflict_markers_are_refused_until_the_next_lock_commit(
    example: Example, tmp_path: Path
) -> None:
    conflict = example.find(build.CONFLICT_SUBJECT)
    text = example.lock_text(conflict)
    assert "<<<<<<< Updated upstream\n" in text
    assert ">>>>>>> Stashed changes\n" in text
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(text)
    done = check_out(example, conflict, tmp_path).sync()
    assert done.returncode == 2
    assert "TOML parse error" in done.stderr
    assert check_out(example, following(example, conflict), tmp_path).sync().returncode == 0


def test_format_commit_changes_the_form_alone_and_is_accepted(
    example: Example, tmp_path: Path
) -> None:
    revision = example.find(build.FORMAT_SUBJECT)
    old, new = (without_revision(example, name) for name in (f"{revision}~1", revision))
    assert example.changed_files(revision) == ["uv.lock"]
    assert old == new
    assert check_out(example, revision, tmp_path).sync().returncode == 0


def without_revision(example: Example, name: str) -> dict[str, Any]:
    lock = tomllib.loads(example.lock_text(name))
    del lock["revision"]
    return lock


def test_merge_joins_two_branches_that_both_changed_the_lockfile(
    example: Example, tmp_path: Path
) -> None:
    merge = example.find(build.MERGE_SUBJECT)
    names = [merge, f"{merge}^1", f"{merge}^2"]
    base = example.git("merge-base", *names[1:])
    assert len({example.lock_text(name) for name in [base, *names]}) == 4
    joined, ours, theirs = (example.versions(name) for name in names)
    start = example.versions(base)
    assert joined == start | moves(start, ours) | moves(start, theirs)
    assert check_out(example, merge, tmp_path).smoke().returncode == 0


def moves(before: Mapping[str, str], after: Mapping[str, str]) -> dict[str, str]:
    return {name: after[name] for name in after if before[name] != after[name]}


def test_release_without_a_build_can_be_locked_but_not_installed(
    example: Example, tmp_path: Path
) -> None:
    revision = example.find(build.UNINSTALLABLE_SUBJECT)
    checkout = check_out(example, revision, tmp_path)
    checked = checkout.uv("lock", "--check")
    assert checked.returncode == 0, checked.stderr
    done = checkout.sync()
    assert done.returncode == 1
    assert "RuntimeError: tallow-data 1.4.1 cannot be built" in done.stderr
    still = following(example, revision)
    assert check_out(example, still, tmp_path).sync().returncode == 1
    assert check_out(example, following(example, still), tmp_path).smoke().returncode == 0


def test_git_bisect_finds_the_culprit_past_commits_that_cannot_be_judged(
    example: Example, tmp_path: Path
) -> None:
    path = check_out(example, example.head, tmp_path).path
    sync = f'"{UV}" sync -q --locked --offline --python "{sys.executable}" || exit 125'
    script = f"{sync}; .venv/bin/python -B smoke.py || exit 1"
    ends = (example.head, example.good, "--", "uv.lock", "pyproject.toml")
    started = example.run("git", "bisect", "start", *ends, cwd=path)
    assert started.returncode == 0, started.stderr
    done = example.run("git", "bisect", "run", "sh", "-c", script, cwd=path)
    culprit = example.find(build.CULPRIT_SUBJECT)
    assert f"{culprit} is the first bad commit" in done.stdout, done.stdout + done.stderr
    log = example.run("git", "bisect", "log", cwd=path).stdout
    assert {"good", "bad", "skip"} == set(re.findall(r"(?m)^git bisect (good|bad|skip) ", log))
    example.run("git", "bisect", "reset", cwd=path)


def command_line(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(EXAMPLE / "build.py"), *arguments],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def test_command_line_says_what_was_built_in_one_line(example: Example, tmp_path: Path) -> None:
    done = command_line(tmp_path, "new/repo", "--uv", UV, "--python", sys.executable)
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 1
    assert f"{example.commits} commits" in done.stdout
    assert example.head[:12] in done.stdout


def test_folder_with_something_in_it_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    done = command_line(tmp_path, ".", "--uv", UV)
    assert done.returncode == 2
    assert "not empty" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_missing_uv_is_named_and_nothing_is_made(tmp_path: Path) -> None:
    done = command_line(tmp_path, "repo", "--uv", "no-such-uv")
    assert done.returncode == 2
    assert "uv not found: no-such-uv" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_failed_command_is_shown_with_its_last_lines_and_leaves_nothing(tmp_path: Path) -> None:
    done = command_line(tmp_path, "repo", "--uv", UV, "--python", str(tmp_path / "no-python"))
    assert done.returncode == 4
    assert "lock --quiet --offline" in done.stderr
    assert "no-python" in done.stderr.splitlines()[-1]
    assert list((tmp_path / "repo").iterdir()) == []


def test_text_to_edit_has_to_stand_there_once() -> None:
    change = build.Change(write={}, edit={"a": ["x", "y"]}, append={})
    assert change.applied_to({"a": "1 x"}) == {"a": "1 y"}
    with pytest.raises(build.ExampleError, match="not there exactly once"):
        change.applied_to({"a": "x x"})
