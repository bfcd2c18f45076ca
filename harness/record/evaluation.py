"""The answer of one evaluation as a model.

Open as its parts are (:mod:`harness.record.evaluation_parts`). The judge knows nothing of these models, and whoever
writes does not pass through them: they are for readers, and for the tests that hold the writers to them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, TypeAdapter, model_validator

from harness.record.evaluation_parts import Evidence, Open, Uncertainty, Value, Whole
from harness.record.evaluation_verdict import Verdict
from kpis.terms.evaluation_words import Bundle, Need, Question, RuleKind, SkipClass

__all__ = ["DRAFT", "SCHEMA", "EvaluationResponse", "NoAnswer", "RuleResult", "evaluation_schema"]

SCHEMA = "harness.evaluation/1"
DRAFT = "https://json-schema.org/draft/2020-12/schema"


class RuleResult(Open):
    """One rule. ``passed`` says that it stayed quiet; a skipped one says so, and why."""

    ruleName: str  # noqa: N815
    ruleId: str | None = None  # noqa: N815
    category: Bundle | None = None
    critical: bool | None = None
    criticalSource: Literal["default", "config"] | None = None  # noqa: N815
    passed: bool
    score: float
    message: str
    skipped: bool | None = None
    skipReason: str | None = None  # noqa: N815
    configInvalid: bool | None = None  # noqa: N815
    budgetExceeded: bool | None = None  # noqa: N815
    kind: RuleKind | None = None
    role: Literal["gate", "veto", "risk", "advisory", "term"] | None = None
    question: Question | None = None
    classes: list[str] | None = None
    ruleVersion: int | None = None  # noqa: N815
    saw: list[Need] | None = None
    skipClass: SkipClass | None = None  # noqa: N815
    uncertainty: Uncertainty | None = None
    evidence: list[Evidence] | None = None
    value: Value | None = None


class Category(Open):
    """One bundle by itself; score and passed are null where nothing was judged."""

    score: float | None
    passed: bool | None
    rules_evaluated: Whole
    rules_skipped: Whole
    insufficient_data: bool
    critical_failures: list[str] | None = None
    critical_skipped: list[str] | None = None


class Asked(Open):
    """One question: whether it was judged, and why not."""

    id: Question
    status: Literal["judged", "unjudged", "not_applicable"]
    why: str | None = None


class Dormant(Open):
    """A deployed rule that gates and is put aside."""

    ruleId: str  # noqa: N815
    name: str
    reason: str


class Coverage(Open):
    """What the case carried, and which questions were judged."""

    inputs: dict[str, bool]
    questions: list[Asked]
    dormant: list[Dormant] | None = None


class Thresholds(Open):
    """The threshold of the score, and those that the deployment set by key."""

    default: float
    perRule: dict[str, Any] | None = None  # noqa: N815


class Provenance(Open):
    """What the verdict was made with, and when."""

    engine: str
    rulesetHash: str  # noqa: N815
    configHash: str  # noqa: N815
    thresholds: Thresholds
    corpusVersion: str | None = None  # noqa: N815
    judgedAt: str  # noqa: N815


_YES, _NO = ({"properties": {"passed": {"const": truth}}} for truth in (True, False))
_AS_ITS_VERDICT = {
    "if": {"properties": {"verdict": {"type": "object"}}, "required": ["verdict"]},
    "then": {"if": {"properties": {"verdict": _YES}}, "then": _YES, "else": _NO},
}


class EvaluationResponse(Open):
    """What ``evaluate`` writes for one case. ``passed`` is what its verdict says, where it has one."""

    model_config = ConfigDict(json_schema_extra=_AS_ITS_VERDICT)  # type: ignore[typeddict-item]

    id: str
    trace_id: str | None = None
    verdict: Verdict | None = None
    coverage: Coverage | None = None
    provenance: Provenance | None = None
    erased_at: str | None = None
    eval_type: Literal["completeness", "relevance", "safety", "cost", "custom", "all"]
    score: float
    passed: bool
    rule_results: list[RuleResult]
    suggestions: list[str]
    rules_evaluated: Whole
    rules_skipped: Whole
    insufficient_data: bool
    critical_failures: list[str] | None = None
    critical_skipped: list[str] | None = None
    categories: dict[str, Category] | None = None
    note: str | None = None

    @model_validator(mode="after")
    def _agrees(self) -> Self:
        if self.verdict is not None and self.passed is not self.verdict.passed:
            raise ValueError("passed says what the verdict says, and nothing else")
        return self


class NoAnswer(Open):
    """What stands in the place of a line that is no case: its number, from one, and a sentence."""

    line: Annotated[int, Field(ge=1)]
    error: str


def evaluation_schema() -> dict[str, Any]:
    """The JSON Schema of one line that ``evaluate`` writes: an answer, or why there is none."""
    either: TypeAdapter[EvaluationResponse | NoAnswer] = TypeAdapter(EvaluationResponse | NoAnswer)
    return {**either.json_schema(), "$schema": DRAFT, "title": SCHEMA}
