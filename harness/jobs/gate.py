"""The gate: is the head slower, or different, than the base? Callable from Python.

Both trees are laid out, everything is tried once on both, counts are compared exactly, what touches the same files is
unchanged, and the rest is timed in pairs under the judge's rule. The verdict is the judge's; this module only carries.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.gating.deadline import BoundedGround, Deadline
from harness.gating.ground import Ground
from harness.gating.growth import growth_of
from harness.gating.options import GateOptions
from harness.gating.points import GatePoints, gate_points, removed_ids
from harness.gating.pytest_points import CATALOG, Suite
from harness.gating.rows import absent, label, removed_row, restate
from harness.gating.work import Step, Work
from harness.jobs.worker_job import lay_out
from harness.judge.compose import claim_of, compose, coverage_of
from harness.measure import machine
from harness.project import Project, runtime_reference
from harness.record.floors import floors
from harness.record.gate import GateFile, GateRow, GateSide
from harness.record.journal import Journal
from harness.record.lock import RunLock
from harness.record.run import Machine
from harness.record.source import tree_state
from harness.record.store import new_id
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
from kpis.terms.comparison import Comparison
from kpis.terms.kpi import Direction, Gate

__all__ = ["Gated", "gate"]


@dataclass(slots=True)
class Gated:
    """A gate's file, and sentences that must be shown beside it."""

    file: GateFile
    notes: list[str] = field(default_factory=list)
    foresight: list[str] = field(default_factory=list)


def gate(
    project: Project,
    catalog: Catalog,
    options: GateOptions,
    *,
    argv: Sequence[str],
    on_step: Step = lambda _what, _share: None,
    on_note: Callable[[str], None] | None = None,
) -> Gated:
    """Compare the working tree with the merge base of ``options.against``.

    ``on_note`` takes what should be known before anything is measured; without it, that is among the notes.

    Raises:
        SubjectError: a side cannot be laid out or proved; one sentence.
        SelectionError, Busy, StoreError: as for a run.
    """
    began = time.monotonic()
    deadline = Deadline.of(began, options.budget_s)
    prune()
    base = resolve(project.root, options.against)
    points = GatePoints((), (), (), ())
    if options.pytest is None:
        points = gate_points(catalog, [runtime_reference(project.runtime or "reference")], options)
    with ExitStack() as stack:
        stack.enter_context(RunLock(project.root))
        sides = stack.enter_context(materialise(project, base, letters="".join(random.sample("abcd", 4))))
        place = stack.enter_context(scratch())
        notes = list(sides.warnings)
        if options.pytest is None:
            gone = removed_ids(sides.base[0], project, catalog, options.layers)
            probes = _prepare(project, sides, notes)
            ground = _ground(project, catalog, sides, points, place, deadline)
        else:
            suite = Suite(project, sides, options.pytest, place, options.limit_s, on_note or notes.append, deadline)
            before = suite.of_base()
            probes = _prepare(project, sides, notes, tests=suite.tests)
            points = suite.points(tests := suite.of_head())
            gone = [node for node in before if node not in tests]
            ground = replace(_ground(project, CATALOG, sides, points, place, deadline), of_test=suite.extra)
        journal = stack.enter_context(_journal(project, base, sides, options, argv))
        known = floors(sides.base[0], machine.slug(machine.fingerprint()))  # the base's: committed before the change
        work = Work(ground, points, options, journal, began, on_step, probes, floors=known)
        rows, found = work.compare()
        rows = restate(points, rows, found, options.kpis)
        found |= {name: absent(name) for name in gone}
        rows += [removed_row(name, found[name]) for name in gone]
        seen = {side: work.touched(side) for side in ("base", "head")}
        file = _file(project, base, points, found, rows, seen, options, journal.header, began)
        journal.finish()
    return Gated(file, notes, work.foresight)


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
    return BoundedGround(project, catalog, sides, named, workloads, scratch, deadline=deadline)


def _journal(project: Project, base: Base, sides: Sides, options: GateOptions, argv: Sequence[str]) -> Journal:
    """The journal of this very comparison: same base, same head, same question."""
    head = hashlib.sha256()
    for path in sorted(sides.head[0].rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            head.update(path.relative_to(sides.head[0]).as_posix().encode() + b"\0")
            head.update(hashlib.sha256(path.read_bytes()).digest())
    asked = replace(options, resume=False, budget_s=None)
    plan = hashlib.sha256(f"gate {base.commit} {head.hexdigest()} {asked}".encode()).hexdigest()
    if options.resume and (found := Journal.resumable(project.root, plan)) is not None:
        return found
    now = datetime.now(UTC)
    header = {
        "id": new_id(now),
        "plan": plan,
        "created": now.isoformat(timespec="seconds").replace("+00:00", "Z"),
        "argv": list(argv),
        "seed": random.SystemRandom().randrange(2**32),
    }
    return Journal.create(project.root, header)


def _file(
    project: Project,
    base: Base,
    points: GatePoints,
    found: dict[str, Comparison],
    rows: list[GateRow],
    seen: dict[str, dict[str, str]],
    options: GateOptions,
    header: dict[str, Any],
    began: float,
) -> GateFile:
    rows_of_growth = [row for row, _ in growth_of(points.timed).values()]
    by_label = {label(point): point.kpi for point in (*points.all, *rows_of_growth)}
    claims = []
    for name, comparison in sorted(found.items()):
        kpi = by_label.get(name)
        kind = Gate.EXACT if kpi is None else kpi.gate
        direction = Direction.LOWER if kpi is None else kpi.direction
        critical = kpi is not None and kpi.critical
        claims.append(claim_of(name, comparison, kind, direction, critical=critical))
    commit, dirty = tree_state(project.root)
    fingerprint = machine.fingerprint()
    return GateFile(
        id=header["id"],
        created=header["created"],
        argv=list(header["argv"]),
        base=GateSide(commit=base.commit, dirty=False, touched=seen["base"]),
        head=GateSide(commit=commit, dirty=dirty, touched=seen["head"]),
        verdict=compose(claims, coverage_of(found)),
        claims=claims,
        rows=sorted(rows, key=lambda row: (row.kpi, sorted(row.params.items()), row.leg.value)),
        injected=dict(options.inject),
        machine=Machine(slug=machine.slug(fingerprint), fingerprint=fingerprint),
        environment=machine.environment(),
        noise={"after": machine.noise()},
        seed=header["seed"],
        seconds=round(time.monotonic() - began, 3),
    )
