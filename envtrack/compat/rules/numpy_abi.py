"""NumPy against the packages that were compiled for it.

numpy.org, "NumPy 2.0 migration guide" and "ABI handling": what was compiled for NumPy 1 does not
run on NumPy 2; what was compiled for NumPy 2 runs on both.
"""

from __future__ import annotations

from collections.abc import Iterator

from envtrack.compat.interface import Answer, Nothing, Opinion, Rule
from envtrack.compat.locked_wheels import say_names
from envtrack.compat.stack import Stack
from envtrack.compat.tables import FirstRelease, Tables
from envtrack.compat.versions import Numbers, parse_numbers
from envtrack.model.finding import Fit, Purpose

_NEW = 2


def _judge(stack: Stack, tables: Tables) -> Iterator[Answer]:
    numpy = parse_numbers(stack.find_version("numpy"))
    if numpy is None:
        yield Nothing("there is no NumPy")
        return
    known = [
        (entry, version)
        for entry in tables.numpy2
        if (version := parse_numbers(stack.find_version(entry.package)))
        and not stack.packages[entry.package].origin.startswith("conda")
    ]
    if not known:
        yield Nothing("no package here is in the tables of those compiled for NumPy")
    elif numpy.major > _NEW:
        compared = f"NumPy {numpy} against {len(known)} packages that were compiled for it"
        reason = f"NumPy {numpy.major} is newer than the tables know"
        yield Opinion(compared=compared, fit=Fit.UNKNOWN, reason=reason)
    else:
        yield from _judge_packages(numpy, known)


def _judge_packages(numpy: Numbers, known: list[tuple[FirstRelease, Numbers]]) -> Iterator[Opinion]:
    old = [(entry, version) for entry, version in known if version < entry.version]
    if numpy.major < _NEW or not old:
        names = [f"{entry.package} {version}" for entry, version in known]
        yield Opinion(
            compared=f"NumPy {numpy} against {say_names(names)}",
            fit=Fit.FITS,
            reason="what was compiled for NumPy 1 and what was compiled for NumPy 2 run on it"
            if numpy.major < _NEW
            else "each was compiled for NumPy 2",
            cited=tuple({entry.cited: None for entry, _ in known}),
        )
        return
    for entry, version in old:
        yield Opinion(
            compared=f"NumPy {numpy} against {entry.package} {version}",
            fit=Fit.MISFIT,
            reason=f"{entry.package} was compiled for NumPy 2 from {entry.version} on; older ones "
            "stop with “_ARRAY_API not found” or crash",
            remedy=f"{entry.package} {entry.version} or newer, or NumPy below 2",
            command=f'uv add "{entry.package}>={entry.version}"',
            cited=(entry.cited,),
        )


RULE = Rule(
    name="numpy-abi",
    purpose=Purpose.RUNNING,
    compares="NumPy 1 or 2 against the packages that were compiled for one of them",
    facts=("installed: numpy", "installed: packages of the table"),
    judge=_judge,
)
