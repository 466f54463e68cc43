"""The pydantic models behind `settings`; imported only where a file has content."""

from __future__ import annotations

import difflib
import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from envtrack.config.durations import EXPECTED, parse_duration
from envtrack.config.reader import ConfigProblem, Document, Fault, parse_document, render_place
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from pydantic_core import ErrorDetails

_SCHEMA = 1
_GLOB = re.compile(r"[A-Za-z0-9._*?-]+", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", re.ASCII)
# A machine's name becomes a folder's name: no separators, no leading dot, no blanks.
_MACHINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


def _problem(expected: str) -> PydanticCustomError:
    return PydanticCustomError("envtrack", "{expected}", {"expected": expected})


def _rule(check: Callable[[str], bool], expected: str) -> AfterValidator:
    def judge(value: str) -> str:
        if not check(value):
            raise _problem(f"expected {expected}")
        return value

    return AfterValidator(judge)


def _read_schema(value: str) -> str:
    if value.isdecimal() and int(value) > _SCHEMA:
        said = f"schema {value} is newer than this envtrack reads ({_SCHEMA}); upgrade envtrack"
        raise _problem(said)
    if value != str(_SCHEMA):
        raise _problem(f"expected {_SCHEMA}")
    return value


def _is_inside(value: str) -> bool:
    path = PurePosixPath(value)
    return bool(value) and not path.is_absolute() and ".." not in path.parts and "\\" not in value


def _normalise_path(value: str) -> str:
    return str(PurePosixPath(value))


_Path = Annotated[
    str,
    _rule(_is_inside, "a path from the repository's top level, such as services/api/uv.lock"),
    AfterValidator(_normalise_path),
]
_CHARACTERS = "a name of letters, digits, dots, dashes and underscores"
_Name = Annotated[str, _rule(lambda v: bool(_NAME.fullmatch(v)), _CHARACTERS)]
_Machine = Annotated[str, _rule(lambda v: bool(_MACHINE.fullmatch(v)), _CHARACTERS)]
_Text = Annotated[str, _rule(lambda v: bool(v.strip()), "text that is not empty")]
_Request = Annotated[
    str,
    _rule(lambda v: bool(v.strip()) and not v.startswith("-"), "a Python request, such as 3.12"),
]


_Duration = Annotated[str, _rule(lambda v: parse_duration(v) is not None, EXPECTED)]


def _normalise_glob(value: str) -> str:
    """As names of packages are normalised, so that `Lab_Kernels*` fits `lab-kernels-cu12`."""
    return re.sub("[-_.]+", "-", value).lower()


_Layer = Annotated[
    str,
    _rule(
        lambda v: v in set(Layer),
        f"layers ({', '.join(Layer)}), each with a list of package names",
    ),
]
_Glob = Annotated[
    str,
    _rule(
        lambda v: bool(_GLOB.fullmatch(v)),
        "the name of a package, or a pattern of names such as nvidia-*",
    ),
    AfterValidator(_normalise_glob),
]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Smoke(_Model):
    command: _Text = ""
    timeout: _Duration = ""
    timeout_is: Literal["bad", "untestable"] = Field(default="bad", alias="timeout-is")
    files: list[_Path] = []


class _Selection(_Model):
    extras: list[_Name] = []
    groups: list[_Name] = []
    without_groups: list[_Name] = Field(default=[], alias="without-groups")
    all_extras: StrictBool = Field(default=False, alias="all-extras")
    all_groups: StrictBool = Field(default=False, alias="all-groups")
    all_packages: StrictBool = Field(default=False, alias="all-packages")
    package: _Name = ""

    @model_validator(mode="after")
    def _refuse_contradictions(self) -> Self:
        pairs = (
            (bool(self.package) and self.all_packages, "`package` and `all-packages`"),
            (bool(self.extras) and self.all_extras, "`extras` and `all-extras`"),
            (bool(set(self.groups) & set(self.without_groups)), "one group in both lists"),
        )
        for is_broken, names in pairs:
            if is_broken:
                said = f"{names} contradict each other; keep one"
                raise _problem(said)
        return self


class SettingsModel(_Model):
    """``config.yaml`` as it is written."""

    schema_number: Annotated[str, AfterValidator(_read_schema)] = Field(
        default=str(_SCHEMA), alias="schema"
    )
    lockfiles: list[_Path] = []
    machine: _Machine = ""
    salt: _Text = ""
    smoke: _Smoke = _Smoke()
    selection: _Selection = _Selection()
    python: _Request = ""
    stale: Literal["skip", "frozen", "relock"] = "skip"
    layers: dict[_Layer, list[_Glob]] = {}


_GROUPS: dict[str, type[BaseModel]] = {"smoke": _Smoke, "selection": _Selection}


def read_model(text: str, where: str) -> SettingsModel:
    """What a file's content says, checked.

    Raises:
        ConfigProblem: with every fault of the file.
    """
    document = parse_document(text, where)
    faults = list(document.faults)
    try:
        model = SettingsModel.model_validate(document.values)
    except ValidationError as error:
        faults += [_read_fault(document, details) for details in error.errors(include_url=False)]
        raise ConfigProblem(where, faults) from error
    if faults:
        raise ConfigProblem(where, faults)
    return model


def _read_fault(document: Document, details: ErrorDetails) -> Fault:
    # pydantic says of a key that it is the key that is wrong; people see that.
    place = tuple(part for part in details["loc"] if part != "[key]")
    return Fault(
        line=document.line_of(place),
        key=render_place(place),
        expected=_say(details, place),
    )


_EXPECTED = {
    "dict_type": "expected keys and values (`key: value`)",
    "bool_type": "expected true or false",
    "list_type": "expected a list (`- one` a line, or [one, two])",
    "model_type": "expected keys and values (`key: value`)",
}


def _say(details: ErrorDetails, place: tuple[int | str, ...]) -> str:
    context = details.get("ctx", {})
    match details["type"]:
        case "envtrack":
            return str(context["expected"])
        case "extra_forbidden":
            return _say_unknown(str(place[-1]), _GROUPS.get(str(place[0])) if place[1:] else None)
        case "string_type":
            return f"expected text{_say_quotes(details['input'])}"
        case "literal_error":
            return f"expected {context['expected']}".replace("'", "")
        case other:
            return _EXPECTED.get(other, details["msg"])


def _say_quotes(value: object) -> str:
    return "; in quotes if it is meant to be the word" if isinstance(value, bool) else ""


def _say_unknown(key: str, group: type[BaseModel] | None) -> str:
    fields = (group or SettingsModel).model_fields
    known = [field.alias or name for name, field in fields.items()]
    asked = key.lower().replace("_", "-")
    nearest = difflib.get_close_matches(asked, known, n=1, cutoff=0.0)
    close = difflib.get_close_matches(asked, known, n=1, cutoff=0.6)
    if close:
        return f"unknown key; did you mean `{close[0]}`?"
    return f"unknown key; the nearest known one is `{nearest[0]}`"
