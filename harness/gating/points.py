"""Which points a gate compares: exact and invariant rows everywhere, timed ones at their gate point.

Rows that only report are left out; a tail never gates. The project's own rows come before the built-in ones, so that
a budget is spent on them first. Refuses to inject into a point that is not timed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from harness.gating.options import GateOptions
from harness.jobs.modes import QUICK
from harness.jobs.plan import PlannedPoint, make_plan, named
from kpis.errors import SelectionError, did_you_mean
from kpis.growth import growth_points, is_growth
from kpis.registry import Catalog, select
from kpis.terms.kpi import Estimand, Gate, Kpi, Point

__all__ = ["lengths_left", "GatePoints", "gate_points", "gates_at", "require_timed"]


@dataclass(frozen=True, slots=True)
class GatePoints:
    """Points to time, points to count, and derived invariants with what they are computed from.

    ``instructed`` are points of a clock that gate by the instructions of a call.
    """

    timed: tuple[PlannedPoint, ...]
    counted: tuple[PlannedPoint, ...]
    derived: tuple[PlannedPoint, ...]
    inputs: tuple[PlannedPoint, ...]
    instructed: tuple[PlannedPoint, ...] = ()

    @property
    def all(self) -> tuple[PlannedPoint, ...]:
        """Every point that owes a row."""
        return (*self.timed, *self.instructed, *self.counted, *self.derived)

    def input_of(self, point: PlannedPoint, kpi_id: str) -> PlannedPoint | None:
        """What a derived ``point`` takes of the KPI ``kpi_id``: its gate point, of the same runtime and workload."""
        for other in self.inputs:
            same = other.runtime == point.runtime and other.workload in (point.workload, None)
            if other.kpi.id == kpi_id and same and other.params == other.kpi.gate_point:
                return other
        return None


def gates_at(kpi: Kpi, *, all_params: bool) -> list[Point]:
    """The points at which ``kpi`` gates: every one of what is counted, the gate point alone of what is timed.

    ``all_params``: of what is timed every one as well. What is marked so never gates anywhere but at its gate point.
    """
    if kpi.gate is Gate.REPORT or kpi.estimand is Estimand.CALL_P99 or (kpi.derived and kpi.gate is not Gate.INVARIANT):
        return []
    everywhere = (all_params or not kpi.estimand.timed) and not kpi.gate_alone
    return kpi.points() if everywhere else [kpi.gate_point]


def gate_points(
    catalog: Catalog, runtimes: list[tuple[str, str]], options: GateOptions, *, own: bool = False
) -> GatePoints:
    """The points of the selection; with ``own``, of one that names nothing, the project's own rows if it has any.

    Raises:
        SelectionError: an unknown layer or KPI.
    """
    chosen = select(catalog, layers=options.layers, kpis=options.kpis)
    if own and not options.layers and not options.kpis:
        chosen = [kpi for kpi in chosen if kpi.origin != "catalog"] or chosen
    at = {kpi.id: gates_at(kpi, all_params=options.all_params) for kpi in chosen}
    for kpi in chosen if options.kpis else ():
        if is_growth(kpi):  # asked for by name: its lengths are timed for it
            source = catalog.get(kpi.inputs[0])
            known = at.setdefault(source.id, [])
            at[source.id] = [*known, *(length for length in growth_points(source) if length not in known)]
    gating = [name for name, points in at.items() if points]
    if not gating:
        return GatePoints((), (), (), ())
    plan = make_plan(catalog, kpis=gating, params={}, runtimes=runtimes, effort=QUICK)
    wanted = [point for point in plan.points if point.emit and point.undefined is None]
    wanted.sort(key=lambda point: point.kpi.origin == "catalog")
    clocked = [point for point in wanted if point.kpi.estimand.timed and point.params in at[point.kpi.id]]
    timed = [point for point in clocked if point.kpi.gate is not Gate.INSTRUCTIONS]
    instructed = [point for point in clocked if point.kpi.gate is Gate.INSTRUCTIONS]
    counted = [point for point in wanted if not point.kpi.estimand.timed]
    derived = [point for point in plan.derived if point.emit]
    names = {name for point in derived for name in point.kpi.inputs}
    inputs = [point for point in plan.points if point.kpi.id in names]
    return GatePoints(tuple(timed), tuple(counted), tuple(derived), tuple(inputs), tuple(instructed))


def lengths_left(points: GatePoints) -> str | None:
    """One sentence about histories that are not timed although a KPI names them; None where all of them are.

    At its shortest history a cost that grows with the square looks as it did.
    """
    there = {(point.kpi.id, *sorted(point.params.items())) for point in points.timed}
    names = [
        kpi.id
        for kpi in {point.kpi.id: point.kpi for point in points.timed}.values()
        if any((kpi.id, *sorted(length.items())) not in there for length in growth_points(kpi))
    ]
    if not names:
        return None
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return (
        f"Growth is not compared: of {names[0]}{more} not every length of history is timed. Give --params all, or name "
        f"the row: --kpi {names[0]}_growth"
    )


def require_timed(names: Collection[str], points: GatePoints, against: str) -> None:
    """Require that each of ``names``, into which something is to be injected, is the label or the KPI of a timed point.

    Raises:
        SelectionError: one is not; injected nowhere, it would leave a self-test that tests nothing.
    """
    labels = [named(point.kpi.id, point.params) for point in points.timed]
    known = dict.fromkeys([*labels, *(point.kpi.id for point in points.timed)])
    for name in names:
        if name not in known:
            raise SelectionError(
                f"--inject {name}: no timed point of this gate has that name{did_you_mean(name, known)}; "
                f"`python -m harness gate --against {against} --plan --all` names them."
            )
