#!/usr/bin/env python3
"""Builds a git repository with a long history of uv lockfiles. Needs git and uv, no network.

    python build.py DEST [--uv PATH] [--python PATH]

The packages are in `packages/`, the commits in `history.toml`; README.md says what is hidden in
them. Every lockfile is written by a real `uv lock`. Nothing depends on the clock, the machine or
the folder: with one version of uv all commit hashes are the same everywhere.

One file, longer than most: it is shipped as an example and must run, and load, by its path alone.
"""

# No `from __future__ import annotations`: dataclasses would then look this module up in
# sys.modules, and a module loaded by its path need not be there.
import argparse
import base64
import dataclasses
import hashlib
import html
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

HERE = Path(__file__).resolve().parent
SHELF = "index"
"""The folder of releases in the repository, and the address of the index in its pyproject.toml."""

GOOD_TAG = "demo-good"
CULPRIT_SUBJECT = "Weekly upgrade: seven packages"
STALE_SUBJECT = "Ask for glim-linalg 1.2"
CONFLICT_SUBJECT = "Pick up my stash: notes on logging"
FORMAT_SUBJECT = "uv sync on my laptop"
MERGE_SUBJECT = "Merge branch 'shuffle'"
UNINSTALLABLE_SUBJECT = "tallow-data 1.4.1"
GUILTY_PACKAGE = "glim-core"
GUILTY_RELEASE = "2.2.0"
ACCUSED_PACKAGE = "lantern-train"
"""The package whose code the traceback of the smoke test ends in. It is innocent."""

_FIRST_COMMIT_S = 1704702600  # 2024-01-08 08:30 UTC
_BETWEEN_COMMITS_S = 31 * 3600
_ARCHIVE_DATE = (2024, 1, 1, 0, 0, 0)
_ARCHIVE_DATE_S = 1704067200
_REQUIRES_PYTHON = ">=3.11"
_TIMEOUT_S = 120


class ExampleError(Exception):
    """The example could not be built. A command that failed, if nothing more special."""

    exit_code = 4


class UsageError(ExampleError):
    """What was asked for cannot be done: bad destination, missing tool."""

    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltExample:
    """The repository that was built."""

    path: Path
    good: str
    """Hash of the commit tagged `demo-good`: the smoke test passes."""
    head: str
    """Hash of the tip of `main`: the smoke test fails."""
    commits: int
    lock_commits: int
    """Commits whose uv.lock differs from that of their first parent."""


# Releases


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What happens to a set of text files."""

    write: Mapping[str, str]
    edit: Mapping[str, Sequence[str]]
    """Old text, new text, old text, new text…"""
    append: Mapping[str, str]

    def applied_to(self, files: Mapping[str, str]) -> dict[str, str]:
        """The files afterwards.

        Raises:
            ExampleError: a text to replace does not stand there exactly once.
        """
        after = dict(files) | dict(self.write)
        for path, texts in self.edit.items():
            for old, new in zip(texts[::2], texts[1::2], strict=True):
                if after[path].count(old) != 1:
                    raise ExampleError(f"{path}: not there exactly once: {old!r}")
                after[path] = after[path].replace(old, new)
        for path, text in self.append.items():
            after[path] += text
        return after


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One release of one package."""

    name: str
    version: str
    summary: str
    notes: str
    requires: tuple[str, ...]
    modules: Mapping[str, str]
    sdist: Mapping[str, str]
    """Files at the top of the source distribution. Empty: the release is a wheel."""

    @property
    def stem(self) -> str:
        """Name and version as they begin the name of a file."""
        return f"{self.name.replace('-', '_')}-{self.version}"

    @property
    def file_name(self) -> str:
        """The name of the archive."""
        return f"{self.stem}.tar.gz" if self.sdist else f"{self.stem}-py3-none-any.whl"


def parse_change(table: Mapping[str, Any]) -> Change:
    """The `write`, `edit` and `append` of a table."""
    return Change(**{key: table.get(key, {}) for key in ("write", "edit", "append")})


