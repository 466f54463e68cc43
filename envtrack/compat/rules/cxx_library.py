"""The libstdc++ in use against the newest symbols that the locked wheels may need."""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.locked_wheels import (
    Candidate,
    find_candidates,
    keep_for_machine,
    keep_for_python,
    say_names,
)
from envtrack.compat.stack import Stack
from envtrack.compat.tables import PlatformTag, Tables
from envtrack.compat.versions import Numbers
from envtrack.model.finding import Fit, Purpose


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    candidates = keep_for_machine(stack, keep_for_python(stack, find_candidates(stack)))
    wants = {
        one.name: tag for one in candidates if (tag := _find_least(one, stack, tables)) is not None
    }
    if stack.locked is None:
        yield Nothing("no lockfile was read")
    elif not wants:
        yield Nothing("no locked wheel is bound to glibc")
    else:
        yield _judge_wants(stack, wants)


def _find_least(candidate: Candidate, stack: Stack, tables: Tables) -> PlatformTag | None:
    """The tag of the wheel that asks for least: others of the package may ask for more."""
    libc = stack.libc_version.value
    versions = [
        platform.version
        for wheel in candidate.wheels
        for platform in wheel.platforms
        if platform.libc == "glibc" and platform.version is not None
    ]
    able = [version for version in versions if libc is None or version <= libc]
    if not able:
        return None
    known = [tag for tag in tables.tags if tag.glibc >= min(able)]
    return known[0] if known else None


def _judge_wants(stack: Stack, wants: dict[str, PlatformTag]) -> Opinion:
    most = max(wants.values(), key=lambda tag: tag.glibcxx)
    many = f"{len(wants)} locked wheels" if len(wants) > 1 else f"the wheel of {next(iter(wants))}"
    compared = f"libstdc++ (GLIBCXX_{stack.glibcxx.value or '…'}) against {many}"
    have: Numbers | None = stack.glibcxx.value
    if have is None:
        return Opinion(compared=compared, fit=Fit.UNKNOWN, reason=stack.glibcxx.why)
    short = [name for name, tag in wants.items() if tag.glibcxx > have]
    if not short:
        reason = f"their tags allow symbols up to GLIBCXX_{most.glibcxx}"
        return Opinion(compared=compared, fit=Fit.FITS, reason=reason, cited=(most.cited,))
    return Opinion(
        compared=compared,
        fit=Fit.LIMITED,
        reason=f"wheels of their tags may need symbols up to GLIBCXX_{most.glibcxx}, which this "
        f"library has not: {say_names(short)}",
        remedy="a newer libstdc++: the system's, or conda's libstdcxx-ng; an old one first on "
        "LD_LIBRARY_PATH is a frequent cause",
        cited=(most.cited,),
    )


RULE = Rule(
    name="cxx-library",
    purpose=Purpose.RUNNING,
    compares="the newest GLIBCXX symbols of the libstdc++ in use against those wheels may need",
    facts=("os.libstdcxx.glibcxx", "os.libc.version", "lockfile: wheels"),
    judge=_judge,
)
