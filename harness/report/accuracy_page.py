"""What was measured of the detectors, as Markdown: a page shows it as it is printed."""

from __future__ import annotations

from collections.abc import Sequence

from harness.jobs.measure_accuracy import Measurement
from harness.judge.evaluation.predictive import Interval, miss_rate, ppv
from kpis.terms.evaluation_settings import DEFAULT_PRIOR

__all__ = ["accuracy_page"]

_RULES = ("rule", "version", "tp", "fp", "fn", "tn", "bad if it fires", "bad if it is quiet", "Brier")
_BINS = ("stated chance", "cases", "mean stated", "share bad")


def accuracy_page(measured: Measurement) -> str:
    """The counts of each rule, what an answer of it is worth, and whether stated chances come true."""
    table = measured.table
    rows: list[Sequence[object]] = []
    for one in measured.rules:
        fire = ppv(one.rule, table.version, one.counts, DEFAULT_PRIOR)
        silence = miss_rate(one.rule, table.version, one.counts, DEFAULT_PRIOR)
        cells = (one.counts.tp, one.counts.fp, one.counts.fn, one.counts.tn)
        rows.append((f"`{one.rule}`", one.version, *cells, _interval(fire), _interval(silence), _figure(one.brier)))
    bins = [(f"{_figure(b.low)} to {_figure(b.high)}", b.n, _figure(b.stated), _figure(b.bad)) for b in measured.bins]
    total = sum(counts.n for counts in table.rows.values())
    return "\n".join(
        (
            f"Corpus `{table.version}`, {total} cases, labelled {table.labelling.value}; measured: {table.release}.",
            "",
            *_table(_RULES, rows),
            "",
            f"Chances stated from the other families of cases; Brier score of all {_figure(measured.brier)}.",
            "",
            *_table(_BINS, bins),
            "",
        )
    )


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(map(str, line))} |" for line in lines]


def _figure(value: float) -> str:
    return f"{value:.3f}"


def _interval(worth: Interval) -> str:
    return f"{_figure(worth.point)} ({_figure(worth.low)} to {_figure(worth.high)})"
