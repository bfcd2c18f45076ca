"""The registry of metrics of recorded runs as text: a list by class, everything about one. Nothing is printed here."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from textwrap import fill

from harness.report.width import WHOLE_WORDS
from kpis.terms.kpi import Direction
from kpis.terms.metric import MetricClass, MetricRow

__all__ = ["recorded_list", "recorded_text"]

_TITLES = {
    MetricClass.CORRECTNESS: "correctness: whether the result is right",
    MetricClass.BEHAVIOUR: "behaviour: what the agent did",
    MetricClass.CONTEXT: "context: what the models were shown",
    MetricClass.PROVIDER: "provider: what was paid for",
}
_BETTER = {Direction.LOWER: "lower is better", Direction.HIGHER: "higher is better", Direction.NEUTRAL: "only tells"}
_LABEL = 12


def recorded_list(rows: Iterable[MetricRow], width: int) -> str:
    """The rows below a heading a class: id, unit and kind, then the definition, within ``width`` where ids allow it."""
    held = list(rows)
    lines: list[str] = []
    for kind, title in _TITLES.items():
        own = [row for row in held if row.metric_class is kind]
        if own:
            lines += [title, ""]
        for row in own:
            lines.append(f"{row.id}  {row.unit.value}, {row.kind.value}, {_BETTER[row.direction]}")
            lines.append(_filled(row.definition, width, "    ", 4))
        if own:
            lines.append("")
    return "\n".join(lines[:-1]) + "\n" if lines else ""


def recorded_text(row: MetricRow, width: int, computed: Collection[str]) -> str:
    """Everything about ``row``; ``computed`` are the metrics that a transcript gives."""
    symbol = f" ({row.symbol})" if row.symbol else ""
    return "\n".join([f"{row.id}{symbol}, a metric of recorded runs", *_told(row, width, computed)]) + "\n"


def _told(row: MetricRow, width: int, computed: Collection[str]) -> Iterator[str]:
    target = "" if row.target is None else f", target {row.target:g}"
    told = {
        "class": f"{row.metric_class.value}, {row.kind.value}; {_BETTER[row.direction]}{target}",
        "unit": row.unit.value,
        "rule": row.definition,
        "fence": row.fence or "",
        "unknown": row.undefined,
        "many runs": row.combine.value,
        "needs": ", ".join(row.needs),
    }
    for label, text in told.items():
        if text:
            yield _filled(text, width, f"{label:<{_LABEL}}", _LABEL)
    yield ""
    if row.id in computed:
        yield f"    python -m harness replay --explain {row.id} PATH"
    else:
        yield _filled(
            "No transcript says enough for it: it takes a run that was recorded for its context.", width, "", 0
        )


def _filled(text: str, width: int, lead: str, indent: int) -> str:
    return fill(text, max(40, width), initial_indent=lead, subsequent_indent=" " * indent, **WHOLE_WORDS)
