"""Is a candidate no worse than its reference: gates over pairs, over availability and over a cost ratio.

Stated on what must not happen: the reference passes and the candidate fails. Without a pair nothing was shown, and the
gate is open, where the reference implementation lets it pass; it is open too while a pair may still turn out so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from kpis.formulas.context.gates import GateState
from kpis.formulas.context.values import Mode, Ratio
from kpis.formulas.paired.bootstrap import Interval
from kpis.formulas.paired.disagreement import Disagreement

__all__ = [
    "AVAILABILITY_MARGIN",
    "COST_TARGET",
    "CostGate",
    "availability_gate",
    "cost_gate",
    "non_inferior",
    "undecided",
]

AVAILABILITY_MARGIN = 0.05
"""How much less available a candidate may be."""

COST_TARGET = 0.95
"""A mean ratio that is aimed at: told beside the gate, and no part of it."""

_ROUNDING = 1e-9  # 1 - .95 is a little more than .05, and a candidate on its margin is inside


def non_inferior(
    table: Disagreement, epsilon: int = 0, mode: Mode = Mode.STRICT, undecided_pairs: int = 0
) -> GateState:
    """At most ``epsilon`` pairs that only the reference passed. Equal totals do not help.

    ``undecided_pairs`` are pairs outside of ``table`` that lack a verdict, as :func:`undecided` counts them.
    """
    if table.pairs == 0 and mode is Mode.STRICT:
        return GateState.OPEN
    if table.reference_only > epsilon:
        return GateState.VIOLATED
    return GateState.OPEN if undecided_pairs else GateState.SATISFIED


def undecided(pairs: Iterable[tuple[bool | None, bool | None]]) -> int:
    """How many of ``pairs``, each (reference, candidate) with None where nobody judged, keep the gate open.

    All whose candidate is not judged, and those that it failed where the reference, not judged, may have passed.
    """
    return sum(ours is None or (ours is False and theirs is None) for theirs, ours in pairs)


def availability_gate(candidate: Ratio, reference: Ratio, margin: float = AVAILABILITY_MARGIN) -> GateState:
    """The candidate answers at most ``margin`` less often. A gate of its own, never merged with what answers say."""
    if candidate.value is None or reference.value is None:
        return GateState.OPEN
    return GateState.SATISFIED if reference.value - candidate.value <= margin + _ROUNDING else GateState.VIOLATED


@dataclass(frozen=True, slots=True)
class CostGate:
    """The state, and whether the mean also meets the target that does not gate."""

    state: GateState
    target_met: bool | None


def cost_gate(ratio: Interval | None, target: float = COST_TARGET) -> CostGate:
    """The upper end of the interval of the cost *ratio* lies below 1. None (too few pairs) is open.

    Raises:
        ValueError: the interval does not hold its own mean, as one of differences passed by mistake would not.
    """
    if ratio is None:
        return CostGate(GateState.OPEN, None)
    if not ratio.lower <= ratio.mean <= ratio.upper:
        raise ValueError(
            f"The interval from {ratio.lower} to {ratio.upper} does not hold its mean {ratio.mean}; this gate takes "
            "ratios to the baseline, not differences from it."
        )
    return CostGate(GateState.SATISFIED if ratio.upper < 1 else GateState.VIOLATED, ratio.mean <= target)
