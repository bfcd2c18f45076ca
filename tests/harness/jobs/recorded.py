"""Runs of everything without measuring: each gating point of the catalog gets a number that the test chooses."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from harness.jobs.plan import PlannedPoint
from harness.jobs.ratchet import check
from harness.jobs.ratchet_accept import Asked, accept
from harness.jobs.ratchet_layers import Accepted
from harness.jobs.ratchet_points import Names, gating_points
from harness.project import Project
from harness.record.baseline import Row
from harness.record.baselines import Record, load
from harness.record.ratchet import RatchetFile, RatchetRow
from harness.record.run import Machine, Mode, Run, Selection, SourceTree, WorkloadRecord, encode
from kpis.registry import Catalog
from kpis.registry import load as load_catalog
from kpis.terms.comparison import State
from kpis.terms.kpi import Estimand, Status
from kpis.terms.quantity import Basis, Source, Unit
from kpis.terms.reading import Distribution, Leg, Reading, ReadingKind

SLUG = "linux-test-2c"
FACTS: dict[str, Any] = {
    "architecture": "x86_64", "cores": 2, "cpu_flags_sha256": "ab" * 32, "cpu_model": "Test", "kernel": "6.1",
    "dependencies_sha256": "cd" * 32, "implementation": "CPython", "python": "3.11.7", "system": "Linux",
}  # fmt: skip
DAY = date(2031, 1, 1)
SPREAD = 0.03

KINDS = {
    Estimand.COUNT: ReadingKind.COUNT,
    Estimand.RATE: ReadingKind.RATE,
    Estimand.INVARIANT: ReadingKind.INVARIANT,
    Estimand.HISTOGRAM: ReadingKind.HISTOGRAM,
}


def reading(point: PlannedPoint, value: float | None = None, /, **changes: Any) -> Reading:
    """A reading of ``point``; ``value`` is of the usual one where None."""
    kpi = point.kpi
    timed = kpi.estimand.timed
    usual = 5000.0 if timed else 1 if kpi.estimand is Estimand.INVARIANT else 0.75 if kpi.unit is Unit.RATIO else 12
    now = usual if value is None else value
    rate = kpi.estimand is Estimand.RATE
    made = Reading(
        kpi=kpi.id,
        layer=kpi.layer,
        params=dict(point.params),
        runtime=point.runtime[0],
        workload=point.workload.workload.name if point.workload else None,
        leg=Leg.MAIN,
        kind=ReadingKind.TIMED if timed else KINDS[kpi.estimand],
        value=now,
        undefined=None,
        unit=kpi.unit,
        direction=kpi.direction,
        status=Status.STANDING,
        basis=Basis.CLOCK if timed else Basis.COUNT,
        source=Source.SYNTHETIC,
        estimand=kpi.estimand,
        isolation="noop" if timed else None,
        gate=kpi.gate,
        critical=kpi.critical,
        numerator=round(now * 400) if rate else None if timed else now,
        denominator=400 if rate else None,
        histogram={"allow": 8, "deny": 4} if kpi.estimand is Estimand.HISTOGRAM else None,
        distribution=Distribution("process values", 12, now, (0.9 * now, 1.1 * now), now, 0.01) if timed else None,
    )
    return replace(made, **changes)


@dataclass
class Lab:
    """A project with a record, runs that are made up, and short words for what tests do with them."""

    root: Path
    catalog: Catalog = field(default_factory=load_catalog)

    def __post_init__(self) -> None:
        self.project = Project(self.root)
        self.names = Names.of(self.project, self.catalog)
        self.points = gating_points(None, self.names)

    def run(
        self,
        session: int = 0,
        values: Mapping[str, float] | None = None,
        *,
        changed: Mapping[str, Mapping[str, Any]] | None = None,
        without: tuple[str, ...] = (),
        boot: str | None = None,
        facts: Mapping[str, Any] | None = None,
        ruler: float | None = 5e6,
        factor: float = 1.0,
        seed: int | None = None,
        **more: Any,
    ) -> Run:
        """A run of everything on the ``session``-th day; times stray by 3 % about the usual ones, times ``factor``."""
        rng = random.Random(session if seed is None else seed)
        readings = []
        for name, point in self.points.items():
            stray = factor * 5000.0 * rng.lognormvariate(0.0, SPREAD) if point.kpi.estimand.timed else None
            value = (values or {}).get(name, None if stray is None else round(stray, 3))
            if name not in without:
                readings.append(reading(point, value, **(changed or {}).get(name, {})))
        loads = {
            point.workload.workload.name: point.workload for point in self.points.values() if point.workload is not None
        }
        workloads = {
            name: WorkloadRecord(
                sha256=load.workload.sha256, kind=load.workload.kind, source="synthetic", hash=None, facts={}
            )
            for name, load in loads.items()
        }
        day = DAY + timedelta(days=session)
        noise = {"before": {}, "after": {}, "boot": boot or "aaaaaa"}
        if ruler is not None:
            tick = ruler * rng.lognormvariate(0.0, 0.002)
            noise["ruler"] = {"before_ns": round(tick), "after_ns": round(tick * 1.001)}
        made = Run(
            id=f"{day:%Y%m%d}T120000Z-{session:06x}",
            created=f"{day.isoformat()}T12:00:00Z",
            argv=["run", "--all"],
            complete=True,
            mode=Mode.DEFAULT,
            selection=Selection(all=True, layers=[], kpis=[], params={}, runtimes=[], workloads=[]),
            machine=Machine(slug=SLUG, fingerprint={**FACTS, **(facts or {})}),
            environment={},
            noise=noise,
            source=SourceTree(commit="01" * 20, dirty=False, touched={}),
            workloads=workloads,
            readings=readings,
        )
        return replace(made, **more)

    def file(self, run: Run, name: str = "run.json") -> Path:
        """``run`` in a file of the project."""
        path = self.root / name
        path.write_bytes(encode(run))
        return path

    def accept(self, run: Run, *kpis: str, today: date | None = None, **asked: Any) -> Accepted:
        """Put ``run`` on record, on the day it was made unless told otherwise."""
        day = today or date.fromisoformat(run.created[:10])
        return accept(self.project, self.catalog, Asked(kpis, **asked), file=self.file(run), today=day)

    def sessions(self, count: int, **more: Any) -> None:
        """Accept ``count`` unchanged runs of different days."""
        for session in range(count):
            self.accept(self.run(session, **more))

    def check(self, run: Run, *, against: str | None = None, today: date | None = None) -> RatchetFile:
        """Hold ``run`` against the record."""
        day = today or date.fromisoformat(run.created[:10])
        return check(self.project, self.catalog, file=self.file(run), against=against, today=day)

    def record(self) -> Record:
        """What is on record."""
        found = load(self.root, SLUG)
        assert found is not None
        return found

    def row(self, name: str) -> Row:
        """One row on record."""
        return next(row for _, found, row in self.record().rows if found == name)

    def bytes(self) -> dict[str, bytes]:
        """Every file on record, by its path."""
        folder = self.root / "baselines"
        files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def row_of(file: RatchetFile, name: str, anchor: str = "record") -> RatchetRow:
    """One row of a check."""
    return next(row for row in file.rows if row.name == name and row.anchor == anchor)


def states(file: RatchetFile) -> set[State]:
    """The states that occur."""
    return {row.state for row in file.rows}
