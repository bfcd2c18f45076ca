"""Committed numbers as Markdown tables: one a class, for the authority's page and for blocks in other documents.

Every number of a row is a link to its run file. The numbers of a table pass through a
:class:`~kpis.terms.quantity.Column`, which refuses a model below a clock. Chooses no row and reads no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.report.authority_numbers import cell, link
from harness.report.authority_rows import Row, Table, point_of
from harness.report.naming import MODULE, typed
from kpis.terms.quantity import Column, Quantity, Source

__all__ = ["CLASS", "TITLES", "grid", "marker", "name_of", "number", "shell", "tables"]

TITLES = {
    Table.CLOCK: "Clock",
    Table.COUNTED: "Counted",
    Table.MODELED: "Modeled, not measured",
    Table.REPLAY: "Taken from recordings",
    Table.REPORTED: "Reported by others",
}

CLASS = "<!-- class: "
"""Stands above each table, so that a check can tell what its numbers claim to be."""


def grid(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A Markdown table."""
    return [f"| {' | '.join(line)} |" for line in (titles, ["---"] * len(titles), *rows)]


def marker(table: Table) -> str:
    """What stands above a table of this class."""
    return f"{CLASS}{table.value} -->"


def name_of(row: Row) -> str:
    """The row's KPI and point, in code."""
    point = point_of(row.reading)
    was = "" if row.reading.kpi == row.kpi else f" (as {cell(row.reading.kpi)})"
    work = row.reading.workload
    return f"`{row.kpi}`" + (f" {cell(point)}" if point else "") + was + (f" on {cell(work)}" if work else "")


def tables(
    rows: Sequence[Row], folder: str = "", *, short: bool = False, level: int = 0, marked: bool = False
) -> list[str]:
    """A table for each class that ``rows`` have numbers of; ``folder`` is where the document lies.

    ``short`` leaves out isolation and how to measure it again; ``level`` is that of the headings, 0 for none;
    ``marked`` adds a column that says why a row does not lead.

    Raises:
        kpis.terms.quantity.QuantityError: two numbers of one table may not stand in one column.
    """
    lines: list[str] = []
    for table in Table:
        chosen = [row for row in rows if row.table is table]
        if not chosen:
            continue
        if level:
            lines += [f"{'#' * level} {TITLES[table]}", ""]
        column = Column()
        for row in chosen:
            column.add(_quantity(row))
        shown = [_cells(row, table, folder, short=short, marked=marked) for row in chosen]
        lines += [marker(table), "", *grid(_titles(table, short=short, marked=marked), shown), ""]
    return lines


def _quantity(row: Row) -> Quantity:
    reading = row.reading
    assert reading.value is not None and reading.basis is not None and reading.source is not None
    return Quantity(reading.value, reading.unit, reading.basis, reading.source)


def _between(table: Table) -> tuple[str, ...]:
    """The columns between value and basis."""
    match table:
        case Table.CLOCK:
            return ("interval", "processes", "made of")
        case Table.COUNTED | Table.REPORTED:
            return ("numerator", "denominator", "excluded", "made of")
        case Table.MODELED:
            return ("numerator", "denominator", "knobs", "made of")
        case Table.REPLAY:
            return ("interval", "processes", "numerator", "denominator", "excluded", "made of")


def _titles(table: Table, *, short: bool, marked: bool) -> list[str]:
    first = ["KPI", "value", *_between(table), "basis, source"]
    last = ["machine", "mode", "from"] if short else ["isolation", "machine", "mode", "from", "measure again"]
    return [*first, *last, *(["why it does not lead"] if marked else [])]


def _cells(row: Row, table: Table, folder: str, *, short: bool, marked: bool) -> list[str]:
    reading, run = row.reading, row.artifact.run
    assert reading.basis is not None and reading.source is not None
    first = [name_of(row), number(row, "value", folder)]
    first += [_between_cell(row, title, folder) for title in _between(table)]
    first.append(f"{reading.basis.value}, {reading.source.value}")
    isolation = [] if short else [reading.isolation or "-"]
    last = [cell(run.machine.slug), run.mode.value, f"`{row.artifact.hash}#{row.pointer}`"]
    again = [] if short else [f"`{_again(row)}`"]
    return [*first, *isolation, *last, *again, *([cell("; ".join(row.marks))] if marked else [])]


def _between_cell(row: Row, title: str, folder: str) -> str:
    reading = row.reading
    match title:
        case "interval":
            known = reading.distribution is not None and reading.distribution.ci95 is not None
            return number(row, "distribution/ci95", folder) if known else "-"
        case "processes":
            return number(row, "distribution/n", folder) if reading.distribution is not None else "-"
        case "made of":
            return _made_of(row, folder)
        case "numerator" if reading.denominator is None:
            return "-"  # of what is no ratio it is the value once more
        case _:
            return "-" if getattr(reading, title) is None else number(row, title, folder)


def _made_of(row: Row, folder: str) -> str:
    found = [number(row, "histogram", folder)] if row.reading.histogram else []
    found += [number(row, f"evidence/{at}", folder) for at in range(len(row.reading.evidence))]
    return "; ".join(found) or "-"


def number(row: Row, field: str, folder: str) -> str:
    """The number in ``field`` of the row's reading, as a link from a document in ``folder``."""
    return link(row.artifact, f"{row.pointer}/{field}", folder)


def _again(row: Row) -> str:
    """The command that measures the row's number again."""
    words = [word for key, value in sorted(row.reading.params.items()) for word in ("--param", typed(f"{key}={value}"))]
    if row.reading.runtime != "reference":
        words += ["--runtime", typed(row.reading.runtime)]
    work = row.artifact.run.workloads.get(row.reading.workload or "")
    if work is not None and work.source == Source.REPLAY.value:
        words += ["--workload", "FILE"]
    return shell([f"{MODULE} authority repro {row.kpi}", *words])


def shell(words: Iterable[str]) -> str:
    """A command inside code inside a table."""
    return " ".join(words).replace("|", "\\|").replace("`", "")
