"""The gate: is the head slower, or different, than the base? Callable from Python.

Both trees are laid out, everything is tried once on both, counts are compared exactly, what touches the same files is
unchanged, and the rest is timed in pairs under the judge's rule. The verdict is the judge's; this module only carries.
"""

from __future__ import annotations

import hashlib
import os
import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from harness.gating.deadline import BoundedGround, Deadline
from harness.gating.gone import gone_from
from harness.gating.ground import Ground
from harness.gating.options import GateOptions
from harness.gating.points import GatePoints, gate_points, lengths_left, require_timed
from harness.gating.pytest_points import CATALOG, Suite
from harness.gating.rows import label, restate
from harness.gating.tried import Trials
from harness.gating.work import Step, Work
from harness.jobs.gate_file import gate_file
from harness.jobs.together import beside
from harness.jobs.worker_job import lay_out
from harness.measure import machine
from harness.project import Project, runtime_reference
from harness.record import gate_samples
from harness.record.floors import floors
from harness.record.gate import GateFile, encode
from harness.record.gate_samples import GateSamples, evidence_of, samples_path
from harness.record.journal import Journal
from harness.record.lock import RunLock
from harness.record.source import tree_state
from harness.record.store import StoreError, new_id, state_dir, write_atomic
from harness.subject import SubjectError
from harness.subject.build import build, missing_build
from harness.subject.bytecode import compile_roots
from harness.subject.dependencies import differing, refusal
from harness.subject.instrument import instrument_paths, overlay
from harness.subject.revisions import Base, resolve
from harness.subject.scratch import prune, scratch
from harness.subject.trees import Sides, materialise
from harness.subject.under_test import packages_under_test, search_path, shadowed
from kpis.registry import Catalog

__all__ = ["Gated", "gate"]


@dataclass(slots=True)
class Gated:
    """A gate's file, and sentences that must be shown beside it. ``path`` is where it lies; a plan is not stored.

    ``trouble`` is why it could not be stored; then its pairs are in the journal still.
    """

    file: GateFile
    notes: list[str] = field(default_factory=list)
    foresight: list[str] = field(default_factory=list)
    path: Path | None = None
    trouble: StoreError | None = None


def gate(
    project: Project,
    catalog: Catalog,
    options: GateOptions,
    *,
    argv: Sequence[str],
    on_step: Step = lambda _what, _share: None,
    on_note: Callable[[str], None] | None = None,
) -> Gated:
    """Compare the working tree with the merge base of ``options.against``; the file is under ``.harness/gates``.

    ``on_note`` takes what should be known before anything is measured; without it, that is among the notes.

    Raises:
        SubjectError: a side cannot be laid out or proved; one sentence.
        SelectionError, Busy, StoreError: as for a run; and something is to be injected into what is not timed.
    """
    began = time.monotonic()
    deadline = Deadline.of(began, options.budget_s)
    prune()
    base = resolve(project.root, options.against)
    points = GatePoints((), (), (), ())
    if options.pytest is None:
        # A project that names no runtime has nothing that the built-in rows could be about.
        runtimes = [runtime_reference(project.runtime or "reference")]
        points = gate_points(catalog, runtimes, options, own=project.runtime is None)
        require_timed(options.inject, points, options.against)
    with ExitStack() as stack:
        stack.enter_context(RunLock(project.root))
        sides = stack.enter_context(materialise(project, base, letters="".join(random.sample("abcd", 4))))
        head = tree_state(project.root)  # now, as the trees are: the user may commit while it is measured
        place = stack.enter_context(scratch())
        notes = list(sides.warnings)
        suite: Suite | None = None
        if options.pytest is None and (left := lengths_left(points)) is not None:
            notes.append(left)
        if options.pytest is None:
            gone = gone_from(sides.base[0], project, catalog, options, notes.append)
            probes = _prepare(project, sides, notes)
            ground = _ground(project, catalog, sides, points, place, deadline)
        else:
            suite = Suite(project, sides, options.pytest, place, options.limit_s, on_note or notes.append, deadline)
            before = suite.of_base()
            probes = _prepare(project, sides, notes, tests=suite.tests)
            points = suite.points(tests := suite.of_head())
            require_timed(options.inject, points, options.against)
            gone = suite.gone(before, tests)
            ground = replace(_ground(project, CATALOG, sides, points, place, deadline), of_test=suite.extra)
        journal = stack.enter_context(_journal(project, base, sides, options, argv))
        facts = machine.fingerprint()
        known = floors(sides.base[0], machine.slug(facts), facts, base.commit)  # the base's: older than the change
        notes += known.notes
        trials = Trials(ground, options, probes)
        work = Work(ground, points, options, journal, on_step, trials, deadline, floors=known.sizes)
        rows, found = work.compare()
        hidden = suite.hidden if suite is not None else lambda _kpi: None
        rows = restate(points, rows, found, _asked_for(catalog, points, options), hidden)
        found |= {each.name: each.comparison for each in gone}
        rows += [each.row for each in gone]
        samples = GateSamples(id=journal.header["id"], base=base.commit, head=head[0], points=work.samples)
        blob = gate_samples.encode(samples)
        file = gate_file(head, base, work, found, rows, journal.header, began, known, evidence_of(blob, work.samples))
        gated = Gated(file, notes, work.foresight)
        if not options.plan:
            _store(gated, blob, project.root)
        if gated.trouble is None:  # whatever fails, the file or the journal has every pair
            journal.finish()
    return gated


