"""What a run is going to measure: every (KPI, point, runtime, workload), in order, before anything starts.

The plan is a pure function of the selection, so that a resumed run and a dry run see the same list. It opens no
slice; what cannot be measured for want of the right workload is in the plan as undefined.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from itertools import product

from harness.formats.workload import LoadedWorkload
from harness.jobs.modes import Effort
from harness.jobs.wired import wired
from harness.workloads import shipped
from kpis.growth import HISTORY, growth_points, is_growth
from kpis.registry import Catalog, SelectionError, probe_reference, select
from kpis.terms.kpi import Kpi, Point, Takes
from kpis.terms.reading import Reason, Undefined

__all__ = ["Plan", "PlannedPoint", "make_plan", "named"]


@dataclass(frozen=True, slots=True)
class PlannedPoint:
    """One KPI at one parameter point, of one runtime on one workload.

    ``undefined`` is set where it is known beforehand that there will be no number; ``emit`` is False where the point
    is measured only because a derived row needs it.
    """

    kpi: Kpi
    params: Point
    runtime: tuple[str, str]
    workload: LoadedWorkload | None
    probe: str
    undefined: Undefined | None = None
    emit: bool = True

    @property
    def key(self) -> str:
        """The identity of the point's reading, as text that no other point has: JSON of its parts."""
        workload = self.workload.workload.name if self.workload else None
        return json.dumps([self.kpi.id, sorted(self.params.items()), self.runtime[0], workload])

    @property
    def label(self) -> str:
        """The same to be read by people; values that hold commas or spaces may make two points look alike."""
        workload = self.workload.workload.name if self.workload else "-"
        return f"{named(self.kpi.id, self.params)} {self.runtime[0]} {workload}"


def named(kpi_id: str, params: Mapping[str, str]) -> str:
    """How people name a KPI at one point: ``kpi`` or ``kpi[k=v,...]``."""
    at = ",".join(f"{key}={value}" for key, value in params.items())
    return f"{kpi_id}[{at}]" if at else kpi_id


@dataclass(frozen=True, slots=True)
class Plan:
    """The points to measure, and the derived rows that are computed from them afterwards.

    Raises:
        kpis.registry.SelectionError: two points would have one identity, so that their readings could not be told
            apart.
    """

    points: tuple[PlannedPoint, ...]
    derived: tuple[PlannedPoint, ...]
    effort: Effort

    def __post_init__(self) -> None:
        times = Counter(point.key for point in (*self.points, *self.derived))
        twice = next((point for point in (*self.points, *self.derived) if times[point.key] > 1), None)
        if twice is not None:
            raise SelectionError(
                f"{twice.label} would be measured twice under one name; name each runtime and workload once, and look "
                "with `python -m harness run --dry-run`."
            )

    @property
    def sha256(self) -> str:
        """Identifies the plan: two runs with the same digest measure the same things with the same effort."""
        rows = [
            [point.key, point.probe, point.workload.workload.sha256 if point.workload else None, point.emit]
            for point in (*self.points, *self.derived)
        ]
        effort = [self.effort.mode.value, self.effort.processes, self.effort.values, self.effort.budget_s]
        return hashlib.sha256(json.dumps([rows, effort]).encode()).hexdigest()

    def estimate_s(self) -> float:
        """Seconds that it will take if every call is short, or the budget."""
        if self.effort.budget_s is not None:
            return self.effort.budget_s
        open_points = [point for point in self.points if point.undefined is None]
        return sum(self.effort.estimate_s(timed=point.kpi.timed) for point in open_points)


def make_plan(
    catalog: Catalog,
    *,
    layers: Sequence[str] = (),
    kpis: Sequence[str] = (),
    params: Mapping[str, Sequence[str]],
    runtimes: Sequence[tuple[str, str]],
    workloads: Sequence[LoadedWorkload] = (),
    effort: Effort,
) -> Plan:
    """Select, multiply by runtimes and workloads, and add what derived rows need.

    A slope is planned where all its lengths of history are: not where ``params`` or a replayed recording leave some of
    them out, for a plan without them is a whole plan, and nothing in it went wrong.

    Raises:
        kpis.registry.SelectionError: an unknown layer, KPI or parameter; or ``kpis`` name a slope that is left out.
    """
    chosen = [kpi for kpi in select(catalog, layers=layers, kpis=kpis, params=params) if wired(kpi)]
    wanted = {kpi.id for kpi in chosen}
    needed = [catalog.get(name) for kpi in chosen for name in _inputs(kpi) if name not in wanted]
    swept_alone = {name for kpi in chosen if is_growth(kpi) for name in kpi.inputs} - wanted
    swept_alone -= {name for kpi in chosen if not is_growth(kpi) for name in _inputs(kpi)}
    points: list[PlannedPoint] = []
    derived: list[PlannedPoint] = []
    for kpi in dict.fromkeys([kpi.id for kpi in (*chosen, *needed)]):
        row = catalog.get(kpi)
        into = derived if row.derived else points
        for runtime in dict.fromkeys(runtimes):
            at = [] if row.sweep and row.id in swept_alone else _points(row, params, runtime, workloads)
            at += _swept(row, params, runtime)
            into += [replace(planned, emit=row.id in wanted) for planned in at]
    whole = [point for point in derived if not is_growth(point.kpi) or _lengths_planned(point, points, catalog)]
    _refuse_lost({catalog.get(name).id for name in kpis}, derived, whole, catalog)
    return Plan(tuple(points), tuple(whole), effort)


