"""The record after a run, layer by layer, and its anchor: which rows may stand in one file beside which.

A file states the machine facts that all of its rows need. Refuses to put rows of two machines into one file, and to
anchor a release while rows are refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.jobs.ratchet_found import Found
from harness.jobs.ratchet_move import Move, Refusal
from harness.record.baseline import BaselineFile, Row
from harness.record.baselines import Record
from harness.record.fingerprints import EXACT, TIME, differing, stated
from harness.record.run import Run
from kpis.terms.kpi import Layer

__all__ = ["Accepted", "anchored", "record_after"]


@dataclass(slots=True)
class Accepted:
    """What was written; (row, sentence) of what moved; the same and the reason of what was refused."""

    run: str
    written: list[Path] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)
    refused: list[tuple[str, str, Refusal]] = field(default_factory=list)


def record_after(
    record: Record, found: Mapping[str, Found], moves: Mapping[str, Move], run: Run, done: Accepted
) -> Record:
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


def anchored(record: Record, tag: str, run: Run, done: Accepted) -> Record:
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
