"""Rates as cells of a Markdown table: a count, what it is of, and its exact one-sided 95 % bound.

Pure. Refuses to round a bound towards the better side.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

from ci.gatebench.counting import OURS, Tallies, Tally, at_least, at_most
from ci.gatebench.rules import OTHERS

__all__ = ["NONE", "at_best", "at_worst", "down", "merged", "rule_rows", "table", "up"]

NONE = "-"
"""A cell with no trial."""


def up(share: float) -> str:
    """A share as per cent, rounded up."""
    digits = 2 if share < 0.01 else 1
    return f"{math.ceil(share * 100 * 10**digits - 1e-9) / 10**digits:.{digits}f}"


def down(share: float) -> str:
    """A share as per cent, rounded down."""
    digits = 2 if share > 0.99 else 1
    return f"{math.floor(share * 100 * 10**digits + 1e-9) / 10**digits:.{digits}f}"


def at_worst(hits: int, of: int) -> str:
    """How often it happened that should not, and at most."""
    return f"{hits:,} of {of:,} (≤ {up(at_most(hits, of))} %)" if of else NONE


def at_best(hits: int, of: int) -> str:
    """How often it happened that should, and at least."""
    return f"{hits:,} of {of:,} (≥ {down(at_least(hits, of))} %)" if of else NONE


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """The lines of a table."""
    yield "| " + " | ".join(head) + " |"
    yield "|---" * len(head) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def merged(cells: Iterable[Tallies]) -> Tallies:
    """The sum of tallies, rule by rule."""
    total: Tallies = {}
    for cell in cells:
        for name, tally in cell.items():
            total.setdefault(name, Tally()).said.update(tally.said)
    return total


def rule_rows(columns: Sequence[tuple[Tallies, bool]]) -> Iterator[list[str]]:
    """One row a rule; a column of (tallies, whether red is right)."""
    for name in (OURS, *OTHERS):
        row = [f"**{name}**" if name == OURS else name]
        for tallies, right in columns:
            tally = tallies.get(name, Tally())
            row.append((at_best if right else at_worst)(tally.red, tally.of))
        yield row
