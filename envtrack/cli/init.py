"""``envtrack init``: the first five minutes."""

import shlex
import sys
from enum import StrEnum
from typing import Annotated

from envtrack.cli.context import Place, list_lockfiles, open_here
from envtrack.cli.grammar import option
from envtrack.cli.options import DirectoryOption
from envtrack.errors import UsageProblem
from envtrack.git.repository import Repository
from envtrack.report.plain import show_plain

_RECORDED = """\
  kernel and operating system, driver and GPUs, compilers, Python, the installed
  packages and the environment variables that change behaviour. Secrets, and the
  names of users and hosts, are left out."""


class SmokeKind(StrEnum):
    """The smoke tests that come with envtrack."""

    TORCH = "torch"
    JAX = "jax"
    NUMPY = "numpy"
    PLAIN = "plain"


def init(
    *,
    hooks: Annotated[
        bool,
        option("--hooks", help="Install the git hooks that record each lockfile commit."),
    ] = False,
    smoke: Annotated[
        SmokeKind | None,
        option("--smoke", help="Write a smoke test of this kind, to be made your own."),
    ] = None,
    yes: Annotated[bool, option("--yes", "-y", help="Do not ask.")] = False,
    directory: DirectoryOption = None,
) -> None:
    """Set envtrack up in this repository: find the lockfiles and write a commented configuration.

    A file that is there already is never overwritten.
    """
    from envtrack.config.settings import Settings

    repository = open_here(Place(directory=directory))
    lockfiles = list_lockfiles(repository, Settings())
    if not lockfiles:
        raise UsageProblem(
            f"{repository.root}: no lockfile in this repository, so there is nothing to record yet",
            hint="`uv lock` makes one; then `envtrack init` again",
        )
    _announce(lockfiles, hooks=hooks)
    if not yes and sys.stdin.isatty() and not _wants_to_go_on():
        raise SystemExit(0)
    _write_files(repository, lockfiles, smoke)
    if hooks:
        _install_hooks(repository)
    _say_next(lockfiles, has_hooks=hooks, smoke=smoke)


def _wants_to_go_on() -> bool:
    try:
        return input("Go on? [Y/n] ").strip().lower() in {"", "y", "yes"}
    except EOFError:
        print()
        return False


def _announce(lockfiles: tuple[str, ...], *, hooks: bool) -> None:
    is_one = len(lockfiles) == 1
    print("Lockfile found:" if is_one else "Lockfiles found:")
    for path in lockfiles:
        print(f"  {show_plain(path)}")
    when = "each commit of a lockfile" if hooks else "`envtrack snapshot --save`"
    beside = "it" if is_one else "them"
    print(f"Recorded beside {beside}, one file a machine, with {when}:")
    print(_RECORDED)


def _write_files(
    repository: Repository, lockfiles: tuple[str, ...], smoke: SmokeKind | None
) -> None:
    from envtrack.record.setting_up import (
        write_attributes,
        write_config,
        write_policy,
        write_smoke_test,
    )

    if smoke is not None:
        _say_written(write_smoke_test(repository.root, smoke.value))
    _say_written(write_config(repository.root, lockfiles, has_smoke=smoke is not None))
    _say_written(write_policy(repository.root))
    attributes = write_attributes(repository)
    if attributes is not None:
        _say_written(attributes)


def _say_written(outcome: tuple[str, bool]) -> None:
    path, is_written = outcome
    print(f"wrote {path}" if is_written else f"{path} is there already and stays as it is")


def _install_hooks(repository: Repository) -> None:
    from envtrack.git.hooks_install import put_hooks

    for change in put_hooks(repository, interpreter=sys.executable):
        print(f"hook {change.name} {change.action}: {change.path}")
        if change.remark:
            print(f"  {change.remark}")


def _say_next(lockfiles: tuple[str, ...], *, has_hooks: bool, smoke: SmokeKind | None) -> None:
    paths = shlex.join((".envtrack", *lockfiles))
    steps = [f"git add {show_plain(paths)}", 'git commit -m "Set up envtrack"']
    if not has_hooks:
        steps.append("envtrack hooks install")
    steps.append('envtrack snapshot --commit -m "First snapshot"')
    if smoke is not None:
        steps.append("envtrack smoke")
    print("Next:")
    for step in steps:
        print(f"  {step}")
