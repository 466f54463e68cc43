"""Changes of a lockfile that keep every name and version, and a file that is none.

A tool that compares names and versions says of each that no dependency changed. Each is told as
what it is, and printed by ``envtrack diff``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest

from envtrack.compare.locks import compare_locks
from envtrack.lockfiles.interface import parse_lock
from envtrack.model.comparison import Change, ChangeKind, Origin
from envtrack.model.layer import Layer
from tests.cli.lab import Lab, build_lab
from tests.lockfiles.texts import HEAD, pinned, project
from tests.support.repo import RepoBuilder

TORCH = "https://registry.example/whl"
AT = "https://git.example/lab/verifiers.git"
OLD, NEW = "0123456789" * 4, "abcdef0123" * 4


def locked(*packages: str, head: str = HEAD) -> str:
    return "\n".join([head, *packages])


def from_git(commit: str) -> str:
    source = f'source = {{ git = "{AT}?rev=main#{commit}" }}'
    return f'[[package]]\nname = "verifiers"\nversion = "0.1.14"\n{source}\n'


def marked(marker: str) -> str:
    edge = f'{{ name = "triton", marker = "{marker}" }}'
    return locked(project(edge, requires=("triton",)), pinned("triton", "3.3.0"))


def in_workspace(*members: str) -> str:
    head = HEAD + f"[manifest]\nmembers = {['lab', *members]}\n"
    inside = (project("attrs", name=name, version=None, at=f"libs/{name}") for name in members)
    return locked(project("attrs"), *inside, pinned("attrs", "25.1.0"), head=head)


def with_extra(edge: str) -> str:
    # uv locks the edges of those extras alone that somebody asks for.
    optional = '[package.optional-dependencies]\nhttp = [{ name = "certifi" }]'
    return locked(
        project(edge, "certifi", requires=("httpx", "certifi")),
        pinned("httpx", "0.28.1", more=optional if "extra" in edge else ""),
        pinned("certifi", "2025.1.31"),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Two lockfiles, what is to be told of them, and the rows that are printed."""

    before: str
    after: str
    changes: tuple[Change, ...]
    printed: str


def change(
    layer: Layer, name: str, kind: ChangeKind, before: str, after: str | None, detail: str
) -> Change:
    return Change(
        layer=layer,
        name=name,
        kind=kind,
        before=before,
        after=after,
        origin=Origin.ROOT,
        detail=detail,
    )


CASES = {
    "index moved": Case(
        before=locked(project("torch"), pinned("torch", "2.7.0", index=f"{TORCH}/cu128")),
        after=locked(project("torch"), pinned("torch", "2.7.0", index=f"{TORCH}/cpu")),
        changes=(
            change(
                Layer.FRAMEWORK,
                "torch",
                ChangeKind.SOURCE,
                f"{TORCH}/cu128",
                f"{TORCH}/cpu",
                "2.7.0: index",
            ),
        ),
        printed=f"torch {TORCH}/cu128 → {TORCH}/cpu source root, 2.7.0: index",
    ),
    "git commit moved": Case(
        before=locked(project("verifiers"), from_git(OLD)),
        after=locked(project("verifiers"), from_git(NEW)),
        changes=(
            change(
                Layer.PACKAGES,
                "verifiers",
                ChangeKind.SOURCE,
                f"git+{AT}@0123456789",
                f"git+{AT}@abcdef0123",
                "0.1.14: git commit",
            ),
        ),
        printed=f"verifiers git+{AT}@0123456789 → source root, 0.1.14: git commit git+{AT}@abcdef0123",
    ),
    "wheel hash changed": Case(
        before=locked(project("logic-env"), pinned("logic-env", "0.1.0", digest="aa")),
        after=locked(project("logic-env"), pinned("logic-env", "0.1.0", digest="bb")),
        changes=(
            change(
                Layer.PACKAGES,
                "logic-env",
                ChangeKind.REBUILD,
                "0.1.0",
                "0.1.0",
                "logic_env-0.1.0-py3-none-any.whl",
            ),
        ),
        printed="packages 1 change, 1 root logic-env 0.1.0 rebuild root logic_env-0.1.0-py3-none-any.whl",
    ),
    "marker changed": Case(
        before=marked("sys_platform == 'linux'"),
        after=marked("sys_platform == 'linux' and platform_machine == 'x86_64'"),
        changes=(
            change(
                Layer.FRAMEWORK,
                "triton",
                ChangeKind.SELECTOR,
                "3.3.0",
                "3.3.0",
                "lab if sys_platform == 'linux' → "
                "lab if platform_machine == 'x86_64' and sys_platform == 'linux'",
            ),
        ),
        printed=(
            "framework 1 change, 1 root triton 3.3.0 selector root lab if sys_platform == 'linux' → "
            "lab if platform_machine == 'x86_64' and sys_platform == 'linux'"
        ),
    ),
    "workspace member removed": Case(
        before=in_workspace("worker"),
        after=in_workspace(),
        changes=(
            change(
                Layer.PACKAGES,
                "worker",
                ChangeKind.REMOVED,
                "dynamic",
                None,
                "editable libs/worker",
            ),
        ),
        printed="packages 1 change, 1 root worker dynamic → – removed root, editable libs/worker",
    ),
    "extra dropped": Case(
        before=with_extra('{ name = "httpx", extra = ["http"] }'),
        after=with_extra("httpx"),
        changes=(
            change(
                Layer.PACKAGES,
                "certifi",
                ChangeKind.SELECTOR,
                "2025.1.31",
                "2025.1.31",
                "httpx[http] → nobody else",
            ),
            change(
                Layer.PACKAGES,
                "httpx",
                ChangeKind.SELECTOR,
                "0.28.1",
                "0.28.1",
                "lab wants [http] → lab",
            ),
        ),
        printed=(
            "packages 2 changes, 2 root certifi 2025.1.31 selector root httpx[http] → nobody else "
            "httpx 0.28.1 selector root, lab wants [http] → lab"
        ),
    ),
}


