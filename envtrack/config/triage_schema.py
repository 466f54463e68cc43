"""What a file of rules for error messages (``kind: TriageRules``) may say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from envtrack.config.checked import Model, Name, SchemaNumber, Text, problem, rule
from envtrack.model.finding import Fit
from envtrack.triage.phrases import Phrase, PhraseFault
from envtrack.triage.rules import PLACES, VERBS, Role
from envtrack.triage.text import tidy

if TYPE_CHECKING:
    from typing import Self

_HEAVIEST = 100


def _read_phrase(value: str) -> str:
    try:
        Phrase(value)
    except PhraseFault as error:
        raise problem(str(error)) from error
    return value


def _read_weight(value: Any) -> Any:  # noqa: ANN401 - what YAML holds
    if isinstance(value, str) and value.isascii() and value.isdigit() and int(value) <= _HEAVIEST:
        return int(value)
    raise problem(f"expected a whole number from 0 to {_HEAVIEST}")


PhraseText = Annotated[str, AfterValidator(_read_phrase)]
Place = Annotated[str, rule(lambda v: v in PLACES, f"one of {', '.join(PLACES)}")]
RoleName = Annotated[str, rule(lambda v: v in set(Role), f"one of {', '.join(Role)}")]
Weight = Annotated[int, BeforeValidator(_read_weight)]
FitName = Annotated[str, rule(lambda v: v in set(Fit), f"one of {', '.join(Fit)}")]


class TestModel(Model):
    """One look at a fact, or at a rule of the doctor."""

    fact: Text | None = None
    is_: Text | None = Field(default=None, alias="is")
    not_: Text | None = Field(default=None, alias="not")
    contains: Text | None = None
    below: Text | None = None
    at_least: Text | None = Field(default=None, alias="at-least")
    doctor: Text | None = None
    says: FitName | None = None

    @model_validator(mode="after")
    def _check_form(self) -> Self:
        said = [name for name in VERBS if getattr(self, _FIELDS[name]) is not None]
        if (self.fact is None) == (self.doctor is None):
            raise problem("expected either `fact` or `doctor`")
        if self.fact is not None and (len(said) != 1 or self.says is not None):
            raise problem(f"expected one of {', '.join(VERBS)} beside `fact`")
        if self.doctor is not None and said:
            raise problem("expected `says` alone beside `doctor`")
        return self


_FIELDS = {"is": "is_", "not": "not_", "contains": "contains", "below": "below"} | {
    "at-least": "at_least"
}


class HypothesisModel(Model):
    """One explanation."""

    claim: Text
    layer: Place | None = None
    supported_by: tuple[TestModel, ...] = Field(default=(), alias="supported-by")
    refuted_by: tuple[TestModel, ...] = Field(default=(), alias="refuted-by")
    remedy: Text | None = None
    check: Text | None = None


class RuleModel(Model):
    """One kind of message."""

    id: Name
    layer: Place | None = None
    kind: Name | None = None
    role: RoleName = "cause"
    says: Annotated[tuple[PhraseText, ...], Field(min_length=1)]
    unless: tuple[Text, ...] = ()
    near: tuple[Name, ...] = ()
    not_near: tuple[Name, ...] = Field(default=(), alias="not-near")
    weight: Weight = 50
    explains: tuple[Name, ...] = ()
    also: tuple[Place, ...] = ()
    means: Text | None = None
    collect: tuple[Text, ...] = ()
    examples: Annotated[tuple[Text, ...], Field(min_length=1)]
    hypotheses: tuple[HypothesisModel, ...] = ()

    @model_validator(mode="after")
    def _check_whole(self) -> Self:
        if self.role != Role.MARK and not (self.layer and self.kind and self.means):
            raise problem("`layer`, `kind` and `means` are missing, or one of them is")
        phrases = [Phrase(text) for text in self.says]
        for example in self.examples:
            lines = [tidy(line) for line in (example, *example.splitlines())]
            if not any(p.find(line, line.lower()) is not None for p in phrases for line in lines):
                raise problem(f"the example `{example[:60]}` has none of the phrases of `says`")
        return self


class RulesModel(Model):
    """A file of rules."""

    schema_: SchemaNumber = Field(default="1", alias="schema")
    kind: Literal["TriageRules"]
    rules: tuple[RuleModel, ...] = ()
