"""What a policy (``kind: UpgradePolicy``) may say; the rules read these values."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from packaging.requirements import InvalidRequirement, Requirement
from pydantic import AfterValidator, BeforeValidator, Field, StrictBool, model_validator

from envtrack.config.checked import (
    LayerName,
    Model,
    PackageGlob,
    RepositoryPath,
    SchemaNumber,
    Text,
    problem,
    read_checked,
    rule,
)
from envtrack.model.breach import Level

if TYPE_CHECKING:
    from typing import Self

_NUMBER = re.compile(r"[0-9]{1,6}", re.ASCII)
_TOLERANCE = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?%?", re.ASCII)
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WEEKLY = re.compile(rf"(?:{'|'.join(_DAYS)}) (?:[01][0-9]|2[0-3]):[0-5][0-9]", re.ASCII)
_YEARLY = re.compile(r"(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])", re.ASCII)


def _read_number(value: Any) -> Any:  # noqa: ANN401 - what YAML holds
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise problem("expected a whole number")


def _read_level(value: Any) -> Any:  # noqa: ANN401 - what YAML holds
    # YAML takes `off` for false.
    said = "off" if value is False else value
    if said not in set(Level):
        raise problem(f"expected {', '.join(Level)}")
    return Level(said)


def _is_zone(value: str) -> bool:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


def _is_moment(value: str) -> bool:
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_date(value: str) -> bool:
    try:
        date.fromisoformat(value)
    except ValueError:
        return False
    return True


def _is_tolerance(value: str) -> bool:
    return bool(_TOLERANCE.fullmatch(value))


def _is_requirement(value: str) -> bool:
    try:
        Requirement(value)
    except InvalidRequirement:
        return False
    return True


Number = Annotated[int, BeforeValidator(_read_number)]
Date = Annotated[str, rule(_is_date, "a date such as 2026-12-31")]
Zone = Annotated[str, rule(_is_zone, "a time zone such as Europe/Berlin or UTC")]
PackageRequirement = Annotated[
    str, rule(_is_requirement, "a package with versions, such as numpy==2.2.0 or torch>=2.6,<2.6.1")
]
Tolerance = Annotated[
    str, BeforeValidator(str), rule(_is_tolerance, "a share such as 2%, or a distance such as 0.01")
]
LevelName = Annotated[Level, BeforeValidator(_read_level)]


class Rule(Model):
    """What every rule has."""

    level: LevelName = Level.ERROR


class OneLayer(Rule):
    """One layer at a time."""

    layers: Number = 1
    together: tuple[tuple[LayerName, ...], ...] = (("framework", "cuda-runtime"),)
    count_forced: StrictBool = Field(default=False, alias="count-forced")
    root_packages: Number | None = Field(default=None, alias="root-packages")
    own_layer: tuple[PackageGlob, ...] = Field(default=(), alias="own-layer")
    ignore: tuple[LayerName, ...] = ("settings",)


class Period(Model):
    """From when to when: once, every year, or every week."""

    start: Text = Field(alias="from")
    end: Text = Field(alias="to")
    every: Literal["once", "year", "week"] = "once"
    name: Text = ""

    @model_validator(mode="after")
    def _check_ends(self) -> Self:
        check, expected = {
            "once": (_is_moment, "a date such as 2026-12-20, or a time such as 2026-12-20T18:00"),
            "year": (lambda v: bool(_YEARLY.fullmatch(v)), "month and day, such as 12-20"),
            "week": (lambda v: bool(_WEEKLY.fullmatch(v)), "day and time, such as fri 12:00"),
        }[self.every]
        for value in (self.start, self.end):
            if not check(value):
                said = f"`{value}`: expected {expected}"
                raise problem(said)
        if self.every == "once" and datetime.fromisoformat(self.start).replace(
            tzinfo=None
        ) > datetime.fromisoformat(self.end).replace(tzinfo=None):
            said = "`from` is later than `to`"
            raise problem(said)
        return self


class Freeze(Rule):
    """When lockfiles may not move, or when alone they may."""

    timezone: Zone = "UTC"
    frozen: tuple[Period, ...] = ()
    windows: tuple[Period, ...] = ()
    except_security: StrictBool = Field(default=True, alias="except-security")


class Verified(Rule):
    """A good smoke verdict for exactly this environment."""

    days: Number = 14


class Metric(Model):
    """One figure of the experiment, and how far it may lie from the last one."""

    name: Text
    within: Tolerance
    better: Literal["lower", "higher", "neither"] = "neither"


class Experiment(Rule):
    """The figures of a representative experiment, in a file beside the lockfile."""

    file: RepositoryPath = "metrics.json"
    metrics: tuple[Metric, ...] = ()
    same: tuple[Text, ...] = ("seed",)


class Pins(Rule):
    """What may not move."""

    layers: tuple[LayerName, ...] = ()
    packages: tuple[PackageGlob, ...] = ()


class Bans(Rule):
    """Versions that are known to be bad."""

    versions: tuple[PackageRequirement, ...] = ()


class Sources(Rule):
    """Where packages may come from."""

    allowed: tuple[Text, ...] = ()
    denied: tuple[Text, ...] = ()
    floating_git: StrictBool = Field(default=True, alias="floating-git")


class Variants(Rule):
    """Builds that are not wanted: the local part of a version, such as ``cpu``."""

    denied: tuple[Text, ...] = ("cpu",)
    only_on_gpu_hosts: StrictBool = Field(default=True, alias="only-on-gpu-hosts")


class Families(Rule):
    """Packages that move together, and CUDA wheels of one major version."""

    together: tuple[tuple[PackageGlob, ...], ...] = (("torch", "torchvision", "torchaudio"),)
    one_cuda: StrictBool = Field(default=True, alias="one-cuda")


class Soak(Rule):
    """No release that is younger than some days."""

    days: Number = 7
    except_for: tuple[PackageGlob, ...] = Field(default=(), alias="except")


class Losses(Rule):
    """A lockfile that lost packages, or what it says of them, wholesale."""

    percent: Number = 50


class Rules(Model):
    """The rules by name."""

    readable: Rule = Rule()
    one_layer: OneLayer = Field(default=OneLayer(), alias="one-layer")
    freeze: Freeze = Freeze()
    record: Rule = Rule(level=Level.WARN)
    reason: Rule = Rule(level=Level.OFF)
    commands: Rule = Rule(level=Level.OFF)
    verified: Verified = Verified(level=Level.OFF)
    experiment: Experiment = Experiment(level=Level.OFF)
    pins: Pins = Pins()
    bans: Bans = Bans()
    sources: Sources = Sources(level=Level.WARN)
    variants: Variants = Variants()
    families: Families = Families(level=Level.WARN)
    soak: Soak = Soak(level=Level.OFF)
    rebuilds: Rule = Rule()
    losses: Losses = Losses()
    credentials: Rule = Rule()


RULE_NAMES = tuple(field.alias or name for name, field in Rules.model_fields.items())
RuleName = Annotated[
    str, rule(lambda v: v in RULE_NAMES, f"the name of a rule: {', '.join(RULE_NAMES)}")
]


class Waiver(Model):
    """Somebody answers for a broken rule, until a date."""

    rule: RuleName
    owner: Text
    reason: Text
    until: Date
    packages: tuple[PackageGlob, ...] = ()
    lockfiles: tuple[RepositoryPath, ...] = ()


class Elsewhere(Model):
    """Other rules for some lockfiles."""

    lockfiles: tuple[RepositoryPath, ...]
    rules: Rules


class PolicyModel(Model):
    """A policy's file."""

    kind: Annotated[
        str, AfterValidator(lambda v: v), rule(lambda v: v == "UpgradePolicy", "UpgradePolicy")
    ]
    schema_number: SchemaNumber = Field(default="1", alias="schema")
    name: Text = ""
    rules: Rules = Rules()
    overrides: tuple[RuleName, ...] = ()
    waivers: tuple[Waiver, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()


def describe_policy(text: str, where: str) -> dict[str, Any]:
    """What a policy's file says, checked, as `envtrack.model.policy.parse_policy` reads it.

    Raises:
        ConfigProblem: with every fault of the file.
    """
    return _describe(read_policy_model(text, where))


def describe_default() -> dict[str, Any]:
    """What holds where there is no file, in the same form."""
    return _describe(PolicyModel(kind="UpgradePolicy"))


def _describe(model: PolicyModel) -> dict[str, Any]:
    return {
        "rules": _describe_rules(model.rules, set(Rules.model_fields)),
        "overrides": list(model.overrides),
        "waivers": [waiver.model_dump(mode="json") for waiver in model.waivers],
        "elsewhere": [
            [list(place.lockfiles), _describe_rules(place.rules, place.rules.model_fields_set)]
            for place in model.elsewhere
        ],
    }


def _describe_rules(rules: Rules, names: set[str]) -> dict[str, Any]:
    """Their options; of rules for some lockfiles only what is said there."""
    is_whole = names == set(Rules.model_fields)
    return {
        field.alias or name: getattr(rules, name).model_dump(
            mode="json", exclude_unset=not is_whole
        )
        for name, field in Rules.model_fields.items()
        if name in names
    }


def read_policy_model(text: str, where: str) -> PolicyModel:
    """What a policy's file says, checked.

    Raises:
        ConfigProblem: with every fault of the file.
    """
    return read_checked(PolicyModel, text, where)
