"""What the hooks' shims start: ``python -P -m envtrack.record.hook HOOK [FILE]``.

Whatever goes wrong here, the commit goes on: one line says why there is no record. Only a broken
rule of the repository's own upgrade policy stops it, or a policy that can't be read.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from envtrack.config.reader import ConfigProblem
from envtrack.errors import EnvtrackError, RigFailed, UsageProblem
from envtrack.files import read_text
from envtrack.git.progress import is_in_progress
from envtrack.git.repository import open_repository
from envtrack.git.staged import PLAIN_PATHSPECS
from envtrack.record.memory import HookMemory

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from envtrack.collect.interface import Machine
    from envtrack.model.breach import Judged
    from envtrack.model.snapshot import LockfileRef, Snapshot
    from envtrack.record.beside import TakesSnapshots

BUDGET_S = 5.0
# What tells the shim to stop the commit, or the push; no error of Python's own ends with it.
BROKEN = 8
# The hooks, each with what was not done where it went wrong.
_NO_RECORD = "no record of this machine was taken"
HOOKS = {
    "pre-commit": _NO_RECORD,
    "prepare-commit-msg": "the message has no summary",
    "commit-msg": "the policy was not looked at",
    "post-commit": "the index was not squared with the new record",
    "post-merge": _NO_RECORD,
    "post-checkout": "the environment was not looked at",
    "post-rewrite": _NO_RECORD,
    "pre-push": "what is pushed was not looked at",
}

# A look at an old record must not wait for a partial clone's server: newer gits (2.39.4, 2.45.1)
# know the first variable, older ones find that no protocol is allowed.
_NO_NETWORK = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}


class WithinBudget:
    """Takes snapshots, all of one commit within one limit.

    In a thread and not with an alarm: a signal's handler only runs between two steps of the
    interpreter, and what makes a look at a machine slow (a dead mount) is one step that never
    ends. The thread is left behind; whoever ends the process ends it too.
    """

    def __init__(self, take: TakesSnapshots | None = None, *, budget_s: float = BUDGET_S) -> None:
        self._take = take
        self._budget_s = budget_s
        self._deadline = time.monotonic() + budget_s

    def __call__(
        self, machine: Machine, *, name: str, lockfile: LockfileRef | None, now: datetime
    ) -> Snapshot:
        """What the machine looks like now.

        Raises:
            RigFailed: the limit is over.
        """
        taken: list[Snapshot | BaseException] = []

        def work() -> None:
            try:
                taken.append(self._find_taker()(machine, name=name, lockfile=lockfile, now=now))
            except BaseException as error:  # noqa: BLE001 - it is raised again outside the thread
                taken.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        thread.join(max(0.0, self._deadline - time.monotonic()))
        if not taken:
            raise RigFailed(f"it took longer than {self._budget_s:g} s")
        if isinstance(taken[0], Exception):
            raise taken[0]
        if isinstance(taken[0], BaseException):  # an exit in the thread is none of the commit's
            raise RigFailed(f"it ended with {taken[0]!r}") from taken[0]
        return taken[0]

    def _find_taker(self) -> TakesSnapshots:
        if self._take is not None:
            return self._take
        from envtrack.collect.take import take_snapshot

        return take_snapshot


def main(arguments: Sequence[str], *, take: TakesSnapshots | None = None) -> int:
    """Runs one hook; the exit code is 0 whatever happens, but for a broken policy.

    Args:
        arguments: the hook's name, and what git passes on to it.
        take: looks at the machine; `take_snapshot` if not given.
    """
    if os.environ.get("ENVTRACK_HOOK") == "off":
        return 0
    environ = {**os.environ, **PLAIN_PATHSPECS, **_NO_NETWORK}
    try:
        problems = _run(arguments, environ, take)
    except KeyboardInterrupt:
        problems = ("interrupted",)
    except Exception as error:  # noqa: BLE001 - the boundary: no fault of ours stops a commit
        problems = (str(error) or repr(error),)
    if problems:
        _warn(arguments, "; ".join(problems))
    return _judge(arguments, environ)


def _judge(arguments: Sequence[str], environ: Mapping[str, str]) -> int:
    """Judges what is staged, or pushed, by the repository's own policy, if it has one."""
    name = arguments[0] if arguments else ""
    if name not in {"pre-commit", "commit-msg", "pre-push"}:
        return 0
    try:
        judged = _find_judged(name, arguments[1:], environ)
    except ConfigProblem as problem:
        # Nobody can keep rules that nobody can read.
        _say(f"envtrack: {problem.message}")
        return BROKEN
    except Exception as error:  # noqa: BLE001 - the boundary: no fault of ours stops a commit
        _say(f"envtrack: the policy was not looked at: {error}")
        return 0
    if judged is not None and judged.breaches:
        from envtrack.report.check import render_check_text
        from envtrack.report.look import Look

        _say(render_check_text(judged, Look()).rstrip())
    return BROKEN if judged is not None and judged.is_broken else 0