def _lengths_planned(row: PlannedPoint, points: Sequence[PlannedPoint], catalog: Catalog) -> bool:
    """Whether every length that the slope ``row`` is read from is in the plan, of its runtime on its workload."""
    source = catalog.get(row.kpi.inputs[0])
    same = [each for each in points if (each.runtime, each.workload) == (row.runtime, row.workload)]
    there = [each.params for each in same if each.kpi.id == source.id]
    return all(at in there for at in growth_points(source))


def _refuse_lost(
    asked: Set[str], derived: Sequence[PlannedPoint], whole: Sequence[PlannedPoint], catalog: Catalog
) -> None:
    kept = {point.kpi.id for point in whole}
    for kpi in (point.kpi for point in derived if point.kpi.id in asked - kept):
        source = catalog.get(kpi.inputs[0])
        lengths = ", ".join(at[HISTORY] for at in growth_points(source))
        raise SelectionError(
            f"{kpi.id} is read from {source.id} at history = {lengths}, and --param or a replayed workload leaves some "
            f"of these out. Ask for {source.id} in its place: `python -m harness run --kpi {source.id} --dry-run`."
        )


def _inputs(kpi: Kpi) -> tuple[str, ...]:
    return (*kpi.inputs, kpi.shares) if kpi.shares else kpi.inputs


def _points(
    kpi: Kpi, params: Mapping[str, Sequence[str]], runtime: tuple[str, str], given: Sequence[LoadedWorkload]
) -> list[PlannedPoint]:
    planned: list[PlannedPoint] = []
    if kpi.sweep.keys() & params.keys():
        return planned
    for workload, undefined in _workloads(kpi, given):
        replayed = workload is not None and workload.workload.source == "replay"
        values = {key: tuple(values) for key, values in kpi.params.items()}
        if replayed:
            values |= {key: (value,) for key, value in kpi.replay_params.items()}
        kept = {
            key: tuple(value for value in options if key not in params or value in params[key])
            for key, options in values.items()
        }
        for point in product(*kept.values()):
            at = dict(zip(kept, point, strict=True))
            planned.append(PlannedPoint(kpi, at, runtime, workload, probe_reference(kpi), undefined))
    return planned


def _swept(kpi: Kpi, params: Mapping[str, Sequence[str]], runtime: tuple[str, str]) -> list[PlannedPoint]:
    """The swept points that ``params`` leaves in; their probe builds its own history, so that no workload is named."""
    asked = [key for key in params if key in kpi.params or key in kpi.sweep]
    kept = [at for at in kpi.swept() if all(at.get(key) in params[key] for key in asked)]
    return [PlannedPoint(kpi, at, runtime, None, probe_reference(kpi)) for at in kept]


def _workloads(kpi: Kpi, given: Sequence[LoadedWorkload]) -> list[tuple[LoadedWorkload | None, Undefined | None]]:
    """The workloads of a KPI: the user's of its kind, else the shipped one; never silently another kind."""
    if kpi.takes is Takes.NONE:
        return [(None, None)]
    fitting: list[tuple[LoadedWorkload | None, Undefined | None]] = [
        (workload, None) for workload in given if workload.workload.kind == kpi.takes.value
    ]
    if fitting:
        return fitting
    if given:
        kinds = {Takes.CALLS: "a tool-call trace", Takes.SESSION: "a recorded session"}
        sentence = f"{kpi.id} needs {kinds[kpi.takes]}, and no --workload FILE is one."
        return [(None, Undefined(Reason.WORKLOAD_KIND, sentence))]
    return [(shipped(kpi.takes.value) if kpi.default_workload else None, None)]
