"""Suspects and the next step, beneath a comparison."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from envtrack.report.look import Block, Line, Row
from envtrack.report.plain import show_markdown

if TYPE_CHECKING:
    from envtrack.model.suspect import Suspect, Suspicion
    from envtrack.report.look import Look
    from envtrack.report.shapes import SuspicionShape

# More than these nobody reads; the next step speaks of all.
_SHOWN = 8


def suspicion_blocks(suspicion: Suspicion, look: Look) -> Iterator[Block]:
    """The situation, the suspects, who is cleared; the next step is the last line."""
    yield Line("")
    yield Line(suspicion.situation, "bold")
    suspects = suspicion.suspects if look.is_full else suspicion.suspects[:_SHOWN]
    for number, suspect in enumerate(suspects, start=1):
        yield Row(((f"{number}. {suspect.change.name}", ""), (_say(suspect), "dim")))
    if len(suspects) < len(suspicion.suspects):
        rest = len(suspicion.suspects) - len(suspects)
        yield Line(f"… and {rest} more: --full shows them", "dim", 2)
    yield from (Line(cleared, "", 2) for cleared in suspicion.cleared)
    if suspicion.next_step:
        yield Line(f"Next: {suspicion.next_step}" + (":" if suspicion.command else ""), "bold")
    if suspicion.command:
        yield Line(suspicion.command, "", 2)


def suspicion_markdown(suspicion: Suspicion) -> Iterator[str]:
    """The same as lines of Markdown."""
    yield from ("", f"### {show_markdown(suspicion.situation)}", "")
    for suspect in suspicion.suspects[:_SHOWN]:
        yield f"1. {show_markdown(f'{suspect.change.name}: {_say(suspect)}')}"
    yield from (f"- {show_markdown(cleared)}" for cleared in suspicion.cleared)
    if suspicion.next_step:
        yield from ("", f"Next: {show_markdown(suspicion.next_step)}")
    if suspicion.command:
        yield from ("", "```sh", suspicion.command, "```")


def describe_suspicion(suspicion: Suspicion) -> SuspicionShape:
    """The same for JSON."""
    return {
        "situation": suspicion.situation,
        "suspects": [
            {
                "name": suspect.change.name,
                "layer": str(suspect.change.layer),
                "weight": suspect.weight,
                "because": list(suspect.because),
            }
            for suspect in suspicion.suspects
        ],
        "cleared": list(suspicion.cleared),
        "next_step": suspicion.next_step,
        "command": suspicion.command,
    }


def _say(suspect: Suspect) -> str:
    change = suspect.change
    moved = f"{change.before or '–'} → {change.after or '–'}"
    return f"{moved}  ({', '.join(suspect.because)})"
