"""What single commits hold, in the form in which any two of them are compared on a page."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from envtrack.compare.layer_rules import find_layer
from envtrack.errors import LockfileProblem, SnapshotProblem
from envtrack.git.file_history import find_blobs, read_blobs
from envtrack.git.notes import read_lines, read_note_texts
from envtrack.model.fact import Absent, FactState, Known, Unknown
from envtrack.model.lanes import State
from envtrack.model.layer import find_package_layer
from envtrack.model.lock import Lock, LockedPackage, SourceKind
from envtrack.model.paths import snapshot_path
from envtrack.model.redact import redact_url
from envtrack.model.snapshot import Snapshot, parse_snapshot
from envtrack.record.lock_bytes import make_include, parse_lock_bytes
from envtrack.record.noted import find_last

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from envtrack.git.repository import Repository
    from envtrack.model.layer import LayerRules
    from envtrack.model.oid import Commit, Oid

_NOT_KNOWN = "(dynamic)"


def read_states(
    repository: Repository,
    commits: Sequence[Commit],
    *,
    lockfile: str,
    machines: Sequence[str],
    layer_rules: LayerRules = (),
) -> Iterator[State]:
    """The states of some commits, in the order given; one without a lockfile is left out.

    Args:
        repository: where.
        commits: which.
        lockfile: its path from the top level.
        machines: whose records are read.
        layer_rules: the project's own word on which packages belong to which layer.
    """
    oids = [commit.oid for commit in commits]
    blobs = find_blobs(repository, [(oid, lockfile) for oid in oids])
    contents = dict(read_blobs(repository, list(dict.fromkeys(blobs.values()))))
    records = _read_records(repository, oids, lockfile, machines)
    for commit in commits:
        blob = blobs.get((commit.oid, lockfile))
        content = contents.get(blob) if blob else None
        lock = None if content is None else _read_lock(repository, commit.oid, lockfile, content)
        if lock is None:
            continue
        facts = {
            machine: {name: text for name, state in record.facts.items() if (text := _say(state))}
            for machine in machines
            if (record := records.get((commit.oid, machine)))
        }
        yield State(commit=commit, packages=_list_packages(lock, layer_rules), facts=facts)


def _read_lock(repository: Repository, commit: Oid, lockfile: str, content: bytes) -> Lock | None:
    include = make_include(lockfile, lambda path: repository.read_file(commit, path))
    try:
        return parse_lock_bytes(content, lockfile, include=include)
    except LockfileProblem:
        return None


def _list_packages(lock: Lock, rules: LayerRules) -> dict[str, tuple[str, str]]:
    """One name can be locked several times; all its versions are one text."""
    versions: dict[str, set[str]] = {}
    for package in lock.packages:
        versions.setdefault(package.name, set()).add(_say_version(package))
    return {
        name: (_find_layer(name, rules), ", ".join(sorted(said))) for name, said in versions.items()
    }


@lru_cache(maxsize=10_000)
def _find_layer(name: str, rules: LayerRules) -> str:
    return str(find_layer(name, find_package_layer(name), rules))


def _say_version(package: LockedPackage) -> str:
    said = package.version or _NOT_KNOWN
    source = package.source
    match source.kind:
        case SourceKind.REGISTRY | SourceKind.UNKNOWN:
            return f"{said} {package.build}".rstrip()
        case SourceKind.GIT:
            return f"{said} (git {source.commit[:10]})"
        case SourceKind.URL:
            return f"{said} ({redact_url(source.location)})"
        case _:
            return f"{said} ({source.kind})"


def _say(state: FactState) -> str:
    """A value; nothing for what is not there, or could not be looked for."""
    match state:
        case Known(value):
            return str(value)
        case Unknown(reason):
            return f"unknown ({reason})"
        case Absent():
            return ""


def _read_records(
    repository: Repository, commits: Sequence[Oid], lockfile: str, machines: Sequence[str]
) -> Mapping[tuple[Oid, str], Snapshot]:
    """The records that belong to the lockfiles of their commits, in these or in notes of them."""
    paths = {snapshot_path(machine, lockfile): machine for machine in machines}
    places = [(commit, path) for commit in commits for path in (lockfile, *paths)]
    blobs = find_blobs(repository, places)
    wanted = {blob for (_, path), blob in blobs.items() if path in paths}
    contents = dict(read_blobs(repository, sorted(wanted)))
    held = {blob: _parse(content) for blob, content in contents.items()}
    texts = read_note_texts(repository, commits)
    notes = {commit: tuple(e for _, e in read_lines(text) if e) for commit, text in texts.items()}
    found = {}
    for commit in commits:
        lock = blobs.get((commit, lockfile))
        if lock is None:
            continue
        for path, machine in paths.items():
            blob = blobs.get((commit, path))
            record = held.get(blob) if blob else None
            if record is None or (record.lockfile and record.lockfile.blob != lock):
                entries = notes.get(commit, ())
                record = find_last(entries, machine=machine, lockfile=lockfile, blob=lock)
            if record is not None:
                found[commit, machine] = record
    return found


def _parse(content: bytes | None) -> Snapshot | None:
    if content is None:
        return None
    try:
        return parse_snapshot(content.decode("utf-8", "backslashreplace"), where="record")
    except SnapshotProblem:
        return None
