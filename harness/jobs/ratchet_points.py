"""What a record has to hold: the gating points of the catalog, by the names of their rows.

A name is ``kpi[k=v,...]`` as a gate says it, followed by the runtime and the workload where they are not the default
ones; it is the same under an alias. The points are those that the selection of a run planned, so that what was not
asked for is told apart from what was lost. Refuses two points of one name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.formats.workload import LoadedWorkload
from harness.gating.points import gates_at
from harness.jobs.modes import DEFAULT
from harness.jobs.plan import PlannedPoint, make_plan, named
from harness.measure.clock import Workload
from harness.project import Project, runtime_reference
from harness.record.run import Run
from harness.workloads import FILES, shipped
from kpis.errors import SelectionError
from kpis.registry import Catalog, select
from kpis.terms.kpi import Layer
from kpis.terms.reading import Leg, Reading

__all__ = ["Names", "gating_points", "kpi_of", "readings_by_name"]


@dataclass(frozen=True, slots=True)
class Names:
    """How rows are named in one project: its catalog, its default runtime, the workloads that ship."""

    catalog: Catalog
    runtime: str
    workloads: frozenset[str]
    _labels: dict[tuple[str, frozenset[tuple[str, str]]], str]

    @classmethod
    def of(cls, project: Project, catalog: Catalog) -> Names:
        """Those of ``project``."""
        # As a gate says them, with the parameters in the order of the catalog, which no run file keeps.
        labels = {(kpi.id, frozenset(point.items())): named(kpi.id, point) for kpi in catalog for point in kpi.points()}
        ships = frozenset(shipped(kind).workload.name for kind in FILES)
        return cls(catalog, runtime_reference(project.runtime or "reference")[0], ships, labels)

    def present(self, kpi_id: str) -> str:
        """The id that ``kpi_id``, which may be an alias, has now; itself where nothing has that name."""
        return self.catalog.get(kpi_id).id if kpi_id in self.catalog else kpi_id

    def row(self, kpi_id: str, params: Mapping[str, str], runtime: str, workload: str | None) -> str:
        """The name of a row."""
        kpi_id = self.present(kpi_id)
        label = self._labels.get((kpi_id, frozenset(params.items()))) or named(kpi_id, dict(sorted(params.items())))
        label += f" runtime={runtime}" if runtime != self.runtime else ""
        return label + (f" workload={workload}" if workload is not None and workload not in self.workloads else "")

    def of_reading(self, reading: Reading) -> str:
        """The name of the row that ``reading`` goes to; legs other than the main one have names that no row has."""
        name = self.row(reading.kpi, reading.params, reading.runtime, reading.workload)
        return name if reading.leg is Leg.MAIN else f"{name} leg={reading.leg.value}"

    def of_point(self, point: PlannedPoint) -> str:
        """The name of the row of ``point``."""
        workload = point.workload.workload.name if point.workload else None
        return self.row(point.kpi.id, point.params, point.runtime[0], workload)

    def known(self, name: str) -> bool:
        """Whether the catalog has the KPI of a row, under that name or as an alias."""
        return kpi_of(name) in self.catalog

    def canonical(self, name: str) -> str:
        """The present name of a row that may be on record under an alias of its KPI."""
        kpi_id = kpi_of(name)
        return self.present(kpi_id) + name.removeprefix(kpi_id)


def kpi_of(name: str) -> str:
    """The KPI of a row's name, without parameters, runtime and workload."""
    return name.partition("[")[0].partition(" ")[0]


def readings_by_name(run: Run, names: Names) -> dict[str, Reading]:
    """The main readings of ``run`` by the names of their rows.

    Raises:
        SelectionError: two of them have one name.
    """
    found: dict[str, Reading] = {}
    for reading in run.readings:
        if reading.leg is Leg.MAIN and found.setdefault(names.of_reading(reading), reading) is not reading:
            raise _twice(names.of_reading(reading))
    return found


def gating_points(run: Run | None, names: Names) -> dict[str, PlannedPoint]:
    """The points that gate, of what ``run`` selected or (None) of the whole catalog, by the names of their rows.

    What the selection cannot measure for want of a workload of the right kind is left out: nothing is owed for it.

    Raises:
        SelectionError: the run selected what the catalog does not have, or two points have one name.
    """
    catalog = names.catalog
    selection = None if run is None or run.selection.all else run.selection
    params = {} if run is None else run.selection.params
    layers, kpis = (selection.layers, selection.kpis) if selection is not None else ((), ())
    known = {layer.value for layer in Layer}
    kpis = [name for name in kpis if name in catalog]  # what has left the catalog since has a row, if anything
    layers = [name for name in layers if name in known]
    if selection is not None and not kpis and not layers:
        return {}
    chosen = select(catalog, layers=layers, kpis=kpis, params=params)
    at = {kpi.id: points for kpi in chosen if (points := gates_at(kpi, all_params=False))}
    if not at:
        return {}
    runtimes = list(run.selection.runtimes) if run is not None and run.selection.runtimes else [names.runtime]
    plan = make_plan(
        catalog,
        kpis=list(at),
        params=params,
        runtimes=[runtime_reference(runtime) for runtime in runtimes],
        workloads=_given(run),
        effort=DEFAULT,
    )
    found: dict[str, PlannedPoint] = {}
    for point in (*plan.points, *plan.derived):
        owed = point.emit and point.undefined is None
        if not owed or (point.kpi.estimand.timed and point.params not in at[point.kpi.id]):
            continue
        name = names.of_point(point)
        if name in found:
            raise _twice(name)
        found[name] = point
    return found


def _given(run: Run | None) -> list[LoadedWorkload]:
    """The workloads that a run was given in the place of those that ship, as far as a plan needs to know them."""
    if run is None or not run.selection.workloads:
        return []
    known = [(name, run.workloads[name]) for name in run.selection.workloads if name in run.workloads]
    return [
        LoadedWorkload(Workload(name, work.kind, work.sha256, work.source, {"hash": work.hash}), work.facts)
        for name, work in known
    ]


def _twice(name: str) -> SelectionError:
    return SelectionError(
        f"Two points would have the row {name}, so a record cannot tell them apart; name each runtime and parameter "
        "value so that they differ, and look with `python -m harness run --all --dry-run`."
    )
