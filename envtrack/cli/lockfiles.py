"""``envtrack lockfiles``: helps others to read lockfiles."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from envtrack.cli.grammar import Argument
from envtrack.errors import LockfileProblem, UsageProblem

if TYPE_CHECKING:
    from envtrack.model.lock import LockedPackage

_LONGEST_NAME = 100


def textconv(
    file: Annotated[Path, Argument("FILE", "A lockfile of any format, as git hands it over.")],
) -> None:
    """Print a lockfile in a form that `git diff` can show: a line a package.

    In .gitattributes: `uv.lock diff=envtrack`; once in each clone:
    `git config diff.envtrack.textconv 'envtrack lockfiles textconv'`.
    A file that can't be read is printed as it is, so that git can still show it.
    """
    from envtrack.record.lock_bytes import parse_lock_bytes
    from envtrack.report.plain import show_plain

    try:
        content = file.read_bytes()
    except OSError as error:
        raise UsageProblem(f"{file}: can't be read: {error.strerror}") from error
    try:
        lock = parse_lock_bytes(content, file.name)
    except LockfileProblem:
        sys.stdout.write(content.decode("utf-8", "backslashreplace"))
        return
    lines = [f"requires-python {lock.requires_python}"] if lock.requires_python else []
    lines += sorted(map(_say, lock.packages))
    lines += [f"not pinned: {text}" for text in lock.unpinned]
    sys.stdout.write("".join(f"{show_plain(line)}\n" for line in lines))


def _say(package: "LockedPackage") -> str:
    from envtrack.model.lock import SourceKind
    from envtrack.model.redact import redact_url

    parts = [package.name, package.version or "-"]
    source = package.source
    if package.build:
        parts.append(package.build)
    if source.commit:
        parts.append(f"@{source.commit}")
    elif source.kind is not SourceKind.REGISTRY:
        parts.append(f"({source.kind}: {redact_url(source.location)})")
    if package.platforms:
        parts.append(f"for {_list(package.platforms)}")
    if package.belongs_to:
        parts.append(f"in {_list(package.belongs_to)}")
    if package.resolution_markers:
        parts.append(f"if {' or '.join(package.resolution_markers)}")
    return " ".join(parts)


def _list(names: tuple[str, ...]) -> str:
    # Each stands once in the file and here in every line: a very long one would fill the memory.
    return ", ".join(
        name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…" for name in names
    )
