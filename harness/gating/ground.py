"""The ground of a gate: both trees laid out, and a way to put one question to a worker on either side.

Both sides run the same instrument; what differs is the tree that comes first on the path. A worker's jobs, its path
and its touched files are all told in terms of the side's root, so that the two sides can be compared name by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from harness.jobs.answers import answer_fault
from harness.jobs.asking import digest
from harness.jobs.plan import PlannedPoint
from harness.jobs.together import TASKS, handed_over
from harness.jobs.worker_job import job_of
from harness.measure.answer import Answer
from harness.measure.instrument import INSTRUMENT
from harness.measure.launch import launch
from harness.measure.pairs import SideJob
from harness.measure.schedule import Side
from harness.project import Project
from harness.subject.trees import Sides
from kpis.registry import Catalog

__all__ = ["Ground", "Seen"]

SEEDS = (1, 2)
"""Hash seeds of the two counts: what differs between them is no count."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the discovery of one side saw: an answer or why there is none, and the digests of what was touched."""

    answer: Mapping[str, Any]
    undefined: tuple[str, str] | None
    touched: Mapping[str, str]
    spawns: bool


@dataclass(slots=True)
class Ground:
    """Both sides of one gate. ``ours``: the project is this package itself, so the instrument lies in each tree.

    ``of_test``, where tests are compared, gives what the job of a test says besides, by its node id. ``beside`` are, by
    the key of a point, those that its opening may serve as well: what it hands over for them is not asked for again.
    """

    project: Project
    catalog: Catalog
    sides: Sides
    under_test: tuple[str, ...]
    workloads: Mapping[str, str]
    scratch: Path
    of_test: Callable[[str], Mapping[str, Any]] | None = None
    beside: Mapping[str, Sequence[PlannedPoint]] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)
    _handed: dict[tuple[str, Side, str, int], Answer] = field(default_factory=dict)

    @property
    def ours(self) -> bool:
        """Whether the instrument is part of the tree under test."""
        return Path(INSTRUMENT).resolve() == self.project.root.resolve()

    def root(self, side: Side, copy: int = 0) -> Path:
        """The root of one copy of a side."""
        return (self.sides.base if side == "base" else self.sides.head)[copy]

    def side_job(self, point: PlannedPoint, side: Side, copy: int = 0) -> SideJob:
        """The job of ``point`` on one copy of a side."""
        root = self.root(side, copy)
        job = job_of(
            point,
            path=replace(self.project, root=root).path,
            instrument=self.instrument(side, copy),
            under_test=self.under_test,
            workloads=self.workloads,
        )
        job["frozen_sync"] = self.catalog.seams[point.kpi.seam].frozen_sync
        if self.of_test is not None:
            job |= self.of_test(point.kpi.id)
        return SideJob(job, self.instrument(side, copy), root, ends=self.of_test is not None)

    def instrument(self, side: Side, copy: int = 0) -> str:
        """The folder of the instrument's packages for a worker of ``side``."""
        return str(self.root(side, copy)) if self.ours else INSTRUMENT

    def ask(
        self, point: PlannedPoint, side: Side, task: str, *, seed: int = SEEDS[0], limit: float, **more: Any
    ) -> Answer:
        """Put one question to a fresh worker of ``side``, unless another's opening has answered it."""
        handed = self._handed.pop((point.key, side, task, seed), None)
        if handed is not None:
            return handed
        spec = self.side_job(point, side)
        others = self.beside.get(point.key, ()) if task in TASKS else ()
        job = {**spec.job, "task": task, "limit": limit, "beside": [other.kpi.id for other in others], **more}
        answer = launch(job, seed=seed, limit=limit, folder=self.scratch, cwd=spec.cwd, instrument=spec.instrument)
        for other, own in handed_over(answer.result, others):
            # Of touched files a run has digests where a gate still has names.
            if answer_fault(task, timed=False, answer={**own, "touched": {}}) is None:
                said = own.get("undefined")
                why = None if said is None else (said["reason"], said["detail"])
                self._handed[other.key, side, task, seed] = Answer(result=own, undefined=why)
        return answer

    def discover(self, point: PlannedPoint, side: Side, *, limit: float) -> Seen:
        """Try the point once on ``side``: does it run, what does it count, which files does it touch."""
        answer = self.ask(point, side, "discover", limit=limit)
        touched = {}
        for name in answer.result.get("touched", []):
            path = Path(name)
            for base in (self.root(side), Path(INSTRUMENT)):
                if path.is_relative_to(base):
                    touched[path.relative_to(base).as_posix()] = self._digest(path)
                    break
        return Seen(answer.result, answer.undefined, touched, bool(answer.result.get("spawns")))

    def _digest(self, path: Path) -> str:
        name = str(path)
        if name not in self._digests:
            # What has no digest (too large, unreadable) is equal to nothing, so its point is never unchanged.
            self._digests[name] = digest(name) or f"none {path.parent}"
        return self._digests[name]
