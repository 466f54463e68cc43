"""The installed packages against their own requirements, and against the lockfile."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.locked_wheels import say_names
from envtrack.compat.readings import read_text
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.model.finding import Fit, Purpose

_FACT = "packages.broken-requirements"


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    del tables
    if not stack.are_installed or not stack.packages:
        yield Nothing("nothing is installed here")
        return
    answers = [*_judge_requirements(stack), *_judge_lock(stack)]
    yield from answers or [Nothing("the requirements of what is installed are not recorded")]


def _judge_requirements(stack: Stack) -> Iterator[Answer]:
    broken = read_text(stack.facts, _FACT)
    compared = f"{len(stack.packages)} installed packages against their own requirements"
    if broken.is_absent:
        yield Opinion(compared=compared, fit=Fit.FITS, reason="each finds what it requires")
    elif broken.value is not None:
        yield Opinion(
            compared=compared,
            fit=Fit.MISFIT,
            reason=broken.value,
            remedy="install what the lockfile says",
            command="uv sync",
        )
    elif "not recorded" not in broken.why:
        yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason=broken.why)


def _judge_lock(stack: Stack) -> Iterator[Answer]:
    """Other versions only: what is missing may belong to a group that nobody asked for."""
    pairs = [
        (package.name, stack.packages[package.name].version, package.version)
        for package in stack.locked or ()
        if package.version and package.name in stack.packages
    ]
    if not pairs:
        return
    different = [
        f"{name} {there} ({locked} is locked)"
        for name, there, locked in pairs
        if not _is_same(there, locked)
    ]
    compared = f"{len(pairs)} installed packages against the lockfile"
    if not different:
        yield Opinion(compared=compared, fit=Fit.FITS, reason="each is the locked version")
        return
    yield Opinion(
        compared=compared,
        fit=Fit.MISFIT,
        reason=f"not what is locked: {say_names(different)}",
        remedy="install what the lockfile says",
        command="uv sync",
    )


def _is_same(installed: str, locked: str) -> bool:
    """Metadata may leave out the local part that the lock has, and the other way round."""
    if "+" in installed and "+" in locked:
        return installed == locked
    return installed.partition("+")[0] == locked.partition("+")[0]


RULE = Rule(
    name="requirements",
    purpose=Purpose.RUNNING,
    compares="what is installed against its own requirements, and against the lockfile",
    facts=(_FACT, "installed: all", "lockfile: versions"),
    judge=_judge,
)
