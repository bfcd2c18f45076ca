"""Is an arm cheaper and no worse: cost ratio, quality ratio and the two gates over all workloads.

A cost ratio says what a policy costs for each dollar of the baseline's, modelled (BCR) or billed (RBCR); a quality
ratio (BQR) says the same of quality. They are never multiplied. A gate holds on every workload or does not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kpis.formulas.context.gates import GateState
from kpis.formulas.context.values import Ratio

__all__ = ["MARGIN", "Comparison", "baseline_ratio", "dominance_gate", "parity_gate"]

MARGIN = 0.05
"""How much cheaper than the baseline dominance asks for."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One workload: cost and quality of the policy over those of the baseline; None where one has no value."""

    workload: str
    cost_ratio: float | None
    quality_ratio: float | None


def baseline_ratio(policy: float, baseline: float) -> Ratio:
    """``policy`` over ``baseline``, both summed before: of costs BCR or RBCR, of qualities BQR."""
    if baseline <= 0:
        return Ratio(policy, baseline, None, "the baseline is not above 0")
    return Ratio(policy, baseline, policy / baseline)


def parity_gate(rows: Sequence[Comparison]) -> GateState:
    """No worse and cheaper on every workload."""
    return _everywhere(rows, 1)


def dominance_gate(rows: Sequence[Comparison], margin: float = MARGIN) -> GateState:
    """No worse, and cheaper by more than ``margin``, on every workload."""
    return _everywhere(rows, 1 - margin)


def _everywhere(rows: Sequence[Comparison], limit: float) -> GateState:
    for row in rows:
        if row.quality_ratio is not None and row.quality_ratio < 1:
            return GateState.VIOLATED
        if row.cost_ratio is not None and row.cost_ratio >= limit:
            return GateState.VIOLATED
    if not rows or any(row.cost_ratio is None or row.quality_ratio is None for row in rows):
        return GateState.OPEN
    return GateState.SATISFIED
