"""``ratchet accept`` and ``waive``: write what a run bears out onto the record. Callable from Python; measures nothing.

The run file goes onto the record before the rows that point to it, one writer at a time; where nothing moved nothing is
written. Refuses to loosen a row that nobody named, and to put rows of two machines into one file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path

from harness.jobs.ratchet import compared
from harness.jobs.ratchet_base import held_rows
from harness.jobs.ratchet_move import Intent, Move, Refusal, moved_row
from harness.jobs.ratchet_points import Names
from harness.jobs.ratchet_rows import Found
from harness.jobs.ratchet_runs import newest_run, read_run, require_recordable
from harness.measure import machine
from harness.project import Project
from harness.record.baseline import LONGEST_WAIVER, BaselineFile, Row, Waiver
from harness.record.baseline_read import BaselineError
from harness.record.baselines import Record, folder, load, run_name, save, writing
from harness.record.borne_out import require_borne_out
from harness.record.fingerprints import EXACT, TIME, differing, stated
from harness.record.pointed import Pointed
from harness.record.run import Run, RunFileError
from kpis.errors import SelectionError, did_you_mean
from kpis.registry import Catalog
from kpis.terms.kpi import Layer

__all__ = ["Accepted", "Asked", "NoRecordError", "accept", "waive"]


_WAIVE = "python -m harness ratchet waive KPI --why TEXT --until DATE"


class NoRecordError(BaselineError):
    """There is no record of this machine."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What to accept: all rows, or those of ``kpis`` (ids or rows); ``why`` they may move for the worse.

    ``afresh`` begins rows again whose machine facts changed; ``release`` is the tag of an anchor to write.
    """

    kpis: tuple[str, ...] = ()
    why: str | None = None
    afresh: bool = False
    release: str | None = None


@dataclass(slots=True)
class Accepted:
    """What was written; (row, sentence) of what moved; the same and the reason of what was refused."""

    run: str
    written: list[Path] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str, Refusal]] = field(default_factory=list)


def accept(project: Project, catalog: Catalog, asked: Asked, *, file: Path | None = None, today: date) -> Accepted:
    """Put the run in ``file``, else the newest of everything on this machine, onto the record of its machine.

    Raises:
        BaselineError: the record or the run cannot be used, or somebody else is writing.
        SelectionError: a name is neither in the catalog nor on record, ``why`` names nothing, or a text is none.
    """
    for option, text in (("--why", asked.why), ("--release", asked.release)):
        _require_text(option, text, "python -m harness ratchet accept KPI --why TEXT")
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
        after = _after(record, {each.name: each for each in ours}, moves, run, done)
        if asked.release is not None:
            after = _released(after, asked.release, run, done)
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


def _require_text(option: str, text: str | None, again: str) -> None:
    """Require that ``text``, where one is given, says something that a file can hold."""
    if text is None:
        return
    if not text.strip():
        raise SelectionError(f"{option} is given without a text; say it in words: `{again}`.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise SelectionError(f"{option} holds bytes that are no text in UTF-8; write it anew: `{again}`.") from None


def _wanted(found: Sequence[Found], asked: Sequence[str], names: Names) -> frozenset[str]:
    """The rows that were asked for; all of them where none was."""
    every = [each.name for each in found]
    if not asked:
        return frozenset(every)
    wanted: set[str] = set()
    known = dict.fromkeys((*every, *(_kpi(name) for name in every)))
    for word in asked:
        hit = [name for name in every if names.canonical(word) in (name, _kpi(name))]
        if not hit:
            raise SelectionError(
                f"{word} is neither on record nor a gating KPI of this run{did_you_mean(word, known)}; see "
                "`python -m harness ratchet check`."
            )
        wanted.update(hit)
    return frozenset(wanted)


def _kpi(name: str) -> str:
    return name.partition("[")[0].partition(" ")[0]


def _after(record: Record, found: Mapping[str, Found], moves: Mapping[str, Move], run: Run, done: Accepted) -> Record:
    """The record with the moves made, layer by layer; a layer that would mix two machines stays as it is."""
    facts = run.machine.fingerprint
    layers: dict[Layer, dict[str, Row]] = {layer: dict(file.rows) for layer, file in record.layers.items()}
    at = {name: layer for layer, name, _ in record.rows}
    touched: dict[Layer, set[str]] = {}
    said: dict[Layer, list[tuple[str, str]]] = {}
    for name, move in moves.items():
        each = found[name]
        old = None if each.held is None else each.held.recorded_as
        layer = at[old] if old is not None else each.point.kpi.layer if each.point is not None else None
        if layer is None:
            continue
        now = layer if each.point is None else each.point.kpi.layer  # a KPI may have changed its layer
        if move.refusal is not None:
            done.refused.append((name, move.said or "", move.refusal))
            continue
        if old is not None:
            layers[layer].pop(old)
        if move.row is not None:
            layers.setdefault(now, {})[name] = move.row
            if each.held is None or move.row.sessions != each.held.row.sessions:
                touched.setdefault(now, set()).add(name)
        if move.said is not None:
            said.setdefault(now, []).append((name, move.said))
    files: dict[Layer, BaselineFile] = {}
    for layer, rows in layers.items():
        file = record.layers.get(layer)
        if file is None:
            files[layer] = BaselineFile(stated(facts, EXACT), stated(facts, TIME), rows)
        elif mixed := _mixed(file, rows, touched.get(layer, set()), run):
            done.refused.append((f"layer {layer.value}", mixed, Refusal.UNLIKE))
            files[layer] = file
            continue
        else:
            files[layer] = _stated(file, rows, touched.get(layer, set()), facts)
        done.moved += said.get(layer, [])
    return replace(record, layers={layer: file for layer, file in files.items() if file.rows or layer in record.layers})


def _stated(file: BaselineFile, rows: dict[str, Row], touched: set[str], facts: Mapping[str, object]) -> BaselineFile:
    """The file with ``rows``; its facts are those of this run where rows that need them are all of this run."""
    if touched and differing(file.exact, facts, EXACT):
        return BaselineFile(stated(facts, EXACT), stated(facts, TIME), rows)
    timed = any(rows[name].timed for name in touched)
    return replace(file, rows=rows, time=stated(facts, TIME) if timed else file.time)


def _differing(file: BaselineFile, facts: Mapping[str, object]) -> list[str]:
    return [*differing(file.exact, facts, EXACT), *differing(file.time, facts, TIME)]


def _mixed(file: BaselineFile, rows: Mapping[str, Row], touched: set[str], run: Run) -> str | None:
    """Why rows of this run may not join those of ``file``: some that need the changed facts are not from this run."""
    exact = differing(file.exact, run.machine.fingerprint, EXACT)
    time = differing(file.time, run.machine.fingerprint, TIME)
    if not touched or not (exact or time):
        return None
    kept = [name for name, row in rows.items() if name not in touched and (exact or row.timed)]
    joined = [name for name in touched if exact or rows[name].timed]
    if not kept or not (joined or exact):
        return None
    return (
        f"{(exact or time)[0]}, so that its rows cannot stand beside {kept[0]}, which is of before; begin all of them "
        "again with: python -m harness ratchet accept --afresh --why TEXT"
    )


def _released(record: Record, tag: str, run: Run, done: Accepted) -> Record:
    """The record with an anchor: the rows as they stand now, which later runs are held against with a budget."""
    if any(kind is not Refusal.LIMIT for _, _, kind in done.refused):
        said = "not anchored, since rows were refused; settle them, then give the command again"
        done.refused.append((f"release {tag}", said, Refusal.UNLIKE))
        return record
    facts = run.machine.fingerprint
    for layer, file in record.layers.items():
        if differ := _differing(file, facts):
            done.refused.append((f"release {tag}", f"not anchored: in {layer.value} {differ[0]}", Refusal.UNLIKE))
            return record
    rows = {name: replace(row, pending=None, waiver=None, moved=None) for _, name, row in record.rows}
    anchor = BaselineFile(stated(facts, EXACT), stated(facts, TIME), rows, tag)
    if record.release != anchor:
        done.moved.append((f"release {tag}", f"anchored with {len(rows)} rows"))
    return replace(record, release=anchor)


def waive(
    project: Project, catalog: Catalog, kpis: Sequence[str], *, why: str, until: date, today: date
) -> tuple[list[str], list[Path]]:
    """Let the rows of ``kpis`` (ids or rows) not fail until the end of a day; the rows, and the files written.

    Raises:
        NoRecordError: there is no record of this machine.
        SelectionError: a name is not on record, the reason is none, or the day has passed or is too far ahead.
    """
    _require_text("--why", why, _WAIVE)
    if until <= today:
        raise SelectionError(f"--until {until} is not in the future; name the waiver's last day: `{_WAIVE}`.")
    if until > (last := today + timedelta(days=LONGEST_WAIVER)):
        raise SelectionError(
            f"--until {until} is more than {LONGEST_WAIVER} days ahead; end it on {last} or before, or move the row: "
            "`python -m harness ratchet accept KPI --why TEXT`."
        )
    slug = machine.slug(machine.fingerprint())
    with writing(project.root):
        record = load(project.root, slug)
        if record is None:
            raise NoRecordError(
                f"There is no record of this machine, {slug}; begin one with `python -m harness run --all`, then "
                "`python -m harness ratchet accept`."
            )
        names = Names.of(project, catalog)
        held = held_rows(record, names)
        chosen: dict[str, str] = {}
        for word in kpis:
            hit = {name: row.recorded_as for name, row in held.items() if names.canonical(word) in (name, _kpi(name))}
            if not hit:
                known = dict.fromkeys((*held, *map(_kpi, held)))
                raise SelectionError(
                    f"{word} is not on record{did_you_mean(word, known)}; see `python -m harness ratchet check`."
                )
            chosen |= hit
        layers = dict(record.layers)
        for layer, file in record.layers.items():
            rows = {
                name: replace(row, waiver=Waiver(why, until)) if name in chosen.values() else row
                for name, row in file.rows.items()
            }
            layers[layer] = replace(file, rows=rows)
        return sorted(chosen), save(project.root, replace(record, layers=layers))
