"""What has to be right of a lockfile as a whole: families, age, completeness, no credentials."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from envtrack.model.names import normalise
from envtrack.model.redact import redact_url
from envtrack.policy.interface import Fault, Step, join_names

if TYPE_CHECKING:
    from envtrack.config.policy_schema import Families, Losses, Rule, Soak
    from envtrack.model.lock import Lock, LockedPackage

WHY_FAMILIES = "these are built against each other: one of them alone does not load, or crashes"
WHY_SOAK = "most bad releases are found, and withdrawn, within days"
WHY_LOSSES = "a lockfile that loses most of what it held was written by the wrong tool, or by half"
WHY_CREDENTIALS = "whoever can read the repository can read it, now and in every later clone"
_OF_CUDA = re.compile(r"nvidia-[\w-]+-cu(?P<major>\d+)", re.ASCII)
_USERINFO = re.compile(r"//(?!git@)(?P<login>[^/@\s]+)@")
_SECRET_KEY = re.compile(
    r"[?&](?:[\w-]*(?:token|secret|passw|signature|credential|api[_-]?key|auth)[\w-]*|sig|key)="
    r"(?P<value>[^&#\s]+)",
    re.IGNORECASE,
)
_PLACEHOLDER = re.compile(r"\$\{?\w+\}?(?::\$\{?\w+\}?)?")
_FEW = 10


def judge_families(step: Step, options: Families) -> Iterator[Fault]:
    """Whether a family was split, or wheels of two CUDAs came together."""
    if step.before is None or step.after is None:
        return
    moved = {change.name for change in step.list_moved(with_forced=True)}
    old, new = _versions(step.before), _versions(step.after)
    for family in options.together:
        members = sorted(n for n in new if any(fnmatchcase(n, glob) for glob in family))
        gone = [name for name in members if name in moved and name in old]
        left = [name for name in members if name not in moved and old.get(name) == new[name]]
        if gone and left:
            yield Fault(
                found=f"{join_names(gone)} moved without {join_names(left)}",
                ways_out=(f"`uv lock {' '.join(f'--upgrade-package {n}' for n in members)}`",),
                names=(*gone, *left),
            )
    if options.one_cuda:
        before, after = _find_cudas(old), _find_cudas(new)
        if len(after) > 1 and len(before) <= 1:
            yield Fault(
                found=f"wheels of several CUDAs: {', '.join(f'cu{one}' for one in sorted(after))}",
                ways_out=("one of the frameworks is built for another CUDA than the others",),
                names=tuple(sorted(name for name in new if _OF_CUDA.fullmatch(name))),
            )


def _versions(lock: Lock) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for package in lock.packages:
        found.setdefault(package.name, set()).add(package.version or "")
    return {name: frozenset(versions) for name, versions in found.items()}


def _find_cudas(names: dict[str, frozenset[str]]) -> frozenset[str]:
    found = (_OF_CUDA.fullmatch(name) for name in names)
    return frozenset(one["major"] for one in found if one)


def judge_age(step: Step, options: Soak) -> Iterator[Fault]:
    """Whether a release comes in that is younger than it may be; by the lock's upload times."""
    for package in step.list_new():
        if any(fnmatchcase(package.name, glob) for glob in options.except_for):
            continue
        released = _find_release(package)
        if released is not None and step.at - released < timedelta(days=options.days):
            yield Fault(
                found=f"{package.name} {package.version} was released on {released:%Y-%m-%d}, "
                f"less than {options.days} days ago",
                ways_out=(f"`uv lock --exclude-newer '{options.days} days'` leaves it out",),
                names=(package.name,),
            )


def _find_release(package: LockedPackage) -> datetime | None:
    """When its first file was uploaded."""
    times = []
    for artifact in package.artifacts:
        try:
            moment = datetime.fromisoformat(artifact.uploaded_at)
        except ValueError:
            continue
        if moment.tzinfo is not None:
            times.append(moment)
    return min(times, default=None)


def judge_losses(step: Step, options: Losses) -> Iterator[Fault]:
    """Whether most packages are gone, or what was said of them."""
    before, after = step.before, step.after
    if before is None or after is None or len(before.packages) < _FEW:
        return
    old, new = _versions(before), _versions(after)
    gone = sorted(old.keys() - new.keys())
    back = (f"`git restore --source HEAD --staged --worktree {step.lockfile}`",)
    if len(gone) * 100 > options.percent * len(old):
        found = f"{len(gone)} of {len(old)} packages are gone: {join_names(gone)}"
        yield Fault(found=found, ways_out=back, names=tuple(gone))
    for what, count in (("markers", _count_markers), ("hashes", _count_hashes)):
        had, has = count(before), count(after)
        if had >= _FEW and not has:
            yield Fault(found=f"all {had} packages with {what} lost theirs", ways_out=back)


def _count_markers(lock: Lock) -> int:
    return sum(
        bool(package.resolution_markers) or any(edge.marker for edge in package.dependencies)
        for package in lock.packages
    )


def _count_hashes(lock: Lock) -> int:
    return sum(any(file.hash for file in package.artifacts) for package in lock.packages)


def judge_credentials(step: Step, _: Rule) -> Iterator[Fault]:
    """Whether an address in the lockfile carries a password or a token."""
    known = set() if step.before is None else set(list_addresses(step.before))
    shown: dict[str, str] = {}
    for name, address in () if step.after is None else list_addresses(step.after):
        if (name, address) not in known and carries_secret(address):
            shown.setdefault(redact_url(address), name)
    for address, name in shown.items():
        yield Fault(
            found=f"{name}: {address} carries a password or a token",
            ways_out=(
                (
                    "withdraw it: what was committed once counts as known; keep it in "
                    "`UV_INDEX_<NAME>_PASSWORD`, a keyring or `.netrc`, and lock again"
                ),
            ),
            names=(name,),
        )


def list_addresses(lock: Lock) -> Iterator[tuple[str, str]]:
    """Every address that a lock holds, with the package or the place that it stands at."""
    for package in lock.packages:
        yield package.name, package.source.location
        for artifact in package.artifacts:
            yield package.name, artifact.location
        for text in package.requirements or ():
            yield package.name, text
    for text in (*lock.unpinned, *lock.manifest_requirements, *lock.constraints, *lock.overrides):
        yield normalise(text.partition("@")[0].strip() or "requirement"), text
    yield from lock.options.items()


def carries_secret(address: str) -> bool:
    """Whether an address holds what nobody else may know; a placeholder is none."""
    if "//" not in address:
        return False
    found = [match["login"] for match in _USERINFO.finditer(address)]
    found += [match["value"] for match in _SECRET_KEY.finditer(address)]
    if any(not _PLACEHOLDER.fullmatch(one) for one in found):
        return True
    from envtrack.model.redact_shapes import hide_token_shapes

    return hide_token_shapes(address) != address
