"""A page on a console: lines that wrap between words, texts that are inert, fences at hand.

What every table needs and no table owns. Refuses markup: whatever is written is shown as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import IO, Any, Protocol

from rich.console import Console
from rich.text import Text

from harness.report.inert import inert
from harness.report.units import Signs, signs_for
from kpis.terms.reading import Leg, Reading

__all__ = ["Fences", "Page", "console_on", "page_on"]

_NAMES = 3  # KPIs named beside a warning before the rest is counted


class _Row(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def fence(self) -> str: ...


class Fences(Protocol):
    """What is needed of a catalog: rows with an id and a fence."""

    @property
    def kpis(self) -> Any:
        """The rows: a tuple of them, or a mapping by id."""
        ...


def console_on(stream: IO[str], width: int | None = None) -> Console:
    """A console that never interprets text: no markup, no emoji, no highlighting. Honours NO_COLOR and COLUMNS."""
    return Console(file=stream, width=width, markup=False, emoji=False, highlight=False)


@dataclass(frozen=True, slots=True)
class Page:
    """Where and how it is written; ``runtimes`` and ``workloads`` say whether each row must name its own."""

    console: Console
    signs: Signs
    fences: dict[str, str]
    runtimes: bool
    workloads: bool

    @property
    def width(self) -> int:
        """Columns that one line may take."""
        return self.console.width

    def safe(self, text: object) -> str:
        """``text`` inert, in characters that this console can encode."""
        return inert(str(text), self.console.encoding)

    def line(self, text: str, style: str = "", indent: int = 0) -> None:
        """Print one paragraph, wrapped between words; continuation lines are indented by two more."""
        room = max(20, self.width - indent - 2)
        for index, part in enumerate(Text(text, style=style).wrap(self.console, room)):
            part.rstrip()
            lead = Text(" " * (indent + (2 if index else 0)))
            self._print(lead.append_text(part))

    def widths(self, rows: Sequence[Sequence[Text]]) -> list[int]:
        """The columns that each column of ``rows`` needs to be shown whole; a cell may have several lines."""
        return [
            max(line.cell_len for cell in column for line in cell.split("\n")) for column in zip(*rows, strict=True)
        ]

    def grid(self, rows: Sequence[Sequence[Text]], gap: str, right: int) -> None:
        """Print ``rows`` in columns, the first as heading over a rule; column ``right`` is flush right.

        Nothing is ever cut and no line ends in blanks, which is why this is not a table of rich.
        """
        widths = self.widths(rows)
        pretty = self.console.is_terminal and not self.console.options.ascii_only
        for index, row in enumerate(rows):
            for parts in zip_longest(*(cell.split("\n") for cell in row), fillvalue=Text()):
                line = Text(gap).join(
                    _padded(part, width, right=place == right)
                    for place, (part, width) in enumerate(zip(parts, widths, strict=True))
                )
                line.rstrip()
                self._print(line)
            if index == 0:
                length = sum(widths) + len(gap) * (len(widths) - 1)
                self._print(Text(("\N{BOX DRAWINGS LIGHT HORIZONTAL}" if pretty else "-") * length))

    def _print(self, line: Text) -> None:
        self.console.print(line, no_wrap=True, crop=False, overflow="ignore")

    def short(self, text: str, room: int) -> str:
        """``text`` on one line of at most ``room`` columns, cut with an ellipsis."""
        body = Text(self.safe(text))
        if body.cell_len <= room:
            return body.plain
        body.truncate(max(1, room - len(self.signs.ellipsis)))
        return body.plain.rstrip() + self.signs.ellipsis

    def where(self, reading: Reading) -> str:
        """What tells this row from others of its KPI: parameters, leg, and runtime or workload if there are several."""
        parts = [f"{key}={value}" for key, value in reading.params.items()]
        if reading.leg is not Leg.MAIN:
            parts.append(f"leg={reading.leg.value}")
        if self.runtimes:
            parts.append(f"runtime={reading.runtime}")
        if self.workloads and reading.workload:
            parts.append(f"workload={reading.workload}")
        return self.safe(" ".join(parts))

    def names(self, readings: Iterable[Reading]) -> str:
        """The KPIs of ``readings``, each once, the first few by name."""
        names = list(dict.fromkeys(self.safe(reading.kpi) for reading in readings))
        more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
        return ", ".join(names[:_NAMES]) + more


def _padded(part: Text, width: int, *, right: bool) -> Text:
    blank = " " * (width - part.cell_len)
    return Text(blank).append_text(part) if right else part.copy().append(blank)


def page_on(console: Console, catalog: Fences, readings: Iterable[Reading]) -> Page:
    """The page for ``readings``, with the fences of ``catalog``."""
    rows: Iterable[_Row] = catalog.kpis.values() if hasattr(catalog.kpis, "values") else catalog.kpis
    shown = tuple(readings)
    return Page(
        console=console,
        signs=signs_for(console.encoding),
        fences={row.id: row.fence for row in rows},
        runtimes=len({reading.runtime for reading in shown}) > 1,
        workloads=len({reading.workload for reading in shown if reading.workload}) > 1,
    )
