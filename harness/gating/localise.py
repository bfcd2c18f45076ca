"""For a point that moved: where, and what the exact counts say. Counts do not mind noise.

The functions that were edited or are called more come from the worker's leg ``where`` on both sides; instructions and
allocations are rows of their own, which inform and never decide: time does. A leg that is not available here says so
in its row; it is never left out in silence and never zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from harness.gating.ground import SEEDS, Ground
from harness.gating.options import GateOptions
from harness.gating.rows import row_of
from harness.gating.timed import TimedPoint
from harness.judge.exact import exact
from harness.judge.where import where
from harness.measure.clock import Undefined
from harness.measure.legs import Unavailable, allocations, instructions
from harness.measure.schedule import Side
from harness.record.gate import GateRow
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Direction
from kpis.terms.reading import Leg

__all__ = ["FLOOR", "SHOWN", "legs_of_suspects"]

SHOWN = 8
"""Functions named in a row: the list is ordered, and nobody reads the tenth."""

FLOOR = 0.001
"""A change of instructions below .1 % is no finding: neutral edits move them by up to .04 %."""

_LOOPS = 64
"""Calls of the base leg at first; the leg raises them itself until the difference is large enough."""


def legs_of_suspects(
    ground: Ground, timed: TimedPoint, found: Comparison, options: GateOptions
) -> tuple[tuple[str, ...], list[GateRow]]:
    """(functions, rows of the exact legs) of one timed point; nothing where it did not move and nobody asked."""
    moved = found.state in (State.REGRESSED, State.IMPROVED) and timed.inject == 1.0
    rows: list[GateRow] = []
    native: dict[Side, Mapping[str, float]] = {}
    if moved or options.exact_legs:
        row, native = _instructions(ground, timed, options.limit_s)
        rows = [row, *_allocations(ground, timed, options.limit_s)]
    return (_functions(ground, timed, found, native, options.limit_s) if moved else ()), rows


def _functions(
    ground: Ground, timed: TimedPoint, found: Comparison, native: Mapping[Side, Mapping[str, float]], limit: float
) -> tuple[str, ...]:
    answers = {}
    sides: tuple[Side, Side] = ("base", "head")
    for side in sides:
        answer = ground.ask(timed.point, side, "leg:where", limit=limit)
        if answer.undefined is not None:
            return (f"not found out: {answer.undefined[1]}",)
        answers[side] = {**answer.result, **({"native": native[side]} if side in native else {})}
    named = where(answers["base"], answers["head"], slower=found.state is State.REGRESSED)
    return tuple(str(function) for function in named[:SHOWN])


@cache
def _counter() -> instructions.Tool | Unavailable:
    return instructions.available()


def _instructions(ground: Ground, timed: TimedPoint, limit: float) -> tuple[GateRow, dict[Side, Mapping[str, float]]]:
    tool = _counter()
    if isinstance(tool, Unavailable):
        return row_of(timed.point, _not_available(tool.reason), leg=Leg.INSTRUCTIONS), {}
    counts: dict[Side, instructions.InstructionCount] = {}
    loops = _LOOPS
    sides: tuple[Side, Side] = ("base", "head")
    for side in sides:
        spec = ground.side_job(timed.point, side)
        count = instructions.count(
            {**spec.job, "limit": limit},
            tool=tool,
            loops=loops,
            seed=SEEDS[0],
            limit=limit,
            folder=ground.scratch,
            cwd=spec.cwd,
            instrument=spec.instrument,
        )
        if isinstance(count, Undefined):
            return row_of(timed.point, _not_available(f"on the {side}: {count.detail}"), leg=Leg.INSTRUCTIONS), {}
        counts[side], loops = count, count.loops
    base, head = counts["base"], counts["head"]
    if base.agrees and head.agrees:
        found = exact([base.per_call] * 2, [head.per_call] * 2, FLOOR, Direction.LOWER)
    else:
        said = "two counts of one side disagree: not exact here"
        found = Comparison(State.INCONCLUSIVE, warnings=(ComparisonNotice(ComparisonWarn.DEMOTED, said),))
    return row_of(timed.point, found, leg=Leg.INSTRUCTIONS), {side: counts[side].functions for side in sides}


def _allocations(ground: Ground, timed: TimedPoint, limit: float) -> list[GateRow]:
    counts: dict[Side, allocations.AllocationCount] = {}
    sides: tuple[Side, Side] = ("base", "head")
    for side in sides:
        spec = ground.side_job(timed.point, side)
        count = allocations.count(
            {**spec.job, "limit": limit},
            seed=SEEDS[0],
            limit=limit,
            folder=ground.scratch,
            cwd=spec.cwd,
            instrument=spec.instrument,
        )
        if isinstance(count, Unavailable | Undefined):
            why = count.reason if isinstance(count, Unavailable) else f"on the {side}: {count.detail}"
            return [row_of(timed.point, _not_available(why), leg=Leg.ALLOC_BLOCKS)]
        counts[side] = count
    base, head = counts["base"], counts["head"]
    rows = []
    for leg, was, now in (
        (Leg.ALLOC_BLOCKS, base.blocks, head.blocks),
        (Leg.ALLOC_BYTES, base.bytes, head.bytes),
    ):
        rows.append(row_of(timed.point, exact([was] * 2, [now] * 2, FLOOR, Direction.LOWER), leg=leg))
    return rows


def _not_available(why: str) -> Comparison:
    return Comparison(State.VOID, evidence=(why,))
