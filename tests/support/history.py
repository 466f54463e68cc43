"""Makes histories of lock commits quickly: one `git fast-import`, locks that real uv accepts.

The project `lab` needs one package, `dial`, whose version says what the smoke test will see: 1.x
passes, 2.x fails, 3.x can't be judged (125). A file `code` can fail too.
"""

from __future__ import annotations

import contextlib
import functools
import os
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest  # noqa: TC002 - fixtures are annotated with it

from envtrack.bisect.rig import Rig, open_rig
from envtrack.bisect.session import Wish, make_session
from envtrack.cli.main import main
from envtrack.git.repository import open_repository
from envtrack.model.oid import Oid
from envtrack.model.verdict import Judgement
from envtrack.probe.plan import Plan, read_plan
from tests.support.repo import UV, RepoBuilder
from tests.support.wheels import write_wheel

SMOKE = (
    "python -c 'import dial, pathlib, sys;"
    ' sys.exit(dial.CODE or int(pathlib.Path("code").read_text()))\''
)
"""The smoke test of these histories; it names no file, so nothing is put into the trees."""

_CODES = {"1": 0, "2": 1, "3": 125}
_RELEASES = tuple(f"{major}.{minor}" for major in _CODES for minor in range(16))
PROJECT = """\
[project]
name = "lab"
version = "0.1"
requires-python = ">=3.11"
dependencies = ["dial==VERSION"]
[tool.uv]
package = false
[[tool.uv.index]]
name = "shelf"
url = "index"
format = "flat"
default = true
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command line ended."""

    code: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        """The lines on stderr that are no progress."""
        return [line for line in self.err.splitlines() if line.startswith("envtrack: ")]


def run_cli(capsys: pytest.CaptureFixture[str], repo: RepoBuilder, *arguments: str) -> Ended:
    """`envtrack bisect …` in a repository, entered where users enter."""
    known = ("resume", "status", "log", "show", "script")
    command, rest = ("start", arguments)
    if arguments and arguments[0] in known:
        command, rest = arguments[0], arguments[1:]
    capsys.readouterr()
    code = main(["bisect", command, "--directory", str(repo.path), *rest])
    said = capsys.readouterr()
    assert "Traceback" not in said.err, said.err
    return Ended(code=code, out=said.out, err=said.err)


