"""Which files each reading of a run was taken from, with their digests, as the run file keeps them.

A measured point has what its discovery worker touched. A derived one has what the points that it is computed from have,
and its formula, which no worker loads. Few sets differ, so each is kept once and readings name theirs by its number.
Refuses to say that nothing was touched: a point of which that is not known has no set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.jobs.asking import digest
from harness.jobs.imports import Imports
from harness.jobs.measure_point import Outcome
from harness.jobs.plan import Plan, PlannedPoint
from harness.measure.instrument import INSTRUMENT
from harness.project import Project
from kpis.growth import growth_points, is_growth
from kpis.registry import Catalog
from kpis.terms.kpi import Kpi

__all__ = ["Touched", "formula_module", "made_of", "touched_of"]


@dataclass(frozen=True, slots=True)
class Touched:
    """The digest of every touched file by its name, the different sets of them, and which set each point has.

    A set is ascending positions in the sorted names of ``digests``; ``by_point`` goes by the key of a point.
    """

    digests: dict[str, str]
    sets: list[list[int]]
    by_point: dict[str, int]

    def set_of(self, point: PlannedPoint) -> int | None:
        """The number of the set of ``point``; None where it is not known what was touched."""
        return self.by_point.get(point.key)


def touched_of(project: Project, plan: Plan, outcomes: Mapping[str, Outcome], catalog: Catalog) -> Touched:
    """What ``outcomes`` touched inside the project and the instrument, digested when their slices were discovered."""
    named = {key: _named(project, outcome) for key, outcome in outcomes.items()}
    imports = Imports(project)
    for point in plan.derived:
        parts = [named.get(other.key) for other in made_of(point, plan, catalog)]
        if all(parts):  # what one of them touched is not known, so neither is the whole
            together = {name: value for part in parts if part for name, value in part.items()}
            named[point.key] = {**together, **_formula(point.kpi, imports)} if together else {}
    every = sorted({item for files in named.values() for item in files.items()})
    digests = dict(every)
    at = {name: position for position, name in enumerate(digests)}
    by_key = {key: tuple(sorted(at[name] for name in files)) for key, files in named.items() if files}
    sets = sorted(set(by_key.values()))
    number = {one: index for index, one in enumerate(sets)}
    return Touched(digests, [list(one) for one in sets], {key: number[one] for key, one in by_key.items()})


def made_of(point: PlannedPoint, plan: Plan, catalog: Catalog) -> Sequence[PlannedPoint]:
    """The measured points of ``plan`` that a derived one is computed from, of the same runtime, as far as it has them.

    That is the one whose calls it shares, on the same workload; for a growth row each length of history there; else
    each input at its gate point, on the same workload where the input takes one.
    """
    kpi, found = point.kpi, list[PlannedPoint]()
    ours = [other for other in plan.points if other.runtime == point.runtime]
    here = [other for other in ours if other.workload == point.workload]
    if kpi.shares is not None:
        return [other for other in here if other.kpi.id == kpi.shares][:1]
    if is_growth(kpi):
        due = growth_points(catalog.get(kpi.inputs[0]))
        return [other for at in due for other in here if other.kpi.id == kpi.inputs[0] and other.params == at]
    for name in kpi.inputs:
        gate = catalog.get(name).gate_point
        found += [
            other
            for other in ours
            if other.kpi.id == name and other.workload in (point.workload, None)
            if all(other.params.get(key) == value for key, value in gate.items())
        ][:1]
    return found


def formula_module(kpi: Kpi) -> str | None:
    """The module of the formula that computes ``kpi``; None where there is none."""
    return f"kpis.formulas.{kpi.formula.partition(':')[0].replace('/', '.')}" if kpi.formula else None


def _named(project: Project, outcome: Outcome) -> dict[str, str]:
    """The touched files that have a digest, by their path inside the project or the instrument."""
    named: dict[str, str] = {}
    for name, value in outcome.touched.items():
        for base in (project.root.resolve(), Path(INSTRUMENT)):
            if value is not None and Path(name).is_relative_to(base):
                named[Path(name).relative_to(base).as_posix()] = value
                break
    return named


def _formula(kpi: Kpi, imports: Imports) -> dict[str, str]:
    """The files of the formula of ``kpi`` and of what it imports, with their digests."""
    module = formula_module(kpi)
    files = {} if module is None else imports.files((module,), lazy=True)
    found = {name: digest(str(file)) for name, file in files.items() if file is not None}
    return {name: value for name, value in found.items() if value is not None}
