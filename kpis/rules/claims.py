"""The three things that a rule can say."""

from __future__ import annotations

from collections.abc import Sequence

from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import EvidenceItem, RuleClaim, Skip, Value
from kpis.terms.evaluation_words import MOST_EVIDENCE, SkipClass

__all__ = ["fired", "held", "quiet", "skipped"]


def fired(
    note: str, *, score: float = 0.0, value: Value | None = None, evidence: Sequence[EvidenceItem] = ()
) -> RuleClaim:
    """What the rule looks for is there."""
    return RuleClaim(ClaimState.FIRED, score, note, value, tuple(evidence[:MOST_EVIDENCE]))


def quiet(
    note: str, *, score: float = 1.0, value: Value | None = None, evidence: Sequence[EvidenceItem] = ()
) -> RuleClaim:
    """What the rule looks for is not there. A measurement may score below 1 and still be on the right side."""
    return RuleClaim(ClaimState.QUIET, score, note, value, tuple(evidence[:MOST_EVIDENCE]))


def held(
    inside: bool, note: str, *, score: float, value: Value | None = None, evidence: Sequence[EvidenceItem] = ()
) -> RuleClaim:
    """A statistic on one side of its threshold or the other."""
    return (quiet if inside else fired)(note, score=score, value=value, evidence=evidence)


def skipped(reason: str, skip_class: SkipClass = SkipClass.NOT_APPLICABLE, *, score: float = 0.0) -> RuleClaim:
    """The rule gives no answer."""
    return RuleClaim(ClaimState.UNKNOWN, score, reason, skip=Skip(skip_class, reason))
