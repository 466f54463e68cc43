"""Which locked packages have a wheel for this Python, CPU and C library; each question apart.

A package without a wheel at all is built from source wherever it is installed: no tag says more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from envtrack.compat.interface import Opinion
from envtrack.compat.stack import Stack
from envtrack.compat.versions import Numbers, parse_numbers
from envtrack.compat.wheel_tags import (
    Interpreter,
    WheelTags,
    fits_architecture,
    fits_python,
    parse_wheel,
)
from envtrack.model.finding import Fit
from envtrack.model.lock import LockedPackage

# So many packages are named; what follows is counted.
_NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A locked package that has wheels.

    Attributes:
        name: and version, for reports.
        wheels: those that have passed the questions so far.
        has_source: whether it could be built instead.
    """

    name: str
    wheels: tuple[WheelTags, ...]
    has_source: bool


def find_candidates(stack: Stack) -> tuple[Candidate, ...]:
    """Every locked package that has a wheel for any machine."""
    return tuple(_read_candidates(stack.locked or ()))


def _read_candidates(packages: tuple[LockedPackage, ...]) -> Iterator[Candidate]:
    for package in packages:
        names = [artifact.filename for artifact in package.artifacts if artifact.is_wheel]
        wheels = tuple(wheel for name in names if (wheel := parse_wheel(name)))
        if wheels:
            yield Candidate(
                name=f"{package.name} {package.version or ''}".strip(),
                wheels=wheels,
                has_source=any(not artifact.is_wheel for artifact in package.artifacts),
            )


def keep_fitting(
    candidates: tuple[Candidate, ...], fits: Callable[[WheelTags], bool]
) -> tuple[tuple[Candidate, ...], tuple[Candidate, ...]]:
    """Those that still have a wheel, with these wheels alone; and those that have none left."""
    kept, lost = [], []
    for one in candidates:
        wheels = tuple(wheel for wheel in one.wheels if fits(wheel))
        if wheels:
            kept.append(Candidate(name=one.name, wheels=wheels, has_source=one.has_source))
        else:
            lost.append(one)
    return tuple(kept), tuple(lost)


def keep_for_python(stack: Stack, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Those with a wheel for the environment's Python; all where it is not known."""
    interpreter = find_interpreter(stack)
    if interpreter is None:
        return candidates
    return keep_fitting(candidates, lambda wheel: fits_python(wheel, interpreter))[0]


def keep_for_machine(stack: Stack, candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    """Those with a wheel for the CPU architecture; all where it is not known."""
    architecture = stack.architecture.value
    if architecture is None:
        return candidates
    return keep_fitting(candidates, lambda wheel: fits_architecture(wheel, architecture))[0]


def find_interpreter(stack: Stack) -> Interpreter | None:
    """The environment's CPython; ``None``: another implementation, or not known."""
    abi, version = stack.python_abi.value or "", stack.python.value
    if abi.startswith("cp"):
        told = _parse_abi(abi)
        return Interpreter(version=told, is_free_threaded=abi.endswith("t")) if told else None
    if version is None or (stack.implementation.value or "").lower() != "cpython":
        return None
    return Interpreter(version=version)


def _parse_abi(abi: str) -> Numbers | None:
    """``cp313t``: 3.13."""
    digits = abi.removeprefix("cp").rstrip("tdm")
    return parse_numbers(f"{digits[:1]}.{digits[1:]}")


def judge_lost(
    compared: str, reason: str, remedy: str, lost: tuple[Candidate, ...]
) -> Iterator[Opinion]:
    """A misfit for those that can't be installed, limits for those that are built instead."""
    hopeless = [one.name for one in lost if not one.has_source]
    built = [one.name for one in lost if one.has_source]
    if hopeless:
        yield Opinion(
            compared=compared,
            fit=Fit.MISFIT,
            reason=f"{reason}, and no source either: {say_names(hopeless)}",
            remedy=remedy,
        )
    if built:
        yield Opinion(
            compared=compared,
            fit=Fit.LIMITED,
            reason=f"{reason}; built from source here: {say_names(built)}",
            remedy="a compiler has to be there, and what each needs besides",
        )


def say_names(names: list[str]) -> str:
    """Some by name, the others counted."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def say_count(candidates: tuple[Candidate, ...]) -> str:
    """``87 locked packages with wheels``."""
    if len(candidates) == 1:
        return f"the wheels of {candidates[0].name}"
    return f"the wheels of {len(candidates)} locked packages"
