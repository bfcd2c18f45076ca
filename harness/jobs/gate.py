"""The gate: is the head slower, or different, than the base? Callable from Python.

Both trees are laid out, everything is tried once on both, counts are compared exactly, what touches the same files is
unchanged, and the rest is timed in pairs under the judge's rule. The verdict is the judge's; this module only carries.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.gating.ground import SEEDS, Ground, Seen
from harness.gating.localise import legs_of_suspects
from harness.gating.options import GateOptions
from harness.gating.points import GatePoints, gate_points, removed_ids
from harness.gating.pytest_points import CATALOG, Suite
from harness.gating.rows import absent, compare_counts, label, removed_row, row_of, timed_row, unmeasured
from harness.gating.timed import TimedPoint, time_points
from harness.jobs.plan import PlannedPoint
from harness.judge.compose import claim_of, compose, coverage_of
from harness.judge.exact import invariant
from harness.judge.rule import Rule, delta_for
from harness.judge.sequence import PointJudge, settle
from harness.measure import machine
from harness.project import Project, runtime_reference
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
from harness.subject.touched import compare as compare_touched
from harness.subject.trees import Sides, materialise
from harness.subject.under_test import packages_under_test, search_path, shadowed
from kpis.registry import Catalog
from kpis.terms.comparison import Comparison, State
from kpis.terms.kpi import Direction, Gate

__all__ = ["Gated", "gate"]

Step = Callable[[str, float], None]


@dataclass(slots=True)
class Gated:
    """A gate's file, and sentences that must be shown beside it."""

    file: GateFile
    notes: list[str] = field(default_factory=list)


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
            ground = _ground(project, catalog, sides, points, place)
        else:
            suite = Suite(project, sides, options.pytest, place, options.limit_s, on_note or notes.append)
            before = suite.of_base()
            probes = _prepare(project, sides, notes, tests=suite.tests)
            points = suite.points(tests := suite.of_head())
            gone = [node for node in before if node not in tests]
            ground = replace(_ground(project, CATALOG, sides, points, place), of_test=suite.extra)
        journal = stack.enter_context(_journal(project, base, sides, options, argv))
        work = _Work(ground, points, options, journal, began, on_step, probes)
        rows, found = work.compare()
        found |= {name: absent(name) for name in gone}
        rows += [removed_row(name, found[name]) for name in gone]
        seen = {side: work.touched(side) for side in ("base", "head")}
        file = _file(project, base, points, found, rows, seen, options, journal.header, began)
        journal.finish()
    return Gated(file, notes)


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


def _ground(project: Project, catalog: Catalog, sides: Sides, points: GatePoints, scratch: Path) -> Ground:
    import sys

    under_test = packages_under_test(project.root, project)
    for root in (sides.base[0], sides.head[0]):
        if culprits := shadowed(under_test, sys.executable, search_path(root)):
            raise SubjectError(culprits[0])
    workloads: dict[str, str] = {}
    for point in (*points.all, *points.inputs):
        if point.workload is None or point.workload.workload.name in workloads:
            continue
        load = point.workload.workload
        target = scratch / f"workload-{len(workloads)}.json"
        document = {"name": load.name, "kind": load.kind, "sha256": load.sha256, "source": load.source}
        target.write_text(json.dumps({**document, "data": load.data}), encoding="utf-8")
        workloads[load.name] = str(target)
    named = tuple(name for name in under_test if name in project.under_test)
    return Ground(project, catalog, sides, named, workloads, scratch)


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


