"""Models of a session of n turns, one span a turn: how tokens and work grow under knobs that somebody chose.

No reading is held against these. Some stand beside what was counted, as evidence: the scan as it is charged beside
``candidate_scorings``, the residents and the true flows beside ``context_view_compression``, the tax beside
``demand_page_miss_rate``. The others answer what-if questions alone, and a row that shows one shows its knobs beside
it. Two of the usual forms charge too much, and both are kept beside the true ones under names that say so: the capped
flow that takes one turn too many at its linear price, and the bounded scan that charges its cap before that many
spans exist.

Units: ``per_turn`` and ``window`` are tokens, ``cap`` is spans. Every function raises ValueError below zero.
"""

from __future__ import annotations

import math

from kpis.formulas.turn._natural import natural
from kpis.formulas.turn.planner import CAP, full_scan

__all__ = [
    "bounded_scan_charged",
    "capped_flow",
    "capped_flow_charged",
    "compaction_recall",
    "expected_faults",
    "fault_tax",
    "linear_flow",
    "linear_resident",
    "planned_resident",
]


def bounded_scan_charged(turns: int, cap: int = CAP) -> int:
    """The usual form cap * n; the true one is :func:`kpis.formulas.turn.planner.bounded_scan`.

    It charges ``cap`` even to a turn that holds fewer spans, so below 2 cap - 1 turns it exceeds the full scan.
    """
    natural(turns=turns, cap=cap)
    return cap * turns


def linear_resident(turns: int, per_turn: int) -> int:
    """Tokens in the window at turn n where nothing is ever left out: b n."""
    natural(turns=turns, per_turn=per_turn)
    return per_turn * turns


def planned_resident(turns: int, per_turn: int, window: int) -> int:
    """Tokens in a window of ``window`` tokens at turn n: min(b n, W)."""
    natural(window=window)
    return min(linear_resident(turns, per_turn), window)


def linear_flow(turns: int, per_turn: int) -> int:
    """Tokens sent over n turns where nothing is left out: b n(n+1)/2."""
    natural(per_turn=per_turn)
    return per_turn * full_scan(turns)


def _flow(turns: int, per_turn: int, window: int, growing: int) -> int:
    return per_turn * full_scan(growing) + window * (turns - growing)


def capped_flow(turns: int, per_turn: int, window: int) -> int:
    """Tokens sent over n turns within a window: the sum of min(b i, W).

    The triangle ends with the last turn that fits in whole, floor(W/b).
    """
    natural(turns=turns, per_turn=per_turn, window=window)
    growing = turns if per_turn == 0 else min(window // per_turn, turns)
    return _flow(turns, per_turn, window, growing)


def capped_flow_charged(turns: int, per_turn: int, window: int) -> int:
    """The usual form, whose triangle ends with turn k = ceil(W/b); use :func:`capped_flow`.

    Turn k is charged b k although the window holds W, so the sum is too high by b k - W wherever b does not divide W
    and the session is that long.
    """
    natural(turns=turns, per_turn=per_turn, window=window)
    growing = turns if per_turn == 0 else min(-(-window // per_turn), turns)
    return _flow(turns, per_turn, window, growing)


def expected_faults(turns: int, hit_rate: float) -> float:
    """Turns that reach for an elided span, where a forecast is right with probability ``hit_rate``: (1 - p) n."""
    natural(turns=turns)
    if not 0.0 <= hit_rate <= 1.0:
        raise ValueError(f"hit_rate is {hit_rate}; it is a probability.")
    return (1.0 - hit_rate) * turns


def fault_tax(turns: int, per_turn: int, hit_rate: float) -> int:
    """Tokens paged in again over n turns, halves rounded up: (1 - p) b n."""
    natural(per_turn=per_turn)
    return math.floor(expected_faults(turns, hit_rate) * per_turn + 0.5)


def compaction_recall(turns: int, per_turn: int, window: int, retain: float) -> float:
    """Share of the first turn that is left after a summary at each full window: rho to the floor(b n / W).

    ``retain`` at or below 0 stands for .5. A window of 0 is summarised once.
    """
    natural(window=window)
    kept = retain if retain > 0 else 0.5
    return kept if window == 0 else float(kept ** (linear_resident(turns, per_turn) // window))
