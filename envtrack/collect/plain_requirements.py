"""Specifiers and markers of the plain kind, decided without ``packaging``.

Importing its parser, tokenizer and specifiers takes 40 ms, a seventh of what a whole snapshot may
take at the start of a training script; nearly all that is asked are releases like ``>=1.26,<3`` and
comparisons like ``platform_system == "Linux"``. What is not plain is answered with ``None``, and
`packaging` is asked (a test says that the two agree).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Final

_Release = tuple[int, ...]

_RELEASE = re.compile(r"\d{1,9}(?:\.\d{1,9})*", re.ASCII)
_CLAUSE = re.compile(r"\s*(==|!=|<=|>=|<|>)\s*(\d{1,9}(?:\.\d{1,9})*)\s*", re.ASCII)
_COMPARISON = re.compile(r"""\s*(\w+)\s*(==|!=|<=|>=|<|>)\s*(?:"([^"']*)"|'([^"']*)')\s*""")
_AND: Final = re.compile(r"\band\b")
_OPERATORS: Final[Mapping[str, Callable[[_Release, _Release], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_VERSIONS: Final = frozenset({"python_version", "python_full_version"})
# PEP 508 compares as versions whatever is one; these never are.
_WORDS: Final = frozenset(
    {
        "implementation_name",
        "os_name",
        "platform_machine",
        "platform_python_implementation",
        "platform_system",
        "sys_platform",
    }
)


def fits_plainly(specifier: str, version: str) -> bool | None:
    """Whether a release satisfies a set of release clauses; ``None``: not plain."""
    has = _read_release(version)
    if has is None:
        return None
    answer = True
    for clause in specifier.split(","):
        found = _CLAUSE.fullmatch(clause)
        wanted = _read_release(found[2]) if found else None
        if found is None or wanted is None:
            return None
        answer = answer and _OPERATORS[found[1]](has, wanted)
    return answer


def holds_plainly(marker: str, variables: Mapping[str, str]) -> bool | None:
    """Whether all comparisons of a marker without ``or`` and parentheses hold; ``None``: not plain.

    Args:
        marker: PEP 508.
        variables: those that are known; another one makes the marker not plain.
    """
    answer = True
    for text in _AND.split(marker):
        found = _COMPARISON.fullmatch(text)
        one = found and _compare(
            found[1], found[2], found[3] if found[3] is not None else found[4], variables
        )
        if one is None:
            return None
        answer = answer and one
    return answer


def _compare(name: str, comparison: str, value: str, variables: Mapping[str, str]) -> bool | None:
    has = variables.get(name)
    if has is None:
        return None
    if name in _VERSIONS:
        return fits_plainly(f"{comparison}{value}", has)
    is_word = name in _WORDS and not (value[:1].isdigit() or has[:1].isdigit())
    if not is_word or comparison not in {"==", "!="}:
        return None
    return (has == value) is (comparison == "==")


def _read_release(text: str) -> _Release | None:
    """The numbers without zeros at the end: 1.0 is 1."""
    if not _RELEASE.fullmatch(text):
        return None
    numbers = [int(part) for part in text.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
