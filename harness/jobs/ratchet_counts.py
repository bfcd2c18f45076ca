"""The count of a reading beside the one on record, with what each is made of where it is a rate or a histogram.

Refuses to say which is better: the numbers go to :mod:`harness.judge.ratchet_counts`.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.jobs.ratchet_conditions import Held
from harness.judge.ratchet_counts import Made, compare_counts
from kpis.terms.comparison import Comparison
from kpis.terms.kpi import Estimand, Gate
from kpis.terms.reading import Reading

__all__ = ["count_compared", "histograms", "made_of", "rates"]


def count_compared(held: Held, reading: Reading, budget: float = 0.0) -> Comparison:
    """The count of ``reading`` against the one on record, which it may exceed by ``budget``."""
    row = held.row
    limit, now = row.limit, reading.value
    if limit is None or now is None:
        raise ValueError("A count on record has a value, and so has a reading that is defined.")
    holds, both, made = row.gate is Gate.INVARIANT, histograms(row.histogram, reading), rates(held, reading)
    return compare_counts(limit, now, row.direction, holds=holds, histograms=both, made=made, budget=budget)


def rates(held: Held, reading: Reading) -> tuple[Made, Made] | None:
    """What a rate on record and the one of ``reading`` are made of; None of any other number."""
    if held.row.estimand is not Estimand.RATE:
        return None
    return Made(held.row.numerator, held.row.denominator, held.made_of), made_of(reading)


def made_of(reading: Reading) -> Made:
    """What the rate of ``reading`` is made of."""
    return Made(reading.numerator, reading.denominator, reading.histogram)


def histograms(then: Mapping[str, int] | None, reading: Reading) -> tuple[Mapping[str, int], Mapping[str, int]] | None:
    """The two histograms to compare, of a KPI that is one; that of a rate only says what its numerator is made of."""
    return None if reading.estimand is not Estimand.HISTOGRAM else (then or {}, reading.histogram or {})
