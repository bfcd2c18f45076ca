"""The judge over recorded pairs, taken as a gate takes them: in order, and only while they are wanted.

Pure. Refuses to look at pairs behind those that were wanted.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.judge.rule import Rule, delta_for
from harness.judge.sequence import PointJudge, settle
from kpis.terms.comparison import Comparison
from kpis.terms.kpi import Direction

__all__ = ["at_margins", "judge_in_order"]

Pair = tuple[float, float]


def judge_in_order(streams: Sequence[Sequence[Pair]], floors: Sequence[float | None] | None = None) -> list[Comparison]:
    """This judge over the KPIs of one run; Holm's family is the whole run.

    A stream that ends while pairs are wanted is stopped, as by a budget. ``floors`` are those of the KPIs, one a
    stream; without them none is known.
    """
    return at_margins(streams, [delta_for(floor) for floor in floors or [None] * len(streams)])


def at_margins(streams: Sequence[Sequence[Pair]], deltas: Sequence[float]) -> list[Comparison]:
    """The same, each stream at a margin of its own, as a fraction.

    Raises:
        ValueError: as many margins as streams are needed, and none is under the least.
    """
    judges = {}
    for number, (pairs, delta) in enumerate(zip(streams, deltas, strict=True)):
        judge = judges[number] = PointJudge(Direction.LOWER, Rule(delta=delta))
        taken = 0
        while wanted := min(judge.wants().pairs, len(pairs) - taken):
            judge.feed(pairs[taken : taken + wanted])
            taken += wanted
    found = settle(judges, Rule())
    return [found[number] for number in range(len(streams))]
