"""Names in a column of a table: whole where they fit, else without their beginning, which paths and tools share.

A name in parentheses is a label of ours, whose beginning says what it is. Refuses to cut a name where everything was
asked for: then it has a line of its own.
"""

from __future__ import annotations

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console

from harness.report.lines import put_line

__all__ = ["put_row"]

_CUT = "..."


def put_row(console: Console, name: str, wide: int, cells: str, *, whole: bool = False) -> None:
    """Print ``name`` in a column of ``wide`` cells and ``cells`` after it; a long one on its own lines if ``whole``."""
    if whole and cell_len(name) >= wide:
        for piece in chop_cells(name, console.width):
            put_line(console, piece)
        name = ""
    put_line(console, _column(name, wide) + cells)


def _column(name: str, wide: int) -> str:
    if cell_len(name) < wide:
        return set_cell_size(name, wide)
    room = wide - 1 - len(_CUT)
    if name.startswith("("):
        return set_cell_size(set_cell_size(name, room).rstrip() + _CUT, wide)
    kept = name
    while cell_len(kept) > room:  # a letter may be two cells wide
        kept = kept[max(1, (cell_len(kept) - room) // 2) :]
    return set_cell_size(_CUT + kept, wide)
