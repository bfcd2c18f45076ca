"""For a point that moved: where, by counts that do not mind noise.

The functions that were edited or are called more come from the worker's leg ``where`` on both sides. A leg that is
not available here says so in a row of its own; it is never left out in silence and never zero.
"""

from __future__ import annotations

from harness.gating.ground import Ground
from harness.gating.options import GateOptions
from harness.gating.timed import TimedPoint
from harness.judge.where import where
from harness.record.gate import GateRow
from kpis.terms.comparison import Comparison, State

__all__ = ["SHOWN", "legs_of_suspects"]

SHOWN = 8
"""Functions named in a row: the list is ordered, and nobody reads the tenth."""


def legs_of_suspects(
    ground: Ground, timed: TimedPoint, found: Comparison, options: GateOptions
) -> tuple[tuple[str, ...], list[GateRow]]:
    """(functions, rows of the exact legs) of one timed point; nothing where it did not move and nobody asked."""
    if found.state not in (State.REGRESSED, State.IMPROVED) or timed.inject != 1.0:
        return (), []
    answers = {}
    for side in ("base", "head"):
        answer = ground.ask(timed.point, side, "leg:where", limit=options.limit_s)
        if answer.undefined is not None:
            return (f"not found out: {answer.undefined[1]}",), []
        answers[side] = answer.result
    named = where(answers["base"], answers["head"], slower=found.state is State.REGRESSED)
    return tuple(str(function) for function in named[:SHOWN]), []
