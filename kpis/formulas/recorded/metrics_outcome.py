"""The metrics of what came of the work: attempts that passed, and how much work a turn, an output and a score took."""

from __future__ import annotations

from collections.abc import Iterator

from kpis.formulas.recorded.efficiency import SCORE_UNIT, EfficiencyParts
from kpis.formulas.recorded.stated import ratio, ratio_at_least
from kpis.formulas.recorded.tokens import TokenParts
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis

__all__ = ["outcome_metrics"]


def outcome_metrics(work: EfficiencyParts, tokens: TokenParts) -> Iterator[Metric]:
    """Success of what was judged, score an action, calls a turn and output a call."""
    yield ratio(
        "success_ratio",
        work.succeeded,
        work.judged,
        "nothing was judged",
        Basis.REPORTED,
        {"attempts": work.attempts, "unjudged": work.attempts - work.judged},
    )
    yield _per_action(work)
    yield ratio(
        "calls_per_turn",
        work.turn_calls,
        work.turns,
        "no input of a person is recorded",
        detail={"turns": work.turns},
    )
    yield ratio_at_least(
        "output_per_call",
        tokens.out,
        work.calls,
        "there are no tool calls",
        tokens.out_gaps,
        "requests do not say their output, or hold a placeholder",
        every=tokens.rows,
    )


def _per_action(work: EfficiencyParts) -> Metric:
    """Scores over actions; between two bounds where it is not known which calls were made for what has a score."""
    score = work.score_units / SCORE_UNIT
    detail = {"attempts": work.attempts, "scored": work.scored}
    if not work.shared_calls:
        return ratio("score_per_action", score, work.scored_actions, "nothing has a score", detail=detail)
    if not score:  # nothing, whatever it is divided by
        return ratio("score_per_action", score, work.scored_actions, "nothing has a score", detail=detail)
    least, most = sorted((score / work.scored_actions, score / (work.scored_actions + work.shared_calls)))
    return Metric(
        "score_per_action",
        least,
        Basis.FORMULA,
        numerator=score,
        low=least,
        high=most,
        detail=detail,
        notes=(f"The value is the lower bound: whose {work.shared_calls:,} calls are is not recorded.",),
    )