def parse_package(text: str) -> Iterator[Release]:
    """The releases of one file in `packages/`, oldest first."""
    package = tomllib.loads(text)
    modules: dict[str, str] = {}
    requires: Sequence[str] = ()
    for table in package["release"]:
        modules = parse_change(table).applied_to(modules)
        requires = table.get("requires", requires)
        yield Release(
            name=package["name"],
            version=table["version"],
            summary=package["summary"],
            notes=table["notes"],
            requires=tuple(requires),
            modules=modules,
            sdist=table.get("sdist", {}),
        )


def release_metadata(release: Release) -> str:
    """METADATA of a wheel, PKG-INFO of a source distribution."""
    # 2.2 promises that nothing here is dynamic: uv locks a source distribution without building it.
    head = f"Metadata-Version: 2.2\nName: {release.name}\nVersion: {release.version}\n"
    requires = "".join(f"Requires-Dist: {line}\n" for line in release.requires)
    return (
        f"{head}Summary: {release.summary}\nRequires-Python: {_REQUIRES_PYTHON}\n"
        f"{requires}\n{release.notes}\n"
    )


def release_modules(release: Release) -> dict[str, str]:
    """The import package, with an `__init__.py` that knows the version."""
    folder = release.name.replace("-", "_")
    init = f'"""{release.summary}"""\n\n__version__ = "{release.version}"\n'
    files = {"__init__.py": init, **release.modules}
    return {f"{folder}/{name}": text for name, text in files.items()}


