"""What the base gated and the head no longer gates: each such point is named, for a gate must not pass over it.

An edit of the catalog can hide a regression as well as an edit of the code: a parameter's value dropped, the gate point
moved to a cheaper one, ``exact`` turned into ``report``. So the base's own files are read, before its tree gets the
head's instrument. Refuses to take a file that cannot be read for one that declared nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.gating.options import GateOptions
from harness.gating.points import gates_at
from harness.jobs.plan import named
from harness.jobs.wired import wired
from harness.measure.instrument import INSTRUMENT
from harness.project import Project, ProjectError, load_project
from harness.record.gate import GateRow
from harness.record.store import StoreError
from kpis.errors import CatalogError
from kpis.registry import Catalog, load, row_of
from kpis.terms.comparison import Comparison, State
from kpis.terms.kpi import Kpi, Layer, Point
from kpis.terms.reading import Leg

__all__ = ["Gone", "gone_from", "gone_test", "uncollected"]

_FILES = "the KPI files of the base"


@dataclass(frozen=True, slots=True)
class Gone:
    """Something that the base owes a row and the head has no point for; ``name`` is what the verdict calls it."""

    name: str
    kpi: str
    why: str
    params: Point = field(default_factory=dict)
    state: State = State.REMOVED
    runtime: str = ""

    @property
    def comparison(self) -> Comparison:
        """Why nothing was compared."""
        return Comparison(self.state, evidence=(self.why,))

    @property
    def row(self) -> GateRow:
        """Its row; beside its parameters nothing is known of it any more."""
        return GateRow(
            kpi=self.kpi,
            params=dict(self.params),
            runtime=self.runtime,
            workload=None,
            leg=Leg.MAIN,
            state=self.state,
            ratio=None,
            low=None,
            high=None,
            pairs=0,
            smallest_visible=None,
            alpha=None,
            off_cpu=None,
            functions=[],
            paths=[],
            evidence=[self.why],
            warnings=[],
        )


def gone_test(node: str) -> Gone:
    """A test that only the base has."""
    return Gone(node, node, f"{node} is declared on the base and not on the head")


def uncollected(path: str, why: str) -> Gone:
    """The base's own tests at ``path``, which pytest cannot collect: whether one of them has gone is not known."""
    said = f"the base's own tests cannot be collected, so whether one has gone is not known: {why}"
    return Gone(path, path, said, state=State.INCONCLUSIVE, runtime="pytest")


def gone_from(
    base: Path, project: Project, catalog: Catalog, options: GateOptions, say: Callable[[str], None]
) -> list[Gone]:
    """What the tree at ``base`` gates, as it was committed, and ``catalog`` gates no more: by KPI, point and gate kind.

    A KPI counts as the same under an alias. Of a narrowed gate, KPIs outside the selection are left alone; but one that
    the head does not know at all could be named by nobody, so only layers narrow it. What cannot be read has gone, too,
    and ``say`` takes the sentence.
    """
    try:
        declared = list(_declared(base, project))
    except (CatalogError, ProjectError, StoreError) as error:
        why = f"what the base gates is not known: {getattr(error, 'sentences', (str(error),))[0]}"
        say(f"In the tree of the base, {why}")
        return [Gone(_FILES, _FILES, why)]
    asked = {catalog.get(name).id for name in options.kpis}
    found: list[Gone] = []
    for was in declared:
        owed = gates_at(was, all_params=options.all_params)
        in_layer = was.layer.value in options.layers
        if not owed:
            continue
        if was.id not in catalog:
            if in_layer or not options.layers:
                found.append(Gone(was.id, was.id, f"{was.id} is declared on the base and not on the head"))
            continue
        now = catalog.get(was.id)
        if in_layer or now.id in asked or not (options.layers or asked):
            found += _less(was, owed, now, all_params=options.all_params)
    return found


def _less(was: Kpi, owed: list[Point], now: Kpi, *, all_params: bool) -> Iterator[Gone]:
    """What of ``was`` is gated no more by ``now``, the head's KPI of that name."""
    if now.gate is not was.gate:
        why = f"{was.id} gates as {was.gate.value} on the base, and is {now.gate.value} on the head"
        yield Gone(f"{was.id} as {was.gate.value}", was.id, why)
        return
    if not wired(now):
        yield Gone(was.id, was.id, f"{was.id} is measured by a probe on the base and by none on the head")
        return
    kept = gates_at(now, all_params=all_params)
    for point in owed:
        if point not in kept:
            name = named(was.id, point)
            yield Gone(name, was.id, f"{name} gates on the base, and the head gates {now.id} elsewhere", point)


def _declared(base: Path, project: Project) -> Iterator[Kpi]:
    """Every KPI of the base's own: of the files that its configuration names, and the catalog where it is ours.

    Raises:
        CatalogError, ProjectError, StoreError: a file cannot be read; what it declared is not known.
    """
    yield from _of_project(load_project(base), base)
    if Path(INSTRUMENT).resolve() != project.root.resolve():
        return  # the catalog is the installed one, the same on both sides
    for file in sorted((base / "kpis" / "catalog").glob("*.toml")):
        try:
            layer = Layer(file.stem)
            rows = tomllib.loads(file.read_text(encoding="utf-8"))["kpi"]
            kpis = [row_of(name, layer, row) for name, row in rows.items()]
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            look = f"look with: git log -- kpis/catalog/{file.name}"
            raise CatalogError([f"kpis/catalog/{file.name} cannot be read ({error}); {look}"]) from None
        yield from (kpi for kpi in kpis if wired(kpi, base))


def _of_project(project: Project, base: Path) -> list[Kpi]:
    """The rows of the project's own files, which must be sound by themselves."""
    if project.root != base.resolve() or not project.kpi_files:
        return []
    from kpis.schema_files import read_rows  # pydantic takes long to import, and most bases need it for nothing

    try:
        files = {file.relative_to(base).as_posix(): file.read_bytes() for file in project.kpi_files}
    except OSError as error:
        raise CatalogError([f"{error.filename} cannot be read ({error.strerror})"]) from None
    return read_rows(files, load().seams, {})[0]
