"""``ratchet waive``: let rows of the record not fail until a day. Callable from Python; measures nothing.

Refuses a waiver without a reason, one that has ended already and one that outlives what a record allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from harness.jobs.ratchet_base import held_rows
from harness.jobs.ratchet_points import Names
from harness.jobs.ratchet_words import nearest, require_text, rows_named
from harness.measure import machine
from harness.project import Project
from harness.record.baseline import LONGEST_WAIVER, Waiver
from harness.record.baseline_read import BaselineError
from harness.record.baselines import load, save, writing
from kpis.errors import SelectionError
from kpis.registry import Catalog

__all__ = ["NoRecordError", "waive"]

_WAIVE = "python -m harness ratchet waive KPI --why TEXT --until DATE"


class NoRecordError(BaselineError):
    """There is no record of this machine."""


def waive(
    project: Project, catalog: Catalog, kpis: Sequence[str], *, why: str, until: date, today: date
) -> tuple[list[str], list[Path]]:
    """Let the rows of ``kpis`` (ids or rows) not fail until the end of a day; the rows, and the files written.

    Raises:
        NoRecordError: there is no record of this machine.
        SelectionError: a name is not on record, the reason is none, or the day has passed or is too far ahead.
    """
    require_text("--why", why, _WAIVE)
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
            hit = {name: held[name].recorded_as for name in rows_named(word, held, names)}
            if not hit:
                raise SelectionError(
                    f"{word} is not on record{nearest(word, held)}; see `python -m harness ratchet check`."
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
