"""A count, rate, histogram or invariant against the one on record, and in what an equal number differs all the same.

Any worse count regressed: nothing here has noise to allow for. Refuses to take an equal total for an equal histogram.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from harness.judge.exact import exact, invariant
from kpis.terms.comparison import Comparison, State
from kpis.terms.kpi import Direction

__all__ = ["Made", "compare_counts", "made_otherwise"]


@dataclass(frozen=True, slots=True)
class Made:
    """The two counts of a rate, and what the first is made of, by kind; None where that is not known."""

    numerator: float | None
    denominator: float | None
    histogram: Mapping[str, int] | None = None

    @property
    def counted(self) -> bool:
        """Whether both counts are known."""
        return self.numerator is not None and self.denominator is not None


def compare_counts(
    limit: float,
    now: float,
    direction: Direction,
    *,
    holds: bool = False,
    histograms: tuple[Mapping[str, int], Mapping[str, int]] | None = None,
    made: tuple[Made, Made] | None = None,
    budget: float = 0.0,
) -> Comparison:
    """A count, rate, histogram or (``holds``) invariant against the one on record; worse beyond ``budget`` regressed.

    A run gives a count only where two workers agreed on it, so each side was counted twice. An equal rate that is
    ``made`` of other counts is told; where no change is right it regressed.

    Raises:
        ValueError: a value is not finite, or an invariant is neither 1 nor 0.
    """
    if holds:
        return invariant((limit, limit), (now, now))
    found = exact((limit, limit), (now, now), budget, direction)
    if made is not None and not budget and found.state is State.OK and (said := made_otherwise(*made)):
        state = State.REGRESSED if direction is Direction.NEUTRAL else State.OK
        return replace(found, state=state, evidence=(*found.evidence, said))
    if histograms is None or budget or found.state is not State.OK or histograms[0] == histograms[1]:
        return found
    return replace(found, state=State.REGRESSED, evidence=(*found.evidence, _shifted(*histograms)))


def _shifted(was: Mapping[str, int], is_now: Mapping[str, int]) -> str:
    keys = [key for key in sorted({*was, *is_now}) if was.get(key, 0) != is_now.get(key, 0)]
    moved = ", ".join(f"{key} {was.get(key, 0)} -> {is_now.get(key, 0)}" for key in keys)
    return f"the histogram differs: {moved}"


def made_otherwise(then: Made, now: Made) -> str:
    """In what an equal rate differs from the one on record; empty where it does not, or where one side says nothing."""
    counts = [f"{made.numerator:.10g}/{made.denominator:.10g}" for made in (then, now) if made.counted]
    said = [f"made of other counts: {' -> '.join(counts)}"] if len(counts) == 2 and counts[0] != counts[1] else []
    if then.histogram is not None and now.histogram is not None and then.histogram != now.histogram:
        said.append(_shifted(then.histogram, now.histogram))
    return "; ".join(said)