def named_versions(text: str) -> set[tuple[str, str | None]]:
    lock = parse_lock(text, path="uv.lock")
    return {(package.name, package.version) for package in lock.packages if package.version}


@pytest.fixture
def lab(
    repo: RepoBuilder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Lab:
    """A repository without a lockfile, and the current folder in it."""
    monkeypatch.chdir(repo.path)
    return build_lab(repo, capsys)


@pytest.mark.parametrize("name", list(CASES))
def test_it_is_told_as_what_it_is(name: str) -> None:
    case = CASES[name]
    assert named_versions(case.before) == named_versions(case.after)
    before, after = (parse_lock(text, path="uv.lock") for text in (case.before, case.after))
    assert compare_locks(before, after) == case.changes
    assert compare_locks(before, before) == ()


@pytest.mark.parametrize("name", list(CASES))
def test_it_is_printed(lab: Lab, name: str) -> None:
    case = CASES[name]
    lab.repo.write("uv.lock", case.before)
    lab.repo.commit("before")
    lab.repo.write("uv.lock", case.after)
    lab.repo.commit("after")
    done = lab.run("diff", "HEAD~1", "HEAD", "--exit-code")
    assert (done.code, done.err) == (1, "")
    # Wide rows are broken at the width of a terminal.
    assert case.printed in re.sub(r"\s+", " ", done.out)
    told = lab.run_json("diff", "HEAD~1", "HEAD")["changes"]
    assert [(c["name"], c["kind"]) for c in told] == [(c.name, c.kind.value) for c in case.changes]
    assert lab.run("diff", "HEAD", "HEAD", "--exit-code").code == 0


def test_a_file_with_conflict_markers_is_an_error_with_its_line(lab: Lab) -> None:
    case = CASES["index moved"]
    lab.repo.write("uv.lock", case.before)
    lab.repo.commit("before")
    ours, theirs = (f'version = "{version}"\n' for version in ("2.7.0", "2.8.0"))
    merged = f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> dev\n"
    head, _, tail = case.before.rpartition(ours)
    text = f"{head}{merged}{tail}"
    lab.repo.write("uv.lock", text)
    lab.repo.commit("after")
    line = text.splitlines().index("<<<<<<< HEAD") + 1
    said = "conflict markers: two versions were merged without being resolved"
    for ends, where in ((("HEAD~1", "HEAD"), "HEAD:uv.lock"), (("HEAD~1",), "uv.lock")):
        done = lab.run("diff", *ends)
        assert (done.code, done.out) == (2, "")
        assert done.err.splitlines()[0] == f"envtrack: {where}:{line}: {said}"
