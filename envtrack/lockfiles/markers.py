"""PEP 508 markers, read once and asked often; what can't be decided is said, not guessed.

`packaging` decides each comparison; the boolean structure around them is read here, for two things
that it does not have: several extras at a time (uv writes a conflict as
`extra == 'extra-3-lab-gpu'`, and any number of them may hold) and an answer besides true and false.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from envtrack.model.names import normalise

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<mark>[()])
      | (?P<join>and|or)(?![\w.])
      | (?P<left>'[^']*'|"[^"]*"|[\w.]+)\s*
        (?P<op>===|==|~=|!=|<=|>=|<|>|not\s+in\b|in\b)\s*
        (?P<right>'[^']*'|"[^"]*"|[\w.]+)
    )""",
    re.VERBOSE,
)
# Variables that hold several values at once.
_SETS = frozenset({"extra", "extras", "dependency_groups"})
_PYTHON2_NAMES = {
    "os.name": "os_name",
    "sys.platform": "sys_platform",
    "platform.version": "platform_version",
    "platform.machine": "platform_machine",
    "platform.python_implementation": "platform_python_implementation",
    "python_implementation": "platform_python_implementation",
}


class Comparison(NamedTuple):
    """One comparison of a marker: `left op right`, quotes kept."""

    left: str
    op: str
    right: str

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}"


class Every(NamedTuple):
    """All of them hold."""

    parts: tuple[Node, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Every) and self.parts == other.parts

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((Every, self.parts))


class Either(NamedTuple):
    """At least one of them holds."""

    parts: tuple[Node, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Either) and self.parts == other.parts

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((Either, self.parts))


Node: TypeAlias = Comparison | Every | Either


class MarkerError(ValueError):
    """Text that is no marker."""


@lru_cache(maxsize=50_000)
def parse_marker(text: str) -> Node:
    """The structure of a marker.

    Raises:
        MarkerError: it is none.
    """
    try:
        tokens = list(_tokens(text))
        tokens.reverse()
        node = _read_either(tokens)
    except IndexError as error:
        raise MarkerError(f"the marker ends early: {text}") from error
    except RecursionError as error:
        raise MarkerError("a marker is nested too deeply") from error
    if tokens:
        raise MarkerError(f"not a marker: {text}")
    return node


def _tokens(text: str) -> Iterable[str | Comparison]:
    position, end = 0, len(text.rstrip())
    while position < end:
        found = _TOKEN.match(text, position)
        if found is None:
            raise MarkerError(f"not a marker: {text}")
        position = found.end()
        if found["op"]:
            yield Comparison(
                _variable(found["left"]), " ".join(found["op"].split()), _variable(found["right"])
            )
        else:
            yield found["mark"] or found["join"]


def _variable(token: str) -> str:
    return _PYTHON2_NAMES.get(token, token)


def _read_either(tokens: list[str | Comparison]) -> Node:
    parts = [_read_every(tokens)]
    while tokens and tokens[-1] == "or":
        tokens.pop()
        parts.append(_read_every(tokens))
    return parts[0] if len(parts) == 1 else Either(tuple(parts))


def _read_every(tokens: list[str | Comparison]) -> Node:
    parts = [_read_one(tokens)]
    while tokens and tokens[-1] == "and":
        tokens.pop()
        parts.append(_read_one(tokens))
    return parts[0] if len(parts) == 1 else Every(tuple(parts))


def _read_one(tokens: list[str | Comparison]) -> Node:
    first = tokens.pop()
    if isinstance(first, Comparison):
        return first
    if first != "(":
        raise MarkerError(f"unexpected {first!r} in a marker")
    node = _read_either(tokens)
    if tokens.pop() != ")":
        raise MarkerError("a parenthesis is not closed in a marker")
    return node


class MarkerWorld:
    """An environment in which markers are asked; remembers the answer of each comparison.

    Args:
        environment: PEP 508 variables; one that is missing makes a comparison undecided.
        extras: values of `extra` that hold; for uv, in its conflict encoding (`extra-3-lab-gpu`).
        groups: values of `dependency_groups` that hold.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        extras: Collection[str] = (),
        groups: Collection[str] = (),
    ) -> None:
        self._environment = dict(environment)
        self._sets = {"extra": extras, "extras": extras, "dependency_groups": groups}
        self._answers: dict[Comparison, bool | None] = {}
        self.undecided: set[str] = set()

    def with_extras(self, extras: Collection[str]) -> MarkerWorld:
        """The same world with these extras; answers that do not depend on them are shared."""
        world = MarkerWorld(self._environment, extras, self._sets["dependency_groups"])
        world._answers = self._answers
        world.undecided = self.undecided
        return world

    def holds(self, text: str) -> bool:
        """Whether the marker holds; an undecided one counts as holding, see `undecided`."""
        answer = self.ask(text)
        if answer is None:
            self.undecided.add(text)
        return answer is not False

    def ask(self, text: str) -> bool | None:
        """Whether the marker holds; `None` where that can't be decided."""
        if not text.strip():
            return True
        try:
            return self._ask(parse_marker(text))
        except MarkerError:
            return None

    def _ask(self, node: Node) -> bool | None:
        if isinstance(node, Comparison):
            return self._compare(node)
        decisive = isinstance(node, Either)
        answer: bool | None = not decisive
        for part in node.parts:
            one = self._ask(part)
            if one is decisive:
                return decisive
            if one is None:
                answer = None
        return answer

    def _compare(self, node: Comparison) -> bool | None:
        if node.left in _SETS or node.right in _SETS:
            return self._compare_set(node)
        if node not in self._answers:
            self._answers[node] = self._evaluate(node)
        return self._answers[node]

    def _compare_set(self, node: Comparison) -> bool | None:
        variable, value = (node.left, node.right) if node.left in _SETS else (node.right, node.left)
        if value[:1] not in {"'", '"'} or node.op not in {"==", "!=", "in", "not in"}:
            return None
        # Names of extras and groups are compared by their plain spelling.
        return (normalise(value[1:-1]) in self._sets[variable]) is (node.op in {"==", "in"})

    def _evaluate(self, node: Comparison) -> bool | None:
        for side in (node.left, node.right):
            if side[0] not in {"'", '"'} and side not in self._environment:
                return None
        # Imported where it is needed: a comparison of whole locks asks no marker.
        from packaging.markers import (
            InvalidMarker,
            Marker,
            UndefinedComparison,
            UndefinedEnvironmentName,
        )

        try:
            return Marker(str(node)).evaluate(self._environment)
        except (InvalidMarker, UndefinedComparison, UndefinedEnvironmentName, ValueError):
            return None
