"""Which points a gate compares: exact and invariant rows everywhere, timed ones at their gate point.

Rows that only report are left out; a tail never gates. The project's own rows come before the built-in ones, so that
a budget is spent on them first. What the base declares and the head does not is found here too.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.gating.options import GateOptions
from harness.jobs.modes import QUICK
from harness.jobs.plan import PlannedPoint, make_plan
from harness.project import Project
from kpis.registry import Catalog, select
from kpis.terms.kpi import Estimand, Gate

__all__ = ["GatePoints", "gate_points", "removed_ids"]


@dataclass(frozen=True, slots=True)
class GatePoints:
    """Points to time, points to count, and derived invariants with what they are computed from."""

    timed: tuple[PlannedPoint, ...]
    counted: tuple[PlannedPoint, ...]
    derived: tuple[PlannedPoint, ...]
    inputs: tuple[PlannedPoint, ...]

    @property
    def all(self) -> tuple[PlannedPoint, ...]:
        """Every point that owes a row."""
        return (*self.timed, *self.counted, *self.derived)


def gate_points(catalog: Catalog, runtimes: list[tuple[str, str]], options: GateOptions) -> GatePoints:
    """The points of the selection.

    Raises:
        SelectionError: an unknown layer or KPI.
    """
    chosen = select(catalog, layers=options.layers, kpis=options.kpis)
    gating = [kpi.id for kpi in chosen if kpi.gate is not Gate.REPORT and kpi.estimand is not Estimand.CALL_P99]
    if not gating:
        return GatePoints((), (), (), ())
    plan = make_plan(catalog, kpis=gating, params={}, runtimes=runtimes, effort=QUICK)
    wanted = [point for point in plan.points if point.emit and point.undefined is None]
    wanted.sort(key=lambda point: point.kpi.origin == "catalog")
    timed = [point for point in wanted if point.kpi.estimand.timed and _gates_here(point, options)]
    counted = [point for point in wanted if not point.kpi.estimand.timed]
    derived = [point for point in plan.derived if point.emit and point.kpi.gate is Gate.INVARIANT]
    names = {name for point in derived for name in point.kpi.inputs}
    inputs = [point for point in plan.points if point.kpi.id in names]
    return GatePoints(tuple(timed), tuple(counted), tuple(derived), tuple(inputs))


def _gates_here(point: PlannedPoint, options: GateOptions) -> bool:
    return options.all_params or point.params == point.kpi.gate_point


def removed_ids(base_root: Path, project: Project, catalog: Catalog, layers: Iterable[str]) -> list[str]:
    """KPI ids that the base's tables declare and ``catalog`` knows under no name; read as TOML, not validated."""
    wanted = set(layers)
    files = [base_root / file.relative_to(project.root) for file in project.kpi_files]
    folders = {file.parent for file in files} | {base_root / "kpis" / "catalog"}
    found: dict[str, None] = {}
    for file in sorted(path for folder in folders if folder.is_dir() for path in folder.glob("*.toml")):
        try:
            rows = tomllib.loads(file.read_text(encoding="utf-8")).get("kpi", {})
        except (OSError, ValueError):
            continue
        for name, row in rows.items() if isinstance(rows, dict) else ():
            layer = row.get("layer", file.stem) if isinstance(row, dict) else None
            if name not in catalog and (not wanted or layer in wanted):
                found[name] = None
    return list(found)
