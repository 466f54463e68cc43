"""The Python interface: a snapshot at the start of an experiment, beside its result.

Light on purpose: nothing of the command line, of git or of a framework is imported.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from envtrack.collect.machine_name import check_machine_name, find_machine_name
from envtrack.collect.take import take_snapshot as take
from envtrack.collect.this_machine import this_machine
from envtrack.files import read_text, write_whole
from envtrack.git.environ import without_git
from envtrack.model.oid import Oid
from envtrack.model.paths import CONFIG
from envtrack.model.snapshot import LockfileRef, Snapshot, parse_snapshot, render_snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

AnyPath: TypeAlias = "str | os.PathLike[str]"

_LOCKFILE = "uv.lock"
# The two settings that are needed here, where they stand as `envtrack init` writes them.
_PLAIN_LINE = re.compile(r"(?P<key>[a-z][a-z-]*):(?:\s(?P<value>.*))?")
_PLAIN_VALUE = re.compile(r"""\s*(?P<quote>["']?)(?P<text>[\w.\-]+)(?P=quote)\s*(?:\#.*)?""")
_NO_TEXT = frozenset({"null", "true", "false"})


class TakenSnapshot(Snapshot):
    """A snapshot that can be saved; see `Snapshot` for what it holds."""

    __slots__ = ()

    def save(self, path: AnyPath) -> Path:
        """Writes it whole or not at all, in the canonical form that the commands read and compare.

        Returns:
            The file. Missing folders are made; a file that is there already is replaced.

        Raises:
            RigFailed: it can't be written.
        """
        file = Path(path)
        write_whole(file, render_snapshot(self))
        return file


def take_snapshot(
    project: AnyPath | None = None,
    *,
    machine: str | None = None,
    environment: AnyPath | None = None,
    deep: bool = False,
    limit_s: float | None = None,
) -> TakenSnapshot:
    """This machine now, and the environment in which this Python runs.

    Args:
        project: a folder of the project; the current one if not given. The lockfile is the nearest
            ``uv.lock`` in it or above, inside the repository.
        machine: the machine's name; else ``ENVTRACK_MACHINE``, the project's configuration, or a
            pseudonym.
        environment: the folder of another environment.
        deep: whether the frameworks are started and asked, which takes seconds and wakes the GPU.
        limit_s: seconds after which what is not known yet is left unknown; 4 if not given.

    Raises:
        UsageProblem: the machine's name can't be one.
        ConfigProblem: the project's configuration can't be read.

    Cost: a fraction of a second, most of it for the compilers and drivers that are asked for their
    versions, side by side.
    """
    folder = Path.cwd() / (project or "")
    root = _find_root(folder)
    lockfile = _find_lockfile(folder, root)
    configured, salt = _read_names(root)
    name = (
        find_machine_name(os.environ, configured=configured, salt=salt)
        if machine is None
        else check_machine_name(machine, said_by="machine")
    )
    here = this_machine(
        without_git(os.environ),
        folder if lockfile is None else lockfile.parent,
        salt=salt,
        deep=deep,
        limit_s=limit_s,
    )
    taken = take(
        replace(here, environment=Path(environment or sys.prefix)),
        name=name,
        lockfile=None if lockfile is None else _describe_lockfile(lockfile, root),
        now=datetime.now(UTC),
        limit_s=limit_s,
    )
    return _as_taken(taken)


def read_snapshot(path: AnyPath) -> TakenSnapshot:
    """A saved snapshot, or one that is recorded in a repository.

    Raises:
        UsageProblem: there is no such file, or it can't be read.
        SnapshotProblem: it is no snapshot, or a newer envtrack wrote it.
    """
    file = Path(path)
    return _as_taken(parse_snapshot(read_text(file), where=str(file)))


def _as_taken(snapshot: Snapshot) -> TakenSnapshot:
    return TakenSnapshot(
        **{field.name: getattr(snapshot, field.name) for field in fields(snapshot)}
    )


def _find_root(folder: Path) -> Path | None:
    """The top level of the working tree around a folder; a linked one's ``.git`` is a file."""
    return next((around for around in _upwards(folder) if (around / ".git").exists()), None)


def _find_lockfile(folder: Path, root: Path | None) -> Path | None:
    for around in _upwards(folder):
        if (around / _LOCKFILE).is_file():
            return around / _LOCKFILE
        if around == root:
            break
    return None


def _upwards(folder: Path) -> Iterator[Path]:
    yield folder
    yield from folder.parents


def _describe_lockfile(lockfile: Path, root: Path | None) -> LockfileRef:
    """By the SHA-1 of its content, which is git's own name of it where no filter changes it."""
    path = lockfile.name if root is None else lockfile.relative_to(root).as_posix()
    return LockfileRef(path=path, blob=Oid.for_blob(lockfile.read_bytes()))


def _read_names(root: Path | None) -> tuple[str | None, str]:
    """The machine's name, if the project's configuration has one, and the key of pseudonyms.

    Reading all of it takes a quarter of a second, for two lines that are nearly always plain ones.
    """
    if root is None or not (root / CONFIG).is_file():
        return None, ""
    text = read_text(root / CONFIG)
    plain = _find_plain(text)
    if plain is None:
        from envtrack.config.settings import read_settings

        settings = read_settings(root)
        return settings.machine or None, settings.salt
    return plain.get("machine"), plain.get("salt", "")


def _find_plain(text: str) -> dict[str, str] | None:
    """Both settings, as far as they are there; ``None`` where it takes more to read them."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line.strip() or line[0] in " \t#-":
            continue
        said = _PLAIN_LINE.fullmatch(line)
        if said is None:
            return None
        if said["key"] in {"machine", "salt"}:
            value = _PLAIN_VALUE.fullmatch(said["value"] or "")
            if value is None or value["text"].lower() in _NO_TEXT or said["key"] in found:
                return None
            found[said["key"]] = value["text"]
    return found
