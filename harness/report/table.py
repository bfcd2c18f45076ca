"""A run as tables for a terminal or a pipe: layer by layer, what was measured apart from what was modeled or reported.

Each table holds one axis: its numbers pass through a :class:`~kpis.terms.quantity.Column`, which raises when a model
is put below a clock. What has an interval stands apart from what was counted, so that a heading holds for all that is
below it. Only numbers stand in a table; what they are made of, what is undefined and why, and warnings stand below it.
The project's own KPIs come first. Refuses to judge, and to trust a text: everything from outside is shown inert.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

import kpis as kpis_package
from harness.record.run import Mode, Run
from harness.record.store import StoreError, find_root
from harness.report import brief
from harness.report.facts import facts_in_words
from harness.report.naming import command, program
from harness.report.notes import absent, by_kpi, fences, first_sentence, made_of, warnings
from harness.report.page import Fences, Page, Row, console_on, page_on
from harness.report.units import interval, parts, shown
from kpis.terms.kpi import Layer
from kpis.terms.quantity import Axis, Basis, Column, Quantity
from kpis.terms.reading import Reading, ReadingKind, Warn

__all__ = ["Fences", "console_on", "render_run"]

_WIDE = 100  # from here on the status has a column
_INTERVAL, _PARTS = "95 % interval", "made of"
_HEADING = {Axis.MEASURED: "measured", Axis.MODELED: "modeled, not measured", Axis.REPORTED: "reported by others"}
_ORIGIN = {"synthetic": "authored", "replay": "recorded"}
_COUNTED = {"verdict_reason_distribution": "verdicts"}  # what a histogram's bare total is a number of
_NOISE = (Warn.SPREAD, Warn.OFF_CPU, Warn.LOADED)
_HOME = Path(str(kpis_package.__file__)).resolve().parents[1]


def render_run(run: Run, catalog: Fences, console: Console, path: Path | None = None, *, verbose: bool = False) -> None:
    """Print ``run`` on ``console``; ``path`` is where its file lies, or None where it was not kept.

    In a project with KPIs of its own, built-in ones that its runtime does not offer are only counted unless
    ``verbose``.

    Raises:
        QuantityError: a reading claims what its basis does not allow (milliseconds of a clock, a truth value of 2).
    """
    page = page_on(console, catalog, run.readings, {name: work.kind for name, work in run.workloads.items()})
    _head(run, page)
    rows = catalog.kpis.values() if hasattr(catalog.kpis, "values") else catalog.kpis
    own = brief.own_ids(rows)
    unsaid = frozenset() if verbose else brief.unsaid(run.readings, rows, run.selection.kpis)
    said = sorted((item for item in run.readings if item.kpi not in unsaid), key=lambda item: item.kpi not in own)
    for layer in Layer:
        for axis in Axis:
            chosen = [reading for reading in said if reading.layer is layer and _axis(reading) is axis]
            if chosen:
                _section(layer, axis, chosen, page)
    if unsaid:
        page.blank()
        page.line(brief.sentence(len(unsaid)))
    _workloads(run, page)
    _foot(run, page, path, said)


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


def _section(layer: Layer, axis: Axis, readings: Sequence[Reading], page: Page) -> None:
    defined = [reading for reading in readings if reading.undefined is None]
    page.blank()
    page.line(f"{layer.value}: {_HEADING[axis]}" if defined else f"{layer.value}: nothing {axis.value}", "bold")
    if defined:
        timed = [reading for reading in defined if reading.distribution is not None]
        _table(timed, _INTERVAL, page)
        if timed and len(timed) < len(defined):
            page.blank()
        counted = [reading for reading in defined if reading.distribution is None]
        _table(counted, _PARTS if any(_bounds(reading, page) for reading in counted) else None, page)
    below = fences(defined, page, status=page.width < _WIDE)
    inputs = made_of(defined, page)
    plain = [[(words, 0) for words in block] for block in (below, absent(readings, page), warnings(readings, page))]
    blocks = (plain[0], inputs, plain[1], plain[2])
    styles = ("dim", "", "", "yellow")
    for block, style in zip(blocks, styles, strict=True):
        if block:
            page.blank()
        for words, indent in block:
            page.line(words, style, indent)


def _table(readings: Sequence[Reading], middle: str | None, page: Page) -> None:
    """One grid; ``middle`` is the heading of what stands between value and basis, or None where nothing does."""
    if not readings:
        return
    titles = ["KPI", "value", *([middle] if middle else []), "basis, source"]
    if page.width >= _WIDE:
        titles.append("status")
    page.grid(titles, _rows(readings, page, middle=middle is not None))


def _quantity(reading: Reading) -> Quantity | None:
    if reading.value is None or reading.basis is None or reading.source is None:
        return None
    return Quantity(reading.value, reading.unit, reading.basis, reading.source)


def _rows(readings: Sequence[Reading], page: Page, *, middle: bool) -> list[Row]:
    """A KPI without parameters is one row; one with parameters has a heading and a row a point."""
    column = Column()
    rows = []
    for kpi, group in by_kpi(readings).items():
        name = Text(page.safe(kpi))
        if all(page.where(reading) for reading in group):
            rows.append(Row(name))
        # the one that needs no words to be told apart (a KPI's main leg) comes first, beside the KPI's own name
        for reading in sorted(group, key=lambda reading: bool(page.where(reading))):
            quantity = _quantity(reading)
            if quantity is None:
                continue
            column.add(quantity)
            where, cells = page.where(reading), _cells(reading, quantity, page, middle=middle)
            rows.append(Row(Text(where, style="dim"), cells, indent=2) if where else Row(name, cells))
    return rows


def _cells(reading: Reading, quantity: Quantity, page: Page, *, middle: bool) -> tuple[Text, ...]:
    value = shown(quantity.value, quantity.unit, page.signs)
    if reading.kind is ReadingKind.HISTOGRAM:
        value = f"{value} {_COUNTED.get(reading.kpi, 'in all')}"
    between = (Text(_bounds(reading, page)),) if middle else ()
    cells = (Text(value, style="bold"), *between, Text(f"{quantity.basis.value}, {quantity.source.value}"))
    return (*cells, Text(reading.status.value)) if page.width >= _WIDE else cells


def _bounds(reading: Reading, page: Page) -> str:
    """The interval of a timed value (``-`` where there is none yet), or what a ratio is made of."""
    if reading.value is not None and reading.distribution is not None:
        bounds = reading.distribution.ci95
        return "-" if bounds is None else interval(*bounds, reading.unit, like=reading.value, signs=page.signs)
    if reading.numerator is not None and reading.denominator is not None:
        return parts(reading.numerator, reading.denominator)
    return ""


def _workloads(run: Run, page: Page) -> None:
    if run.workloads:
        page.blank()
    for name, work in sorted(run.workloads.items()):
        trace = f", trace {work.hash}" if work.hash else ""
        origin = _ORIGIN.get(work.source, work.source)
        page.line(page.safe(f"workload {name}: {work.kind}, {origin}, sha256 {work.sha256[:16]}{trace}"))
        if facts := facts_in_words(work.facts):
            page.line(page.safe(facts), indent=2)


def _foot(run: Run, page: Page, path: Path | None, said: Sequence[Reading]) -> None:
    page.blank()
    shown_fences = [page.fences.get(reading.kpi, "") for reading in said if reading.undefined is None]
    if any(first_sentence(fence) != fence for fence in shown_fences):
        page.whole(f"Whole fences: {program()} explain KPI")
    if path is not None:
        page.whole(f"Run file {page.safe(_relative(path))}")
    page.whole(f"Next: {page.safe(_following(run, said))}")


def _following(run: Run, said: Sequence[Reading]) -> str:
    """The command that helps most: go on, understand what is missing, quieten the machine, or look at the catalog."""
    if not run.complete:
        words = run.argv if run.argv[:1] == ["run"] else ["run"]
        return command([*(word for word in words if word != "--resume"), "--resume"])
    missing = [reading for reading in said if reading.undefined is not None]
    void = [reading for reading in missing if reading.undefined is not None and reading.undefined.reason.void]
    if missing:
        return command(["explain", (void or missing)[0].kpi])
    if any(notice.code in _NOISE for reading in said for notice in reading.warnings):
        return command(["doctor"])
    return command(["catalog", "--check"]) if _at_home() else command(["list"])


def _at_home() -> bool:
    """Whether the project at hand is our own repository: only there is the catalog's page a file to be checked."""
    try:
        return find_root(Path.cwd()) == _HOME
    except (StoreError, OSError):  # the page is out; a broken pyproject.toml must not spoil its last line
        return False


def _relative(path: Path) -> str:
    try:
        return str(path.resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)
