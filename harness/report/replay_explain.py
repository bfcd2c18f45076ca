"""One number of recorded runs explained: its definition, its value with what it is made of, the lines behind it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console

from harness.report.lines import put_text
from harness.report.replay_lines import amount, big
from harness.report.units import parts, shown
from kpis.terms.metric import Metric, MetricRow
from kpis.terms.quantity import Unit

__all__ = ["render_explained"]


def render_explained(
    row: MetricRow,
    found: Metric,
    lines: Iterable[tuple[str, str]],
    console: Console,
    *,
    most: int | None,
) -> None:
    """Print it; of the lines, each a place and what stands there, the first ``most``."""
    symbol = f" ({row.symbol})" if row.symbol else ""
    put_text(console, f"{row.id}{symbol}: {_value(row, found)}", "bold")
    _told(console, "class", f"{row.metric_class.value}, {row.kind.value}, {row.direction.value}; {found.basis.value}")
    _told(console, "rule", row.definition)
    if row.fence:
        _told(console, "fence", row.fence)
    _told(console, "unknown", row.undefined)
    _told(console, "many runs", row.combine.value)
    if found.numerator is not None and found.denominator is not None:
        _told(console, "made of", parts(found.numerator, found.denominator))
    if found.detail:
        _told(console, "detail", ", ".join(_part(row, name, value) for name, value in sorted(found.detail.items())))
    for note in found.notes:
        _told(console, "note", note)
    _evidence(list(lines), console, most)


def _part(row: MetricRow, name: str, value: float) -> str:
    """One part of a number: dollars where the number is of dollars and the part no count."""
    return f"{name} {amount(value) if row.unit is Unit.USD and isinstance(value, float) else big(value)}"


def _value(row: MetricRow, found: Metric) -> str:
    if found.value is None:
        if found.low is not None and found.high is not None:
            return f"between {shown(found.low, row.unit)} and {shown(found.high, row.unit)}: {found.undefined}"
        return f"unknown: {found.undefined}"
    said = shown(found.value, row.unit)
    if found.low is not None and found.high is not None:
        said += f", between {shown(found.low, row.unit)} and {shown(found.high, row.unit)}"
    elif found.low is not None:
        said += " or more"
    return said


def _evidence(lines: Sequence[tuple[str, str]], console: Console, most: int | None) -> None:
    if not lines:
        put_text(console, "No line of what was read stands behind it.")
        return
    for where, sentence in lines[:most]:
        put_text(console, f"{where}: {sentence}", lead="  ", indent=4)
    if most is not None and len(lines) > most:
        put_text(console, f"and {len(lines) - most:,} more lines; --verbose shows all")


def _told(console: Console, label: str, text: str) -> None:
    put_text(console, text, lead=f"{label:<11}", indent=11)
