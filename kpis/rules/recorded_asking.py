"""Asking a rule about what is known in part: with what is not known at its best, and at its worst.

If it fires on the best it fired, if it is quiet on the worst it is quiet; otherwise there is no answer, which leaves a
verdict open. A rule that skips was not asked, and takes nothing from one.
"""

from __future__ import annotations

from typing import NamedTuple

from kpis.rules.claims import skipped
from kpis.rules.subject import Rule, Subject
from kpis.rules.thresholds import ThresholdError
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Case, RuleClaim, ToolCallAt
from kpis.terms.evaluation_words import MOST_EVIDENCE, SkipClass

__all__ = ["Said", "claim_of", "either", "no_answer"]


class Said(NamedTuple):
    """A claim, and whether it is the one of a rule that was asked and had no answer."""

    claim: RuleClaim
    unanswered: bool = False


def no_answer(missing: str, evidence: tuple[ToolCallAt, ...] = ()) -> Said:
    """There is no answer for want of ``missing``; ``evidence`` are the calls that it would have been about."""
    skip = skipped(f"not carried: {missing}")
    return Said(RuleClaim(skip.state, skip.score, skip.note, evidence=evidence[:MOST_EVIDENCE], skip=skip.skip), True)


def claim_of(rule: Rule, case: Case) -> RuleClaim:
    """What ``rule`` says of ``case``; a threshold that is no number makes it skip."""
    try:
        return rule.evaluate(Subject(case))
    except ThresholdError as error:
        return skipped(str(error), SkipClass.CONFIG_INVALID)


def either(rule: Rule, best: Case, worst: Case) -> RuleClaim | None:
    """What ``rule`` says however it is with what is not known; None where that decides."""
    hopeful = claim_of(rule, best)
    if hopeful.state is not ClaimState.QUIET:
        return hopeful
    fearful = claim_of(rule, worst)
    return fearful if fearful.state is ClaimState.QUIET else None
