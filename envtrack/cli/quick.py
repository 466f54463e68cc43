"""Reads a plain command line without Typer, by the same declarations.

Importing Typer takes longer than most commands do. So a line in which every word is known is read
here; for any other, a wrong one above all, Typer has the word: `None` says so.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple, Union, get_args, get_origin

from envtrack.cli.grammar import Argument, Option

_PLAIN: Final = (str, Path, int, float)


class _Unusual(Exception):
    """A word that is not plain."""


class Parameter(NamedTuple):
    """One parameter of a command's function.

    Attributes:
        name: of the function's parameter.
        mark: how it was declared.
        kind: the type of one value.
        is_list: whether it takes several.
        is_required: whether it has no default.
    """

    name: str
    mark: Option | Argument
    kind: type
    is_list: bool
    is_required: bool

    @property
    def is_flag(self) -> bool:
        """Whether it is an option without a value."""
        return self.kind is bool

    def convert(self, word: str) -> object:
        """A word as a value.

        Raises:
            _Unusual: it is none of that type.
        """
        try:
            return self.kind(word)
        except ValueError as error:
            raise _Unusual from error


def read_quickly(function: Callable[..., None], words: Sequence[str]) -> dict[str, Any] | None:
    """The arguments for a command's function; `None` if the line is not plain."""
    parameters = list_parameters(function)
    if parameters is None:
        return None
    try:
        return _Line(parameters).read(words)
    except _Unusual:
        return None


def list_parameters(function: Callable[..., None]) -> tuple[Parameter, ...] | None:
    """The parameters of a command's function; `None` if one is of a type that only Typer reads."""
    found = []
    for name, annotation, is_required in _read_signature(function):
        base, mark = split_annotation(annotation)
        kind, is_list = _unwrap(base)
        if not (kind in (bool, *_PLAIN) or issubclass(kind, Enum)):
            return None
        found.append(
            Parameter(
                name=name,
                mark=mark,
                kind=kind,
                is_list=is_list,
                is_required=is_required,
            )
        )
    return tuple(found)


def _read_signature(function: Callable[..., None]) -> Iterator[tuple[str, object, bool]]:
    """Each parameter's name, annotation, and whether it has no default.

    `inspect` would say it too, but it brings the whole of Python's compiler tools along.
    """
    code: types.CodeType = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    without_default = code.co_argcount - len(function.__defaults__ or ())
    by_name = function.__kwdefaults__ or {}
    for position, name in enumerate(code.co_varnames[:count]):
        is_plain = position < code.co_argcount
        is_required = position < without_default if is_plain else name not in by_name
        yield name, function.__annotations__[name], is_required


def split_annotation(annotation: object) -> tuple[Any, Option | Argument]:
    """Type and declaration of a parameter."""
    if get_origin(annotation) is not Annotated:
        raise TypeError(f"a parameter without a declaration: {annotation}")
    base, mark, *_ = get_args(annotation)
    return base, mark


def _unwrap(base: Any) -> tuple[type, bool]:  # noqa: ANN401 - any type there is
    """The type of one value, and whether there may be several: `list[str] | None` → (str, True)."""
    if get_origin(base) in (Union, types.UnionType):
        base = next(part for part in get_args(base) if part is not types.NoneType)
    if get_origin(base) is list:
        return get_args(base)[0], True
    return base, False


class _Line:
    """One reading of one line."""

    def __init__(self, parameters: Sequence[Parameter]) -> None:
        self._options = {
            name: parameter
            for parameter in parameters
            if isinstance(parameter.mark, Option)
            for name in parameter.mark.names
        }
        self._arguments = [p for p in parameters if isinstance(p.mark, Argument)]
        self._required = [p.name for p in parameters if p.is_required]
        self._values: dict[str, Any] = {}

    def read(self, words: Sequence[str]) -> dict[str, Any]:
        """The values by name.

        Raises:
            _Unusual: a word is not plain, or a value is missing.
        """
        waiting = list(reversed(words))
        plain: list[str] = []
        while waiting:
            word = waiting.pop()
            if not word.startswith("-") or word == "-":
                plain.append(word)
            else:
                self._take_option(word, waiting)
        self._take_arguments(plain)
        if any(name not in self._values for name in self._required):
            raise _Unusual
        return self._values

    def _take_option(self, word: str, waiting: list[str]) -> None:
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        parameter = self._options.get(name)
        if parameter is None or (parameter.is_flag and equals):
            raise _Unusual
        if parameter.is_flag:
            self._values[parameter.name] = True
            return
        if not equals:
            if not waiting or waiting[-1].startswith("-"):
                raise _Unusual
            value = waiting.pop()
        self._put(parameter, value)

    def _put(self, parameter: Parameter, word: str) -> None:
        value = parameter.convert(word)
        if parameter.is_list:
            self._values.setdefault(parameter.name, []).append(value)
        elif parameter.name in self._values:
            raise _Unusual
        else:
            self._values[parameter.name] = value

    def _take_arguments(self, words: list[str]) -> None:
        left = list(self._arguments)
        for word in words:
            if not left:
                raise _Unusual
            self._put(left[0], word)
            if not left[0].is_list:
                left.pop(0)
