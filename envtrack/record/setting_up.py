"""The files that `init` writes; none that is there already is touched."""

from __future__ import annotations

import json
import secrets
from typing import TYPE_CHECKING

from envtrack.files import read_text, write_whole
from envtrack.model.paths import CONFIG, FOLDER, POLICIES, SNAPSHOTS
from envtrack.resources import find_resource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from envtrack.git.repository import Repository

SMOKE_TEST = f"{FOLDER}/smoke.py"
EXPECTED = f"{FOLDER}/smoke_expected.json"
_POLICY = f"{POLICIES}/upgrade.yaml"
_COMMAND = f"python {SMOKE_TEST}"
# The command runs in the folder of whichever lockfile is judged.
_COMMAND_FROM_BELOW = f'python "$(git rev-parse --show-toplevel)/{SMOKE_TEST}"'
_SALT_BYTES = 16
_ATTRIBUTES = f"{FOLDER}/.gitattributes"
# What git would make of a record on its way into the index, and can't be read back by its blob.
_CHANGES = ("filter", "working-tree-encoding")
# Lines that speak to our own checks and not to those of the project.
_OWN_LINES = ("# ruff:", "# mypy:")


def write_config(root: Path, lockfiles: Sequence[str], *, has_smoke: bool) -> tuple[str, bool]:
    """The configuration's path from the top level, and whether it was written.

    Args:
        root: the repository's top level.
        lockfiles: those that were found; named only as a comment, so that later ones count too.
        has_smoke: whether the command of `write_smoke_test` goes into it.
    """
    if _is_there(root / CONFIG):
        return CONFIG, False
    template = read_text(find_resource("config.yaml"))
    listed = [f"#   - {json.dumps(path, ensure_ascii=False)}" for path in lockfiles]
    parts = {
        "@LOCKFILES@": "\n".join(["# lockfiles:", *listed]),
        "@SALT@": secrets.token_hex(_SALT_BYTES),
        "@SMOKE@": _render_command(lockfiles, has_smoke=has_smoke),
        "@FILES@": _render_files(has_smoke=has_smoke),
    }
    for mark, text in parts.items():
        template = template.replace(mark, text)
    write_whole(root / CONFIG, template)
    return CONFIG, True


def write_policy(root: Path) -> tuple[str, bool]:
    """The policy's path from the top level, and whether it was written: not beside another one."""
    there = sorted((root / POLICIES).glob("*.y*ml"))
    if there or _is_there(root / _POLICY):
        return str((there or [root / _POLICY])[0].relative_to(root)), False
    write_whole(root / _POLICY, read_text(find_resource("policy.yaml")))
    return _POLICY, True


def write_smoke_test(root: Path, kind: str) -> tuple[str, bool]:
    """The smoke test's path from the top level, and whether it was written."""
    if _is_there(root / SMOKE_TEST):
        return SMOKE_TEST, False
    write_whole(root / SMOKE_TEST, f"{_read_part(kind)}\n\n{_read_part('runner')}")
    if not _is_there(root / EXPECTED):
        # It is there from the start: a search takes it along to commits that are older.
        write_whole(root / EXPECTED, "{}\n")
    return SMOKE_TEST, True


def _read_part(name: str) -> str:
    lines = read_text(find_resource("smoke") / f"{name}.py").splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith(_OWN_LINES))


def write_attributes(repository: Repository) -> tuple[str, bool] | None:
    """Keeps a repository's own filters (Git LFS on ``*.json``, say) away from the records.

    Returns:
        The path from the top level and whether it was written; ``None`` where no filter is in the
        way.
    """
    record = f"{SNAPSHOTS}/machine/uv.lock.json"
    said = repository.git("check-attr", "-z", *_CHANGES, "--", record).fields
    if all(value in ("unspecified", "unset") for value in said[2::3]):
        return None
    if _is_there(repository.root / _ATTRIBUTES):
        return _ATTRIBUTES, False
    rules = " ".join(f"-{name}" for name in _CHANGES)
    write_whole(
        repository.root / _ATTRIBUTES,
        f"# Records are read by their blob: no filter of the repository's may change them.\n"
        f"snapshots/** {rules}\n",
    )
    return _ATTRIBUTES, True


def _is_there(path: Path) -> bool:
    # A link that leads nowhere is there too: writing would replace it.
    return path.exists() or path.is_symlink()


def _render_command(lockfiles: Sequence[str], *, has_smoke: bool) -> str:
    is_below = any("/" in path for path in lockfiles)
    command = json.dumps(_COMMAND_FROM_BELOW) if is_below else _COMMAND
    return f"smoke:\n  {'' if has_smoke else '# '}command: {command}"


def _render_files(*, has_smoke: bool) -> str:
    mark = "" if has_smoke else "# "
    return (
        "  # Files that the command needs, from the top level: taken from the working tree and\n"
        "  # not from the commit that is judged, which may be older than they are.\n"
        f"  {mark}files: [{SMOKE_TEST}, {EXPECTED}]"
    )
