"""What became of one package, in words of a `Change`."""

from __future__ import annotations

import re

from envtrack.compare.pairing import Pair, parse_version, version_key
from envtrack.model.comparison import Change, ChangeKind
from envtrack.model.layer import find_package_layer
from envtrack.model.lock import Artifact, LockedPackage, Source, SourceKind
from envtrack.model.redact import redact_url

_DYNAMIC = "dynamic"
_LONGEST_DETAIL = 200
_OF_ONE_PYTHON = re.compile(r"cp\d{2,}", re.ASCII)
_LONGEST_FORK = 90


def compare_pair(pair: Pair, rows: list[Pair]) -> Change | None:
    """The change from one package of a lock to what became of it; `None` if it is the same.

    Args:
        pair: the package in either lock.
        rows: all pairs of that name; if there are several, the change says which one it is.
    """
    before, after = pair
    where = tell_fork(after or before) if len(rows) > 1 else ""
    if before is after:
        return None  # what two states of a file share is read once
    if before is None or after is None:
        kind = ChangeKind.ADDED if before is None else ChangeKind.REMOVED
        return _one_sided(before or after, kind, where)
    if not _is_same_version(before.version, after.version):
        detail = join_details(_tell_source_move(before.source, after.source), where)
        return change_between(before, after, _version_kind(before.version, after.version), detail)
    if _is_other_source(before, after):
        detail = join_details(_source_word(before, after), where)
        return change_between(before, after, ChangeKind.SOURCE, detail)._replace(
            before=_tell_source(before.source),
            after=_tell_source(after.source),
        )
    rebuilt = _find_rebuilt(before, after)
    if rebuilt:
        return change_between(before, after, ChangeKind.REBUILD, join_details(rebuilt, where))
    return None


def _one_sided(there: LockedPackage | None, kind: ChangeKind, where: str) -> Change | None:
    if there is None:
        return None
    source = there.source
    detail = "" if source.kind is SourceKind.REGISTRY else _tell_source(source)
    return Change(
        layer=find_package_layer(there.name),
        name=there.name,
        kind=kind,
        before=shown_version(there) if kind is ChangeKind.REMOVED else None,
        after=shown_version(there) if kind is ChangeKind.ADDED else None,
        detail=join_details(detail, where),
    )


def change_between(
    before: LockedPackage, after: LockedPackage, kind: ChangeKind, detail: str
) -> Change:
    """A change of this kind, by name and versions."""
    return Change(
        layer=find_package_layer(after.name),
        name=after.name,
        kind=kind,
        before=shown_version(before),
        after=shown_version(after),
        detail=detail,
    )


def shown_version(package: LockedPackage) -> str:
    """The version for people; a project may have one that only its build knows."""
    return package.version or _DYNAMIC


def _is_same_version(before: str | None, after: str | None) -> bool:
    return before == after or (
        before is not None
        and after is not None
        and parse_version(before) is not None
        and parse_version(before) == parse_version(after)
    )


def _version_kind(before: str | None, after: str | None) -> ChangeKind:
    old, new = parse_version(before or ""), parse_version(after or "")
    if old is None or new is None:
        return ChangeKind.CHANGED
    if old.public == new.public:
        return ChangeKind.VARIANT
    is_up = version_key(before) < version_key(after)
    return ChangeKind.UPGRADED if is_up else ChangeKind.DOWNGRADED


def _is_other_source(before: LockedPackage, after: LockedPackage) -> bool:
    old, new = before.source, after.source
    if old.key == new.key:
        return False
    if _is_index_unknown(old, new):
        return False
    both_urls = old.kind is new.kind is SourceKind.URL
    # The same file from another host is no other source.
    return not (both_urls and _hashes(before) and _hashes(before) == _hashes(after))


def _is_index_unknown(before: Source, after: Source) -> bool:
    """Whether one of two indexes is not said, as in most formats: then nothing is known."""
    is_index = before.kind is after.kind is SourceKind.REGISTRY
    return is_index and not (before.location and after.location)


def _hashes(package: LockedPackage) -> frozenset[str]:
    return frozenset(artifact.hash for artifact in package.artifacts if artifact.hash)


