"""What the hooks remember between two commits, in this working tree's git folder.

Never part of a commit: which records are of our own making (only those may be replaced without
asking), what the running commit was given, and what the configuration said.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from envtrack import __version__
from envtrack.errors import RigFailed
from envtrack.files import write_whole
from envtrack.git.staged import lockfile_pathspecs
from envtrack.model.oid import Oid
from envtrack.model.paths import CONFIG

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from envtrack.config.policies import Policy
    from envtrack.config.settings import Settings
    from envtrack.model.selection import Selection

# Clocks of file systems tick as slowly as once in two seconds (FAT).
_TICK_NS = 2_000_000_000
# The shims in hooks/ know this folder and the first three names.
_FOLDER = "envtrack/hook"
_PENDING = "pending.json"
_UNSQUARED = "unsquared.json"
_SEEN_CONFIG = "config.yaml"
_ASKS = "asks"
_POLICIES = "policies.json"
_PATHSPECS = "pathspecs"
_SETTINGS = "settings.json"
_WRITTEN = "written.json"
_WAITING = "waiting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """One path that the hook changed in the commit that is being made.

    Attributes:
        path: from the top level.
        blob: what it put there; ``None``: it took the path away.
        base: what ``HEAD`` had there before the commit; ``None``: nothing.
        former: what envtrack itself had written there before, in a commit or not.
    """

    path: str
    blob: Oid | None
    base: Oid | None
    former: Oid | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """What pre-commit did, for the post-commit of the same commit.

    Attributes:
        head: the commit at which it happened; ``None``: there was none yet.
        additions: what it changed.
    """

    head: Oid | None
    additions: tuple[Addition, ...]


@dataclass(frozen=True, slots=True)
class HookMemory:
    """The folder in which the hooks of one working tree remember; it may be missing or broken.

    Attributes:
        git_dir: the working tree's own git folder, never the one that all share.
    """

    git_dir: Path

    def read_settings(self, root: Path) -> Settings:
        """The repository's settings, from what was remembered if the file is still the same.

        Reading YAML and checking it takes longer than all the rest of a commit.

        Raises:
            EnvtrackError: the configuration has faults.
        """
        # Here and not above: post-commit needs none of it, and starts sooner.
        from envtrack.config.settings import Settings, read_settings

        config = root / CONFIG
        if not config.is_file():
            return Settings()
        changed_ns = config.stat().st_mtime_ns
        raw = config.read_bytes()
        seen = self._folder / _SEEN_CONFIG
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            if raw == seen.read_bytes():
                settings = _parse_settings(json.loads((self._folder / _SETTINGS).read_bytes()))
                _take_time(seen, changed_ns)
                return settings
        settings = read_settings(root)
        # Without a memory every commit reads the configuration: slower, not wrong.
        with contextlib.suppress(OSError, RigFailed):
            self._remember_settings(settings, raw)
            _take_time(seen, changed_ns)
        return settings

    def _remember_settings(self, settings: Settings, raw: bytes) -> None:
        # The copy is what makes the rest valid: first away, last in place.
        (self._folder / _SEEN_CONFIG).unlink(missing_ok=True)
        document = {
            "envtrack": __version__,
            "lockfiles": settings.lockfiles,
            "machine": settings.machine,
            "salt": settings.salt,
            "layers": settings.layers,
            "selection": asdict(settings.selection),
        }
        write_whole(self._folder / _SETTINGS, json.dumps(document))
        lines = [f"{line}\n" for line in lockfile_pathspecs(settings.lockfiles)]
        write_whole(self._folder / _PATHSPECS, "".join(lines).encode("utf-8", "surrogateescape"))
        write_whole(self._folder / _SEEN_CONFIG, raw)

    def read_policies(self, root: Path) -> tuple[Policy, ...]:
        """The repository's policies, from what was remembered if the files are still the same.

        Raises:
            EnvtrackError: a policy has faults.
        """
        from envtrack.config.policies import Policy, describe_policies, list_policy_files
        from envtrack.model.policy import parse_policy

        files = list_policy_files(root)
        key = [__version__, *([name, text] for name, text in files)]
        known = self._load(_POLICIES)
        with contextlib.suppress(ValueError, KeyError, TypeError):
            if known and known["key"] == key:
                return tuple(Policy(where, parse_policy(one)) for where, one in known["policies"])
        documents = describe_policies(files)
        with contextlib.suppress(OSError, RigFailed):
            self._save(_POLICIES, {"key": key, "policies": documents})
        return tuple(Policy(where, parse_policy(one)) for where, one in documents)

    def ask_message(self, *, is_asked: bool) -> None:
        """Says to commit-msg whether there is something that the message may still answer."""
        mark = self._folder / _ASKS
        if is_asked:
            write_whole(mark, "")
        else:
            mark.unlink(missing_ok=True)

    def read_written(self) -> Mapping[str, Oid | None]:
        """The records that envtrack itself wrote last, by path; ``None``: it took one away."""
        document = self._load(_WRITTEN)
        with contextlib.suppress(ValueError, AttributeError, TypeError):
            return {path: _parse_blob(blob) for path, blob in document.items()}
        return {}

    def add_written(self, records: Mapping[str, Oid | None]) -> None:
        """Remembers that these are of our own making."""
        known = {**self.read_written(), **records}
        self._save(_WRITTEN, {path: _render_blob(blob) for path, blob in known.items()})

    def read_pending(self) -> Pending | None:
        """What pre-commit left, if it did."""
        return _find_pending(self._load(_PENDING))

    def read_unsquared(self) -> Pending | None:
        """What an earlier post-commit could not do."""
        return _find_pending(self._load(_UNSQUARED))

    def keep_unsquared(self, pending: Pending | None) -> None:
        """Leaves to the next pre-commit what can't be done now, or forgets it."""
        if pending is None:
            (self._folder / _UNSQUARED).unlink(missing_ok=True)
        else:
            self._save(_UNSQUARED, _render_pending(pending))

    def write_pending(self, pending: Pending) -> None:
        """Leaves a note for post-commit."""
        self._save(_PENDING, _render_pending(pending))

    def read_waiting(self) -> tuple[str, ...]:
        """The lockfiles whose record waits until their packages are installed."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            listed = json.loads((self._folder / _WAITING).read_text("utf-8").splitlines()[1])
            return tuple(map(str, listed))
        return ()

    def wait_for(self, sites: Mapping[str, Path], *, instead_of: Sequence[str] = ()) -> None:
        """Has the record of lockfiles wait until something is installed in a folder.

        The shim of post-commit compares the folder's time with that of the file that is left here.

        Args:
            sites: by lockfile, the folder in which its packages are installed.
            instead_of: the lockfiles that wait no more unless they are among `sites`.
        """
        mark = self._folder / _WAITING
        others = [path for path in self.read_waiting() if path not in {*instead_of, *sites}]
        if not sites:
            # What else there is waits on in the file that is there.
            if mark.exists() and not others:
                mark.unlink(missing_ok=True)
            return
        site = next(iter(sites.values()))
        write_whole(mark, f"{site}\n{json.dumps([*others, *sites])}\n")
        at = site.stat().st_mtime_ns
        os.utime(mark, ns=(at, at))

    @property
    def _folder(self) -> Path:
        return self.git_dir / _FOLDER

    def _load(self, name: str) -> Any:  # noqa: ANN401 - JSON
        with contextlib.suppress(OSError, ValueError):
            return json.loads((self._folder / name).read_bytes())
        return {}

    def _save(self, name: str, document: object) -> None:
        # ASCII: a path that is no UTF-8 survives as an escape.
        write_whole(self._folder / name, json.dumps(document))


def _find_pending(document: Any) -> Pending | None:  # noqa: ANN401 - JSON
    with contextlib.suppress(ValueError, KeyError, TypeError):
        rows = [(path, *map(_parse_blob, blobs)) for path, *blobs in document["additions"]]
        return Pending(
            head=_parse_blob(document["head"]),
            additions=tuple(
                Addition(path=path, blob=blob, base=base, former=former)
                for path, blob, base, former in rows
            ),
        )
    return None


def _render_pending(pending: Pending) -> dict[str, object]:
    rows = [
        (each.path, *map(_render_blob, (each.blob, each.base, each.former)))
        for each in pending.additions
    ]
    return {"head": _render_blob(pending.head), "additions": rows}


def _render_blob(blob: Oid | None) -> str | None:
    return None if blob is None else blob.hex


def _parse_blob(text: str | None) -> Oid | None:
    return None if text is None else Oid(text)


def _take_time(copy: Path, changed_ns: int) -> None:
    """Gives the copy the time of the original, by which the shims know it without reading either.

    Not where the original is so young that it could change once more without its time changing.
    """
    if time.time_ns() - changed_ns > _TICK_NS and copy.stat().st_mtime_ns != changed_ns:
        os.utime(copy, ns=(changed_ns, changed_ns))


def _parse_settings(document: dict[str, Any]) -> Settings:
    if document["envtrack"] != __version__:
        raise ValueError("written by another envtrack")
    from envtrack.config.settings import Settings
    from envtrack.model.layer import Layer

    return Settings(
        lockfiles=tuple(document["lockfiles"]),
        machine=document["machine"],
        salt=document["salt"],
        layers=tuple((Layer(name), tuple(globs)) for name, globs in document["layers"]),
        selection=_parse_selection(document["selection"]),
    )


def _parse_selection(document: dict[str, Any]) -> Selection:
    from envtrack.model.selection import Selection

    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in document.items()
    }
    return Selection(**plain)
