"""YAML text → plain values; every scalar stays text, and nothing in it can blow up."""

from __future__ import annotations

import re
from typing import Any, Final

import yaml

from envtrack.errors import LockfileProblem
from envtrack.lockfiles.text import clean_text, line_of

# No lockfile nests deeper than six; PyYAML's reader is recursive, the C one without a bound.
_DEEPEST: Final = 100
_MOST_ALIASES: Final = 50
_BRACKETS = re.compile(r"[\[\]{}]")
_INDENT = re.compile(r"^ {400,}|^[ \t]*(?:[-?:][ \t]+){100,}", re.MULTILINE)
_ANCHOR = re.compile(r"(?:^|[\s\[{,])&[^\s,\]}]")


def load_yaml(text: str, *, path: str) -> dict[str, Any]:
    """The mapping of `text`; scalars are strings, so that version 1.10 stays what it is.

    PyYAML's base loader makes text, lists and mappings and nothing else; the C one where there is
    one. Of a key that stands twice the last counts.

    Raises:
        LockfileProblem: empty, an unresolved merge, not YAML, not a mapping, nested deeper than
            any lockfile, or with more than 50 aliases.
    """
    text = clean_text(text, path=path)
    _refuse_depth(text, path)
    loader = _find_loader()
    try:
        if _ANCHOR.search(text):
            _refuse_aliases(text, path, loader)
        document = yaml.load(text, loader)  # noqa: S506 - the base loader builds no objects
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = None if mark is None else mark.line + 1
        raise LockfileProblem(path, line, f"not YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, TypeError) as error:
        reason = str(error).partition("\n")[0]
        raise LockfileProblem(path, _find_odd(text), f"not YAML: {reason}") from error
    except RecursionError as error:
        raise LockfileProblem(path, None, "not a lockfile: it is nested too deep") from error
    if not isinstance(document, dict):
        raise LockfileProblem(path, 1, "not a mapping")
    return document


def find_row_line(text: str, key: str, position: int) -> int | None:
    """The line of a row of the list at a top key of what `load_yaml` has read; slow, for faults."""
    document = yaml.compose(text, _find_loader())
    for name, rows in document.value if isinstance(document, yaml.MappingNode) else ():
        if name.value == key and isinstance(rows, yaml.SequenceNode) and position < len(rows.value):
            line: int = rows.value[position].start_mark.line
            return line + 1
    return None


def _find_loader() -> Any:  # noqa: ANN401 - PyYAML's loaders
    return getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def _refuse_depth(text: str, path: str) -> None:
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        depth = depth + 1 if bracket[0] in "[{" else max(depth - 1, 0)
        if depth > _DEEPEST:
            line = line_of(text, bracket.start())
            raise LockfileProblem(path, line, "not a lockfile: it is nested too deep")
    if found := _INDENT.search(text):
        line = line_of(text, found.start())
        raise LockfileProblem(path, line, "not a lockfile: it is nested too deep")


def _refuse_aliases(text: str, path: str, loader: Any) -> None:  # noqa: ANN401 - PyYAML's loaders
    count = 0
    for event in yaml.parse(text, loader):
        count += isinstance(event, yaml.AliasEvent)
        if count > _MOST_ALIASES:
            raise LockfileProblem(path, None, f"more than {_MOST_ALIASES} aliases")


def _find_odd(text: str) -> int | None:
    """The line of a character that YAML does not allow."""
    found = re.search(r"[^\t\n\r -~\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", text)
    return None if found is None else line_of(text, found.start())
