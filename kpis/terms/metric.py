"""A metric of recorded runs: what it is (a row), and what came of it (a value with its parts).

Four disjoint classes never mix in one number: correctness is a filter and never a term, behaviour, context economics
and provider economics each stand alone. What is undefined has a reason and no value. A value keeps the sums that it was
formed from, so that results of many runs combine exactly: ratios from summed parts, never means of ratios.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from kpis.terms.kpi import Direction
from kpis.terms.quantity import Basis, Unit

__all__ = ["Combine", "Metric", "MetricClass", "MetricKind", "MetricRow"]


class MetricClass(Enum):
    """What a metric speaks of. No number may combine two of these."""

    CORRECTNESS = "correctness"
    BEHAVIOUR = "behaviour"
    CONTEXT = "context"
    PROVIDER = "provider"


class MetricKind(Enum):
    """How a metric is used: a gate must hold, a KPI has a better direction, a signal and a volume have none."""

    GATE = "gate"
    KPI = "kpi"
    SIGNAL = "signal"
    VOLUME = "volume"


class Combine(Enum):
    """How the results of several runs become one. POOLED: computed again from all requests of all runs."""

    SUM = "sum"
    RATIO_OF_SUMS = "ratio-of-sums"
    MAX = "max"
    POOLED = "pooled"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric of the registry. ``needs`` is what a recording must say; ``undefined`` says when there is no value."""

    id: str
    metric_class: MetricClass
    kind: MetricKind
    unit: Unit
    direction: Direction
    definition: str
    undefined: str
    combine: Combine
    needs: tuple[str, ...] = ()
    target: float | None = None
    symbol: str | None = None
    fence: str | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """What came of one metric in one run, or in many together.

    ``value`` is None exactly where ``undefined`` says why. ``numerator`` and ``denominator`` are sums behind a ratio
    (of a sum, the numerator is its value). ``low`` and ``high`` are bounds where the recording leaves a range open; the
    value is then None or one of them, said in ``notes``. ``detail`` are counts by name that explain the value.
    """

    id: str
    value: float | int | None
    basis: Basis
    undefined: str | None = None
    numerator: float | int | None = None
    denominator: float | int | None = None
    low: float | int | None = None
    high: float | int | None = None
    detail: Mapping[str, float | int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
