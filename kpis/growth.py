"""Growth rows: a KPI that is timed or counted at several lengths of history has a second row, the slope of its cost.

The rule is a name. Whoever lists values under the parameter ``history``, in ``params`` or in ``sweep``, gets
``<id>_growth`` beside the KPI, a user as well as the catalog. It reports and never gates: what the slope of a time
wanders by is not known, and of a count every length gates by itself. Nothing is measured here; the slope itself is
``kpis.formulas.growth``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kpis.terms.kpi import Direction, Estimand, Gate, Kpi, Point, Status, Takes
from kpis.terms.quantity import Unit

__all__ = ["HISTORY", "LEAST_POINTS", "growth_points", "growth_row", "is_growth", "with_growth"]

HISTORY = "history"
"""The parameter that counts how much there was before the call: turns."""

FORMULA = "growth:slope"

LEAST_POINTS = 3
"""Two points make a line through anything."""

_FENCE = (
    "A slope on log scales: 0 where history is free, 1 where cost doubles with it. It holds between the lengths that "
    "were timed, of a history that the probe builds. It reports; what a slope wanders by without a cause is not known "
    "yet."
)
_FENCE_COUNT = (
    "A slope on log scales: 0 where history is free, 1 where cost doubles with it. Of exact counts, with no clock and "
    "no interval, and between the lengths that were counted, of a history that the probe builds. It reports; each of "
    "its counts gates by itself."
)


def is_growth(kpi: Kpi) -> bool:
    """Whether the row is the slope of another; a name that ends alike makes none."""
    return kpi.formula == FORMULA


def growth_points(kpi: Kpi) -> list[Point]:
    """The points of ``kpi`` that its growth is read from, shortest history first; empty where there are too few."""
    swept = HISTORY in kpi.sweep
    values = kpi.sweep[HISTORY] if swept else kpi.params.get(HISTORY, ())
    counted = [value for value in values if value.isascii() and value.isdecimal() and int(value) > 0]
    by_length = {int(value): value for value in reversed(counted)}  # 10 and 010 are one length: the first of them
    if not (kpi.estimand.timed or _counted(kpi)) or len(by_length) < LEAST_POINTS:
        return []
    at = (swept and kpi.sweep_at) or kpi.gate_point
    return [{**at, HISTORY: by_length[length]} for length in sorted(by_length)]


def _counted(kpi: Kpi) -> bool:
    """Whether it is an amount that can be had exactly: no share, no truth value, no histogram and no model."""
    return kpi.estimand is Estimand.COUNT and not kpi.knobs


def growth_row(kpi: Kpi) -> Kpi | None:
    """The derived row of ``kpi``, or None where it is neither timed nor counted over enough lengths of history.

    A history in ``params`` stands beside a workload, and each workload has a slope of its own; a swept one is built by
    the probe, which is given no workload.
    """
    points = growth_points(kpi)
    if not points:
        return None
    lengths = ", ".join(point[HISTORY] for point in points)
    return Kpi(
        id=f"{kpi.id}_growth",
        layer=kpi.layer,
        seam=kpi.seam,
        question=f"How does {kpi.id} grow with the turns that went before?",
        fence=_FENCE_COUNT if _counted(kpi) else _FENCE,
        unit=Unit.RATIO,
        direction=Direction.LOWER,
        estimand=Estimand.RATE,
        gate=Gate.REPORT,
        target_status=Status.STANDING if kpi.target_status is Status.STANDING else Status.GUARDED,
        takes=Takes.NONE if HISTORY in kpi.sweep else kpi.takes,
        default_workload=HISTORY in kpi.sweep or kpi.default_workload,
        formula=FORMULA,
        inputs=(kpi.id,),
        note=f"least-squares slope of ln {kpi.id} on ln history at history = {lengths}",
        origin=kpi.origin,
    )


def with_growth(kpis: Iterable[Kpi]) -> Iterator[Kpi]:
    """``kpis``, each followed by its growth row where it has one."""
    for kpi in kpis:
        yield kpi
        row = growth_row(kpi)
        if row is not None:
            yield row
