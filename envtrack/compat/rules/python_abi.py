"""The environment's Python against the tags of the locked wheels, and the lock's own demand."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.locked_wheels import (
    find_candidates,
    find_interpreter,
    judge_lost,
    keep_fitting,
    keep_for_machine,
    say_count,
)
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.compat.wheel_tags import fits_python
from envtrack.model.finding import Fit, Purpose


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    del tables
    if stack.locked is None:
        yield Nothing("no lockfile was read")
        return
    answers: list[Answer] = list(_judge_demand(stack))
    # Of a Python that the lock was not made for, most wheels are missing: that says nothing more.
    if not any(isinstance(one, Opinion) and one.fit is Fit.MISFIT for one in answers):
        answers += _judge_wheels(stack)
    yield from answers or [Nothing("no locked package has wheels")]


def _judge_demand(stack: Stack) -> Iterator[Answer]:
    from packaging.specifiers import SpecifierSet

    version = stack.python.value
    if version is None or not stack.requires_python:
        return
    compared = f"Python {version} against the lock's requires-python {stack.requires_python}"
    try:
        is_allowed = SpecifierSet(stack.requires_python).contains(version.text, prereleases=True)
    except ValueError:  # none, or one of thousands of digits
        yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason="it can't be read")
        return
    if is_allowed:
        yield Opinion(compared=compared, fit=Fit.FITS, reason="it is within it")
        return
    yield Opinion(
        compared=compared,
        fit=Fit.MISFIT,
        reason="the lock was resolved for other Pythons",
        remedy="make the environment anew with one of these",
        command=f'uv venv --python "{stack.requires_python}" && uv sync',
    )


def _judge_wheels(stack: Stack) -> Iterator[Answer]:
    candidates = find_candidates(stack)
    if not candidates:
        return
    interpreter = find_interpreter(stack)
    if interpreter is None:
        why = stack.python_abi.why or stack.python.why or "it is no CPython"
        compared = f"{say_count(candidates)} against the environment's Python"
        yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason=why)
        return
    # Those without any wheel for the machine are another rule's.
    candidates = keep_for_machine(stack, candidates) if stack.is_linux else candidates
    compared = f"{say_count(candidates)} against {interpreter.abi}"
    lost = keep_fitting(candidates, lambda one: fits_python(one, interpreter))[1]
    if not lost:
        yield Opinion(compared=compared, fit=Fit.FITS, reason="each has one for it")
    remedy = "another Python, or releases that have wheels for this one"
    yield from judge_lost(compared, f"no wheel for {interpreter.abi}", remedy, lost)


RULE = Rule(
    name="python-abi",
    purpose=Purpose.RUNNING,
    compares="the environment's Python against the ABI tags of the locked wheels",
    facts=(
        "python.abi",
        "python.version",
        "python.implementation",
        "lockfile: wheels, requires-python",
    ),
    judge=_judge,
)
