"""A page on a console: lines that wrap between words, columns that are never cut, texts that are inert.

What every table needs and no table owns. Refuses markup: whatever is written is shown as it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, NoReturn, Protocol

from rich.console import Console
from rich.text import Text

from harness.report.inert import inert
from harness.report.naming import said
from harness.report.units import Signs, signs_for
from harness.report.width import columns
from kpis.terms.reading import Leg, Reading

__all__ = ["Fences", "Page", "Row", "console_on", "page_on"]

_GAP = "  "
_INDENT = 2


class _Row(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def fence(self) -> str: ...
    @property
    def seam(self) -> str: ...


class Fences(Protocol):
    """What is needed of a catalog: rows with an id, a fence and the name of a seam."""

    @property
    def kpis(self) -> Any:
        """The rows: a tuple of them, or a mapping by id."""
        ...


class _Console(Console):
    """rich's console, but for its own idea of how a process ends when its reader goes away."""

    def on_broken_pipe(self) -> NoReturn:
        """Pass the error on, so that the exit code is chosen where all others are."""
        raise BrokenPipeError


def console_on(stream: IO[str], width: int | None = None) -> Console:
    """A console that never interprets text: no markup, no emoji, no highlighting. Honours NO_COLOR and COLUMNS.

    Where the reader of ``stream`` has gone away, printing raises BrokenPipeError.
    """
    return _Console(file=stream, width=width or columns(stream), markup=False, emoji=False, highlight=False)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a grid: its name, indented if it is one of several of a kind, and its cells; none for a heading."""

    name: Text
    cells: tuple[Text, ...] = ()
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """Where and how it is written; ``runtimes`` and ``workloads`` say what a row must name to be told from others."""

    console: Console
    signs: Signs
    fences: dict[str, str]
    seams: dict[str, str]
    runtimes: bool
    workloads: frozenset[str]

    @property
    def width(self) -> int:
        """Columns that one line may take."""
        return self.console.width

    def safe(self, text: object) -> str:
        """``text`` inert, in characters that this console can encode."""
        return inert(str(text), self.console.encoding)

    def blank(self) -> None:
        """Print an empty line."""
        self._print(Text())

    def line(self, text: str, style: str = "", indent: int = 0) -> None:
        """Print one paragraph, wrapped between words; continuation lines are indented by two more.

        A command of ours in it gets the name that can be typed here.
        """
        body = Text(said(text), style=style)
        if indent + body.cell_len <= self.width:
            self._print(Text(" " * indent).append_text(body))
            return
        for index, part in enumerate(body.wrap(self.console, max(20, self.width - indent - _INDENT))):
            part.rstrip()
            lead = Text(" " * (indent + (_INDENT if index else 0)))
            self._print(lead.append_text(part))

    def grid(self, titles: Sequence[str], rows: Sequence[Row]) -> None:
        """Print ``rows`` in columns below a heading and a rule; the first cell of a row is flush right.

        Nothing is ever cut: a name for which there is no room beside the cells has a line of its own, and where not
        even the cells fit side by side they follow below their name. No line ends in blanks, which is why this is not
        a table of rich.
        """
        heading = Row(Text(titles[0]), tuple(map(Text, titles[1:])))
        cells = [row.cells for row in (heading, *rows) if row.cells]
        widths = [max(cell.cell_len for cell in column) for column in zip(*cells, strict=True)]
        beside = sum(widths) + len(_GAP) * len(widths)
        longest = max(row.indent + row.name.cell_len for row in (heading, *rows) if row.cells)
        room = min(longest, self.width - beside)
        if room < heading.name.cell_len:
            for row in rows:
                self.line(row.name.plain, indent=row.indent)
                self._packed(row.cells, row.indent + _INDENT)
            return
        self._row(heading, room, widths)
        pretty = self.console.is_terminal and not self.console.options.ascii_only
        self._print(Text(("\N{BOX DRAWINGS LIGHT HORIZONTAL}" if pretty else "-") * (room + beside)))
        for row in rows:
            self._row(row, room, widths)

    def _row(self, row: Row, room: int, widths: Sequence[int]) -> None:
        name = Text(" " * row.indent).append_text(row.name)
        if row.cells:
            # A long name may run on into the blanks before a short number: most that are too long fit so.
            room += widths[0] - row.cells[0].cell_len
        if not row.cells or name.cell_len > room:
            self.line(row.name.plain, str(row.name.style), indent=row.indent)
            name = Text()
        if row.cells:
            others = (_padded(cell, width) for cell, width in zip(row.cells[1:], widths[1:], strict=True))
            line = Text(_GAP).join([_padded(name, room), row.cells[0], *others])
            line.rstrip()
            self._print(line)

    def _packed(self, pieces: Sequence[Text], indent: int) -> None:
        """Print ``pieces`` on as few lines as hold them, breaking between them only."""
        line = ""
        for piece in filter(None, (piece.plain for piece in pieces)):
            if line and indent + Text(line + _GAP + piece).cell_len > self.width:
                self.line(line, indent=indent)
                line = piece
            else:
                line = line + _GAP + piece if line else piece
        if line:
            self.line(line, indent=indent)

    def _print(self, line: Text) -> None:
        self.console.print(line, no_wrap=True, crop=False, overflow="ignore")

    def whole(self, text: str) -> None:
        """Print one line that is never wrapped: a path or a command broken over two lines cannot be copied."""
        self.console.print(Text(text), soft_wrap=True)

    def where(self, reading: Reading) -> str:
        """What tells this row from others of its KPI: parameters, leg, and runtime or workload if they differ."""
        named = [f"{key}={value}" for key, value in reading.params.items()]
        if reading.leg is not Leg.MAIN:
            named.append(f"leg={reading.leg.value}")
        if self.runtimes:
            named.append(f"runtime={reading.runtime}")
        if reading.workload in self.workloads:
            named.append(f"workload={reading.workload}")
        return self.safe(" ".join(named))


def _padded(part: Text, width: int) -> Text:
    return part.copy().append(" " * (width - part.cell_len))


def page_on(console: Console, catalog: Fences, readings: Iterable[Reading], kinds: Mapping[str, str]) -> Page:
    """The page for ``readings``, with the fences of ``catalog``; ``kinds`` are those of the workloads, by name.

    A row names its workload only where the run has several of that kind, or where the kind is not known.
    """
    rows: Sequence[_Row] = tuple(catalog.kpis.values() if hasattr(catalog.kpis, "values") else catalog.kpis)
    shown = tuple(readings)
    workloads = {*kinds, *(reading.workload for reading in shown if reading.workload)}
    alike = Counter(kinds.get(name) for name in workloads)
    return Page(
        console=console,
        signs=signs_for(console.encoding),
        fences={row.id: row.fence for row in rows},
        seams={row.id: row.seam for row in rows},
        runtimes=len({reading.runtime for reading in shown}) > 1,
        workloads=frozenset(
            name for name in workloads if len(workloads) > 1 and (name not in kinds or alike[kinds[name]] > 1)
        ),
    )
