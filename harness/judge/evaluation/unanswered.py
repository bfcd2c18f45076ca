"""What is left of an evaluation when rules that were asked had no answer: it may fail, and it does not pass.

A rule that did not apply was not asked, and takes nothing from a verdict. One that was asked of what is known in part
only, as a recording without its texts is, leaves the verdict open wherever it would have been a pass.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from harness.judge.evaluation.advice import interpretations
from harness.judge.evaluation.judge import Category, Evaluation
from harness.judge.evaluation.layers import EvaluationVerdict
from kpis.terms.claim import VerdictBasis, VerdictState
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Bundle

__all__ = ["left_open"]


def left_open(found: Evaluation, unanswered: Sequence[str], settings: Settings) -> Evaluation:
    """``found``, which was judged by ``settings``, where the rules ``unanswered`` were asked and had no answer.

    A pass becomes unknown for want of evidence, of the whole and of each bundle that asked; a fail stays one.
    """
    if not unanswered:
        return found
    verdict = _verdict(found.verdict, unanswered)
    asking = {item.finding.rule.bundle for item in found.results if item.finding.rule.name in unanswered}
    return replace(
        found,
        verdict=verdict,
        interpretations=interpretations([item.finding for item in found.results], verdict, settings),
        categories=None
        if found.categories is None
        else {bundle: _category(bundle, each, asking) for bundle, each in found.categories.items()},
    )


def _verdict(verdict: EvaluationVerdict, unanswered: Sequence[str]) -> EvaluationVerdict:
    missing = VerdictBasis.REQUIRED_EVIDENCE_MISSING
    if verdict.state is VerdictState.PASS:
        return EvaluationVerdict(VerdictState.UNKNOWN, missing, tuple(unanswered), verdict.risk)
    if verdict.basis in (missing, VerdictBasis.NO_RULES):
        return replace(verdict, by=(*verdict.by, *unanswered))
    return verdict


def _category(bundle: Bundle, category: Category, asking: Collection[Bundle]) -> Category:
    return replace(category, passed=False) if bundle in asking and category.passed else category
