"""``ratchet accept``: write what a run bears out onto the record. Callable from Python; measures nothing.

The run file goes onto the record before the rows that point to it, one writer at a time; where nothing moved nothing is
written. Refuses to loosen a row that nobody named, and to write what the next check would refuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from harness.jobs.ratchet import compared
from harness.jobs.ratchet_found import Found
from harness.jobs.ratchet_layers import Accepted, anchored, record_after
from harness.jobs.ratchet_move import Intent, Move, moved_row
from harness.jobs.ratchet_points import Names
from harness.jobs.ratchet_runs import newest_run, read_run, require_recordable
from harness.jobs.ratchet_words import nearest, require_text, rows_named
from harness.measure import machine
from harness.project import Project
from harness.record.baseline_read import BaselineError
from harness.record.baselines import Record, folder, load, run_name, save, writing
from harness.record.borne_out import require_borne_out
from harness.record.pointed import Pointed
from harness.record.run import RunFileError
from kpis.errors import SelectionError
from kpis.registry import Catalog

__all__ = ["Asked", "accept"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What to accept: all rows, or those of ``kpis`` (ids or rows); ``why`` they may move for the worse.

    ``afresh`` begins rows again whose machine facts changed; ``release`` is the tag of an anchor to write.
    """

    kpis: tuple[str, ...] = ()
    why: str | None = None
    afresh: bool = False
    release: str | None = None


def accept(project: Project, catalog: Catalog, asked: Asked, *, file: Path | None = None, today: date) -> Accepted:
    """Put the run in ``file``, else the newest of everything on this machine, onto the record of its machine.

    Raises:
        BaselineError: the record or the run cannot be used, or somebody else is writing.
        SelectionError: a name is neither in the catalog nor on record, ``why`` names nothing, or a text is none.
    """
    for option, text in (("--why", asked.why), ("--release", asked.release)):
        require_text(option, text, "python -m harness ratchet accept KPI --why TEXT")
    if asked.why is not None and not (asked.kpis or asked.afresh):
        raise SelectionError(
            "--why is for rows that are named: `python -m harness ratchet accept KPI --why TEXT`, or for all of them "
            "on a changed machine: `python -m harness ratchet accept --afresh --why TEXT`."
        )
    if asked.afresh and asked.why is None:
        raise SelectionError(
            "--afresh begins rows again, so it needs a reason: `python -m harness ratchet accept --afresh --why TEXT`."
        )
    with writing(project.root):
        run = newest_run(project.root, machine.slug(machine.fingerprint())) if file is None else read_run(file)
        require_recordable(run)
        record = load(project.root, run.machine.slug) or Record(run.machine.slug)
        names = Names.of(project, catalog)
        pointed = Pointed.in_folder(folder(project.root, record.slug) / "runs", record.slug, names.of_reading)
        found, _, ruler = compared(record, run, names, pointed, today)
        ours = [each for each in found if each.anchor == "record"]
        wanted = _wanted(ours, asked.kpis, names)
        name, blob = run_name(run)
        done = Accepted(run.id)
        slow = None if ruler is None else ruler["off"]
        intent = Intent(today, asked.why if asked.kpis else None, asked.why if asked.afresh else None, slow)
        moves: dict[str, Move] = {}
        for each in ours:
            if each.name not in wanted:
                continue
            moves[each.name] = moved_row(each, run, name, intent)
        after = record_after(record, {each.name: each for each in ours}, moves, run, done)
        if asked.release is not None:
            after = anchored(after, asked.release, run, done)
        done.written = save(project.root, after, _wanted_run(after, pointed, names, name, blob))
        return done


def _wanted_run(record: Record, pointed: Pointed, names: Names, name: str, blob: bytes) -> tuple[str, bytes] | None:
    """The run file that is to be written with ``record``, None where no row points to it.

    Raises:
        BaselineError: with it the next check would refuse the record.
    """
    if not any(session.run == name for _, _, row in record.rows for session in row.sessions):
        return None
    try:
        pointed.hold(name, blob)
        require_borne_out(record, pointed, names.canonical, names.known)
    except (BaselineError, RunFileError) as error:
        raise BaselineError(f"Nothing is written, for the next check would refuse it: {error}") from None
    return name, blob


def _wanted(found: Sequence[Found], asked: Sequence[str], names: Names) -> frozenset[str]:
    """The rows that were asked for; all of them where none was."""
    every = [each.name for each in found]
    if not asked:
        return frozenset(every)
    wanted: set[str] = set()
    for word in asked:
        hit = rows_named(word, every, names)
        if not hit:
            raise SelectionError(
                f"{word} is neither on record nor a gating KPI of this run{nearest(word, every)}; see "
                "`python -m harness ratchet check`."
            )
        wanted.update(hit)
    return frozenset(wanted)
