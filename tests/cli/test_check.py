"""`envtrack check` on real commits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.lab import Lab
from tests.lockfiles.texts import HEAD, pinned, project

POLICY = ".envtrack/policies/ours.yaml"
CONFIG = "layers:\n  framework: [wick]\n"


def lock(wick: str, flint: str, **more: str) -> str:
    named = {"wick": wick, "flint": flint, **more}
    return HEAD + "\n".join([project(*named), *(pinned(n, v) for n, v in named.items())])


@pytest.fixture
def ruled(lab: Lab) -> Lab:
    """wick is the framework, flint is not; the policy says nothing of its own."""
    lab.repo.write(".envtrack/config.yaml", CONFIG)
    lab.repo.write(POLICY, "kind: UpgradePolicy\nrules: {record: {level: off}}\n")
    lab.repo.write("uv.lock", lock("1", "1"))
    lab.repo.commit("begin")
    return lab


def stage(lab: Lab, text: str, path: str = "uv.lock") -> None:
    lab.repo.write(path, text)
    lab.repo.git("add", "--", path)


def commit(lab: Lab, text: str, subject: str = "step", path: str = "uv.lock") -> str:
    stage(lab, text, path)
    lab.repo.git("commit", "--quiet", "-m", subject)
    return lab.repo.head()


def rules(lab: Lab, *arguments: str) -> list[tuple[str, str]]:
    document = lab.run_json("check", *arguments)
    return [(breach["step"], breach["rule"]) for breach in document["breaches"]]


def test_what_is_staged_and_nothing_else_is_judged(ruled: Lab) -> None:
    assert ruled.run("check").out.startswith("0 changes of lockfiles judged")
    ruled.repo.write("uv.lock", lock("2", "2"))
    assert ruled.run("check", "--staged").code == 0  # in the working tree only
    stage(ruled, lock("2", "1"))
    assert ruled.run("check", "--staged").code == 0
    stage(ruled, lock("2", "2"))
    before = ruled.repo.state()
    done = ruled.run("check", "--staged")
    assert ruled.repo.state() == before
    assert (done.code, done.err) == (1, "")
    assert " ".join(done.out.split()) == (
        "error one-layer staged uv.lock "
        "2 layers move, 1 may: framework with cuda-runtime (wick 1 → 2); packages (flint 1 → 2) "
        "why: where several layers moved at once, nobody can say which of them broke it, and going "
        "back means going back with all "
        "way out: let each layer have a commit of its own, lowest first: `envtrack split` "
        "way out: put the upper ones back, commit, and move them in a commit of their own: "
        "`uv lock --upgrade-package flint==1` "
        f"1 change of a lockfile judged by {POLICY}: 1 error"
    )


def test_a_partial_commits_own_index_is_the_one_that_counts(
    ruled: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = ruled.repo.path / ".git/next-index-1.lock"
    ruled.repo.write("uv.lock", lock("2", "2"))
    ruled.repo.run(["git", "add", "uv.lock"], env={"GIT_INDEX_FILE": str(index)})
    assert ruled.run("check", "--staged").code == 0
    monkeypatch.setenv("GIT_INDEX_FILE", str(index))
    assert ruled.run("check", "--staged").code == 1


def test_a_message_answers_what_a_message_can(ruled: Lab, tmp_path: Path) -> None:
    ruled.repo.write(
        POLICY,
        "kind: UpgradePolicy\nrules: {reason: {level: error}}\noverrides: [one-layer]\n",
    )
    stage(ruled, lock("2", "2"))
    assert ruled.run("check", "--staged").code == 0  # both wait for the message
    file = tmp_path / "MSG"
    file.write_text("both\n\nEnv-Reason: no\n# Env-Override: one-layer in a comment\n")
    assert [r for _, r in rules(ruled, "--message", str(file))] == ["one-layer", "record"]
    file.write_text("both\n\nEnv-Override: one-layer it has to be\nEnv-Reason: new\n\n# c\n")
    done = ruled.run("check", "--message", str(file))
    assert done.code == 0
    assert "error (override)  one-layer  staged uv.lock" in done.out
    assert "  excused: it has to be\n" in done.out
    assert "1 warning, 1 overridden" in done.out
    assert ruled.run("check", "--message", str(tmp_path / "none")).code == 2


def test_a_range_tells_each_commit_and_a_revision_only_itself(ruled: Lab) -> None:
    base = ruled.repo.head()
    first = commit(ruled, lock("2", "2"))
    second = commit(ruled, lock("3", "2"))
    assert rules(ruled, f"{base}..HEAD") == [(first[:10], "one-layer")]
    assert rules(ruled, "HEAD") == []
    assert rules(ruled, "HEAD~1") == [(first[:10], "one-layer")]
    assert ruled.run_json("check", f"{base}..{second}")["steps"] == 2


@pytest.mark.parametrize("revision", ["nowhere", "HEAD..nowhere", "a...b", "HEAD...HEAD~1"])
def test_no_such_range_is_one_line(ruled: Lab, revision: str) -> None:
    done = ruled.run("check", revision)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("envtrack: ")


def test_a_first_commit_moves_nothing(lab: Lab) -> None:
    root = lab.repo.git("rev-list", "--max-parents=0", "HEAD").strip()
    assert [rule for _, rule in rules(lab, root)] == ["record"]


def test_a_merge_is_told_by_what_is_like_no_parent(ruled: Lab) -> None:
    base = ruled.repo.head()
    ruled.repo.git("switch", "--quiet", "-c", "side")
    commit(ruled, lock("2", "1"), "wick")
    ruled.repo.git("switch", "--quiet", "-")
    commit(ruled, lock("1", "2"), "flint")
    ruled.repo.run(["git", "merge", "--quiet", "--no-commit", "side"], check=False)
    stage(ruled, lock("2", "2"))
    ruled.repo.git("commit", "--quiet", "-m", "merged")
    assert ruled.run("check", f"{base}..HEAD").code == 0
    # A merge that moves something of its own does not hide it.
    ruled.repo.git("switch", "--quiet", "-c", "evil", "HEAD~1")
    ruled.repo.run(["git", "merge", "--quiet", "--no-commit", "side"], check=False)
    stage(ruled, lock("2", "2", bell="1"))
    ruled.repo.git("commit", "--quiet", "-m", "merged, with more")
    assert ruled.run_json("check", "HEAD")["steps"] == 1


def test_a_clean_merge_tells_nothing_twice(ruled: Lab) -> None:
    base = ruled.repo.head()
    ruled.repo.git("switch", "--quiet", "-c", "side")
    bad = commit(ruled, lock("2", "2"), "both")
    ruled.repo.git("switch", "--quiet", "-")
    ruled.repo.write("notes.txt", "words\n")
    ruled.repo.commit("words")
    ruled.repo.git("merge", "--quiet", "--no-edit", "side")
    assert rules(ruled, f"{base}..HEAD") == [(bad[:10], "one-layer")]


def test_a_lockfile_that_moves_is_compared_with_itself(ruled: Lab) -> None:
    ruled.repo.git("mv", "uv.lock", "deep.lock")
    (ruled.repo.path / "deep").mkdir()
    ruled.repo.git("mv", "deep.lock", "deep/uv.lock")
    assert ruled.run("check", "--staged").code == 0
    stage(ruled, lock("2", "2"), "deep/uv.lock")
    document = ruled.run_json("check", "--staged")
    assert [(b["lockfile"], b["rule"]) for b in document["breaches"]] == [
        ("deep/uv.lock", "one-layer")
    ]
    ruled.repo.git("commit", "--quiet", "-m", "moved")
    assert [rule for _, rule in rules(ruled, "HEAD")] == ["one-layer"]


def test_a_lockfile_that_goes_is_no_fault(ruled: Lab) -> None:
    ruled.repo.git("rm", "--quiet", "uv.lock")
    assert ruled.run("check", "--staged").code == 0
    ruled.repo.git("commit", "--quiet", "-m", "gone")
    assert ruled.run("check", "HEAD").code == 0


@pytest.mark.parametrize("folder", ["apps/a b", "äpps", "-x", "new\nline", "[a]*"])
def test_lockfiles_in_folders_of_any_name(ruled: Lab, folder: str) -> None:
    path = f"{folder}/uv.lock"
    commit(ruled, lock("1", "1"), "one", path)
    base = ruled.repo.head()
    stage(ruled, lock("2", "2"), path)
    told = ruled.run_json("check", "--staged")["breaches"]
    assert [(b["lockfile"], b["rule"]) for b in told] == [(path, "one-layer")]
    ruled.repo.git("commit", "--quiet", "-m", "two")
    told = ruled.run_json("check", f"{base}..HEAD")["breaches"]
    assert [(b["lockfile"], b["rule"]) for b in told] == [(path, "one-layer")]


def test_a_lockfile_that_cant_be_read_is_a_breach_of_its_commit(ruled: Lab) -> None:
    stage(ruled, f"<<<<<<< HEAD\n{lock('2', '1')}")
    done = ruled.run("check", "--staged")
    assert done.code == 1
    assert "uv.lock:1: conflict markers" in done.out
    ruled.repo.git("commit", "--quiet", "-m", "oops")
    broken = ruled.repo.head()[:10]
    # What puts it right is not to blame, and the rest of the range is judged all the same.
    commit(ruled, lock("2", "2"))
    commit(ruled, lock("3", "3"))
    told = ruled.run_json("check", "HEAD~3..HEAD")["breaches"]
    assert [(b["step"], b["rule"]) for b in told if b["level"] == "error"] == [
        (broken, "readable"),
        (ruled.repo.head()[:10], "one-layer"),
    ]


def test_a_broken_policy_is_no_broken_rule(ruled: Lab) -> None:
    ruled.repo.write(POLICY, "kind: UpgradePolicy\nrules: {one-layer: {level: high}}\n")
    stage(ruled, lock("2", "2"))
    done = ruled.run("check", "--staged")
    assert (done.code, done.out) == (2, "")
    assert f"{POLICY}:2: rules.one-layer.level: expected error, warn, off" in done.err


def test_no_range_loosens_its_own_rules(ruled: Lab) -> None:
    base = ruled.repo.head()
    ruled.repo.write(POLICY, "kind: UpgradePolicy\nrules: {one-layer: {level: off}}\n")
    ruled.repo.git("add", POLICY)
    bad = commit(ruled, lock("2", "2"))
    assert rules(ruled, f"{base}..HEAD") == [(bad[:10], "one-layer")]
    assert ruled.run_json("check", f"{base}..HEAD")["policies"] == [f"{base[:10]}:{POLICY}"]


def test_the_kernel_and_a_package_are_two_layers(ruled: Lab) -> None:
    ruled.record(kernel_release="6.8.0-45")
    ruled.repo.commit("record")
    ruled.repo.write("uv.lock", lock("1", "2"))
    ruled.record(kernel_release="6.8.0-48")
    ruled.repo.git("add", "--all")
    (breach,) = ruled.run_json("check", "--staged")["breaches"]
    assert breach["found"] == (
        "2 layers move, 1 may: kernel (kernel.release 6.8.0-45 → 6.8.0-48); packages (flint 1 → 2)"
    )
    assert "envtrack snapshot --commit -m 'kernel of testbed'" in breach["ways_out"][0]
    ruled.repo.git("commit", "--quiet", "-m", "both")
    (breach,) = ruled.run_json("check", "HEAD")["breaches"]
    assert breach["found"].startswith("2 layers move, 1 may: kernel")


def test_a_record_of_another_state_is_stale(ruled: Lab) -> None:
    ruled.repo.write(POLICY, "kind: UpgradePolicy\n")
    ruled.record(kernel_release="6.8.0-45")
    ruled.repo.commit("record")
    stage(ruled, lock("1", "2"))
    assert [r for _, r in rules(ruled, "--staged")] == ["record"]
    done = ruled.run("check", "--staged")
    assert "the record of testbed beside uv.lock was taken with another state of it" in done.out
    assert done.code == 0  # it warns


def test_a_good_verdict_of_this_very_environment(ruled: Lab) -> None:
    ruled.repo.write(
        POLICY, "kind: UpgradePolicy\nrules: {verified: {days: 9}, record: {level: off}}\n"
    )
    ruled.repo.commit("policy")
    commit(ruled, lock("1", "2"))
    assert [r for _, r in rules(ruled, "HEAD")] == ["verified"]
    assert ruled.run("smoke", "--", "true").code == 0
    assert rules(ruled, "HEAD") == []


def test_a_bare_repository_is_judged_too(ruled: Lab, tmp_path: Path) -> None:
    base = ruled.repo.head()
    bad = commit(ruled, lock("2", "2"))
    bare = tmp_path / "server.git"
    ruled.repo.run(["git", "clone", "--quiet", "--bare", str(ruled.repo.path), str(bare)])
    place = ("--directory", str(bare))
    assert rules(ruled, f"{base}..{bad}", *place) == [(bad[:10], "one-layer")]
    assert ruled.run("check", "--staged", *place).code == 2


def test_a_shallow_clones_first_commit_is_not_taken_for_a_step(ruled: Lab, tmp_path: Path) -> None:
    commit(ruled, lock("2", "2"))
    shallow = tmp_path / "shallow"
    ruled.repo.run(["git", "clone", "--quiet", "--depth=1", ruled.repo.path.as_uri(), str(shallow)])
    assert [r for _, r in rules(ruled, "HEAD", "--directory", str(shallow))] == []


def test_formats_for_machines_and_for_people(ruled: Lab) -> None:
    stage(ruled, lock("2", "2"))
    github = ruled.run("check", "--staged", "--format", "github")
    assert github.code == 1
    assert github.out.startswith(
        "::error file=uv.lock,title=envtrack%3A one-layer::staged: 2 layers"
    )
    assert github.out.count("\n") == 1
    assert "%0A" in github.out
    (row,) = json.loads(ruled.run("check", "--staged", "--format", "gitlab").out)
    assert (row["check_name"], row["severity"]) == ("envtrack-one-layer", "major")
    assert row["location"] == {"path": "uv.lock", "lines": {"begin": 1}}
    assert len(row["fingerprint"]) == 64
    markdown = ruled.run("check", "--staged", "--format", "markdown").out
    assert "| error | one-layer | staged uv.lock | 2 layers move, 1 may:" in markdown
    assert "- put the upper ones back, commit" in markdown
    assert "`uv lock --upgrade-package flint==1`" in markdown


def test_a_revision_and_what_is_staged_are_not_both_meant(ruled: Lab) -> None:
    assert ruled.run("check", "HEAD", "--staged").code == 2


def test_figures_are_read_beside_the_lockfile_of_each_commit(ruled: Lab) -> None:
    rules = "record: {level: off}\n  experiment: {metrics: [{name: loss, within: 10%}]}"
    ruled.repo.write(".envtrack/policies/upgrade.yaml", f"kind: UpgradePolicy\nrules:\n  {rules}\n")
    for number, loss in ((1, 0.5), (2, 0.52), (3, 0.9)):
        ruled.repo.write("metrics.json", f'{{"seed": 1, "loss": {loss}}}')
        stage(ruled, lock(str(number + 1), "1"))
        ruled.repo.git("add", "--all")
        ruled.repo.git("commit", "--quiet", "-m", f"run {number}")
    told = ruled.run_json("check", "HEAD~2..HEAD")["breaches"]
    assert [(b["rule"], b["found"]) for b in told] == [
        ("experiment", "loss was 0.52 and is 0.9: more than 10% off")
    ]
