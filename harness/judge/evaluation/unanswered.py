"""What is left of an evaluation when rules that were asked had no answer: it may fail, and it does not pass.

A rule that did not apply was not asked, and takes nothing from a verdict. One that was asked of what is known in part
only, as a recording without its texts is, leaves the verdict open wherever it would have been a pass. A critical one
had to answer: the settings say what follows, as they do for a case, and where they let that pass it takes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from harness.judge.evaluation.advice import interpretations
from harness.judge.evaluation.judge import Category, Evaluation
from harness.judge.evaluation.layers import PASSES, EvaluationVerdict, LegacyBasis, critical_unknown, open_for
from kpis.terms.claim import VerdictBasis
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Bundle

__all__ = ["left_open"]

_BEFORE = (
    VerdictBasis.POLICY_GATE,
    VerdictBasis.DETECTOR_VETO,
    VerdictBasis.NO_RULES,
    LegacyBasis.SCORE_BELOW_THRESHOLD,
)
"""What decides before a critical rule without an answer does."""


def left_open(found: Evaluation, unanswered: Sequence[str], settings: Settings) -> Evaluation:
    """``found``, which was judged by ``settings``, where the rules ``unanswered`` were asked and had no answer.

    A pass becomes unknown for want of evidence, of the whole and of each bundle that asked; a fail stays one. A
    critical rule among them decides as it would for a case, also over a fail by risk: its layer comes first.
    """
    critical = {item.finding.rule.name for item in found.results if item.finding.critical}
    lets_pass = settings.on_critical_skipped == PASSES
    names = tuple(name for name in unanswered if not (lets_pass and name in critical))
    if not names:
        return found
    verdict = _verdict(found.verdict, names, critical, settings)
    asking = {item.finding.rule.bundle for item in found.results if item.finding.rule.name in names}
    return replace(
        found,
        verdict=verdict,
        interpretations=interpretations([item.finding for item in found.results], verdict, settings),
        categories=None
        if found.categories is None
        else {bundle: _category(bundle, each, asking) for bundle, each in found.categories.items()},
    )


def _verdict(
    verdict: EvaluationVerdict, names: tuple[str, ...], critical: Collection[str], settings: Settings
) -> EvaluationVerdict:
    had_to = tuple(name for name in names if name in critical)
    if had_to and verdict.basis not in _BEFORE:
        before = verdict.by if verdict.basis is VerdictBasis.CRITICAL_UNKNOWN else ()
        return critical_unknown((*before, *had_to), settings)
    return open_for(verdict, names)


def _category(bundle: Bundle, category: Category, asking: Collection[Bundle]) -> Category:
    return replace(category, passed=False) if bundle in asking and category.passed else category