@dataclass(slots=True)
class _Work:
    """One gate in progress."""

    ground: Ground
    points: GatePoints
    options: GateOptions
    journal: Journal
    began: float
    on_step: Step
    probes: tuple[str, ...]
    rule: Rule = field(default_factory=lambda: Rule(delta=delta_for(None)))
    _seen: dict[str, dict[str, Seen]] = field(default_factory=dict)
    _kept: dict[str, dict[str, Any]] = field(default_factory=dict)

    def compare(self) -> tuple[list[GateRow], dict[str, Comparison]]:
        """Every row, and the comparison of every point by its label."""
        self._kept = {entry["did"]: entry["answer"] for entry in self.journal.entries() if "did" in entry}
        rows: list[GateRow] = []
        found: dict[str, Comparison] = {}
        to_time: list[TimedPoint] = []
        every = (*self.points.counted, *self.points.timed)
        for number, point in enumerate(every):
            self.on_step(f"trying {label(point)}", number / max(len(every), 1) * 0.1)
            settled = self._tried(point)
            if settled is None:
                inject = self.options.inject.get(label(point), self.options.inject.get(point.kpi.id, 1.0))
                to_time.append(TimedPoint(point, PointJudge(point.kpi.direction, self.rule), inject))
                continue
            found[label(point)] = settled
            rows.append(row_of(point, settled, paths=self._paths(point)))
        for point in self.points.derived:
            found[label(point)] = self._derived(point)
            rows.append(row_of(point, found[label(point)]))
        rows += self._timed(to_time, found)
        return rows, found

    def touched(self, side: str) -> dict[str, str]:
        """Everything that the slices of a side touch."""
        return {name: digest for seen in self._seen.values() for name, digest in sorted(seen[side].touched.items())}

    def _tried(self, point: PlannedPoint) -> Comparison | None:
        """Try the point on both sides; None where it is to be timed."""
        base = self.ground.discover(point, "base", limit=self.options.limit_s)
        head = self.ground.discover(point, "head", limit=self.options.limit_s)
        self._seen[point.key] = {"base": base, "head": head}
        if (gone := unmeasured(base.undefined, head.undefined)) is not None:
            return gone
        same = compare_touched(base.touched, head.touched, base.spawns or head.spawns)
        injected = {label(point), point.kpi.id} & self.options.inject.keys()
        if same.unchanged and not self.options.time_unchanged and not injected:
            said = f"{len(head.touched)} files are touched, the same on both sides"
            return Comparison(State.UNCHANGED, evidence=(said,))
        if point.kpi.estimand.timed:
            return None
        again = {
            side: self.ground.ask(point, side, "tally", seed=SEEDS[1], limit=self.options.limit_s)
            for side in ("base", "head")
        }
        if (gone := unmeasured(again["base"].undefined, again["head"].undefined)) is not None:
            return gone
        return compare_counts(
            point,
            [base.answer["tally"], again["base"].result["tally"]],
            [head.answer["tally"], again["head"].result["tally"]],
        )

    def _paths(self, point: PlannedPoint) -> tuple[str, ...]:
        """The touched files that differ, and the instrument's own that the head changed."""
        seen = self._seen.get(point.key)
        if seen is None:
            return ()
        same = compare_touched(seen["base"].touched, seen["head"].touched, spawns=False)
        mine = tuple(
            f"{name} (instrument: the head's on both sides)" for name in self.probes if name in seen["head"].touched
        )
        return (*same.changed, *same.added, *same.removed, *mine)

    def _derived(self, point: PlannedPoint) -> Comparison:
        """An invariant over two clocks: each side measures its inputs in two processes, and the formula says."""
        from importlib import import_module

        room, _, name = (point.kpi.formula or "").partition(":")
        formula = getattr(import_module(f"kpis.formulas.{room.replace('/', '.')}"), name)
        held: dict[str, list[float]] = {"base": [], "head": []}
        for side in ("base", "head"):
            for seed in SEEDS:
                values = []
                for wanted in point.kpi.inputs:
                    source = next(each for each in self.points.inputs if each.kpi.id == wanted)
                    more = {"values": 1, "warmups": 1}
                    loops = self.ground.ask(source, side, "calibrate", limit=self.options.limit_s, **more)
                    if loops.undefined is not None:
                        return Comparison(State.VOID, evidence=(f"on the {side}: {loops.undefined[1]}",))
                    more = {"values": 3, "warmups": 1, "loops": loops.result["loops"]}
                    answer = self.ground.ask(source, side, "measure", seed=seed, limit=self.options.limit_s, **more)
                    if answer.undefined is not None:
                        return Comparison(State.VOID, evidence=(f"on the {side}: {answer.undefined[1]}",))
                    values.append(answer.result["process_ns"])
                held[side].append(formula(*values))
        return invariant(held["base"], held["head"])

    def _timed(self, timed: list[TimedPoint], found: dict[str, Comparison]) -> list[GateRow]:
        deadline = None if self.options.budget_s is None else self.began + self.options.budget_s
        done = 0

        def step(point: TimedPoint, stage: Any) -> None:
            nonlocal done
            done += 1
            share = 0.1 + 0.9 * min(done / max(16 * len(timed), 1), 0.95)
            self.on_step(f"{stage.value} {label(point.point)}", share)

        time_points(
            timed,
            self.ground,
            seed=self.journal.header["seed"],
            limit=self.options.limit_s,
            deadline=deadline,
            keep=self._keep,
            on_step=step,
        )
        open_points = {point.point.key: point for point in timed if point.void is None}
        judged = settle({key: point.judge for key, point in open_points.items()}, self.rule)
        rows = []
        for point in timed:
            if point.void is not None:
                why = (point.void.reason, point.void.detail)
                base, head = (why, None) if point.void.side == "base" else (None, why)
                comparison = unmeasured(base, head) or Comparison(State.VOID, evidence=(why[1],))
                found[label(point.point)] = comparison
                rows.append(row_of(point.point, comparison, paths=self._paths(point.point)))
                continue
            comparison = judged[point.point.key]
            found[label(point.point)] = comparison
            functions, legs = legs_of_suspects(self.ground, point, comparison, self.options)
            more = {"functions": functions, "paths": self._paths(point.point)}
            rows.append(timed_row(point, comparison, self.rule, **more))
            rows += legs
        return rows

    def _keep(self, name: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if name not in self._kept:
            answer = measure()
            self.journal.append({"did": name, "answer": answer})
            self._kept[name] = answer
        return self._kept[name]


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
    by_label = {label(point): point.kpi for point in points.all}
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
