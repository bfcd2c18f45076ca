"""For a point that moved: where, and what the exact counts say. Counts do not mind noise.

The functions that were edited or are called more come from the worker's leg ``where`` on both sides; instructions and
allocations are rows of their own. Beside a time they inform and never decide; of a KPI that gates by its instructions
they decide, and time is not asked. A leg that could not be counted is never zero: where it was asked for its row says
why, and where it would only inform it has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from harness.gating.ground import SEEDS, Ground
from harness.gating.options import GateOptions
from harness.gating.rows import row_of
from harness.gating.timed import TimedPoint
from harness.jobs.plan import PlannedPoint
from harness.judge.exact import exact
from harness.judge.where import where
from harness.measure.clock import Undefined
from harness.measure.legs import Unavailable, allocations, instructions
from harness.measure.schedule import Side
from harness.record.gate import GateRow
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Direction
from kpis.terms.reading import Leg

__all__ = ["FLOOR", "SHOWN", "judged_by_instructions", "legs_of_suspects"]

SHOWN = 8
"""Functions named in a row: the list is ordered, and nobody reads the tenth."""

FLOOR = 0.001
"""A change of instructions below .1 % is no finding: neutral edits move them by up to .04 %."""

_MOVED = frozenset({State.REGRESSED, State.IMPROVED})

Native = dict[Side, Mapping[str, float]]
"""What each C function has of the instructions of a call, where the counter says so."""

_LOOPS = 64
"""Calls of the base leg at first; the leg raises them itself until the difference is large enough."""


def legs_of_suspects(
    ground: Ground, timed: TimedPoint, found: Comparison, options: GateOptions
) -> tuple[tuple[str, ...], list[GateRow]]:
    """(functions, rows of the exact legs) of one timed point; nothing where it did not move and nobody asked."""
    moved = found.state in _MOVED and timed.inject == 1.0
    rows: list[GateRow] = []
    native: Native = {}
    if moved or options.exact_legs:
        counted, native = _instructions(ground, timed.point, options.limit_s)
        rows = [row_of(timed.point, counted, leg=Leg.INSTRUCTIONS), *_allocations(ground, timed.point, options.limit_s)]
        rows = _counted(rows, options)
    return (_functions(ground, timed.point, found, native, options.limit_s) if moved else ()), rows


def judged_by_instructions(
    ground: Ground, point: PlannedPoint, options: GateOptions, *, paths: tuple[str, ...] = ()
) -> tuple[Comparison, list[GateRow]]:
    """The comparison of a point that gates by instructions, and its rows: the decision, the count, what explains it.

    Worse beyond :data:`FLOOR` is ``regressed``. Without a counter, and where a side's counts disagree, it is
    inconclusive: a count that was not made excludes nothing. The main row has no ratio, for that would be read as time.
    """
    tool = _counter(ground.scratch)
    if isinstance(tool, Unavailable):
        found = Comparison(State.INCONCLUSIVE, evidence=(f"it gates by instructions: {tool.reason}",))
        return found, [row_of(point, found, paths=paths)]
    counted, native = _instructions(ground, point, options.limit_s)
    found = replace(counted, evidence=tuple(f"instructions a call: {said}" for said in counted.evidence))
    moved = found.state in _MOVED
    functions = _functions(ground, point, found, native, options.limit_s) if moved else ()
    plain = replace(found, ratio=None, low=None, high=None, smallest_visible=None)
    rows = [row_of(point, plain, functions=functions, paths=paths)]
    if counted.pairs:
        rows.append(row_of(point, counted, leg=Leg.INSTRUCTIONS))
    if moved or options.exact_legs:
        rows += _counted(_allocations(ground, point, options.limit_s), options)
    return found, rows


def _counted(rows: list[GateRow], options: GateOptions) -> list[GateRow]:
    """The rows of what informs; a void of what nobody asked for would stand among the voids that matter."""
    return [row for row in rows if options.exact_legs or row.state is not State.VOID]


def _functions(ground: Ground, point: PlannedPoint, found: Comparison, native: Native, limit: float) -> tuple[str, ...]:
    answers = {}
    sides: tuple[Side, Side] = ("base", "head")
    for side in sides:
        answer = ground.ask(point, side, "leg:where", limit=limit)
        if answer.undefined is not None:
            return (f"not found out: {answer.undefined[1]}",)
        answers[side] = {**answer.result, **({"native": native[side]} if side in native else {})}
    named = where(answers["base"], answers["head"], slower=found.state is State.REGRESSED)
    return tuple(str(function) for function in named[:SHOWN])


@cache
def _counter(around: Path) -> instructions.Tool | Unavailable:
    return instructions.available(around)


def _instructions(ground: Ground, point: PlannedPoint, limit: float) -> tuple[Comparison, Native]:
    tool = _counter(ground.scratch)
    if isinstance(tool, Unavailable):
        return _not_available(tool.reason), {}
    counts: dict[Side, instructions.InstructionCount] = {}
    loops = _LOOPS
    sides: tuple[Side, Side] = ("base", "head")
    for side in sides:
        spec = ground.side_job(point, side)
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
            return _not_available(f"on the {side}: {count.detail}"), {}
        counts[side], loops = count, count.loops
    base, head = counts["base"], counts["head"]
    if base.agrees and head.agrees:
        found = exact([base.per_call] * 2, [head.per_call] * 2, FLOOR, Direction.LOWER)
    else:
        said = "two counts of one side disagree: not exact here"
        notice = ComparisonNotice(ComparisonWarn.DEMOTED, said)
        found = Comparison(State.INCONCLUSIVE, pairs=2, evidence=(said,), warnings=(notice,))
    return found, {side: counts[side].functions for side in sides}


def _allocations(ground: Ground, point: PlannedPoint, limit: float) -> list[GateRow]:
    counts: dict[Side, allocations.AllocationCount] = {}
    sides: tuple[Side, Side] = ("base", "head")
    for side in sides:
        spec = ground.side_job(point, side)
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
            return [row_of(point, _not_available(why), leg=Leg.ALLOC_BLOCKS)]
        counts[side] = count
    base, head = counts["base"].runs, counts["head"].runs
    blocks = exact([run.blocks for run in base], [run.blocks for run in head], FLOOR, Direction.LOWER)
    size = exact([run.bytes for run in base], [run.bytes for run in head], FLOOR, Direction.LOWER)
    return [row_of(point, blocks, leg=Leg.ALLOC_BLOCKS), row_of(point, size, leg=Leg.ALLOC_BYTES)]


def _not_available(why: str) -> Comparison:
    return Comparison(State.VOID, evidence=(why,))
