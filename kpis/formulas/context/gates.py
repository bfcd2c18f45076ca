"""Three states of a gate: satisfied, open, violated. What has no value leaves it open; it never satisfies it.

A state is no verdict: it says how one metric stands to its target, and several together stand as their worst does.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum

from kpis.terms.kpi import Direction
from kpis.terms.metric import Metric, MetricRow

__all__ = ["GateState", "gate_state", "together"]


class GateState(Enum):
    """How a requirement stands."""

    SATISFIED = "satisfied"
    OPEN = "open"
    VIOLATED = "violated"


def gate_state(row: MetricRow, metric: Metric | None) -> GateState:
    """How ``metric`` stands to the target of ``row``; open where it is missing or undefined.

    Bounds decide where they can: a gate is violated if even the better bound misses the target.

    Raises:
        ValueError: the row has no target, or no direction to miss it in.
    """
    if row.target is None or row.direction is Direction.NEUTRAL:
        raise ValueError(f"{row.id} has no target to be held against; see its row in kpis/catalog_recorded.")
    if metric is None:
        return GateState.OPEN
    lower = row.direction is Direction.LOWER
    best = metric.value
    if best is None:
        best = metric.low if lower else metric.high
    if best is not None and (best > row.target if lower else best < row.target):
        return GateState.VIOLATED
    return GateState.OPEN if metric.value is None else GateState.SATISFIED


def together(states: Iterable[GateState]) -> GateState:
    """The worst of ``states``; open where there is none, since nothing was checked."""
    found = set(states)
    for state in (GateState.VIOLATED, GateState.OPEN, GateState.SATISFIED):
        if state in found:
            return state
    return GateState.OPEN
