"""Pydantic models for files of ours: a fault names file, line, key and what was expected.

Imported only where a file has content: pydantic takes a quarter of a second.
"""

from __future__ import annotations

import difflib
import re
import types
from inspect import isclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError
from pydantic_core import PydanticCustomError

from envtrack.config.reader import ConfigProblem, Document, Fault, parse_document, render_place
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_core import ErrorDetails

    from envtrack.config.reader import Place

SCHEMA = 1
_GLOB = re.compile(r"[A-Za-z0-9._*?-]+", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)


def problem(expected: str) -> PydanticCustomError:
    """A fault in our own words."""
    return PydanticCustomError("envtrack", "{expected}", {"expected": expected})


def rule(check: Callable[[str], bool], expected: str) -> AfterValidator:
    """A validator that says what was expected."""

    def judge(value: str) -> str:
        if not check(value):
            raise problem(f"expected {expected}")
        return value

    return AfterValidator(judge)


def _read_schema(value: str) -> str:
    if value.isdecimal() and int(value) > SCHEMA:
        said = f"schema {value} is newer than this envtrack reads ({SCHEMA}); upgrade envtrack"
        raise problem(said)
    if value != str(SCHEMA):
        raise problem(f"expected {SCHEMA}")
    return value


def _is_inside(value: str) -> bool:
    path = PurePosixPath(value)
    return bool(value) and not path.is_absolute() and ".." not in path.parts and "\\" not in value


def _normalise_path(value: str) -> str:
    return str(PurePosixPath(value))


def _normalise_glob(value: str) -> str:
    """As names of packages are normalised, so that `Lab_Kernels*` fits `lab-kernels-cu12`."""
    return re.sub("[-_.]+", "-", value).lower()


SchemaNumber = Annotated[str, AfterValidator(_read_schema)]
RepositoryPath = Annotated[
    str,
    rule(_is_inside, "a path from the repository's top level, such as services/api/uv.lock"),
    AfterValidator(_normalise_path),
]
CHARACTERS = "a name of letters, digits, dots, dashes and underscores"
Name = Annotated[str, rule(lambda v: bool(_NAME.fullmatch(v)), CHARACTERS)]
Text = Annotated[str, rule(lambda v: bool(v.strip()), "text that is not empty")]
LayerName = Annotated[
    str,
    rule(lambda v: v in set(Layer), f"a layer: {', '.join(Layer)}"),
]
PackageGlob = Annotated[
    str,
    rule(
        lambda v: bool(_GLOB.fullmatch(v)),
        "the name of a package, or a pattern of names such as nvidia-*",
    ),
    AfterValidator(_normalise_glob),
]


class Model(BaseModel):
    """A group of keys; one that is not known is a fault."""

    model_config = ConfigDict(extra="forbid", frozen=True)


_Model = TypeVar("_Model", bound=BaseModel)


def read_checked(model: type[_Model], text: str, where: str) -> _Model:
    """What a file's content says, checked.

    Args:
        model: what it may say.
        text: YAML.
        where: how messages name the file.

    Raises:
        ConfigProblem: with every fault of the file.
    """
    document = parse_document(text, where)
    faults = list(document.faults)
    try:
        read = model.model_validate(document.values)
    except ValidationError as error:
        found = error.errors(include_url=False)
        faults += [_read_fault(model, document, details) for details in found]
        raise ConfigProblem(where, faults) from error
    if faults:
        raise ConfigProblem(where, faults)
    return read


def _read_fault(model: type[BaseModel], document: Document, details: ErrorDetails) -> Fault:
    # pydantic says of a key that it is the key that is wrong; people see that.
    place = tuple(part for part in details["loc"] if part != "[key]")
    return Fault(
        line=document.line_of(place),
        key=render_place(place),
        expected=_say(model, details, place),
    )


_EXPECTED = {
    "dict_type": "expected keys and values (`key: value`)",
    "bool_type": "expected true or false",
    "tuple_type": "expected a list (`- one` a line, or [one, two])",
    "model_type": "expected keys and values (`key: value`)",
    "missing": "is missing",
}


def _say(model: type[BaseModel], details: ErrorDetails, place: Place) -> str:
    context = details.get("ctx", {})
    match details["type"]:
        case "envtrack":
            return str(context["expected"])
        case "extra_forbidden":
            return _say_unknown(str(place[-1]), _find_model(model, place[:-1]) or model)
        case "string_type":
            return f"expected text{_say_quotes(details['input'])}"
        case "literal_error":
            return f"expected {context['expected']}".replace("'", "")
        case other:
            return _EXPECTED.get(other, details["msg"])


def _say_quotes(value: object) -> str:
    return "; in quotes if it is meant to be the word" if isinstance(value, bool) else ""


def _say_unknown(key: str, group: type[BaseModel]) -> str:
    known = [field.alias or name for name, field in group.model_fields.items()]
    asked = key.lower().replace("_", "-")
    nearest = difflib.get_close_matches(asked, known, n=1, cutoff=0.0)
    close = difflib.get_close_matches(asked, known, n=1, cutoff=0.6)
    if close:
        return f"unknown key; did you mean `{close[0]}`?"
    return f"unknown key; the nearest known one is `{nearest[0]}`"


def _find_model(model: type[BaseModel], place: Place) -> type[BaseModel] | None:
    """The group of keys at a place."""
    at: Any = model
    for part in place:
        at = _step(_unwrap(at), part)
    at = _unwrap(at)
    return at if isclass(at) and issubclass(at, BaseModel) else None


def _step(at: Any, part: str | int) -> Any:  # noqa: ANN401 - annotations of any kind
    if isclass(at) and issubclass(at, BaseModel):
        fields = at.model_fields.items()
        return next((f.annotation for name, f in fields if part in (f.alias, name)), None)
    arguments = [argument for argument in get_args(at) if argument is not Ellipsis]
    return arguments[-1] if arguments else None


def _unwrap(at: Any) -> Any:  # noqa: ANN401 - annotations of any kind
    """Without `Annotated` and `| None`."""
    if get_origin(at) is Annotated:
        return _unwrap(get_args(at)[0])
    if get_origin(at) in (Union, types.UnionType):
        return _unwrap(next(part for part in get_args(at) if part is not types.NoneType))
    return at
