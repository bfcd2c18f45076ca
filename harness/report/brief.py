"""What a page about somebody's own project need not spell out: built-in KPIs whose seams the runtime does not offer.

A project with rows of its own asks about these; the built-in ones that cannot be had there are counted in one line. All
of them stay in the file. Refuses to leave out what was asked for by its name, and anything that went wrong.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from harness.report.naming import program
from kpis.terms.reading import Reading, Reason

__all__ = ["not_offered", "own_ids", "sentence", "unsaid"]


def own_ids(rows: Any) -> frozenset[str]:
    """The ids of the rows that are not built in."""
    return frozenset(row.id for row in rows if getattr(row, "origin", "catalog") != "catalog")


def not_offered(readings: Sequence[Reading], rows: Any) -> frozenset[str]:
    """The KPIs of which every reading is undefined because a seam is not offered, or is computed from such ones."""
    inputs = {row.id: tuple(getattr(row, "inputs", ())) for row in rows}
    wanting = {reading.kpi for reading in readings if _reason(reading) is Reason.NOT_OFFERED}
    direct = wanting - {reading.kpi for reading in readings if _reason(reading) is not Reason.NOT_OFFERED}
    computed = {
        reading.kpi
        for reading in readings
        if _reason(reading) is Reason.INPUT_UNDEFINED and direct.intersection(inputs.get(reading.kpi, ()))
    }
    return frozenset(direct | computed)


def _reason(reading: Reading) -> Reason | None:
    return None if reading.undefined is None else reading.undefined.reason


def unsaid(readings: Sequence[Reading], rows: Any, named: Collection[str]) -> frozenset[str]:
    """The KPIs that are only counted: none where the run has no row of the project's own, never one of ``named``."""
    own = own_ids(rows)
    if not any(reading.kpi in own for reading in readings):
        return frozenset()
    return not_offered(readings, rows) - own - set(named)


def sentence(count: int) -> str:
    """The line that stands for ``count`` built-in KPIs."""
    some = f"{count} built-in KPI{'s' * (count != 1)}"
    return f"{some}: not offered by this runtime (list them with --verbose or {program()} list)"
