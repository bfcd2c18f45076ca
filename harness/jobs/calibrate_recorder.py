"""Records batches of trials: a checkout of HEAD for each, cores kept busy or not, and one trial after the other.

Trials of one batch share a pair of checkouts, and no two batches do, so that suites are independent. Refuses to leave a
tree or a busy core behind, however a batch ends.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from harness.gating.ground import Ground
from harness.jobs.calibrate_ground import Whom, gate_points_of, try_all
from harness.jobs.calibrate_trial import PLANNED, Asked, make_trial
from harness.jobs.plan import PlannedPoint
from harness.jobs.worker_job import lay_out
from harness.measure.burners import burning
from harness.project import Project
from harness.record.trials import Kind, LoadState, Trial
from harness.subject.git import Repository
from harness.subject.pristine import laid_out
from harness.subject.under_test import packages_under_test
from kpis.registry import Catalog

__all__ = ["Batch", "Recorder", "Recording", "burners_of"]

GONE = "a process that was to keep a core busy had ended"


@dataclass(frozen=True, slots=True)
class Batch:
    """What shares a checkout: an edit to ``modules`` of the head, or none, and the trials in order."""

    kind: Kind
    state: LoadState
    asked: tuple[Asked, ...]
    edit: str | None = None
    modules: tuple[str, ...] = ()


class Recording(Protocol):
    """Whom a recording can be made of, and the trials of a batch as they end."""

    def whom(self) -> Whom:
        """Try every point once."""
        ...

    def trials(self, batch: Batch, seed: int) -> Generator[Trial, None, None]:
        """Make the trials of ``batch``; whoever stops early closes it."""
        ...


def burners_of(state: LoadState) -> int:
    """How many cores ``state`` keeps busy of those that this process may use."""
    return {LoadState.IDLE: 0, LoadState.ONE: 1, LoadState.ALL: len(os.sched_getaffinity(0))}[state]


@dataclass(slots=True)
class Recorder:
    """The real one: ``commit`` of ``repository`` laid out in ``folder``."""

    project: Project
    catalog: Catalog
    repository: Repository
    commit: str
    folder: Path
    _points: tuple[PlannedPoint, ...] = field(init=False)
    _workloads: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self._points = gate_points_of(self.project, self.catalog)
        self._workloads = lay_out(self._points, self.folder)

    @contextmanager
    def _ground(self, edit: str | None = None, modules: tuple[str, ...] = ()) -> Iterator[Ground]:
        within = self.project.root.resolve().relative_to(self.repository.top.resolve())
        with laid_out(
            self.repository,
            self.commit,
            self.folder,
            within=within,
            edit=edit,
            modules=modules,
            command=self.project.build,
        ) as sides:
            yield Ground(self.project, self.catalog, sides, self.project.under_test, self._workloads, self.folder)

    def whom(self) -> Whom:
        """The points that run, tried on a checkout of their own.

        Raises:
            SubjectError: the commit cannot be laid out, or no package is under test.
        """
        with self._ground() as ground:
            return try_all(self._points, ground, packages_under_test(self.project.root, self.project))

    def trials(self, batch: Batch, seed: int) -> Generator[Trial, None, None]:
        """The trials of ``batch``, on a checkout of their own, under its load.

        Raises:
            SubjectError: the commit cannot be laid out.
        """
        with self._ground(batch.edit, batch.modules) as ground, burning(burners_of(batch.state)) as burners:
            for asked in batch.asked:
                made = make_trial(asked, ground, seed, planned=PLANNED[batch.kind], state=batch.state)
                yield made if burners.alive or made.void else replace(made, void=GONE)