def _source_word(before: LockedPackage, after: LockedPackage) -> str:
    old, new = before.source, after.source
    version = shown_version(after)
    if old.kind is not new.kind:
        return f"{version}: {old.kind.value} → {new.kind.value}"
    words = {SourceKind.REGISTRY: "index", SourceKind.URL: "URL"}
    if old.kind is SourceKind.GIT:
        only_commit = old.key[1] == new.key[1] and old.subdirectory == new.subdirectory
        return f"{version}: git commit" if only_commit else f"{version}: git repository"
    return f"{version}: {words.get(old.kind, 'path')}"


def _tell_source_move(before: Source, after: Source) -> str:
    """Where the source moved along with the version, except that a URL always does."""
    is_url = before.kind is after.kind is SourceKind.URL
    if before.key == after.key or is_url or _is_index_unknown(before, after):
        return ""
    return f"{_tell_source(before)} → {_tell_source(after)}"


def _tell_source(source: Source) -> str:
    if source.kind is SourceKind.UNKNOWN:
        return "unknown source"
    shown = redact_url(source.location)
    if source.kind is SourceKind.GIT:
        inside = f"#{source.subdirectory}" if source.subdirectory else ""
        return f"git+{shown}@{source.commit[:10]}{inside}"
    return f"{source.kind.value} {shown}" if source.kind.is_local_tree else shown


def _find_rebuilt(before: LockedPackage, after: LockedPackage) -> str:
    """The files of one name whose hash is another; empty if there are none.

    Files that only one lock knows don't count, unless the two have none in common: indexes add
    wheels to a release for years. Nor do they where the lock came to be for other Pythons.
    """
    if before.build or after.build:
        # A build of conda's in its old and its new archive format is one build.
        return "" if before.build == after.build else f"build {before.build} → {after.build}"
    if before.artifacts == after.artifacts:
        return ""
    if not any(artifact.filename for artifact in (*before.artifacts, *after.artifacts)):
        return _compare_hashes(_hashes(before), _hashes(after))
    old = {artifact.filename: artifact for artifact in before.artifacts}
    new = {artifact.filename: artifact for artifact in after.artifacts}
    common = [name for name in old if name in new]
    if old and new and not common:
        if _are_for_other_pythons(before, after):
            return ""
        return f"other files: {min(old)} → {min(new)}"
    other = [name for name in common if _is_other_file(old[name], new[name])]
    more = f" and {len(other) - 1} more" if len(other) > 1 else ""
    return f"{redact_url(other[0])}{more}" if other else ""


def _are_for_other_pythons(before: LockedPackage, after: LockedPackage) -> bool:
    """Whether no Python could install files of both: uv locks what fits its `requires-python`."""
    old, new = _find_pythons(before), _find_pythons(after)
    return bool(old and new) and old.isdisjoint(new)


def _find_pythons(package: LockedPackage) -> frozenset[str]:
    """The Pythons, as ``cp312``, of wheels for one version each; empty if a file is for more."""
    found: set[str] = set()
    for artifact in package.artifacts:
        *_, pythons, abi, _ = ("", "", "", *artifact.filename.split("-"))
        tags = pythons.split(".")
        # An extension for `abi3`, or a wheel for `py3`, serves later Pythons as well.
        if not artifact.is_wheel or abi == "abi3" or not all(map(_OF_ONE_PYTHON.fullmatch, tags)):
            return frozenset()
        found.update(tags)
    return frozenset(found)


def _compare_hashes(before: frozenset[str], after: frozenset[str]) -> str:
    """For formats that name no files.

    A hash that is gone is a file that was replaced; one that came alone a wheel that was added.
    """
    gone, come = len(before - after), len(after - before)
    return f"{gone} of {len(before)} hashes gone, {come} new" if gone and come else ""


def _is_other_file(before: Artifact, after: Artifact) -> bool:
    # md5 and sha256 of one file differ too; and without a hash nothing can be said.
    kinds = before.hash.partition(":")[0], after.hash.partition(":")[0]
    return kinds[0] == kinds[1] and before.hash != after.hash


def tell_fork(package: LockedPackage | None) -> str:
    """Which of several packages of one name this is; empty if the lock does not say."""
    if package is None or not package.resolution_markers:
        return ""
    forks = " or ".join(package.resolution_markers)
    if len(forks) > _LONGEST_FORK:
        return f"in {len(package.resolution_markers)} forks of the resolution"
    return f"for {forks}"


def join_details(*parts: str) -> str:
    """What there is to say, in one line of bearable length."""
    text = "; ".join(part for part in parts if part)
    return text if len(text) <= _LONGEST_DETAIL else f"{text[: _LONGEST_DETAIL - 1]}…"
