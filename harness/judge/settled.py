"""What settles a bench before any test: too few processes, no spread, a clock that is too coarse.

A clear change of a constant amount is not suppressed for its lack of spread, and equal constants are not declared
different for it: both are read as they stand, with a warning. Refuses to test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from harness.judge.unpaired import RULE, UNDIRECTED, Sample, UnpairedRule, finite_exp, processes_needed
from kpis.terms.bench import Bench, BenchNote, BenchUnit
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Direction

__all__ = ["settled", "wanted"]

_REPEATED = 2
"""Exact amounts (bytes, counts) are believed when measured twice with the same result."""
_TICKS = 1_000
"""A time lasts at least so many steps of its clock, as everywhere in the harness: else the steps are compared."""
_ONE_LEVEL = 1e-6
"""Times closer than this, relatively, are one reading of the clock: dividing by loops leaves the last digits apart."""
_MOST = 4_000
"""Processes a side. All differences are held: 4,000 against 4,000 take 128 MB."""


def settled(base: Bench, head: Bench, sample: Sample, rule: UnpairedRule) -> Comparison | None:
    """The comparison where no test is needed or none is possible; None where the test decides."""
    return _many(sample) or _few(base, head, sample, rule) or _zero(sample) or _exact(sample, rule) or _coarse(sample)


def _inconclusive(sample: Sample, code: ComparisonWarn, why: str) -> Comparison:
    return Comparison(State.INCONCLUSIVE, pairs=sample.size, evidence=(why,), warnings=(ComparisonNotice(code, why),))


def _many(sample: Sample) -> Comparison | None:
    if max(len(sample.base), len(sample.head)) <= _MOST:
        return None
    return _inconclusive(sample, ComparisonWarn.BUDGET, f"more than {_MOST:,} processes a side; leave some out")


def _why_few(base: Bench, head: Bench, needed: int) -> str:
    for side, bench in (("base", base), ("head", head)):
        if BenchNote.NO_SAMPLES in bench.notes:
            return (
                f"the {side} file holds no values of it, only a summary or calibrations; "
                "pytest-benchmark keeps them with --benchmark-json FILE"
            )
    for side, bench in (("base", base), ("head", head)):
        if BenchNote.SHARED_PROCESS in bench.notes:
            return f"the {side}'s runs were made in one process (no time for a start between them): a sample of one"
    counts = f"{base.independent} against {head.independent} independent processes; {needed} a side are needed"
    most = max((len(process.values) for process in (*base.processes, *head.processes)), default=0)
    if min(base.independent, head.independent) == 1 and most > 1:
        counts += " (the rounds of one process share its memory layout and count as one)"
    return counts


def wanted(sample: Sample, rule: UnpairedRule = RULE) -> int:
    """The least number of processes a side; an amount that is the same each time is believed sooner than a time."""
    exact = sample.unit is not BenchUnit.SECOND and _constant(sample)
    return _REPEATED if exact else processes_needed(rule)


def _few(base: Bench, head: Bench, sample: Sample, rule: UnpairedRule) -> Comparison | None:
    """Inconclusive where a side has too few processes for a time, or an amount was not measured twice."""
    needed = wanted(sample, rule)
    if sample.size >= needed:
        return None
    why = _why_few(base, head, needed)
    ratio = low = high = None
    if sample.size and min(sample.both) > 0:
        moved = sample.log_shift()
        ratio = finite_exp(moved.centre)
        low, high = finite_exp(moved.lower(rule.bound)), finite_exp(moved.upper(rule.bound))
    notice = ComparisonNotice(ComparisonWarn.TOO_FEW, why)
    return Comparison(State.INCONCLUSIVE, ratio, low, high, sample.size, evidence=(why,), warnings=(notice,))


def _zero(sample: Sample) -> Comparison | None:
    if min(sample.both) > 0:
        return None
    why = "a process measured zero: the clock is too coarse for it; measure more loops a value"
    return _inconclusive(sample, ComparisonWarn.RESOLUTION, why)


def _levels(values: Sequence[float], unit: BenchUnit) -> list[float]:
    """The different readings among ``values``, ascending."""
    apart = _ONE_LEVEL if unit is BenchUnit.SECOND else 0.0
    levels: list[float] = []
    for value in sorted(values):
        if not levels or value - levels[-1] > apart * value:
            levels.append(value)
    return levels


def _constant(sample: Sample) -> bool:
    return all(len(_levels(side, sample.unit)) == 1 for side in (sample.base, sample.head))


def _exact(sample: Sample, rule: UnpairedRule) -> Comparison | None:
    """Both sides without any spread: no test applies, and the difference is what it is.

    Any worse amount counts. A time counts from the margin on, because its constancy is that of a clock's step.
    """
    if not _constant(sample):
        return None
    old, new = sample.base[0], sample.head[0]
    ratio: float | None = 1.0
    if len(_levels((old, new), sample.unit)) == 1:
        told = "every process of both sides read the same number: equal as far as it can be resolved"
        state = State.OK
    else:
        told = f"constant on each side, and different: {old!r} against {new!r}; there is no spread to test against"
        moved = math.log(new) - math.log(old)
        ratio = finite_exp(moved)
        state = sample.moved(sample.worse(moved), rule.margin if sample.unit is BenchUnit.SECOND else 0.0)
    undirected = (UNDIRECTED,) if state is State.INCONCLUSIVE and sample.direction is Direction.NEUTRAL else ()
    notice = ComparisonNotice(ComparisonWarn.RESOLUTION, told)
    return Comparison(state, ratio, ratio, ratio, sample.size, evidence=(told, *undirected), warnings=(notice,))


def _coarse(sample: Sample) -> Comparison | None:
    """Inconclusive where times come in wide steps: half of them equal another, and a step is over 1/1,000 of them."""
    levels = _levels(sample.both, sample.unit)
    if sample.unit is not BenchUnit.SECOND or len(levels) * 2 > len(sample.both):
        return None
    if levels[0] >= _TICKS * min(above - below for below, above in pairwise(levels)):
        return None
    why = f"the clock's step is more than 1/{_TICKS:,} of the time, and steps would be compared; measure more loops"
    return _inconclusive(sample, ComparisonWarn.RESOLUTION, why)
