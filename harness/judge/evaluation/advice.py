"""What a reader may do about a verdict: what to change, and which setting would have decided otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from harness.judge.evaluation.deciding import advises
from harness.judge.evaluation.layers import EvaluationVerdict, by_prior
from harness.judge.evaluation.scores import Tally, failed
from kpis.terms.claim import ClaimState, Confidence, VerdictBasis
from kpis.terms.evaluation import Finding
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import RuleKind

__all__ = ["Interpretation", "interpretations", "suggestions"]


@dataclass(frozen=True, slots=True)
class Interpretation:
    """How to read one thing: ``block``, ``warn`` or ``note``; about which rule; which setting governs it."""

    severity: str
    rule: str | None
    setting: str | None


def interpretations(
    findings: Sequence[Finding], verdict: EvaluationVerdict, settings: Settings
) -> tuple[Interpretation, ...]:
    """Failures that did not decide, a critical rule that could not answer, a risk too close to its line.

    Where that risk lies over the line and nothing fired, the note names the setting: the prior.
    """
    found = []
    for item in failed(findings):
        if item.rule.name in verdict.by:
            continue
        if item.rule.kind is RuleKind.POLICY and advises(item, settings):
            found.append(Interpretation("warn", item.rule.name, "defaultsGate"))
        elif verdict.passed:
            found.append(Interpretation("note", item.rule.name, "falsePassCost"))
    if verdict.basis is VerdictBasis.CRITICAL_UNKNOWN:
        found += [Interpretation("block", name, "onCriticalSkipped") for name in verdict.by]
    if verdict.confidence is Confidence.MARGINAL:
        found.append(Interpretation("note", None, "prior" if by_prior(findings, verdict) else None))
    return tuple(found)


def suggestions(findings: Sequence[Finding], counted: Tally, threshold: float) -> tuple[str, ...]:
    """One line a failure, then what was not judged and why; one a rule where nothing was judged."""
    skipped = [item for item in findings if item.claim.state is ClaimState.UNKNOWN]
    reasons = [f"{item.rule.name}: {item.claim.skip.reason}" for item in skipped if item.claim.skip]
    if counted.insufficient:
        return ("Nothing was judged: send what the rules look at.", *reasons)
    lines = [f"{item.rule.name}: {item.claim.note}" for item in failed(findings)]
    if counted.critical_failures and counted.score >= threshold:
        names = ", ".join(counted.critical_failures)
        lines.append(f"The score alone would have passed; {names} is critical and failed.")
    if reasons:
        lines.append(f"{len(reasons)} not judged: {'; '.join(reasons)}.")
    if counted.critical_skipped:
        lines.append(f"Critical and not judged: {', '.join(counted.critical_skipped)}. Treat that as unknown.")
    return tuple(lines)