def _find_judged(name: str, given: Sequence[str], environ: Mapping[str, str]) -> Judged | None:
    """What the policy says; ``None`` where there is none, or nothing to judge."""
    try:
        repository = open_repository(Path(), environ)
    except EnvtrackError:
        return None  # it was said already
    if name == "pre-push":
        from envtrack.record.push import check_push, parse_push

        return check_push(repository, parse_push(sys.stdin.read(), *given))
    from envtrack.record.check import check_staged, has_policy

    is_ours = not repository.is_bare and not is_in_progress(repository.git_dir)
    if not is_ours or not has_policy(repository.root):
        return None
    memory = HookMemory(repository.git_dir)
    judged = check_staged(
        repository,
        message=read_text(Path(given[0])) if name == "commit-msg" else None,
        read_settings=memory.read_settings,
        read_policies=memory.read_policies,
    )
    if name == "pre-commit":
        # Without that the shim of commit-msg starts nothing; where it can't be left, CI looks.
        with contextlib.suppress(OSError, RigFailed):
            memory.ask_message(is_asked=bool(judged.waiting))
    return judged


def _say(text: str) -> None:
    print(text.encode("utf-8", "backslashreplace").decode(), file=sys.stderr)


def _run(
    arguments: Sequence[str], environ: Mapping[str, str], take: TakesSnapshots | None
) -> tuple[str, ...]:
    """What could not be done."""
    name = arguments[0] if arguments else ""
    if name not in HOOKS:
        raise UsageProblem(f"there is no hook of ours called {name!r}")
    # git starts its hooks at the top level of the working tree.
    repository = open_repository(Path(), environ)
    given = tuple(arguments[1:])
    match name:
        case "pre-commit":
            from envtrack.record.commit import record_commit

            return record_commit(repository, environ=environ, take=WithinBudget(take))
        case "prepare-commit-msg":
            from envtrack.record.message import describe_in_message

            memory = HookMemory(repository.git_dir)
            describe_in_message(repository, memory, Path(given[0]), base=(*given, "HEAD")[1])
        case "post-commit" | "post-merge" | "post-checkout" | "post-rewrite":
            from envtrack.record.after import Afterwards

            after = Afterwards(repository, environ, WithinBudget(take), _say)
            return after.run(name, given, read_input=sys.stdin.read)
        case _:
            pass  # they only judge
    return ()


def _warn(arguments: Sequence[str], why: str) -> None:
    said = HOOKS.get(arguments[0] if arguments else "", _NO_RECORD)
    _say(" ".join(f"envtrack: {said}: {why}".split()))


def run(arguments: Sequence[str], *, take: TakesSnapshots | None = None) -> NoReturn:
    """Runs one hook and ends the process, whatever may still be going on in it.

    Not ``sys.exit``: a look at the machine that never ends must not hold up the commit.
    """
    code = main(arguments, take=take)
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run(sys.argv[1:])
