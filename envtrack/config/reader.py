"""YAML with positions: plain values, the line of every key, all faults at once.

Scalars other than ``true``, ``false`` and nothing stay text as it was written, so that
``python: 3.10`` is not read as 3.1; the model that reads them says what it wants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from envtrack.errors import UsageProblem

if TYPE_CHECKING:
    from yaml import Node
    from yaml.nodes import MappingNode, ScalarNode

SIZE_LIMIT_BYTES = 256 * 1024
# Every alias counts each time it is used: a few lines of anchors can stand for billions of values.
_NODE_LIMIT = 20_000
_DEPTH_LIMIT = 50

Value: TypeAlias = "str | bool | list[Value] | dict[str, Value] | None"
Place: TypeAlias = tuple[str | int, ...]

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset(f"{_TAG}{name}" for name in ("str", "int", "float", "timestamp", "value"))


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Fault:
    """One thing that is wrong in a file.

    Attributes:
        line: one-based.
        key: the dotted key it is about; empty where it is about the file.
        expected: what is wrong and what was expected.
    """

    line: int
    key: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One YAML file's content.

    Attributes:
        values: the top level; keys with nothing behind them are left out.
        lines: the one-based line of each place.
        faults: what the reader itself could not take.
    """

    values: dict[str, Value]
    lines: Mapping[Place, int] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    def line_of(self, place: Place) -> int:
        """The line of a place, or of the nearest one around it."""
        for length in range(len(place), 0, -1):
            if place[:length] in self.lines:
                return self.lines[place[:length]]
        return 1


class ConfigProblem(UsageProblem):
    """A file of ours that says what it may not say: exit 2, with all its faults.

    Attributes:
        where: the file.
        faults: in the order of the file.
    """

    def __init__(self, where: str, faults: Iterable[Fault], *, hint: str = "") -> None:
        self.where = where
        self.faults = tuple(sorted(set(faults)))
        lines = [
            ": ".join(part for part in (f"{where}:{f.line}", f.key, f.expected) if part)
            for f in self.faults
        ]
        super().__init__("\n".join(lines), hint=hint)


def render_place(place: Place) -> str:
    """A place as people name it: ``smoke.files[2]``; positions count from 1."""
    text = ""
    for part in place:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def parse_document(text: str, where: str) -> Document:
    """The content of a YAML file whose top level is keys and values.

    Args:
        text: the file's content; empty or only comments: no values.
        where: how messages name it.

    Raises:
        ConfigProblem: no YAML at all, or too large to be a configuration.
    """
    if len(text.encode("utf-8", "surrogatepass")) > SIZE_LIMIT_BYTES:
        limit = f"larger than {SIZE_LIMIT_BYTES // 1024} KiB, which no configuration is"
        raise ConfigProblem(where, [Fault(line=1, key="", expected=limit)])
    if _is_conflicted(text):
        raise ConfigProblem(where, [_conflict(text)], hint="resolve the merge first")
    root = _compose(text, where)
    if root is None:
        return Document(values={})
    reader = _Reader(where)
    values = reader.read(root, ())
    if isinstance(values, dict):
        return Document(values=values, lines=reader.lines, faults=tuple(reader.faults))
    if values is None:
        return Document(values={}, faults=tuple(reader.faults))
    line = root.start_mark.line + 1
    fault = Fault(line=line, key="", expected="expected keys and values (`key: value`)")
    raise ConfigProblem(where, [fault])


def _is_conflicted(text: str) -> bool:
    return any(line.startswith(("<<<<<<< ", ">>>>>>> ")) for line in text.splitlines())


def _conflict(text: str) -> Fault:
    rows = enumerate(text.splitlines(), start=1)
    line = next(number for number, row in rows if row.startswith(("<<<<<<< ", ">>>>>>> ")))
    return Fault(line=line, key="", expected="conflict markers of an unfinished merge")


def _compose(text: str, where: str) -> Node | None:
    import yaml

    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark is not None else 1
        fault = Fault(line=line, key="", expected=f"not YAML: {error.problem or error.context}")
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        fault = Fault(line=line, key="", expected="not YAML: a control character stands here")
    except RecursionError:
        fault = Fault(line=1, key="", expected="not a configuration: nested too deeply")
    except (yaml.YAMLError, ValueError) as error:
        fault = Fault(line=1, key="", expected=f"not YAML: {error}")
    raise ConfigProblem(where, [fault])


class _Reader:
    """Turns nodes into plain values and keeps the line of each."""

    def __init__(self, where: str) -> None:
        self._where = where
        self.lines: dict[Place, int] = {}
        self.faults: list[Fault] = []
        self._count = 0

    def read(self, node: Node, place: Place) -> Value:
        from yaml.nodes import MappingNode, ScalarNode, SequenceNode

        self.lines.setdefault(place, node.start_mark.line + 1)
        self._count += 1
        if self._count > _NODE_LIMIT or len(place) > _DEPTH_LIMIT:
            expected = "more values, or deeper ones, than a configuration has (anchors?)"
            fault = Fault(line=node.start_mark.line + 1, key="", expected=expected)
            raise ConfigProblem(self._where, [fault])
        match node:
            case MappingNode() if node.tag == f"{_TAG}map":
                return self._read_mapping(node, place)
            case SequenceNode() if node.tag == f"{_TAG}seq":
                items = enumerate(node.value)
                return [self.read(item, (*place, index)) for index, item in items]
            case ScalarNode():
                return self._read_scalar(node, place)
            case _:
                self._fault(node, place, f"the tag {node.tag} is not read here")
                return None

    def _read_mapping(self, node: MappingNode, place: Place) -> Value:
        values: dict[str, Value] = {}
        seen: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            line = key_node.start_mark.line + 1
            if not isinstance(key, str) or key_node.tag == f"{_TAG}merge":
                self._fault(key_node, place, "a key must be plain text")
                continue
            if key in seen:
                self._fault(key_node, (*place, key), f"said twice; first in line {seen[key]}")
                continue
            seen[key] = line
            self.lines[(*place, key)] = line
            value = self.read(value_node, (*place, key))
            if value is not None:
                values[key] = value
        return values

    def _read_scalar(self, node: ScalarNode, place: Place) -> Value:
        text: str = node.value
        if node.tag == f"{_TAG}null":
            return None
        if node.tag == f"{_TAG}bool":
            return text.lower() in {"true", "yes", "on"}
        if node.tag not in _TEXT_TAGS:
            self._fault(node, place, f"the tag {node.tag} is not read here")
            return None
        return text

    def _fault(self, node: Node, place: Place, expected: str) -> None:
        line = node.start_mark.line + 1
        self.faults.append(Fault(line=line, key=render_place(place), expected=expected))
