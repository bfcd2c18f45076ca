"""The one schema of all files that judge: a gate, a ratchet, a replay that was gated, an evaluation.

Each says its verdict in the same words. What it rests on are claims about KPIs or the results of rules: two lists of
two shapes, of which some words are the same and mean another thing. The schema says so where they stand.
"""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import ConfigDict, model_validator

from harness.record.evaluation import DRAFT, RuleResult
from harness.record.evaluation_parts import Open, Whole
from harness.record.evaluation_verdict import Verdict
from kpis.terms.claim import ClaimKind, ClaimState, Gap

__all__ = ["SCHEMA", "VerdictFile", "verdict_schema"]

SCHEMA = "harness.verdict/1"


class KpiEvidence(Open):
    """A place in an artifact, or a sentence. It has no ``type``; the evidence of a rule result has."""

    artifact: str | None
    pointer: str | None
    text: str | None


class KpiUncertainty(Open):
    """How sure a comparison of KPIs is: its error rate, the bounds of the worsening, the table that it rests on.

    Its ``published_accuracy`` is that of this machine's calibration and its ``definition`` an exact row; those of a
    rule result rest on labelled cases, and have other members.
    """

    basis: Literal["published_accuracy", "definition", "unmeasured"]
    alpha: float | None
    at_least: float | None
    at_most: float | None
    smallest_visible: float | None
    table: str | None


class KpiCoverage(Open):
    """How much of what was wanted was seen."""

    wanted: Whole
    seen: Whole
    missing: list[str]


class KpiClaim(Open):
    """What a comparison of one KPI point asserts."""

    rule: str
    kind: ClaimKind
    state: ClaimState
    critical: bool
    gap: Gap | None
    evidence: list[KpiEvidence]
    uncertainty: KpiUncertainty | None
    coverage: KpiCoverage | None


_RESTS = {
    "anyOf": [{"properties": {name: {"type": "array"}}, "required": [name]} for name in ("claims", "rule_results")]
}


class VerdictFile(Open):
    """Any file of ours that judges: its verdict, and what it rests on.

    A gate, a ratchet and a replay that was gated have ``claims``, an evaluation has ``rule_results``; either may be
    empty. They are read apart: ``evidence`` and ``uncertainty`` of the one have other members than those of the other,
    also under the same ``basis``.
    """

    model_config = ConfigDict(json_schema_extra=_RESTS)  # type: ignore[typeddict-item]

    verdict: Verdict
    claims: list[KpiClaim] | None = None
    rule_results: list[RuleResult] | None = None

    @model_validator(mode="after")
    def _rests(self) -> Self:
        if self.claims is None and self.rule_results is None:
            raise ValueError("a verdict rests on claims or on rule_results")
        return self


def verdict_schema() -> dict[str, Any]:
    """The JSON Schema that every file with a verdict keeps to."""
    return {**VerdictFile.model_json_schema(), "$schema": DRAFT, "title": SCHEMA}
