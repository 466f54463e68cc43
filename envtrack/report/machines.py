"""The recorded machines as text, Markdown and JSON.

JSON, schema 1: ``{"schema", "kind": "machines", "lockfile", "commit", "lock", "machines": [
{"name", "here", "taken_at", "lock", "commit", "behind", "stale", "facts": [{"name", "state",
"value", "older"}]}], "notes": []}``. ``behind`` counts the changes of the lockfile that came after
the record's, ``null`` where the record's lockfile is none of this history; ``state`` is ``known``,
``absent``, ``unknown`` (its value is the reason) or ``not-recorded``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from envtrack.model.fact import Absent, Known, Unknown
from envtrack.report.look import Block, Line, Row, render_blocks
from envtrack.report.plain import show_json, show_markdown

if TYPE_CHECKING:
    from envtrack.model.fact import FactState
    from envtrack.model.fleet import Fleet, Machine, Watched
    from envtrack.report.look import Look
    from envtrack.report.shapes import MachineShape, MachinesShape, WatchedShape

SCHEMA = 1
_NOTHING: Final = "–"
_NONE: Final = "no machine is recorded; `envtrack snapshot --save` records this one"
_HEADINGS: Final = {
    "hardware.gpu.count": "GPUs",
    "hardware.gpu.0.model": "first GPU",
    "kernel.release": "kernel",
    "driver.nvidia.version": "driver",
    "driver.nvidia.cuda.version": "driver's CUDA",
    "driver.amd.version": "AMD driver",
    "os.distribution.name": "system",
    "python.version": "Python",
}


def render_machines_text(fleet: Fleet, look: Look) -> str:
    """A row a machine; what is older than elsewhere is marked, and so is a stale record."""
    if not fleet.machines:
        return render_blocks([Line(_NONE), *_note_lines(fleet)], look)
    head = Row(tuple((title, "bold") for title in list_headings(fleet)))
    rows: list[Block] = [head, *(_row(machine) for machine in fleet.machines)]
    rows += [Line(""), Line(say_fleet(fleet)), *_note_lines(fleet)]
    return render_blocks(rows, look)


def _note_lines(fleet: Fleet) -> list[Block]:
    return [Line(f"note: {note}", "dim") for note in fleet.notes]


def _row(machine: Machine) -> Row:
    name = (f"{machine.name} (here)" if machine.is_here else machine.name, "bold")
    facts = [(say_watched(one), "yellow" if one.is_older else "") for one in machine.facts]
    record = (say_standing(machine), "yellow" if machine.is_stale else "green")
    return Row((name, *facts, (machine.snapshot.taken_at[:10], "dim"), record))


def list_headings(fleet: Fleet) -> tuple[str, ...]:
    """The titles of the columns; all machines have the same facts."""
    facts = fleet.machines[0].facts if fleet.machines else ()
    return "machine", *(say_heading(one.name) for one in facts), "recorded", "lockfile"


def say_heading(name: str) -> str:
    """A watched fact's name for people."""
    return _HEADINGS.get(name, name)


def say_watched(fact: Watched) -> str:
    """The value, and that another machine has a newer one."""
    return f"{say_state(fact.state)} (older)" if fact.is_older else say_state(fact.state)


def say_state(state: FactState | None) -> str:
    """The value; ``–`` where it is not there; ``?`` where nobody could look."""
    match state:
        case Known(value):
            return str(value)
        case Unknown(reason):
            return f"? ({reason})"
        case Absent() | None:
            return _NOTHING


def say_standing(machine: Machine) -> str:
    """How its record stands to the lockfile: ``current``, ``3 changes behind``."""
    if machine.behind is None:
        return "of another history" if machine.lock else "without a lockfile"
    if machine.behind == 0:
        return "current"
    return f"{machine.behind} change{'s' if machine.behind > 1 else ''} behind"


def say_fleet(fleet: Fleet) -> str:
    """One line: how many machines, how many of them are stale or have something older."""
    count = len(fleet.machines)
    stale = sum(machine.is_stale for machine in fleet.machines)
    older = sum(any(one.is_older for one in machine.facts) for machine in fleet.machines)
    said = f"{'1 machine' if count == 1 else f'{count} machines'} of {fleet.lockfile}"
    said += f" at {fleet.head.short}: "
    said += "every record is current" if not stale else f"{stale} of {count} records stale"
    return said + (f"; {older} with something older than another has" if older else "")


def render_machines_markdown(fleet: Fleet) -> str:
    """A table, a row a machine."""
    notes = ["", *(f"- {show_markdown(note)}" for note in fleet.notes)] if fleet.notes else []
    if not fleet.machines:
        return "\n".join([show_markdown(_NONE), *notes, ""])
    titles = list_headings(fleet)
    lines = [f"| {' | '.join(map(show_markdown, titles))} |", f"|{'---|' * len(titles)}"]
    for machine in fleet.machines:
        cells = [text for text, _ in _row(machine).cells]
        lines.append(f"| {' | '.join(map(show_markdown, cells))} |")
    return "\n".join([*lines, "", f"{show_markdown(say_fleet(fleet))}.", *notes, ""])


def render_machines_json(fleet: Fleet) -> str:
    """The JSON document; see the module's docstring for its shape."""
    document: MachinesShape = {
        "schema": SCHEMA,
        "kind": "machines",
        "lockfile": fleet.lockfile,
        "commit": fleet.head.hex,
        "lock": fleet.lock.hex if fleet.lock else None,
        "machines": [_describe(machine) for machine in fleet.machines],
        "notes": list(fleet.notes),
    }
    return show_json(json.dumps(document, ensure_ascii=False, indent=2)) + "\n"


def _describe(machine: Machine) -> MachineShape:
    return {
        "name": machine.name,
        "here": machine.is_here,
        "taken_at": machine.snapshot.taken_at,
        "lock": machine.lock.hex if machine.lock else None,
        "commit": machine.commit.hex if machine.commit else None,
        "behind": machine.behind,
        "stale": machine.is_stale,
        "facts": [_describe_fact(one) for one in machine.facts],
    }


def _describe_fact(fact: Watched) -> WatchedShape:
    state, value = "not-recorded", None
    match fact.state:
        case Known(known):
            state, value = "known", str(known)
        case Unknown(reason):
            state, value = "unknown", reason
        case Absent():
            state = "absent"
        case None:
            pass
    return {"name": fact.name, "state": state, "value": value, "older": fact.is_older}
