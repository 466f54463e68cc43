"""A snapshot as text, JSON (its canonical form) and Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from envtrack.model.fact import Absent, Known, Unknown
from envtrack.model.layer import Layer, find_package_layer
from envtrack.model.snapshot import render_snapshot
from envtrack.report.look import Block, Line, Row, render_blocks
from envtrack.report.plain import show_json, show_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from envtrack.model.fact import FactState
    from envtrack.model.snapshot import InstalledPackage, Snapshot
    from envtrack.report.look import Look

# So many installed packages of one layer are shown; what follows is counted.
_SHOWN = 12
_OTHER = "other"


def render_snapshot_text(snapshot: Snapshot, look: Look) -> str:
    """Facts and packages by layer from the ground up; what is absent is named in one line."""
    blocks: list[Block] = [Line(say_title(snapshot), "bold")]
    facts, packages = _facts_by_layer(snapshot), _packages_by_layer(snapshot)
    for layer in (*Layer, _OTHER):
        rows = [*_fact_blocks(facts.get(layer, {}))]
        rows += _package_blocks(packages.get(layer, []), look)
        if rows:
            blocks += [Line(""), Line(layer, "bold"), *rows]
    return render_blocks(blocks, look)


def say_title(snapshot: Snapshot) -> str:
    """One line: which machine, when, and beside which lockfile."""
    title = f"{snapshot.machine} at {snapshot.taken_at}"
    if snapshot.lockfile is None:
        return title
    return f"{title}, beside {snapshot.lockfile.path} ({snapshot.lockfile.blob.short})"


def _facts_by_layer(snapshot: Snapshot) -> dict[str, dict[str, FactState]]:
    layers: dict[str, dict[str, FactState]] = {}
    for name in sorted(snapshot.facts):
        first = name.partition(".")[0]
        layer = first if first in set(Layer) else _OTHER
        layers.setdefault(layer, {})[name] = snapshot.facts[name]
    return layers


def _packages_by_layer(snapshot: Snapshot) -> dict[str, list[InstalledPackage]]:
    layers: dict[str, list[InstalledPackage]] = {}
    for name in sorted(snapshot.installed):
        layers.setdefault(find_package_layer(name), []).append(snapshot.installed[name])
    return layers


def _fact_blocks(facts: dict[str, FactState]) -> Iterator[Block]:
    absent = [name for name, state in facts.items() if isinstance(state, Absent)]
    for name, state in facts.items():
        if not isinstance(state, Absent):
            text, style = _show_state(state)
            yield Row(((name, ""), (text, style)))
    if absent:
        yield Line(f"absent: {', '.join(absent)}", "dim", 2)


def _show_state(state: FactState) -> tuple[str, str]:
    match state:
        case Known(bool() as value):
            return ("yes" if value else "no", "")
        case Known(value):
            return (str(value), "")
        case Absent():
            return ("absent", "dim")
        case Unknown(reason):
            return (f"unknown: {reason}", "yellow")


def _package_blocks(packages: list[InstalledPackage], look: Look) -> Iterator[Block]:
    is_whole = look.is_full or len(packages) <= _SHOWN + 1
    for package in packages if is_whole else packages[:_SHOWN]:
        origin = f"  from {package.origin}" if package.origin else ""
        yield Row(((package.name, ""), (f"{package.version}{origin}", "")))
    if not is_whole:
        rest = len(packages) - _SHOWN
        yield Line(f"… and {rest} more installed: --full shows them", "dim", 2)


def render_snapshot_json(snapshot: Snapshot) -> str:
    """The canonical form, as it is recorded; characters unfit for a terminal are escaped."""
    return show_json(render_snapshot(snapshot))


def render_snapshot_markdown(snapshot: Snapshot) -> str:
    """A table a layer, whole."""
    lines = [f"## {show_markdown(say_title(snapshot))}"]
    facts, packages = _facts_by_layer(snapshot), _packages_by_layer(snapshot)
    for layer in (*Layer, _OTHER):
        rows = [(name, _show_state(state)[0]) for name, state in facts.get(layer, {}).items()]
        rows += [
            (package.name, f"{package.version} {package.origin}".strip())
            for package in packages.get(layer, [])
        ]
        if rows:
            lines += ["", f"### {layer}", "", "| name | value |", "|---|---|"]
            lines += [f"| {show_markdown(name)} | {show_markdown(value)} |" for name, value in rows]
    return "\n".join([*lines, ""])
