"""The C library against the platform tags of the locked wheels, and of torch."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.locked_wheels import (
    Candidate,
    find_candidates,
    judge_lost,
    keep_fitting,
    keep_for_machine,
    keep_for_python,
    say_count,
)
from envtrack.compat.stack import Stack
from envtrack.compat.tables import Tables
from envtrack.compat.versions import Numbers
from envtrack.compat.wheel_tags import fits_libc
from envtrack.model.finding import Fit, Purpose


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    answers = [*_judge_wheels(stack), *_judge_torch(stack, tables)]
    yield from answers or [Nothing("no lockfile was read, and no torch is there")]


def _judge_wheels(stack: Stack) -> Iterator[Answer]:
    candidates = keep_for_machine(stack, keep_for_python(stack, find_candidates(stack)))
    bound = tuple(one for one in candidates if not _is_free(one))
    if not bound or not stack.is_linux:
        return
    libc, version = stack.libc.value, stack.libc_version.value
    compared = f"{say_count(bound)} for Linux against the C library"
    if libc is None or version is None:
        why = stack.libc.why or stack.libc_version.why
        yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason=why)
        return
    compared = f"{say_count(bound)} for Linux against {libc} {version}"
    architecture = stack.architecture.value or "x86_64"
    lost = keep_fitting(bound, lambda one: fits_libc(one, architecture, libc, version))[1]
    if not lost:
        yield Opinion(compared=compared, fit=Fit.FITS, reason="each has one for it")
    remedy = "a newer system (or container image), or older releases of these"
    yield from judge_lost(
        compared, f"no wheel for {libc} {version}{_say_least(lost)}", remedy, lost
    )


def _is_free(candidate: Candidate) -> bool:
    """Whether it has a wheel that asks for no C library."""
    return any(
        platform.version is None and platform.system != "other"
        for wheel in candidate.wheels
        for platform in wheel.platforms
    )


def _say_least(lost: tuple[Candidate, ...]) -> str:
    """What would be enough for the most modest one."""
    wanted: list[Numbers] = [
        min(versions)
        for one in lost
        if (
            versions := [
                platform.version
                for wheel in one.wheels
                for platform in wheel.platforms
                if platform.version is not None and platform.libc == "glibc"
            ]
        )
    ]
    return f" (they want glibc {max(wanted)})" if wanted else ""


def _judge_torch(stack: Stack, tables: Tables) -> Iterator[Answer]:
    """Up to 2.6 torch's tag said manylinux1, and it needed more than that."""
    release = tables.find_release(stack.torch.release)
    if release is None or stack.libc.value != "glibc" or stack.is_condas_torch:
        return
    version = stack.libc_version.value
    compared = f"torch {stack.torch.version.value} against glibc {version or 'not known'}"
    if version is None:
        why = stack.libc_version.why
        yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason=why)
    elif version < release.glibc:
        yield Opinion(
            compared=compared,
            fit=Fit.MISFIT,
            reason=f"its wheels need glibc {release.glibc}, whatever their tag says",
            remedy="a newer system (or container image), or an older torch",
            cited=(release.cited,),
        )
    else:
        reason = f"its wheels need glibc {release.glibc}"
        yield Opinion(compared=compared, fit=Fit.FITS, reason=reason, cited=(release.cited,))


RULE = Rule(
    name="c-library",
    purpose=Purpose.RUNNING,
    compares="glibc or musl against the platform tags of the locked wheels, and of torch",
    facts=("os.libc.name", "os.libc.version", "framework.torch.version", "lockfile: wheels"),
    judge=_judge,
)
