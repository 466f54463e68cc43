"""Whether each step's environment can be installed and is good: real probes, in order."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from envtrack.bisect.rig import Watcher, open_rig
from envtrack.bisect.session import Wish, clean_up_after_others, make_session
from envtrack.files import remove_tree
from envtrack.model.verdict import Judgement, Verdict
from envtrack.probe.plan import read_plan

if TYPE_CHECKING:
    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid
    from envtrack.probe.plan import Plan, SessionFiles

INSTALL_ONLY = ":"
"""The smoke test that asks for nothing but an environment."""


class Proof(NamedTuple):
    """What the probe of one step says.

    Attributes:
        judgement: its verdict.
        log: the folder with its logs; empty where they are not kept.
    """

    judgement: Judgement
    log: str = ""


class Proving(NamedTuple):
    """How steps are proven.

    Attributes:
        smoke: the smoke test, for ``sh -c``.
        files: further files that it needs.
        settings: the rest of a probe's plan.
        watcher: is called while something runs.
    """

    smoke: str
    files: tuple[str, ...]
    settings: Plan
    watcher: Watcher


def prove_steps(
    repository: Repository,
    base: Oid,
    commits: Sequence[Oid],
    lockfile: str,
    proving: Proving,
) -> tuple[Proof, ...]:
    """The verdicts in order, up to the first that is not good.

    Raises:
        RigFailed: the network, the disk or a tool failed: nothing is said of the step.
    """
    clean_up_after_others(repository)
    wish = Wish(
        good=base.hex,
        bad=commits[-1].hex,
        lockfile=lockfile,
        smoke=proving.smoke,
        smoke_from="",
        listed_files=proving.files,
        settings=proving.settings,
    )
    files = make_session(repository, wish, now=datetime.now(UTC))
    found: list[Proof] = []
    with (
        _passing(files),
        open_rig(repository, read_plan(files), files, watcher=proving.watcher) as rig,
    ):
        for commit in commits:
            seen = rig.probe(commit)
            if seen.judgement is None:
                raise rig.failure()
            if seen.judgement.verdict is not Verdict.GOOD:
                found.append(Proof(seen.judgement, _keep_log(repository, seen.log)))
                break
            found.append(Proof(seen.judgement))
    return tuple(found)


@contextlib.contextmanager
def _passing(files: SessionFiles) -> Iterator[None]:
    """A session that nobody is to find among those of searches."""
    try:
        yield
    finally:
        remove_tree(files.folder)


def _keep_log(repository: Repository, log: str) -> str:
    if not log:
        return ""
    place = repository.common_dir / "envtrack" / "split-log"
    remove_tree(place)
    shutil.copytree(Path(log), place)
    return str(place)
