"""The catalog as a list for a terminal: a row a KPI, in columns, with its question.

Lines keep to the width given, and an id is never cut, since it is what one types next. Nothing is printed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import wrap

from harness.report.catalog_page import LAYER_TITLES
from harness.report.inert import inert
from kpis.terms.kpi import Kpi, Layer, Status

__all__ = ["list_text"]

_COLUMNS = ("KPI", "status", "unit", "gate", "better")
_QUESTION = 40  # a column of questions that is narrower takes more lines than questions below take


def list_text(kpis: Iterable[Kpi], statuses: Mapping[str, Status], width: int) -> str:
    """The KPIs in columns below a heading a layer, within ``width`` where ids allow it.

    Id, status and unit are always there, on two lines where they do not fit side by side; gate and direction while
    there is room; the question beside them if that leaves it a wide enough column, else below.
    """
    rows = list(kpis)
    if not rows:
        return ""
    cells = {kpi.id: _list_cells(kpi, statuses[kpi.id]) for kpi in rows}
    widths = [max(map(len, column)) for column in zip(_COLUMNS, *cells.values(), strict=True)]
    count = max(3, sum(1 for upto in range(1, 6) if _taken(widths[:upto]) <= width))
    beside = _taken(widths[:3]) <= width
    left = width - _taken(widths[:count]) - 2
    in_column = count == len(_COLUMNS) and left >= _QUESTION
    titles = _line(_COLUMNS[:count], widths, beside)
    if in_column:
        titles[-1] = f"{titles[-1]:<{_taken(widths)}}  question"
    lines = titles
    for layer in Layer:
        own = [kpi for kpi in rows if kpi.layer is layer]
        if own:
            lines += ["", *wrap(f"{layer.value}: {LAYER_TITLES[layer]}", max(width, 20))]
        for kpi in own:
            row = _line(cells[kpi.id][:count], widths, beside)
            if in_column:
                first, *rest = wrap(inert(kpi.question), left, break_on_hyphens=False) or [""]
                indent = " " * (_taken(widths) + 2)
                row = [f"{row[0]:<{_taken(widths)}}  {first}", *(indent + words for words in rest)]
            else:
                indent = " " * 4
                row += wrap(
                    inert(kpi.question),
                    max(width, 24),
                    initial_indent=indent,
                    subsequent_indent=indent,
                    break_on_hyphens=False,
                )
            lines += [line.rstrip() for line in row]
    return "\n".join(lines) + "\n"


def _taken(widths: Sequence[int]) -> int:
    return 2 * len(widths) + sum(widths)


def _line(cells: Sequence[str], widths: Sequence[int], beside: bool) -> list[str]:
    """One row; its id has a line of its own where the next two cells do not fit ``beside`` it."""
    padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=False)]
    lines = [f"  {'  '.join(padded)}"] if beside else [f"  {cells[0]}", f"    {'  '.join(padded[1:])}"]
    return [line.rstrip() for line in lines]


def _list_cells(kpi: Kpi, status: Status) -> tuple[str, ...]:
    return (kpi.id, status.value, kpi.unit.value, kpi.gate.value, kpi.direction.value)