@functools.cache
def _template() -> str:
    """A lockfile as real uv writes it, for dial 1.0."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_wheel(folder / "index", "dial", "1.0")
        (folder / "pyproject.toml").write_text(PROJECT.replace("VERSION", "1.0"))
        environ = {**os.environ, "UV_OFFLINE": "1", "UV_CACHE_DIR": str(folder / "cache")}
        subprocess.run(
            [UV, "lock", "--quiet"], cwd=folder, env=environ, check=True, capture_output=True
        )
        return (folder / "uv.lock").read_text()


def lock_text(version: str) -> str:
    """The lockfile that `uv lock` writes for this release: the flat index has no hashes."""
    text = _template().replace("dial-1.0-", f"dial-{version}-").replace("==1.0", f"=={version}")
    return text.replace('version = "1.0"', f'version = "{version}"')


def project_text(version: str) -> str:
    """The pyproject.toml that asks for this release."""
    return PROJECT.replace("VERSION", version)


@functools.cache
def _shelf() -> Mapping[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        for version in _RELEASES:
            code = _CODES[version.partition(".")[0]]
            body = f"VERSION = {version!r}\nCODE = {code}\n"
            write_wheel(Path(name), "dial", version, files={"dial.py": body})
        return {f"index/{path.name}": path.read_bytes() for path in Path(name).iterdir()}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Commit:
    name: str
    parents: tuple[str, ...]
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class History:
    """A repository and its commits by name."""

    repo: RepoBuilder
    oids: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.oids[name]

    def names(self, oids: Iterable[str]) -> set[str]:
        """The names of these commits."""
        by_oid = {oid: name for name, oid in self.oids.items()}
        return {by_oid[oid] for oid in oids}


@dataclass
class Script:
    """Commits one after the other; `build` makes them."""

    folder: str = ""
    commits: dict[str, _Commit] = field(default_factory=dict)

    def add(
        self,
        name: str,
        dial: str | None = None,
        *,
        files: Mapping[str, str | bytes | None] | None = None,
        code: int | None = None,
        parents: tuple[str, ...] | None = None,
    ) -> Script:
        """One more commit.

        Args:
            name: also its subject.
            dial: the release that is locked from here on.
            files: further files, `None` removes one.
            code: what the project's own code ends in.
            parents: names; by default the commit before. The tree starts as the first one's.
        """
        if parents is None:
            parents = tuple(list(self.commits)[-1:])
        tree = dict(self.commits[parents[0]].files) if parents else self._first_tree()
        if dial is not None:
            tree[f"{self.folder}uv.lock"] = lock_text(dial).encode()
            tree[f"{self.folder}pyproject.toml"] = project_text(dial).encode()
        if code is not None:
            tree[f"{self.folder}code"] = f"{code}\n".encode()
        for path, content in (files or {}).items():
            if content is None:
                tree.pop(path, None)
            else:
                tree[path] = content if isinstance(content, bytes) else content.encode()
        # So that no two commits have one tree: that would spare probes.
        tree.setdefault("steps", b"")
        if code is not None or dial is not None or files is None:
            tree["steps"] += f"{name}\n".encode()
        self.commits[name] = _Commit(name=name, parents=parents, files=tree)
        return self

    def build(self, path: Path) -> History:
        """The repository, its last commit checked out on `main`."""
        repo = RepoBuilder.create(path)
        marks = path.parent / f"{path.name}.marks"
        subprocess.run(
            ["git", "fast-import", "--quiet", f"--export-marks={marks}"],
            cwd=path, input=self._stream(), check=True, capture_output=True,
        )  # fmt: skip
        rows = (line.split() for line in marks.read_text().splitlines())
        by_mark = {int(mark[1:]): oid for mark, oid in rows}
        oids = {name: by_mark[number] for number, name in enumerate(self.commits, start=1)}
        repo.git("symbolic-ref", "HEAD", "refs/heads/main")
        repo.git("reset", "--quiet", "--hard")
        return History(repo, oids)

    def _first_tree(self) -> dict[str, bytes]:
        shelf = {f"{self.folder}{name}": content for name, content in _shelf().items()}
        return {**shelf, f"{self.folder}code": b"0\n"}

    def _stream(self) -> bytes:
        parts: list[bytes] = []
        blobs: dict[bytes, int] = {}
        numbers = {name: number for number, name in enumerate(self.commits, start=1)}
        for commit in self.commits.values():
            for content in commit.files.values():
                if content not in blobs:
                    blobs[content] = 100_000 + len(blobs)
                    parts.append(b"blob\nmark :%d\n" % blobs[content] + _data(content))
            parts.append(_header(commit, numbers))
            for path, content in commit.files.items():
                mode = b"100755" if content.startswith(b"#!") else b"100644"
                parts.append(b"M %s :%d %s\n" % (mode, blobs[content], _quoted(path)))
        return b"".join(parts)


def _header(commit: _Commit, numbers: Mapping[str, int]) -> bytes:
    number = numbers[commit.name]
    who = b"Ada Tester <ada@example.org> %d +0000" % (1767322000 + 3600 * number)
    # Without the reset a root commit would be put upon the one before.
    head = b"" if commit.parents else b"reset refs/heads/main\n"
    head += b"commit refs/heads/main\nmark :%d\nauthor %s\ncommitter %s\n" % (number, who, who)
    head += _data(commit.name.encode())
    for position, parent in enumerate(commit.parents):
        head += b"%s :%d\n" % (b"merge" if position else b"from", numbers[parent])
    return head + b"deleteall\n"


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    text = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return b'"' + os.fsencode(text) + b'"'


@contextlib.contextmanager
def open_bench(
    repo: RepoBuilder,
    good: str,
    *,
    bad: str = "HEAD",
    smoke: str = SMOKE,
    smoke_from: str = "",
    lockfile: str = "uv.lock",
    **settings: Any,  # noqa: ANN401 - fields of Plan
) -> Iterator[Rig]:
    """A session's rig without a search: single commits can be probed on it."""
    repository = open_repository(repo.path, dict(os.environ))
    wish = Wish(
        good=good,
        bad=bad,
        lockfile=lockfile,
        smoke=smoke,
        smoke_from=smoke_from,
        listed_files=(),
        settings=Plan.of(**{"uv": UV, "retries": 0, "machine": "testbed", **settings}),
    )
    files = make_session(repository, wish, now=datetime.now(UTC))
    with open_rig(repository, read_plan(files), files, watcher=lambda _rig: None) as rig:
        yield rig


def judge(rig: Rig, commit: str) -> Judgement:
    """What a probe says of a commit."""
    judgement = rig.probe(Oid(commit)).judgement
    assert judgement is not None
    return judgement


def read_log(rig: Rig, name: str = "smoke.log") -> str:
    """A log of the newest probe."""
    return (Path(rig.store.list(rig.plan.id)[-1].log) / name).read_text("utf-8", "replace")
