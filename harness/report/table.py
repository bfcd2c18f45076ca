"""A run as tables for a terminal or a pipe: layer by layer, what was measured apart from what was modeled or reported.

Each table holds one axis: its numbers pass through a :class:`~kpis.terms.quantity.Column`, which raises when a model
is put below a clock. Only numbers stand in a table; what they are made of, what is undefined and why, and warnings
stand below it. Refuses to judge, and to trust a text: everything from outside is shown inert.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

import kpis as kpis_package
from harness.record.run import Mode, Run
from harness.record.store import StoreError, find_root
from harness.report.page import Fences, Page, Row, console_on, page_on
from harness.report.units import facts_in_words, interval, parts, rescaled, shown
from kpis.terms.kpi import Layer
from kpis.terms.quantity import Axis, Basis, Column, Quantity
from kpis.terms.reading import Reading, ReadingKind, Reason, Undefined, Warn

__all__ = ["Fences", "console_on", "render_run"]

_WIDE = 100  # from here on the status has a column and a fence is whole
_FENCE_ROOM = 12  # a fence cut shorter than this says nothing
_TITLES = ("KPI", "value", "95 % interval", "basis, source")
_HEADING = {Axis.MEASURED: "measured", Axis.MODELED: "modeled, not measured", Axis.REPORTED: "reported by others"}
_ORIGIN = {"synthetic": "authored", "replay": "recorded"}
_NOISE = (Warn.SPREAD, Warn.OFF_CPU, Warn.LOADED)
_HOME = Path(str(kpis_package.__file__)).resolve().parents[1]


def render_run(run: Run, catalog: Fences, console: Console, path: Path | None = None) -> None:
    """Print ``run`` on ``console``; ``path`` is where its file lies, or None where it was not kept.

    Raises:
        QuantityError: a reading claims what its basis does not allow (milliseconds of a clock, a truth value of 2).
    """
    page = page_on(console, catalog, run.readings, {name: work.kind for name, work in run.workloads.items()})
    _head(run, page)
    for layer in Layer:
        for axis in Axis:
            chosen = [reading for reading in run.readings if reading.layer is layer and _axis(reading) is axis]
            if chosen:
                _section(layer, axis, chosen, page)
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


def _section(layer: Layer, axis: Axis, readings: Sequence[Reading], page: Page) -> None:
    defined = [reading for reading in readings if reading.undefined is None]
    page.blank()
    page.line(f"{layer.value}: {_HEADING[axis]}" if defined else f"{layer.value}: nothing {axis.value}", "bold")
    if defined:
        titles = (*_TITLES, "status") if page.width >= _WIDE else _TITLES
        page.grid(titles, _rows(defined, page))
    blocks = (_fences(defined, page), _made_of(defined, page), _absent(readings, page), _warnings(readings, page))
    styles = ("dim", "", "", "yellow")
    for block, style in zip(blocks, styles, strict=True):
        if block:
            page.blank()
        for words in block:
            page.line(words, style)


def _by_kpi(readings: Iterable[Reading]) -> dict[str, list[Reading]]:
    groups: dict[str, list[Reading]] = {}
    for reading in readings:
        groups.setdefault(reading.kpi, []).append(reading)
    return groups


def _quantity(reading: Reading) -> Quantity | None:
    if reading.value is None or reading.basis is None or reading.source is None:
        return None
    return Quantity(reading.value, reading.unit, reading.basis, reading.source)


def _rows(readings: Sequence[Reading], page: Page) -> list[Row]:
    """A KPI without parameters is one row; one with parameters has a heading and a row a point."""
    column = Column()
    rows = []
    for kpi, group in _by_kpi(readings).items():
        name = Text(page.safe(kpi))
        if all(page.where(reading) for reading in group):
            rows.append(Row(name))
        # the one that needs no words to be told apart (a KPI's main leg) comes first, beside the KPI's own name
        for reading in sorted(group, key=lambda reading: bool(page.where(reading))):
            quantity = _quantity(reading)
            if quantity is None:
                continue
            column.add(quantity)
            where, cells = page.where(reading), _cells(reading, quantity, page)
            rows.append(Row(Text(where, style="dim"), cells, indent=2) if where else Row(name, cells))
    return rows


def _cells(reading: Reading, quantity: Quantity, page: Page) -> tuple[Text, ...]:
    cells = (
        Text(shown(quantity.value, quantity.unit, page.signs), style="bold"),
        Text(_bounds(reading, page)),
        Text(f"{quantity.basis.value}, {quantity.source.value}"),
    )
    return (*cells, Text(reading.status.value)) if page.width >= _WIDE else cells


def _bounds(reading: Reading, page: Page) -> str:
    """The interval of a timed value (``-`` where there is none yet), or what a ratio is made of."""
    if reading.value is not None and reading.distribution is not None:
        bounds = reading.distribution.ci95
        return "-" if bounds is None else interval(*bounds, reading.unit, like=reading.value, signs=page.signs)
    if reading.numerator is not None and reading.denominator is not None:
        return parts(reading.numerator, reading.denominator)
    return ""


def _fences(readings: Iterable[Reading], page: Page) -> list[str]:
    """A line a KPI: its status, and of its fence what fits; on a wide page the whole fence, since the row has both."""
    lines = []
    for kpi, group in _by_kpi(readings).items():
        fence = page.safe(page.fences.get(kpi, ""))
        if page.width >= _WIDE:
            lines += [f"{page.safe(kpi)}: {fence}"] if fence else []
            continue
        lead = f"{page.safe(kpi)}, {' or '.join(dict.fromkeys(reading.status.value for reading in group))}"
        room = page.width - Text(lead).cell_len - 2
        lines.append(f"{lead}: {page.short(fence, room)}" if fence and room >= _FENCE_ROOM else lead)
    return lines


def _made_of(readings: Iterable[Reading], page: Page) -> list[str]:
    """What a number is made of: a histogram, the inputs behind it, what was left out; the knobs of models, once."""
    lines = []
    tuned: dict[str, list[Reading]] = {}
    for reading in readings:
        lead = " ".join(filter(None, (page.safe(reading.kpi), page.where(reading))))
        if reading.histogram:
            counts = ", ".join(f"{key} {count:,}" for key, count in sorted(reading.histogram.items()))
            lines.append(f"{lead}: {page.safe(counts)}")
        if reading.evidence:
            inputs = ", ".join(rescaled(page.safe(sentence), page.signs) for sentence in reading.evidence)
            lines.append(f"{lead}: {inputs}")
        if reading.excluded:
            lines.append(f"{lead}: {reading.excluded:,} excluded from the denominator")
        if reading.knobs:
            knobs = ", ".join(f"{key}={value:.10g}" for key, value in sorted(reading.knobs.items()))
            tuned.setdefault(page.safe(knobs), []).append(reading)
    return lines + [f"knobs of {_listed(_by_kpi(group), page)}: {knobs}" for knobs, group in tuned.items()]


def _listed(names: Iterable[str], page: Page) -> str:
    *others, last = map(page.safe, names)
    return f"{', '.join(others)} and {last}" if others else last


def _absent(readings: Iterable[Reading], page: Page) -> list[str]:
    """A sentence a KPI and reason; KPIs that all want another kind of workload share one."""
    lines: list[str] = []
    unfit: dict[str, list[str]] = {}
    for kpi, group in _by_kpi(readings).items():
        missing: dict[Reason, list[tuple[Reading, Undefined]]] = {}
        for reading in group:
            if reading.undefined is not None:
                missing.setdefault(reading.undefined.reason, []).append((reading, reading.undefined))
        for reason, found in missing.items():
            who = f"{kpi}{_points([reading for reading, _ in found], page)}"
            details = dict.fromkeys(undefined.detail for _, undefined in found)
            words = " ".join(details)
            if reason is Reason.WORKLOAD_KIND and len(found) == len(group):
                unfit.setdefault(words.removeprefix(f"{kpi} "), []).append(who)
            else:
                lines.append(page.safe(f"{who} undefined, {reason.value}: {words}"))
    for words, names in unfit.items():
        each = "each " if words.startswith("needs ") and len(names) > 1 else "it " if words.startswith("needs ") else ""
        lines.append(f"{_listed(names, page)} undefined, {Reason.WORKLOAD_KIND.value}: {each}{page.safe(words)}")
    return lines


def _points(readings: Sequence[Reading], page: Page) -> str:
    if len(readings) > 1:
        return f" ({len(readings):,} points)"
    where = page.where(readings[0])
    return f" ({where})" if where else ""


def _warnings(readings: Iterable[Reading], page: Page) -> list[str]:
    """Equal warnings once, with the KPIs that have them."""
    warned: dict[str, list[Reading]] = {}
    for reading in readings:
        for notice in reading.warnings:
            warned.setdefault(f"warning, {notice.code.value}: {page.safe(notice.message)}", []).append(reading)
    return [f"{words} ({page.names(which)})" for words, which in warned.items()]


def _workloads(run: Run, page: Page) -> None:
    if run.workloads:
        page.blank()
    for name, work in sorted(run.workloads.items()):
        trace = f", trace {work.hash}" if work.hash else ""
        origin = _ORIGIN.get(work.source, work.source)
        page.line(page.safe(f"workload {name}: {work.kind}, {origin}, sha256 {work.sha256[:16]}{trace}"))
        if facts := facts_in_words(work.facts):
            page.line(page.safe(facts), indent=2)


def _foot(run: Run, page: Page, path: Path | None) -> None:
    file = f"Run file {page.safe(_relative(path))}; next" if path is not None else "Next"
    page.blank()
    # Never wrapped: a path or a command that is broken over two lines cannot be copied.
    page.console.print(Text(f"{file}: {page.safe(_following(run))}"), soft_wrap=True)


def _following(run: Run) -> str:
    """The command that helps most: go on, understand what is missing, quieten the machine, or look at the catalog."""
    if not run.complete:
        words = run.argv if run.argv[:1] == ["run"] else ["run"]
        return shlex.join(["python", "-m", "harness", *(word for word in words if word != "--resume"), "--resume"])
    missing = [reading for reading in run.readings if reading.undefined is not None]
    void = [reading for reading in missing if reading.undefined is not None and reading.undefined.reason.void]
    if missing:
        return shlex.join(["python", "-m", "harness", "explain", (void or missing)[0].kpi])
    if any(notice.code in _NOISE for reading in run.readings for notice in reading.warnings):
        return "python -m harness doctor"
    return "python -m harness catalog --check" if _at_home() else "python -m harness list"


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