def _store(gated: Gated, samples: bytes, root: Path) -> None:
    """Keep the file and its samples in the project; what fails is left in ``gated``, since the verdict stands."""
    try:
        path = state_dir(root) / "gates" / f"{gated.file.id}.json"
        write_atomic(samples_path(path), samples, within=root)
        write_atomic(path, encode(gated.file), within=root)
    except StoreError as error:
        gated.trouble = error
        gated.notes.append(
            "The gate could not be stored; its pairs are kept. Go on with the same command and --resume."
        )
    else:
        gated.path = path


def _asked_for(catalog: Catalog, points: GatePoints, options: GateOptions) -> set[str]:
    """The KPIs that were asked for by name, or into which something is to be injected: they owe a number."""
    injected = {each.kpi.id for each in points.timed if {each.kpi.id, label(each)} & options.inject.keys()}
    return injected | {catalog.get(name).id for name in options.kpis}


def _prepare(project: Project, sides: Sides, notes: list[str], *, tests: Path | None = None) -> tuple[str, ...]:
    """Overlay the instrument, build, compile and prove; returns the instrument files that the head changed."""
    said = refusal(differing(sides.base[0], sides.head[0]))
    if said is not None:
        raise SubjectError(said)
    changed = overlay(sides, instrument_paths(project, pytest=tests))
    for root in sides.roots:
        if project.build:
            build(project.build, root)
    if not project.build and (missing := missing_build(sides.head[0])) is not None:
        notes.append(missing)
    compile_roots(sides.roots)
    return changed


def _ground(
    project: Project, catalog: Catalog, sides: Sides, points: GatePoints, scratch: Path, deadline: Deadline
) -> Ground:
    import sys

    under_test = packages_under_test(project.root, project)
    for root in (sides.base[0], sides.head[0]):
        if culprits := shadowed(under_test, sys.executable, search_path(root)):
            raise SubjectError(culprits[0])
    workloads = lay_out((*points.all, *points.inputs), scratch)
    named = tuple(name for name in under_test if name in project.under_test)
    shared = beside(points.counted)
    return BoundedGround(project, catalog, sides, named, workloads, scratch, beside=shared, deadline=deadline)


def _journal(project: Project, base: Base, sides: Sides, options: GateOptions, argv: Sequence[str]) -> Journal:
    """The journal of this very comparison: same base, same head, same question.

    Raises:
        StoreError: an interrupted gate is to be resumed, and there is none of this comparison.
    """
    head = hashlib.sha256()
    for path in sorted(sides.head[0].rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            head.update(os.fsencode(path.relative_to(sides.head[0])) + b"\0")
            head.update(hashlib.sha256(path.read_bytes()).digest())
    # How long it may take and what the shell is told of it are no part of the question.
    asked = replace(options, resume=False, budget_s=None, strict=False)
    plan = hashlib.sha256(f"gate {base.commit} {head.hexdigest()} {asked}".encode()).hexdigest()
    if options.resume:
        if (found := Journal.resumable(project.root, plan, needs=("argv", "seed"))) is not None:
            return found
        raise StoreError(
            "There is no interrupted gate of these trees and points to resume; give the same command without --resume."
        )
    now = datetime.now(UTC)
    header = {
        "id": new_id(now),
        "plan": plan,
        "created": now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "argv": list(argv),
        "seed": random.SystemRandom().randrange(2**32),
    }
    return Journal.create(project.root, header)
