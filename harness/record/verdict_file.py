"""The one schema of all files that judge: a gate, a ratchet, a replay that was gated, an evaluation.

Each says its verdict in the same words; what it rests on are claims about KPIs or the results of rules.
"""

from __future__ import annotations

from typing import Any, Literal

from harness.record.evaluation import DRAFT, RuleResult, Verdict
from harness.record.evaluation_parts import Open, Whole
from kpis.terms.claim import ClaimKind, ClaimState, Gap

__all__ = ["SCHEMA", "VerdictFile", "verdict_schema"]

SCHEMA = "harness.verdict/1"


class KpiEvidence(Open):
    """A place in an artifact, or a sentence."""

    artifact: str | None
    pointer: str | None
    text: str | None


class KpiUncertainty(Open):
    """How sure a comparison of KPIs is: its error rate, the bounds of the worsening, the table that it rests on."""

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


class VerdictFile(Open):
    """Any file of ours that judges: its verdict, and the claims or the rule results that it rests on."""

    verdict: Verdict
    claims: list[KpiClaim] | None = None
    rule_results: list[RuleResult] | None = None


def verdict_schema() -> dict[str, Any]:
    """The JSON Schema that every file with a verdict keeps to."""
    return {**VerdictFile.model_json_schema(), "$schema": DRAFT, "title": SCHEMA}
