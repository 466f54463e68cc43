"""What ``config.yaml`` may say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, StrictBool, model_validator

from envtrack.config.checked import (
    CHARACTERS,
    SCHEMA,
    Model,
    Name,
    PackageGlob,
    RepositoryPath,
    SchemaNumber,
    Text,
    problem,
    read_checked,
    rule,
)
from envtrack.config.durations import EXPECTED, parse_duration
from envtrack.model.layer import Layer

if TYPE_CHECKING:
    from typing import Self

# A machine's name becomes a folder's name: no separators, no leading dot, no blanks.
_MACHINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_Machine = Annotated[str, rule(lambda v: bool(_MACHINE.fullmatch(v)), CHARACTERS)]
_Request = Annotated[
    str,
    rule(lambda v: bool(v.strip()) and not v.startswith("-"), "a Python request, such as 3.12"),
]
_Duration = Annotated[str, rule(lambda v: parse_duration(v) is not None, EXPECTED)]
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_Variable = Annotated[
    str, rule(lambda v: bool(_NAME.fullmatch(v)), "the names of environment variables")
]
_Layer = Annotated[
    str,
    rule(
        lambda v: v in set(Layer),
        f"layers ({', '.join(Layer)}), each with a list of package names",
    ),
]


class _Smoke(Model):
    command: Text = ""
    timeout: _Duration = ""
    timeout_is: Literal["bad", "untestable"] = Field(default="bad", alias="timeout-is")
    files: tuple[RepositoryPath, ...] = ()


class _Selection(Model):
    extras: tuple[Name, ...] = ()
    groups: tuple[Name, ...] = ()
    without_groups: tuple[Name, ...] = Field(default=(), alias="without-groups")
    all_extras: StrictBool = Field(default=False, alias="all-extras")
    all_groups: StrictBool = Field(default=False, alias="all-groups")
    all_packages: StrictBool = Field(default=False, alias="all-packages")
    package: Name = ""

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
                raise problem(said)
        return self


class _Hooks(Model):
    on_missing: Literal["pass", "stop"] = Field(default="pass", alias="on-missing")


class _Verify(Model):
    setup: Text = ""
    keep: tuple[_Variable, ...] = ()


class SettingsModel(Model):
    """``config.yaml`` as it is written."""

    schema_number: SchemaNumber = Field(default=str(SCHEMA), alias="schema")
    lockfiles: tuple[RepositoryPath, ...] = ()
    machine: _Machine = ""
    salt: Text = ""
    smoke: _Smoke = _Smoke()
    verify: _Verify = _Verify()
    selection: _Selection = _Selection()
    python: _Request = ""
    stale: Literal["skip", "frozen", "relock"] = "skip"
    hooks: _Hooks = _Hooks()
    layers: dict[_Layer, tuple[PackageGlob, ...]] = Field(default_factory=dict)


def read_model(text: str, where: str) -> SettingsModel:
    """What a file's content says, checked.

    Raises:
        ConfigProblem: with every fault of the file.
    """
    return read_checked(SettingsModel, text, where)
