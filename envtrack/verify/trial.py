"""One trial: a clone, the set-up, the smoke test."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from envtrack.collect.environment import find_environment
from envtrack.files import remove_tree
from envtrack.model.verdict import Judgement, Verdict
from envtrack.probe.bounded import Ended
from envtrack.probe.smoke import judge_smoke
from envtrack.process import run_bounded
from envtrack.uv import judge_sync_failure
from envtrack.verify.site import Machine, Site, check_out, make_environ, make_site

if TYPE_CHECKING:
    from envtrack.git.repository import Repository
    from envtrack.model.oid import Oid
    from envtrack.verify.factors import Factor

_SETUP_S = 3600.0
_END_BYTES = 1024 * 1024
_LAST_LINES = 12
# glibc's words (dlerror, ld.so) for a library that it finds nowhere.
_NO_LIBRARY = re.compile(r"([^\s:'\"]+\.so[.\d]*): cannot open shared object file")


class Wanted(NamedTuple):
    """What is tried.

    Attributes:
        commit: what is cloned.
        lockfile: its path from the top level.
        setup: the documented set-up, for ``sh -c``.
        smoke: the smoke test, likewise.
        timeout_s: the smoke test's limit.
        timeout_is: what passing it means.
        is_cold: whether the caches are empty.
        show: is told what each step prints.
    """

    commit: Oid
    lockfile: str
    setup: str
    smoke: str
    timeout_s: float
    timeout_is: Verdict
    is_cold: bool
    show: Callable[[str], None]


class Attempt(NamedTuple):
    """What one trial came to.

    Attributes:
        judgement: its verdict; `stage` is ``set-up`` or ``smoke``.
        output: the last lines of the step that decided.
        library: a shared library that the loader did not find; empty: none is named.
        installed: names and versions in its environment, as folders of distributions say them.
        seconds: how long it took.
    """

    judgement: Judgement
    output: str
    library: str
    installed: frozenset[str]
    seconds: float

    @property
    def is_good(self) -> bool:
        """Whether it passed."""
        return self.judgement.verdict is Verdict.GOOD


def try_once(
    repository: Repository,
    wanted: Wanted,
    machine: Machine,
    workshop: Path,
    given: Sequence[Factor] = (),
) -> Attempt:
    """One trial, with some things given back; nothing of it stays.

    Raises:
        RigFailed: git can't clone, or the disk fails.
    """
    started = time.monotonic()
    environ = make_environ(machine, repository.environ, workshop, is_cold=wanted.is_cold)
    site = make_site(repository, workshop, environ)
    try:
        _give(site, given, is_file=False)
        check_out(site, wanted.commit)
        _give(site, given, is_file=True)
        judgement, output = _go(site, wanted)
        return Attempt(
            judgement=judgement,
            output="\n".join(output.splitlines()[-_LAST_LINES:]),
            library=next(iter(_NO_LIBRARY.findall(output)), ""),
            installed=list_installed(site.tree / Path(wanted.lockfile).parent / ".venv"),
            seconds=time.monotonic() - started,
        )
    finally:
        remove_tree(site.folder)


def _give(site: Site, given: Sequence[Factor], *, is_file: bool) -> None:
    for factor in given:
        if (factor.kind == "file") is is_file:
            factor.give(site)


def _go(site: Site, wanted: Wanted) -> tuple[Judgement, str]:
    folder = site.tree / Path(wanted.lockfile).parent
    wanted.show(f"set-up: {wanted.setup}\n")
    ended, output = _run(site, "set-up", wanted.setup, folder, _SETUP_S)
    if ended.code != 0:
        return _judge_setup(ended, output), output
    environment = find_environment({}, folder)
    env = dict(site.environ)
    if environment is not None:
        env["PATH"] = f"{environment / 'bin'}:{env['PATH']}"
        env["VIRTUAL_ENV"] = str(environment)
    wanted.show(f"smoke test: {wanted.smoke}\n")
    ended, output = _run(
        site._replace(environ=env), "smoke", wanted.smoke, folder, wanted.timeout_s
    )
    judgement = judge_smoke(
        ended,
        command=wanted.smoke,
        output=output,
        timeout_is=wanted.timeout_is,
        timeout_s=wanted.timeout_s,
    )
    if judgement.kind == "command-missing":
        # In a user's own environment that is a slip; here it is the very thing that is looked for.
        judgement = replace(judgement, verdict=Verdict.BAD)
    return judgement, output


def _judge_setup(ended: Ended, output: str) -> Judgement:
    """Whatever keeps a new user from an environment is bad; a network that is down is not."""
    if ended.code is None:
        reason = f"the set-up was still running after {_SETUP_S:g} s"
        return Judgement(verdict=Verdict.BAD, stage="set-up", reason=reason, kind="timeout")
    judgement = replace(judge_sync_failure(output, ended.code), stage="set-up")
    is_fault = judgement.verdict is not Verdict.ABORTED or judgement.kind == "command-missing"
    is_fault = is_fault or judgement.kind in {"credentials", "offline"}
    if not is_fault:
        return judgement
    reason = judgement.reason.replace("uv sync ended", "the set-up ended")
    return replace(judgement, verdict=Verdict.BAD, reason=reason)


def _run(site: Site, stage: str, command: str, folder: Path, timeout_s: float) -> tuple[Ended, str]:
    log = site.folder / f"{stage}.log"
    started = time.monotonic()
    if not folder.is_dir():
        return Ended(code=1, seconds=0.0), "the lockfile's folder is not committed"
    with log.open("wb") as sink:
        code = run_bounded(
            ("sh", "-c", command), timeout_s=timeout_s, env=site.environ, cwd=folder, output=sink
        )
    with log.open("rb") as source:
        source.seek(max(0, log.stat().st_size - _END_BYTES))
        output = source.read().decode("utf-8", "backslashreplace")
    return Ended(code=code, seconds=time.monotonic() - started), output


def list_installed(environment: Path) -> frozenset[str]:
    """The distributions of an environment as ``name==version``; read from their folders' names."""
    folders = environment.glob("lib/python*/site-packages/*.dist-info")
    pairs = (folder.name.removesuffix(".dist-info").partition("-") for folder in folders)
    return frozenset(f"{name.lower().replace('_', '-')}=={version}" for name, _, version in pairs)
