"""How much work a result took, and how many were results: calls a turn, score an action, attempts that passed.

A turn is an input of a person in a main conversation; a recording without turns has none to divide by. A run is one
attempt, unless its recording names several cases, replicates or arms: then each of these is one, with a verdict and a
score of its own. Trajectory numbers are never a gate: a longer way may be the right one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import RunFacts, ThreadKind, UserKind

__all__ = ["LARGEST_SCORE", "SCORE_UNIT", "EfficiencyParts", "efficiency_parts"]

SCORE_UNIT = 10**9
"""Scores are summed as integers of a thousand-millionth, so that the order of runs does not show."""

LARGEST_SCORE = 10**12
"""What is beyond this, either way, is no score but a fault of the recording, and left out."""


@dataclass(frozen=True, slots=True)
class EfficiencyParts(Summed):
    """What one run adds. ``turn_calls`` are the calls of runs that record turns.

    ``attempts`` were made, of them ``judged`` and of these ``succeeded``; ``scored`` have a score. ``scored_actions``
    is the sum of 1 + calls over these, the denominator of the score per action. Where only some attempts of a run have
    a score, whose its calls are is not known: they are ``shared_calls``.
    """

    runs: int = 0
    turns: int = 0
    turn_calls: int = 0
    calls: int = 0
    attempts: int = 0
    judged: int = 0
    succeeded: int = 0
    scored: int = 0
    score_units: int = 0
    scored_actions: int = 0
    shared_calls: int = 0


@dataclass(slots=True)
class _Attempt:
    success: bool | None = None
    score: float | None = None


def efficiency_parts(view: RunView) -> EfficiencyParts:
    """The efficiency parts of one run. One that only shows again what other runs hold is no attempt."""
    turns = sum(
        turn.user_kind is UserKind.HUMAN and turn.in_conversation and view.kind_of(turn.thread_id) is ThreadKind.MAIN
        for turn in view.run.turns
    )
    calls = len(view.calls)
    attempts = _attempts(view.facts)
    if not attempts and len(view.facts) == len(view.run.facts) and not _is_copy(view):
        attempts = [_Attempt()]
    scores = [each.score for each in attempts if each.score is not None]
    whole = len(scores) == len(attempts)
    return EfficiencyParts(
        runs=1,
        turns=turns,
        turn_calls=calls if turns else 0,
        calls=calls,
        attempts=len(attempts),
        judged=sum(each.success is not None for each in attempts),
        succeeded=sum(each.success is True for each in attempts),
        scored=len(scores),
        score_units=sum(round(score * SCORE_UNIT) for score in scores),
        scored_actions=len(scores) + (calls if scores and whole else 0),
        shared_calls=calls if scores and not whole else 0,
    )


def _attempts(told: Iterable[RunFacts]) -> list[_Attempt]:
    """What was said of each attempt: it succeeded if all that judge it say so, and its last score is its score."""
    found: dict[tuple[str | None, int | None, str | None] | None, _Attempt] = {}
    cases = {(facts.case_id, facts.replicate, facts.arm) for facts in told if facts.case_id is not None}
    only = next(iter(cases)) if len(cases) == 1 else None
    for facts in told:
        key = only if facts.case_id is None else (facts.case_id, facts.replicate, facts.arm)
        score = facts.score if facts.score is not None and abs(facts.score) <= LARGEST_SCORE else None  # no NaN is
        if key is None and score is None and facts.success is None:
            continue  # of a run as a whole, and neither a verdict nor a score
        attempt = found.setdefault(key, _Attempt())
        if facts.success is not None:
            attempt.success = facts.success and attempt.success is not False
        if score is not None:
            attempt.score = score
    return list(found.values())


def _is_copy(view: RunView) -> bool:
    """Whether the run has requests and somebody else counts all of them."""
    return bool(view.run.requests) and all(request.copied for request in view.run.requests)
