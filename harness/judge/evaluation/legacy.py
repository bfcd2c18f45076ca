"""The composer before the layers: critical failures, then the score against a threshold.

Kept so that verdicts of the reference that were composed in this way can be recomputed. It refuses to serve anybody
else: a score averages a leak away, and knows no unknown but an empty case.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.judge.evaluation.layers import EvaluationVerdict, LegacyBasis
from harness.judge.evaluation.scores import failed, tally
from kpis.terms.claim import VerdictBasis, VerdictState
from kpis.terms.evaluation import Finding
from kpis.terms.evaluation_words import RuleKind

__all__ = ["compose_by_score"]


def compose_by_score(findings: Sequence[Finding], threshold: float) -> EvaluationVerdict:
    """The verdict of old: no rule, a critical failure, a score below ``threshold`` (after rounding), else clean."""
    counted = tally(findings)
    if counted.insufficient:
        return EvaluationVerdict(VerdictState.UNKNOWN, VerdictBasis.NO_RULES)
    critical = [item for item in failed(findings) if item.critical]
    if critical:
        policies = all(item.rule.kind is RuleKind.POLICY for item in critical)
        basis = VerdictBasis.POLICY_GATE if policies else VerdictBasis.DETECTOR_VETO
        return EvaluationVerdict(VerdictState.FAIL, basis, counted.critical_failures)
    if counted.score < threshold:
        names = tuple(item.rule.name for item in failed(findings))
        return EvaluationVerdict(VerdictState.FAIL, LegacyBasis.SCORE_BELOW_THRESHOLD, names)
    return EvaluationVerdict(VerdictState.PASS, VerdictBasis.CLEAN)
