"""The run: plan, measure, keep, read. Callable from Python; the command line adds words and an exit code.

Nothing that was measured is lost: each worker's answer is in the journal before the next begins, an interruption
writes the run file with ``complete`` false, and ``resume`` goes on from the journal.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from harness.jobs import notices
from harness.jobs.answers import journalled
from harness.jobs.asking import Asker, Launch
from harness.jobs.assemble import readings_of, workload_records
from harness.jobs.measure_point import Late, Outcome, measure
from harness.jobs.plan import Plan, PlannedPoint
from harness.jobs.samples import save_samples
from harness.jobs.together import beside
from harness.jobs.touched import touched_of
from harness.jobs.worker_job import lay_out
from harness.measure import machine
from harness.measure.boot import boot
from harness.measure.launch import launch
from harness.measure.ruler import ruler_ns
from harness.project import Project
from harness.record.journal import Journal
from harness.record.lock import RunLock
from harness.record.run import Machine, Run, RunFileError, Selection, SourceTree
from harness.record.source import tree_state
from harness.record.store import StoreError, checked_id, new_id, runs_dir, save
from harness.subject import SubjectError
from harness.subject.scratch import scratch
from kpis.registry import Catalog
from kpis.terms.reading import Reason

__all__ = ["Finished", "Interrupted", "run"]


class Interrupted(BaseException):
    """A signal asked to stop; ``number`` is the signal's. Not an Exception, so that no broad handler swallows it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


@dataclass(slots=True)
class Finished:
    """A run and where it lies. ``path`` is None where it could not be stored; ``trouble`` says why."""

    run: Run
    path: Path | None = None
    trouble: str | None = None
    stopped_by: int | None = None


def run(
    project: Project,
    catalog: Catalog,
    plan: Plan,
    *,
    selection: Selection,
    argv: Sequence[str],
    resume: bool = False,
    on_step: Callable[[PlannedPoint, float], None] = lambda _point, _done: None,
    launch: Launch = launch,
) -> Finished:
    """Measure ``plan``; the run is stored under ``.harness/runs`` of the project.

    ``on_step`` hears which point is worked on and what share of the plan is done. An :class:`Interrupted` (or
    KeyboardInterrupt) raised in this thread ends the run: what was measured is stored, ``stopped_by`` names the signal.

    Raises:
        Busy: another run is measuring in this project.
        StoreError: the project's folder cannot be written; raised before anything is measured.
    """
    with RunLock(project.root), _folder() as scratch:
        journal = _journal(project, plan, argv, resume)
        with journal:
            before = machine.noise()
            commit, dirty = tree_state(project.root)
            began_ns = ruler_ns()
            asker = Asker(
                project=project,
                journal=journal,
                scratch=scratch,
                workloads=lay_out(plan.points, scratch),
                deadline=None if plan.effort.budget_s is None else time.monotonic() + plan.effort.budget_s,
                launch=launch,
                known=journalled(journal.entries()),
                beside=beside(plan.points),
            )
            if moved := asker.changed():
                raise StoreError(
                    f"{', '.join(moved)} changed since the run was interrupted, and two versions make no reading; "
                    "give the same command without --resume."
                )
            outcomes: dict[str, Outcome] = {}
            finished_by: int | None = None
            trouble: str | None = None
            try:
                _measure_all(plan, catalog, asker, outcomes, on_step)
            except Interrupted as signal:
                finished_by = signal.number
            except KeyboardInterrupt:
                finished_by = 2
            except StoreError as error:
                trouble = str(error)
            interrupted = finished_by is not None or trouble is not None
            changed = asker.changed()
            if changed:
                trouble = f"{', '.join(changed)} changed while it was measured: run again on a tree that stands still."
            ruler = {"before_ns": began_ns, "after_ns": ruler_ns()}
            after = machine.noise()
            touched = touched_of(project, plan, outcomes, catalog)
            readings = readings_of(
                plan,
                outcomes,
                catalog,
                touched,
                interrupted=interrupted,
                loaded=notices.loaded(before, os.cpu_count() or 1, after),
            )
            late = any(
                item.undefined is not None and item.undefined.reason is Reason.OUT_OF_BUDGET for item in readings
            )
            complete = not (interrupted or changed or late)
            fingerprint = machine.fingerprint()
            measured = Run(
                id=journal.header["id"],
                created=journal.header["created"],
                argv=list(argv),
                complete=complete,
                mode=plan.effort.mode,
                selection=selection,
                machine=Machine(slug=machine.slug(fingerprint), fingerprint=fingerprint),
                environment=machine.environment(),
                noise={"before": before, "after": after, "ruler": ruler, "boot": boot()},
                source=SourceTree(commit=commit, dirty=dirty, touched=touched.digests, sets=touched.sets),
                workloads=workload_records(plan),
                readings=readings,
            )
            finished = Finished(measured, trouble=trouble, stopped_by=finished_by)
            _store(project, plan, outcomes, finished, journal)
        return finished


