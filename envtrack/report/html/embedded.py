"""What the page's script works with, in as few bytes as will do.

Every text stands once in ``texts``; all else are numbers: places in ``texts``. ``changes`` has a
row a commit (as in the table, newest first) of ``[layer, name, before, after, machine]`` each;
``states`` the packages and facts of some commits, newest first, each as what it holds other than
the one before it in the list (``add``) and no longer holds (``drop``). ``-1`` is nothing.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from envtrack.report.plain import show_plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from envtrack.model.lanes import Column, State

_NOTHING = -1


class _Texts:
    """Texts by number, each once."""

    def __init__(self) -> None:
        self.all: list[str] = []
        self._numbers: dict[str, int] = {}

    def add(self, text: str | None) -> int:
        if text is None:
            return _NOTHING
        number = self._numbers.get(text)
        if number is None:
            number = self._numbers[text] = len(self.all)
            self.all.append(show_plain(text))
        return number


def make_embedded(columns: Sequence[Column], states: Sequence[State]) -> str:
    """The page's data as JSON that may stand in a script element as it is."""
    texts = _Texts()
    changes = [
        [
            [
                texts.add(str(change.layer)),
                texts.add(change.name),
                texts.add(change.before),
                texts.add(change.after),
                texts.add(machine) if machine else _NOTHING,
            ]
            for machine, change in column.all_changes
        ]
        for column in columns
    ]
    document = {
        "changes": changes,
        "states": list(_describe_states(states, texts)),
        "ranks": _rank_versions(states, texts),
        "texts": texts.all,
    }
    return escape_script(json.dumps(document, ensure_ascii=True, separators=(",", ":")))


def escape_script(text: str) -> str:
    """JSON in which nothing can end its element, begin another or a comment."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _describe_states(states: Sequence[State], texts: _Texts) -> Iterable[dict[str, Any]]:
    before: set[tuple[int, int, int, int]] = set()
    for state in states:
        held = {
            (texts.add(layer), texts.add(name), texts.add(said), _NOTHING)
            for name, (layer, said) in state.packages.items()
        }
        for machine, facts in state.facts.items():
            place = texts.add(machine)
            held |= {
                (texts.add(name.partition(".")[0]), texts.add(name), texts.add(said), place)
                for name, said in facts.items()
            }
        commit = state.commit
        yield {
            "commit": commit.oid.short,
            "date": commit.authored_at[:10],
            "subject": show_plain(commit.subject),
            "machines": sorted(texts.add(machine) for machine in state.facts),
            "add": sorted(held - before),
            "drop": sorted(before - held),
        }
        before = held


def _rank_versions(states: Sequence[State], texts: _Texts) -> Mapping[int, int]:
    """The place of each version among those of its package, where they have an order."""
    from packaging.version import InvalidVersion, Version

    said = {text for state in states for _, text in state.packages.values()}
    known = {}
    for text in said:
        try:
            known[text] = Version(text)
        except InvalidVersion:
            continue
    order = sorted(known, key=known.__getitem__)
    return {texts.add(text): rank for rank, text in enumerate(order)}
