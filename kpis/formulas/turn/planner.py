"""Closed forms of a planner's work: how many spans a session makes it score.

A full scan scores everything it holds, turn after turn; a bounded one scores what its index names, and the form is
what it may reach. Nothing here is measured: a count is held against these, never replaced by them. How tokens grow is
the model of :mod:`kpis.formulas.turn.scaling`.

Units: spans. Every function raises ValueError below zero.
"""

from __future__ import annotations

from collections.abc import Iterable

from kpis.formulas.turn._natural import natural

__all__ = ["CAP", "bounded_scan", "full_scan", "scan_of"]

CAP = 128
"""Spans that a bounded scan scores at most: the cut of the index."""


def full_scan(turns: int) -> int:
    """Scorings of a planner that scores the whole history every turn: the sum of i, n(n+1)/2."""
    natural(turns=turns)
    return turns * (turns + 1) // 2


def bounded_scan(turns: int, cap: int = CAP) -> int:
    """Scorings of a planner that scores ``cap`` spans at most: the sum of min(i, cap)."""
    natural(turns=turns, cap=cap)
    growing = min(turns, cap)
    return full_scan(growing) + cap * (turns - growing)


def scan_of(spans_per_turn: Iterable[int], cap: int | None = None) -> int:
    """Scorings over a session with ``spans_per_turn`` spans held at each turn: each turn's number, cut at ``cap``.

    With one new span a turn this is :func:`full_scan`, and with a cap :func:`bounded_scan`.
    """
    return sum(spans_per_turn) if cap is None else sum(min(held, cap) for held in spans_per_turn)
