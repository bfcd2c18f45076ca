"""What a rule result is made of, as models: how sure it is, by basis, and what it rests on, by type.

Objects are open: a key that is not described passes, so that what is added later breaks no reader. What is described is
held: a fire tells its predictive value and silence its miss rate.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kpis.terms.evaluation_words import ThresholdSource

__all__ = ["Evidence", "Open", "Share", "Uncertainty", "Value", "Whole"]

Whole = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Open(BaseModel):
    """An object whose unknown keys pass."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Interval(Open):
    """A probability with its 95 % interval. The point may lie outside of it."""

    point: Share
    lo: Share
    hi: Share


class Prior(Open):
    """The chance that an output is bad before anything looks at it, and who says so."""

    pi: Share
    source: Literal["default", "config", "estimated"]


class Corpus(Open):
    """The labelled cases that an accuracy was measured on; the positive class is the violation."""

    n: Whole
    tp: Whole
    fp: Whole
    fn: Whole
    tn: Whole
    version: str
    release: str
    labelling: Literal["same-model", "human-verified", "by-construction"]


_FIRED_TELLS = {
    "if": {"properties": {"fired": {"const": True}}, "required": ["fired"]},
    "then": {"required": ["ppv"]},
    "else": {"required": ["missRate"]},
}


class PublishedAccuracy(Open):
    """As good as its accuracy on a corpus."""

    model_config = ConfigDict(json_schema_extra=_FIRED_TELLS)  # type: ignore[typeddict-item]

    basis: Literal["published_accuracy"]
    fired: bool
    ppv: Interval | None = None
    missRate: Interval | None = None  # noqa: N815 - the key of the JSON
    prior: Prior
    corpus: Corpus

    @model_validator(mode="after")
    def _tells(self) -> Self:
        if (self.ppv if self.fired else self.missRate) is None:
            raise ValueError("a fire tells its ppv, and silence its missRate")
        return self


class Conformance(Open):
    """In how many of ``n`` labelled cases a formula agreed with the label."""

    n: Whole
    matched: Whole


class Definition(Open):
    """True by its definition."""

    basis: Literal["definition"]
    conformance: Conformance


class SelfConsistency(Open):
    """As good as a model's agreement with itself."""

    basis: Literal["self_consistency"]
    samples: Whole
    voteFraction: Share  # noqa: N815
    scoreSd: float  # noqa: N815


class LocalLabels(Open):
    """As good as on cases that the deployment labelled."""

    basis: Literal["local_labels"]
    precision: Interval
    n: Whole


class Policy(Open):
    """A limit that somebody set."""

    basis: Literal["policy"]


class Unmeasured(Open):
    """Nobody knows, and why."""

    basis: Literal["unmeasured"]
    why: str


Uncertainty = Annotated[
    PublishedAccuracy | Definition | SelfConsistency | LocalLabels | Policy | Unmeasured, Field(discriminator="basis")
]


class Span(Open):
    """A stretch of a text, in UTF-16 code units; it never repeats the text."""

    type: Literal["span"]
    source: str
    start: Whole
    end: Whole
    label: str


class Pattern(Open):
    """A named sign, and how often it was seen."""

    type: Literal["pattern"]
    name: str
    count: Whole


class ToolCall(Open):
    """A call of the trajectory, by its index from nought."""

    type: Literal["toolCall"]
    index: Whole
    toolName: str  # noqa: N815
    label: str


class Citation(Open):
    """A source that was looked up."""

    type: Literal["citation"]
    url: str
    status: Literal["resolved", "dead", "unverifiable", "supported", "unsupported"]


class Count(Open):
    """A statistic, and the number that it was held against."""

    type: Literal["count"]
    stat: str
    unit: str
    value: float
    threshold: float | None = None
    thresholdSource: ThresholdSource | None = None  # noqa: N815


Evidence = Annotated[Span | Pattern | ToolCall | Citation | Count, Field(discriminator="type")]


class Value(Open):
    """What a rule measured."""

    stat: str
    unit: str
    value: float
