"""The rules of a repository for error messages: ``.envtrack/triage/*.yaml``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from envtrack.config.reader import SIZE_LIMIT_BYTES
from envtrack.files import read_text
from envtrack.model.paths import TRIAGE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def list_triage_files(root: Path) -> list[tuple[str, str]]:
    """Path from the top level and content of each file of rules, by name.

    Raises:
        UsageProblem: one can't be read.
    """
    folder = root / TRIAGE
    names = sorted(path.name for path in folder.glob("*.y*ml")) if folder.is_dir() else []
    limit = 4 * SIZE_LIMIT_BYTES
    return [(f"{TRIAGE}/{name}", read_text(folder / name, limit_bytes=limit)) for name in names]


def describe_triage_rules(files: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    """Files of rules as plain documents, as `parse_rules` reads them; each checked.

    Args:
        files: name and content of each.

    Raises:
        ConfigProblem: one says what it may not say; with file, line and key.
    """
    found = list(files)
    if not found:
        return []
    # pydantic takes a quarter of a second to import, and most repositories have no such file.
    from envtrack.config.checked import read_checked
    from envtrack.config.triage_schema import RulesModel

    models = [read_checked(RulesModel, text, where) for where, text in found]
    return [model.model_dump(mode="json", by_alias=True, exclude_unset=True) for model in models]
