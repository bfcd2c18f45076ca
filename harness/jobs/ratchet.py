"""``ratchet check``: is what a run measured as good as what is on record? Callable from Python; measures nothing.

The record is held against its own run files first, then the run against the record and the last release. The verdict
is the judge's; this module only carries.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from harness.jobs.ratchet_base import at_base, held_rows, release_rows
from harness.jobs.ratchet_conditions import Held
from harness.jobs.ratchet_evidence import evidence_in
from harness.jobs.ratchet_file import no_record, ratchet_file
from harness.jobs.ratchet_found import Found
from harness.jobs.ratchet_points import Names, gating_points, readings_by_name
from harness.jobs.ratchet_rows import compare
from harness.jobs.ratchet_runs import newest_run, read_run
from harness.judge.ruler import ruler_off
from harness.measure import machine
from harness.project import Project
from harness.record.baseline import Session, different
from harness.record.baselines import Record, folder, load
from harness.record.borne_out import require_borne_out, require_short_waivers
from harness.record.pointed import Pointed
from harness.record.ratchet import RatchetFile
from harness.record.run import Run
from harness.report import brief
from kpis.registry import Catalog
from kpis.terms.kpi import Layer

__all__ = ["check", "compared", "ruler_of"]


def check(
    project: Project, catalog: Catalog, *, file: Path | None = None, against: str | None = None, today: date
) -> RatchetFile:
    """Hold a run (that of ``file``, else the newest of everything on this machine) against the record of its machine.

    ``against`` is a revision whose own faults are not blamed on the change.

    Raises:
        BaselineError: the record or the run cannot be used.
        RunFileError, SelectionError, SubjectError: as their sentences say.
    """
    run = None if file is None else read_run(file)
    slug = machine.slug(machine.fingerprint()) if run is None else run.machine.slug
    record = load(project.root, slug)
    if record is None:
        return no_record(project.root, slug, run)
    run = run or newest_run(project.root, slug)
    names = Names.of(project, catalog)
    pointed = Pointed.in_folder(folder(project.root, slug) / "runs", slug, names.of_reading)
    found, unselected, ruler = compared(record, run, names, pointed, today)
    base = None if against is None else at_base(project.root, against, slug, names, today)
    return ratchet_file(record, run, found, unselected, ruler, base, today, evidence_in(run, pointed))


def compared(
    record: Record, run: Run, names: Names, pointed: Pointed, today: date
) -> tuple[list[Found], int, dict[str, Any] | None]:
    """Every comparison of ``run``; how many rows it was not asked for; what the ruler says.

    Raises:
        BaselineError: a row of the record is not borne out by its own runs.
    """
    require_short_waivers(record, today)
    lost = require_borne_out(record, pointed, names.canonical, names.known)
    points, readings = gating_points(run, names), readings_by_name(run, names)
    everything = gating_points(None, names).keys() | points.keys()
    rows: dict[str, Held] = {}
    unselected = 0
    for name, held in held_rows(record, names, pointed).items():
        if name in points or _label(name) not in everything:
            rows[name] = held
        else:
            unselected += 1
    ruler = ruler_of(record, run, pointed)
    found = compare(
        rows,
        run,
        points,
        readings,
        today=today,
        blameless=brief.not_offered(run.readings, names.catalog),
        slow=None if ruler is None else ruler["off"],
        release=release_rows(record, names),
    )
    found = [each.saying(lost[each.name]) if each.anchor == "record" and each.name in lost else each for each in found]
    return found, unselected, ruler


def _label(name: str) -> str:
    """A row's name without the runtime and the workload: what the catalog knows of it."""
    return name.partition(" ")[0]


def ruler_of(record: Record, run: Run, pointed: Pointed) -> dict[str, Any] | None:
    """What the ruler of ``run`` says against those of the sessions on record; None where the run has none."""
    now = _ruler(run)
    if now is None:
        return None
    where = {session.run: f"baselines/{record.slug}/{layer.value}.toml" for layer, session in _sessions(record)}
    sessions = sorted({session for _, session in _sessions(record)}, key=lambda each: (each.day, each.boot, each.run))
    apart = different(replace(session, median=None, n=None) for session in sessions)
    ticks = [_ruler(pointed.run(session.run, wanted_by=where[session.run])) for session in apart]
    then = [sum(pair) / 2 for pair in ticks if pair is not None]
    return {"before_ns": now[0], "after_ns": now[1], "sessions": len(then), "off": ruler_off(then, now)}


def _sessions(record: Record) -> Iterable[tuple[Layer, Session]]:
    return ((layer, session) for layer, _, row in record.rows for session in row.sessions)


def _ruler(run: Run) -> tuple[float, float] | None:
    ticks = run.noise.get("ruler")
    if not isinstance(ticks, dict):
        return None
    before, after = ticks.get("before_ns"), ticks.get("after_ns")
    if not isinstance(before, int | float) or not isinstance(after, int | float) or min(before, after) <= 0:
        return None
    return before, after
