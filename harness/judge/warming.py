"""Whether the processes of a bench were still warming up: their first values against the others of the same process.

A process whose first value differs is no sample of what it settles to. Where the median of a process does not rest on
that value, a warning is enough; where it does, the bench is not judged as if it were steady. Refuses to leave a value
out: what is cold and what is warm are two quantities, and only who measures can part them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from harness.judge.bounds import median
from harness.judge.rule import DELTA, EQUIVALENCE
from harness.judge.signed_rank import hodges_lehmann, lower_bound, upper_bound
from kpis.terms.bench import Bench
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State

__all__ = ["first_log", "first_value", "first_values", "unsteady"]

_LEVEL = 0.001
"""Of each bound: forty benches of two sides, looked at in both directions, are warned about without cause in at most
one file of six. It asks for ten processes, half of the least sample."""

_FIRST_BY = EQUIVALENCE
"""A first value within 5 % of the others hides nothing that ``ok`` would exclude."""

_MEDIAN_BY = math.log1p(DELTA)
"""A median that moves by more than the margin, 2 %, would be taken for a change."""

_MOST = 300
"""Processes that are looked at; the first ones show what there is to see, and all means of two of them are held."""

_COLD = "measure more warm-ups and at least three values a process, and the cold start as a benchmark of its own"
_FRESH = "let every value begin from the same state, and measure at least three values a process"


def first_values(base: Bench, head: Bench) -> tuple[ComparisonNotice, ...]:
    """A warning for each side whose processes begin with a value unlike their others; that they do is the exact bound.

    A slow first value is ``first-slow``; a fast one shows that values depend on their place, ``autocorrelated``.
    """
    found = (first_value(name, _logs(bench, first_log)) for name, bench in (("base", base), ("head", head)))
    return tuple(notice for notice in found if notice is not None)


def first_value(side: str, logs: Sequence[float]) -> ComparisonNotice | None:
    """The warning of one side, from the :func:`first_log` of each of its processes; None where they begin alike."""
    way = _beyond(logs[:_MOST], _FIRST_BY)
    if not way:
        return None
    times = math.exp(hodges_lehmann(logs[:_MOST]))
    return ComparisonNotice(_code(way), f"The first value of a process of the {side} is {times:.2f} times its others.")


def unsteady(base: Bench, head: Bench) -> Comparison | None:
    """Inconclusive where the medians of a side's processes rest on a first value that is unlike the others.

    Whether that value is slower or faster: either would be taken for a change. It must matter more than the last one
    does, for where values have a long slow tail the median of three is below the mean of two in any order. None where
    the medians do not rest on it, and where no process has two values: of one nothing shows what came after it.
    """
    for name, bench in (("base", base), ("head", head)):
        logs = _logs(bench, _median)
        way = _beyond(logs, _MEDIAN_BY)
        if not way or _beyond(_logs(bench, _ends), _MEDIAN_BY) != way:
            continue
        times = math.exp(hodges_lehmann(logs))
        advice = _COLD if way > 0 else _FRESH
        why = f"with its first value the median of a process of the {name} is {times:.2f} times that without: {advice}"
        notice = ComparisonNotice(_code(way), why)
        pairs = min(base.independent, head.independent)
        return Comparison(State.INCONCLUSIVE, pairs=pairs, evidence=(why,), warnings=(notice,))
    return None


def first_log(values: Sequence[float]) -> float:
    """Ln of the first value over the median of the others, all of one process and positive; two at least."""
    return math.log(values[0]) - math.log(median(values[1:]))


def _median(values: Sequence[float]) -> float:
    return math.log(median(values)) - math.log(median(values[1:]))


def _ends(values: Sequence[float]) -> float:
    """Ln of the median without the last value over that without the first: symmetric where order means nothing."""
    return math.log(median(values[:-1])) - math.log(median(values[1:]))


def _code(way: int) -> ComparisonWarn:
    return ComparisonWarn.FIRST_SLOW if way > 0 else ComparisonWarn.AUTOCORRELATED


def _logs(bench: Bench, of: Callable[[Sequence[float]], float]) -> list[float]:
    """One number an independent process of at least two values; none where processes are shared.

    A process that read a zero has no ratio and gives no number; the others of its side give theirs.
    """
    if bench.independent < len(bench.processes):
        return []
    several = [process.values for process in bench.processes if len(process.values) > 1 and min(process.values) > 0]
    return [of(values) for values in several[:_MOST]]


def _beyond(logs: Sequence[float], margin: float) -> int:
    """1 where they lie above ``margin`` for sure, -1 where below its negative, else 0."""
    if not logs:
        return 0
    if lower_bound(logs, _LEVEL) > margin:
        return 1
    return -1 if upper_bound(logs, _LEVEL) < -margin else 0