@contextmanager
def _folder() -> Iterator[Path]:
    """A temporary folder for workloads and jobs; those that killed runs left behind go first.

    Raises:
        OSError: it cannot be made.
    """
    with ExitStack() as held:
        try:
            folder = held.enter_context(scratch())
        except SubjectError as error:
            # Its sentence speaks of trees; what stands behind it is what the system said.
            raise error.__cause__ if isinstance(error.__cause__, OSError) else StoreError(str(error)) from None
        yield folder


def _journal(project: Project, plan: Plan, argv: Sequence[str], resume: bool) -> Journal:
    if resume:
        found = Journal.resumable(project.root, plan.sha256)
        if found is not None:
            return found
        raise StoreError(
            "There is no interrupted run of this selection to resume; give the same command without --resume."
        )
    now = datetime.now(UTC)
    created = now.isoformat(timespec="seconds").replace("+00:00", "Z")
    return Journal.create(
        project.root, {"id": new_id(now), "plan": plan.sha256, "created": created, "argv": list(argv)}
    )


def _measure_all(
    plan: Plan,
    catalog: Catalog,
    asker: Asker,
    outcomes: dict[str, Outcome],
    on_step: Callable[[PlannedPoint, float], None],
) -> None:
    """Point by point; under a budget three processes a point first, then one more each in turn while time lasts."""
    steps = {}
    for point in plan.points:
        frozen_sync = catalog.seams[point.kpi.seam].frozen_sync
        steps[point.key] = measure(point, plan.effort, asker.ask(point, plan.effort, frozen_sync=frozen_sync))
    first = plan.effort.processes if plan.effort.budget_s is None else 3
    try:
        for done, point in enumerate(plan.points):
            on_step(point, done / len(plan.points))
            for outcome in steps[point.key]:
                outcomes[point.key] = outcome
                if outcome.taken >= first:
                    break
        turn = list(plan.points) if plan.effort.budget_s is not None else []
        while turn:
            still = []
            for point in turn:
                on_step(point, 1.0)
                if next(steps[point.key], None) is not None:
                    still.append(point)
            turn = still
    except Late:
        return


def _store(project: Project, plan: Plan, outcomes: Mapping[str, Outcome], finished: Finished, journal: Journal) -> None:
    """Samples first, the run file last, then the journal goes: whatever fails, one of them has it all."""
    try:
        folder = runs_dir(project.root) / f"{checked_id(finished.run.id)}.samples"
        kept = True
        for point in plan.points:
            if point.key in outcomes:
                kept = _store_samples(folder, point, outcomes[point.key], finished) and kept
        finished.path = save(project.root, finished.run)
        if kept and (finished.run.complete or plan.effort.budget_s is not None):
            journal.finish()
    except (OSError, RunFileError) as error:
        finished.trouble = finished.trouble or str(error)


def _store_samples(folder: Path, point: PlannedPoint, outcome: Outcome, finished: Finished) -> bool:
    """The samples of one point; what cannot be stored is said, and costs neither the others nor the run file.

    False where a later try may have more luck, which needs the journal.
    """
    try:
        save_samples(folder, point, outcome)
    except OSError as error:
        finished.trouble = finished.trouble or str(error)
        return False
    except (TypeError, ValueError, LookupError) as error:
        said = f"the samples of {point.label} are no samples that pyperf stores ({str(error)[:200]})"
        finished.trouble = finished.trouble or f"{said}; try `python -m harness run --kpi {point.kpi.id}`."
    return True
