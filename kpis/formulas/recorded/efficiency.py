"""How much work a result took: calls a turn, output a call, score an action.

A turn is an input of a person in a main conversation; a recording without turns has none to divide by. Trajectory
numbers are never a gate: a longer way may be the right one.
"""

from __future__ import annotations

from dataclasses import dataclass

from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import ThreadKind, UserKind

__all__ = ["LARGEST_SCORE", "SCORE_UNIT", "EfficiencyParts", "efficiency_parts"]

SCORE_UNIT = 10**9
"""Scores are summed as integers of a thousand-millionth, so that the order of runs does not show."""

LARGEST_SCORE = 10**12
"""What is beyond this, either way, is no score but a fault of the recording, and left out."""


@dataclass(frozen=True, slots=True)
class EfficiencyParts(Summed):
    """What one run adds. ``turn_calls`` are the calls of runs that record turns, ``scored_*`` those of scored runs.

    ``scored_actions`` is the sum of 1 + calls, the denominator of the score per action.
    """

    runs: int = 0
    turns: int = 0
    turn_calls: int = 0
    calls: int = 0
    output: int = 0
    scored: int = 0
    score_units: int = 0
    scored_actions: int = 0
    succeeded: int = 0
    judged: int = 0


def efficiency_parts(view: RunView) -> EfficiencyParts:
    """The efficiency parts of one run."""
    turns = sum(
        turn.user_kind is UserKind.HUMAN and turn.in_conversation and view.kind_of(turn.thread_id) is ThreadKind.MAIN
        for turn in view.run.turns
    )
    calls = len(view.calls)
    told = [facts.score for facts in view.run.facts if facts.score is not None]
    scores = [score for score in told if abs(score) <= LARGEST_SCORE]  # which no NaN is
    said = [facts.success for facts in view.run.facts if facts.success is not None]
    return EfficiencyParts(
        runs=1,
        turns=turns,
        turn_calls=calls if turns else 0,
        calls=calls,
        output=view.sums.out_total,
        scored=int(bool(scores)),
        score_units=round(scores[-1] * SCORE_UNIT) if scores else 0,
        scored_actions=1 + calls if scores else 0,
        succeeded=int(bool(said) and all(said)),
        judged=int(bool(said)),
    )
