"""Paths without what is personal or by chance: where home, project and environment stand."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from envtrack.model.redact import redact_homes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from envtrack.collect.interface import Machine

# Names that say nothing about a person; hiding them would only spoil paths such as /opt/root.
_COMMON_NAMES = frozenset({"", "root", "home", "user", "runner", "build", "builder", "work"})


def path_hider(machine: Machine) -> Callable[[str], str]:
    """A function that puts ``<environment>``, ``<project>``, ``~`` and ``<user>`` into any text.

    The longest path wins, each as written and with its links resolved. It is made once and used
    for every value, since resolving touches the disk.
    """
    labels = dict(_labels(machine))
    places = sorted(labels, key=len, reverse=True)
    # Not in the middle of a longer path or name: /srv/app does not stand in /srv/application.
    pattern = re.compile(
        r"(?<![\w.~\-])(?:" + "|".join(map(re.escape, places)) + r")(?![\w\-]|\.\w)"
        if places
        else r"(?!)"
    )
    user = _user_pattern(machine)

    def hide(text: str) -> str:
        if "/" not in text and "\\" not in text:
            return text
        text = pattern.sub(lambda found: labels[found.group()], text)
        return redact_homes(user.sub("<user>", text))

    return hide


def describe_place(path: Path, machine: Machine) -> str:
    """A path as it is recorded, by the project or home it stands in and not as an environment."""
    for base, label in ((machine.project, "<project>"), (machine.home, "~")):
        for root in {base, _resolve(base)}:
            if _is_place(str(root)) and path.is_relative_to(root):
                return label + "".join(f"/{part}" for part in path.relative_to(root).parts)
    return str(path)


def _labels(machine: Machine) -> Iterator[tuple[str, str]]:
    """Later ones win: an environment that is the project itself is called the environment."""
    rows = [(machine.home, "~"), (machine.project, "<project>")]
    if machine.environment is not None:
        rows.append((machine.environment, "<environment>"))
    for path, label in rows:
        for form in (str(path), str(_resolve(path))):
            if _is_place(form):
                yield form, label


def _is_place(path: str) -> bool:
    """Whether it is a folder below the root: ``/`` as a home would rename every path."""
    return Path(path).is_absolute() and Path(path) != Path(Path(path).anchor)


def _resolve(path: Path) -> Path:
    return Path(os.path.realpath(path))


def _user_pattern(machine: Machine) -> re.Pattern[str]:
    names = {machine.home.name, machine.environ.get("USER", ""), machine.environ.get("LOGNAME", "")}
    personal = sorted(name for name in names if name.lower() not in _COMMON_NAMES)
    if not personal:
        return re.compile(r"(?!)")
    return re.compile(r"(?<=[/\\])(?:" + "|".join(map(re.escape, personal)) + r")(?=[/\\:;\s]|$)")
