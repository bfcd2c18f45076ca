"""A run as tables for a terminal or a pipe: layer by layer, what was measured apart from what was modeled or reported.

Each table holds one axis: its numbers pass through a :class:`~kpis.terms.quantity.Column`, which raises when a model
is put below a clock. A KPI, its value and its interval are always shown whole; where the width does not allow a row,
a reading takes two lines. Refuses to judge, and to trust a text: everything from outside is shown inert.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from harness.record.run import Mode, Run
from harness.report.page import Fences, Page, console_on, page_on
from harness.report.units import interval, shown
from kpis.terms.kpi import Layer
from kpis.terms.quantity import Axis, Basis, Column, Quantity
from kpis.terms.reading import Reading, ReadingKind

__all__ = ["Fences", "console_on", "render_run"]

_WIDE = 100  # from here on a fence stands in the row; below it has a line of its own
_GAP = "  "
_FENCE_ROOM = 24  # a fence cut shorter than this says nothing
_TITLES = ("KPI", "value", "95 % interval", "basis, source", "status")
_HEADING = {Axis.MEASURED: "measured", Axis.MODELED: "modeled, not measured", Axis.REPORTED: "reported by others"}


def render_run(run: Run, catalog: Fences, console: Console, path: Path | None = None) -> None:
    """Print ``run`` on ``console``; ``path`` is where its file lies, or None where it was not kept.

    Raises:
        QuantityError: a reading claims what its basis does not allow (milliseconds of a clock, a truth value of 2).
    """
    page = page_on(console, catalog, run.readings)
    _head(run, page)
    for layer in Layer:
        for axis in Axis:
            chosen = [reading for reading in run.readings if reading.layer is layer and _axis(reading) is axis]
            if chosen:
                console.print()
                page.line(f"{layer.value}: {_HEADING[axis]}", "bold")
                _table(chosen, page)
                _below(chosen, page)
    _workloads(run, page)
    _foot(run, page, path)


def _axis(reading: Reading) -> Axis:
    """Where a reading stands; one that is undefined stands where its number would have stood."""
    if reading.kind is ReadingKind.MODELED or reading.basis is Basis.MODEL:
        return Axis.MODELED
    return Axis.REPORTED if reading.basis is Basis.REPORTED else Axis.MEASURED


def _head(run: Run, page: Page) -> None:
    mode = "" if run.mode is Mode.DEFAULT else f", {run.mode.value}"
    commit = f", commit {run.source.commit[:12]}" if run.source.commit else ""
    dirty = " with local changes" if run.source.dirty else ""
    page.line(page.safe(f"Run {run.id} on {run.machine.slug}{mode}{commit}{dirty}."))
    if not run.complete:
        page.line("This run is incomplete: what is missing was not measured.", "bold")


def _quantity(reading: Reading) -> Quantity | None:
    if reading.value is None or reading.basis is None or reading.source is None:
        return None
    return Quantity(reading.value, reading.unit, reading.basis, reading.source)


def _bounds(reading: Reading, page: Page) -> str:
    """The interval of a timed value, or what a rate is made of; ``-`` where there is neither."""
    spread = reading.distribution
    if reading.value is not None and spread is not None and spread.ci95 is not None:
        return interval(*spread.ci95, reading.unit, like=reading.value, signs=page.signs)
    if reading.numerator is not None and reading.denominator is not None:
        return f"{reading.numerator:,} of {reading.denominator:,}"
    return "-"


def _value(reading: Reading, quantity: Quantity | None, page: Page) -> Text:
    if quantity is not None:
        return Text(shown(quantity.value, quantity.unit, page.signs), style="bold")
    return Text(reading.undefined.reason.value if reading.undefined is not None else "undefined", style="yellow")


def _made(reading: Reading) -> str:
    return ", ".join(word.value for word in (reading.basis, reading.source) if word is not None) or "-"


def _cells(readings: Sequence[Reading], page: Page) -> list[list[Text]]:
    column = Column()
    cells = []
    for reading in readings:
        quantity = _quantity(reading)
        if quantity is not None:
            column.add(quantity)
        name = Text(page.safe(reading.kpi))
        if where := page.where(reading):
            name.append("\n  ").append(where, style="dim")
        value = _value(reading, quantity, page)
        made = Text(_made(reading).replace(", ", ",\n"))  # two short lines spare the width of one long one
        cells.append([name, value, Text(_bounds(reading, page)), made, Text(reading.status.value)])
    return cells


def _table(readings: Sequence[Reading], page: Page) -> None:
    cells = _cells(readings, page)
    rows = [[Text(title.replace(", ", ",\n")) for title in _TITLES], *cells]
    spare = page.width - sum(page.widths(rows)) - len(_GAP) * len(_TITLES)
    if spare < -len(_GAP):  # the last column needs no gap after it
        _stacked(readings, cells, page)
        _fences(readings, page)
    elif page.width >= _WIDE and spare >= _FENCE_ROOM and any(page.fences.get(reading.kpi) for reading in readings):
        rows[0].append(Text("fence"))
        seen: set[str] = set()
        for reading, row in zip(readings, cells, strict=True):
            fence = "" if reading.kpi in seen else page.short(page.fences.get(reading.kpi, ""), spare)
            row.append(Text(fence, style="dim"))
            seen.add(reading.kpi)
        page.grid(rows, _GAP, right=_TITLES.index("value"))
    else:
        page.grid(rows, _GAP, right=_TITLES.index("value"))
        _fences(readings, page)


def _stacked(readings: Sequence[Reading], cells: list[list[Text]], page: Page) -> None:
    """Two lines a reading, for widths at which a row would have to be cut."""
    for reading, (name, value, bounds, _, status) in zip(readings, cells, strict=True):
        page.line(" ".join(name.plain.split()))
        page.line(f"{value.plain}  {bounds.plain}  {_made(reading)}  {status.plain}", indent=2)


def _fences(readings: Sequence[Reading], page: Page) -> None:
    for kpi in dict.fromkeys(reading.kpi for reading in readings):
        if page.fences.get(kpi):
            lead = f"fence, {page.safe(kpi)}: "
            page.line(lead + page.short(page.fences[kpi], page.width - len(lead) - 2), "dim")


def _below(readings: Sequence[Reading], page: Page) -> None:
    """What does not fit into a row: parts and knobs, then reasons and warnings, equal ones once."""
    absent: dict[str, list[Reading]] = {}
    warned: dict[str, list[Reading]] = {}
    for reading in readings:
        _parts(reading, page)
        if reading.undefined is not None:
            words = f"undefined, {reading.undefined.reason.value}: {page.safe(reading.undefined.detail)}"
            absent.setdefault(words, []).append(reading)
        for notice in reading.warnings:
            warned.setdefault(f"warning, {notice.code.value}: {page.safe(notice.message)}", []).append(reading)
    for words, which in absent.items():
        page.line(f"{words} ({page.names(which)})")
    for words, which in warned.items():
        page.line(f"{words} ({page.names(which)})", "yellow")


def _parts(reading: Reading, page: Page) -> None:
    lead = " ".join(filter(None, (page.safe(reading.kpi), page.where(reading))))
    if reading.histogram:
        counts = ", ".join(f"{key} {count:,}" for key, count in sorted(reading.histogram.items()))
        page.line(f"{lead}: {page.safe(counts)}")
    if reading.knobs:
        knobs = ", ".join(f"{key}={value:g}" for key, value in sorted(reading.knobs.items()))
        page.line(f"{lead}: knobs {page.safe(knobs)}")
    if reading.excluded:
        page.line(f"{lead}: {reading.excluded:,} excluded from the denominator")


def _workloads(run: Run, page: Page) -> None:
    if run.workloads:
        page.console.print()
    for name, workload in sorted(run.workloads.items()):
        facts = "".join(f", {key} {value}" for key, value in sorted(workload.facts.items()))
        trace = f", trace {workload.hash}" if workload.hash else ""
        words = f"{name}: {workload.kind}, {workload.source}, sha256 {workload.sha256[:16]}{trace}{facts}"
        page.line(page.safe(f"workload {words}"))


def _foot(run: Run, page: Page, path: Path | None) -> None:
    void = next((reading for reading in run.readings if reading.undefined and reading.undefined.reason.void), None)
    if not run.complete:
        following = "python -m harness run --resume"
    elif void is not None:
        following = f"python -m harness explain {shlex.quote(page.safe(void.kpi))}"
    elif run.source.commit is None:  # nothing to compare with
        following = "python -m harness list"
    else:
        following = "python -m harness gate --against HEAD"
    file = f"Run file {page.safe(_relative(path))}; next" if path is not None else "Next"
    page.console.print()
    # Never wrapped: a path or a command that is broken over two lines cannot be copied.
    page.console.print(Text(f"{file}: {following}"), soft_wrap=True)


def _relative(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