def pack_wheel(release: Release) -> bytes:
    """The wheel, the same bytes everywhere."""
    info = f"{release.stem}.dist-info"
    files = release_modules(release) | {
        f"{info}/METADATA": release_metadata(release),
        f"{info}/WHEEL": (
            "Wheel-Version: 1.0\nGenerator: lockfile-repo (1)\n"
            "Root-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    record = "".join(record_line(path, text.encode()) for path, text in files.items())
    return pack_zip(files | {f"{info}/RECORD": f"{record}{info}/RECORD,,\n"})


def record_line(path: str, content: bytes) -> str:
    """The line for a file in a wheel's RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(content)}\n"


def pack_zip(files: Mapping[str, str]) -> bytes:
    """A zip archive, stored: compressed bytes would depend on the zlib at hand."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, _ARCHIVE_DATE)
            entry.create_system = 3  # Unix, on Windows too
            entry.external_attr = 0o100644 << 16
            archive.writestr(entry, text.encode())
    return buffer.getvalue()


def pack_sdist(release: Release) -> bytes:
    """The source distribution, the same bytes everywhere."""
    files = {"PKG-INFO": release_metadata(release), **release.sdist, **release_modules(release)}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo(f"{release.stem}/{name}")
            entry.size, entry.mtime = len(text.encode()), _ARCHIVE_DATE_S
            archive.addfile(entry, io.BytesIO(text.encode()))
    return pack_gzip(buffer.getvalue())


def pack_gzip(content: bytes) -> bytes:
    """A gzip file of one stored block: the gzip module would let zlib decide on the bytes."""
    header = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    block = struct.pack("<BHH", 1, len(content), len(content) ^ 0xFFFF) + content
    return header + block + struct.pack("<II", zlib.crc32(content), len(content))


def make_shelf(releases: Iterable[Release]) -> dict[str, bytes]:
    """The index as files: a folder and a page of links with hashes for each package.

    Not uv's flat format: locked from a flat folder, a release has no hash in uv.lock.
    """
    files: dict[str, bytes] = {}
    links: dict[str, list[str]] = {}
    for release in releases:
        archive = pack_sdist(release) if release.sdist else pack_wheel(release)
        files[f"{SHELF}/{release.name}/{release.file_name}"] = archive
        target = f"{release.file_name}#sha256={hashlib.sha256(archive).hexdigest()}"
        python = html.escape(_REQUIRES_PYTHON)
        links.setdefault(release.name, []).append(
            f'<a href="{target}" data-requires-python="{python}">{release.file_name}</a><br>\n'
        )
    for name, lines in links.items():
        page = f"<!DOCTYPE html>\n<title>{name}</title>\n{''.join(lines)}"
        files[f"{SHELF}/{name}/index.html"] = page.encode()
    return files


# The plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A commit as history.toml describes it."""

    subject: str
    author: str
    change: Change
    lock: tuple[str, ...] | None
    branch: str
    merge: str | None
    tag: str | None
    conflict: Mapping[str, Sequence[str]]
    older_revision: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class LockRun:
    """One `uv lock`: the pyproject.toml and the releases it is told to take."""

    manifest: str
    pins: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lockfile:
    """Where the text of a uv.lock comes from."""

    run: LockRun
    merged_with: tuple[LockRun, LockRun] | None = None
    """Base and other side of a merge that left its conflict markers."""
    older_revision: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The repository after a commit."""

    files: Mapping[str, str]
    pins: Mapping[str, str]
    lockfile: Lockfile | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit with its place in the history. Parents are places, the first parent first."""

    step: Step
    state: State
    parents: tuple[int, ...]


def parse_history(text: str) -> tuple[Step, ...]:
    """The commits of history.toml, oldest first."""
    history = tomllib.loads(text)
    return tuple(parse_step(table, history["people"]) for table in history["commit"])


def parse_step(table: Mapping[str, Any], people: Mapping[str, str]) -> Step:
    """One commit of history.toml."""
    return Step(
        subject=table["subject"],
        author=people[table["by"]],
        change=parse_change(table),
        lock=tuple(table["lock"]) if "lock" in table else None,
        branch=table.get("on", "main"),
        merge=table.get("merge"),
        tag=table.get("tag"),
        conflict=table.get("conflict", {}),
        older_revision=table.get("revision") == "older",
    )


def plan_history(steps: Iterable[Step]) -> tuple[Commit, ...]:
    """The state after every step. Runs nothing."""
    commits: list[Commit] = []
    tips: dict[str, int] = {}
    for step in steps:
        parents = [tips.get(step.branch, tips["main"])] if tips else []
        state = commits[parents[0]].state if parents else State(files={}, pins={}, lockfile=None)
        if step.merge:
            parents.append(tips[step.merge])
            # What the side branch did is done again on top of the main branch.
            for side in (commit.step for commit in commits if commit.step.branch == step.merge):
                state = next_state(state, side)
        tips[step.branch] = len(commits)
        state = next_state(state, step)
        commits.append(Commit(step=step, state=state, parents=tuple(parents)))
    return tuple(commits)


def next_state(state: State, step: Step) -> State:
    """The state after one more step."""
    files = step.change.applied_to(state.files)
    pins = moved(state.pins, step.lock or ())
    return State(files=files, pins=pins, lockfile=next_lockfile(state.lockfile, step, files, pins))


def next_lockfile(
    before: Lockfile | None, step: Step, files: Mapping[str, str], pins: Mapping[str, str]
) -> Lockfile | None:
    """The lockfile after one more step."""
    run = lock_run(files, pins)
    if step.conflict:
        base, theirs = (moved(pins, step.conflict[side]) for side in ("base", "theirs"))
        return Lockfile(run=run, merged_with=(lock_run(files, base), lock_run(files, theirs)))
    if step.older_revision and before:
        return dataclasses.replace(before, older_revision=True)
    return before if step.lock is None else Lockfile(run=run)


def moved(pins: Mapping[str, str], asked: Iterable[str]) -> dict[str, str]:
    """The pins by name, with some `name==version` moved."""
    return {**pins, **{pin.partition("==")[0]: pin for pin in asked}}


def lock_run(files: Mapping[str, str], pins: Mapping[str, str]) -> LockRun:
    """The run of `uv lock` for these files and pins."""
    return LockRun(manifest=files["pyproject.toml"], pins=tuple(sorted(pins.values())))


# Running uv and git


@dataclass(frozen=True, slots=True, kw_only=True)
class Workshop:
    """The tools, a folder for what is thrown away, and a sealed environment."""

    uv: str
    python: str
    scratch: Path
    environment: Mapping[str, str]

    def run(
        self, command: Sequence[str], cwd: Path, *, stdin: bytes = b"", expected: range = range(1)
    ) -> str:
        """Runs a command.

        Returns:
            What it printed.

        Raises:
            UsageError: the program is not there.
            ExampleError: it ended with another exit code than `expected`, or not in time.
        """
        try:
            done = subprocess.run(
                command,
                cwd=cwd,
                input=stdin,
                env=self.environment,
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except FileNotFoundError as error:
            raise UsageError(f"not found: {command[0]}") from error
        except subprocess.TimeoutExpired as error:
            raise ExampleError(f"no end after {_TIMEOUT_S} s: {' '.join(command)}") from error
        if done.returncode not in expected:
            last = (done.stderr or done.stdout).decode(errors="backslashreplace").splitlines()[-8:]
            raise ExampleError(
                "\n  ".join([f"failed (exit {done.returncode}): {' '.join(command)}", *last])
            )
        return done.stdout.decode(errors="backslashreplace")

    def git(self, *arguments: str, cwd: Path, stdin: bytes = b"") -> str:
        """Runs git without hooks."""
        command = ("git", "-c", f"core.hooksPath={os.devnull}", *arguments)
        return self.run(command, cwd, stdin=stdin)


@contextmanager
def open_workshop(uv: str, python: str | None, cache: Path | None) -> Iterator[Workshop]:
    """A workshop whose scratch folder goes away again."""
    found = shutil.which(uv)
    if found is None:
        raise UsageError(f"uv not found: {uv}; install it, or name it with --uv")
    with tempfile.TemporaryDirectory(prefix="lockfile-repo-", ignore_cleanup_errors=True) as name:
        scratch = Path(name).resolve()
        environment = sealed_environment(scratch, (cache or scratch / "cache").absolute())
        yield Workshop(
            uv=str(Path(found).absolute()),
            python=absolute_python(python or sys.executable),
            scratch=scratch,
            environment=environment,
        )


def absolute_python(python: str) -> str:
    """A path made absolute, because uv runs elsewhere; anything else is a request to uv."""
    return str(Path(python).absolute()) if Path(python).exists() else python


def sealed_environment(scratch: Path, cache: Path) -> dict[str, str]:
    """The environment for uv and git: what the user has set for either does not count."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(("GIT_", "UV_")) and name.upper() != "VIRTUAL_ENV"
    }
    settings = str(scratch / "no-settings")
    return kept | {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C",
        "UV_CACHE_DIR": str(cache),
        "UV_NO_SYSTEM_CONFIG": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        # UV_NO_CONFIG would hide the index in the project's own pyproject.toml as well.
        "XDG_CONFIG_HOME": settings,
        "APPDATA": settings,
    }


def lock_all(
    workshop: Workshop, runs: Sequence[LockRun], shelf: Mapping[str, bytes]
) -> dict[LockRun, str]:
    """The text of uv.lock for every run.

    Side by side: most of the time of a `uv lock -P` is the start of the Python it asks, anew each
    time. The runs do not depend on one another, since each is told all releases.
    """
    desks: SimpleQueue[Path] = SimpleQueue()
    workers = min(4, os.cpu_count() or 1)
    for number in range(workers):
        desk = workshop.scratch / f"desk{number}"
        write_files(desk, shelf)
        desks.put(desk)

    def lock_at_free_desk(run: LockRun) -> str:
        desk = desks.get()
        try:
            return lock(workshop, desk, run)
        finally:
            desks.put(desk)

    with ThreadPoolExecutor(workers) as pool:
        return dict(zip(runs, pool.map(lock_at_free_desk, runs), strict=True))


def lock(workshop: Workshop, desk: Path, run: LockRun) -> str:
    """Runs `uv lock` in a folder that holds the shelf."""
    (desk / "uv.lock").unlink(missing_ok=True)
    write_files(desk, {"pyproject.toml": run.manifest.encode()})
    pins = [f"--upgrade-package={pin}" for pin in run.pins]
    command = (workshop.uv, "lock", "--quiet", "--offline", f"--python={workshop.python}", *pins)
    workshop.run(command, desk)
    return (desk / "uv.lock").read_text(encoding="utf-8")


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files, and the folders they are in."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def runs_of(lockfile: Lockfile | None) -> tuple[LockRun, ...]:
    """The runs of uv that a lockfile needs."""
    return () if lockfile is None else (lockfile.run, *(lockfile.merged_with or ()))


def lockfile_text(
    workshop: Workshop, lockfile: Lockfile | None, texts: Mapping[LockRun, str]
) -> str | None:
    """The text of a uv.lock, from what uv wrote; `None` if there is none yet."""
    if lockfile is None:
        return None
    text = texts[lockfile.run]
    if lockfile.merged_with:
        return merge_text(workshop, text, *(texts[run] for run in lockfile.merged_with))
    return with_older_revision(text) if lockfile.older_revision else text


def merge_text(workshop: Workshop, ours: str, base: str, theirs: str) -> str:
    """What git leaves of three versions, conflict markers and all."""
    sides = {"Updated upstream": ours, "Base": base, "Stashed changes": theirs}
    names = [f"side{number}" for number in range(len(sides))]
    write_files(workshop.scratch, dict(zip(names, map(str.encode, sides.values()), strict=True)))
    labels = [f"-L{label}" for label in sides]
    command = ("git", "merge-file", "--stdout", *labels, *names)
    # The exit code is the number of conflicts; without any, the commit would not be what it claims.
    return workshop.run(command, workshop.scratch, expected=range(1, 128))


def with_older_revision(text: str) -> str:
    """The lockfile as an older uv numbers it. The content stays."""
    line = re.compile(r"^revision = (\d+)$", re.MULTILINE)
    older, count = line.subn(lambda found: f"revision = {int(found[1]) - 1}", text)
    if count != 1:
        raise ExampleError("uv.lock has no `revision` to count down: unknown format")
    return older


# The repository


def import_stream(
    commits: Sequence[Commit], locks: Sequence[str | None], shelf: Mapping[str, bytes]
) -> bytes:
    """The whole history for `git fast-import`."""
    parts: list[bytes] = []
    for place, (commit, text) in enumerate(zip(commits, locks, strict=True)):
        files = {path: content.encode() for path, content in commit.state.files.items()}
        if text is not None:
            files["uv.lock"] = text.encode()
        if not commit.parents:
            files |= shelf
        parts += [commit_header(place, commit), *(file_command(*file) for file in files.items())]
        if commit.step.tag:
            parts.append(f"reset refs/tags/{commit.step.tag}\nfrom :{place + 1}\n\n".encode())
    return b"".join([*parts, b"done\n"])


def commit_header(place: int, commit: Commit) -> bytes:
    """The commit without its files. Marks begin at 1; git reads 0 as none."""
    who = f"{commit.step.author} {_FIRST_COMMIT_S + place * _BETWEEN_COMMITS_S} +0000\n"
    words = ("from", "merge")
    parents = "".join(
        f"{word} :{parent + 1}\n" for word, parent in zip(words, commit.parents, strict=False)
    )
    # Side branches are written to main as well: every parent is named, and the tip comes last.
    head = f"commit refs/heads/main\nmark :{place + 1}\nauthor {who}committer {who}"
    return head.encode() + data_command(f"{commit.step.subject}\n".encode()) + parents.encode()


def file_command(path: str, content: bytes) -> bytes:
    """One file of a commit."""
    return f"M 100644 inline {path}\n".encode() + data_command(content)


def data_command(content: bytes) -> bytes:
    """Bytes with their length before them."""
    return b"data %d\n%s\n" % (len(content), content)


def write_repository(workshop: Workshop, dest: Path, stream: bytes) -> None:
    """Makes the repository and its worktree."""
    # The hash function is named because git may change its default.
    start = ("init", "--quiet", "--initial-branch=main", "--object-format=sha1", "--template=")
    workshop.git(*start, cwd=dest)
    # Archives and lockfiles have to come back as they were written, whatever the user's setting.
    workshop.git("config", "core.autocrlf", "false", cwd=dest)
    workshop.git("fast-import", "--quiet", "--done", cwd=dest, stdin=stream)
    workshop.git("reset", "--quiet", "--hard", cwd=dest)


@contextmanager
def empty_folder(dest: Path) -> Iterator[None]:
    """Makes the folder, and empties it again if the work in it fails.

    Raises:
        UsageError: it is not empty, not a folder, or cannot be made.
    """
    try:
        dest.mkdir(parents=True, exist_ok=True)
        is_empty = not any(dest.iterdir())
    except OSError as error:
        raise UsageError(f"{dest}: cannot be the destination: {error.strerror}") from error
    if not is_empty:
        raise UsageError(f"{dest}: not empty; name a new folder")
    try:
        yield
    except BaseException:
        # The folder was empty: all that is in it was made here.
        for path in tuple(dest.iterdir()):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        raise


def build(
    dest: Path, *, uv: str, cache: Path | None = None, python: str | None = None
) -> BuiltExample:
    """Builds the example.

    Args:
        dest: A folder that is empty or not there yet.
        uv: The uv to lock with, a path or a name on PATH.
        cache: Its cache; `None` for one that is thrown away.
        python: The Python that uv asks; `None` for the one that runs this.

    Raises:
        UsageError: the folder is not empty, uv or git is not there (exit 2).
        ExampleError: a command failed (exit 4); the folder is empty again.
    """
    packages = sorted((HERE / "packages").glob("*.toml"))
    releases = [release for path in packages for release in parse_package(read_text(path))]
    shelf = make_shelf(releases)
    commits = plan_history(parse_history(read_text(HERE / "history.toml")))
    with open_workshop(uv, python, cache) as workshop, empty_folder(dest):
        lockfiles = [commit.state.lockfile for commit in commits]
        runs = dict.fromkeys(run for lockfile in lockfiles for run in runs_of(lockfile))
        texts = lock_all(workshop, tuple(runs), shelf)
        locks = [lockfile_text(workshop, lockfile, texts) for lockfile in lockfiles]
        write_repository(workshop, dest, import_stream(commits, locks, shelf))
        good, head = workshop.git("rev-parse", GOOD_TAG, "HEAD", cwd=dest).split()
    before = [locks[commit.parents[0]] if commit.parents else None for commit in commits]
    moves = sum(old != new for old, new in zip(before, locks, strict=True))
    return BuiltExample(path=dest, good=good, head=head, commits=len(commits), lock_commits=moves)


def read_text(path: Path) -> str:
    """The text of a file of this example; its line ends become those of Unix."""
    return path.read_text(encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Builds, and says so in one line.

    Returns:
        0, 2 for a destination or tool that will not do, 4 for a command that failed, 130 if
        interrupted.
    """
    parser = argparse.ArgumentParser(description="Build the example repository.")
    parser.add_argument("dest", type=Path, metavar="DEST", help="a folder, empty or new")
    parser.add_argument("--uv", default="uv", metavar="PATH", help="the uv to lock with")
    parser.add_argument("--python", metavar="PATH", help="the Python that uv asks")
    options = parser.parse_args(arguments)
    cache = os.environ.get("UV_CACHE_DIR")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        built = build(
            options.dest, uv=options.uv, cache=Path(cache) if cache else None, python=options.python
        )
    except KeyboardInterrupt:
        return 130
    except (ExampleError, OSError) as error:
        sys.stderr.write(f"build.py: {error}\n")
        return error.exit_code if isinstance(error, ExampleError) else ExampleError.exit_code
    sys.stdout.write(
        f"{built.path}: {built.commits} commits, {built.lock_commits} of them change uv.lock;"
        f" good: {GOOD_TAG} ({built.good[:12]}), bad: HEAD ({built.head[:12]})\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
