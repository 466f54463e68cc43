"""What a project asks for, from the files beside a lockfile that does not say it itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from envtrack.errors import LockfileProblem
from envtrack.model.names import normalise

if TYPE_CHECKING:
    from envtrack.lockfiles.text import Include

MANIFESTS: Final[Mapping[str, tuple[str, ...]]] = {
    "poetry.lock": ("pyproject.toml",),
    "pdm.lock": ("pyproject.toml",),
    "pylock.toml": ("pyproject.toml",),
    "Pipfile.lock": ("Pipfile",),
    "pixi.lock": ("pixi.toml", "pyproject.toml"),
    "conda-lock.yml": ("environment.yml", "environment.yaml", "pyproject.toml"),
    "requirements.txt": ("requirements.in", "pyproject.toml"),
}
"""Of each format the files that may say what was asked for, the likeliest first."""
_NAME = re.compile(r"\s*(?:[\w./-]+::)?([A-Za-z0-9_][A-Za-z0-9._-]*)")
# Tables of names, by their path; `*` stands for any key.
_TABLES: Final[tuple[tuple[str, ...], ...]] = (
    ("tool", "poetry", "dependencies"),
    ("tool", "poetry", "dev-dependencies"),
    ("tool", "poetry", "group", "*", "dependencies"),
    ("tool", "pixi", "dependencies"),
    ("tool", "pixi", "pypi-dependencies"),
    ("tool", "pixi", "feature", "*", "dependencies"),
    ("tool", "pixi", "feature", "*", "pypi-dependencies"),
    ("packages",),
    ("dev-packages",),
    ("dependencies",),
    ("pypi-dependencies",),
    ("feature", "*", "dependencies"),
    ("feature", "*", "pypi-dependencies"),
)
# Lists of requirements, or tables of such lists.
_LISTS: Final[tuple[tuple[str, ...], ...]] = (
    ("project", "dependencies"),
    ("project", "optional-dependencies", "*"),
    ("dependency-groups", "*"),
    ("tool", "pdm", "dev-dependencies", "*"),
    ("dependencies",),
)


def find_requests(format_name: str, include: Include) -> tuple[str, ...]:
    """The names that the project itself asks for; empty if no file beside the lockfile says it.

    Args:
        format_name: `Lock.format`.
        include: reads files by their path from the lockfile's folder.
    """
    for file in MANIFESTS.get(format_name, ()):
        text = include(file)
        names = () if text is None else tuple(dict.fromkeys(_read_names(file, text)))
        if names:
            return names
    return ()


def _read_names(file: str, text: str) -> Iterator[str]:
    try:
        if file.endswith(".in"):
            lines = (line for line in text.splitlines() if not line.lstrip().startswith(("-", "#")))
            yield from _names(lines)
            return
        document = _load(file, text)
    except LockfileProblem:
        return  # the lockfile is whole; of what was asked for nothing is claimed
    for path in _TABLES:
        for table in _find(document, path):
            if isinstance(table, dict):
                yield from (normalise(name) for name in table if name.lower() != "python")
    for path in _LISTS:
        for rows in _find(document, path):
            if isinstance(rows, list):
                yield from _names(rows)


def _load(file: str, text: str) -> dict[str, Any]:
    if file.endswith((".yml", ".yaml")):
        from envtrack.lockfiles.yaml_text import load_yaml

        return load_yaml(text, path=file)
    from envtrack.lockfiles.tables import load_toml

    return load_toml(text, path=file)


def _find(node: Any, path: tuple[str, ...]) -> Iterator[Any]:  # noqa: ANN401 - a document's part
    if not path:
        yield node
    elif isinstance(node, dict):
        keys = node if path[0] == "*" else [key for key in (path[0],) if key in node]
        for key in keys:
            yield from _find(node[key], path[1:])


def _names(rows: Iterable[object]) -> Iterator[str]:
    for row in rows:
        if isinstance(row, str) and (found := _NAME.match(row)):
            yield normalise(found[1])
        elif isinstance(row, dict):  # the `pip:` part of an environment.yml
            yield from _names(row.get("pip") or ())
