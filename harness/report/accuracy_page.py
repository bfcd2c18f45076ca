"""What was measured of the detectors, as Markdown: a page shows it as it is printed."""

from __future__ import annotations

from collections.abc import Sequence

from harness.jobs.measure_accuracy import Measured, Measurement
from harness.judge.evaluation.accuracy import Counts
from harness.judge.evaluation.predictive import PLACES, Interval, miss_rate, ppv
from kpis.terms.evaluation_settings import DEFAULT_PRIOR

__all__ = ["accuracy_page"]

_RULES = ("rule", "version", "tp", "fp", "fn", "tn", "bad if it fires", "bad if it is quiet", "Brier")
_ENOUGH = 60
"""Cases of a detector from which its figures say something."""

_SIDES = 3
"""The cases of one label are one part in so many at least."""

_BINS = ("stated chance", "cases", "mean stated", "share bad")


def accuracy_page(measured: Measurement) -> str:
    """The counts of each rule, what an answer of it is worth, and whether stated chances come true."""
    table = measured.table
    total = sum(counts.n for counts in table.rows.values())
    thin = [one for one in measured.rules if _is_thin(one.counts)]
    return "\n".join(
        (
            f"Corpus `{table.version}`, {total} cases, labelled {table.labelling.value}; measured: {table.release}.",
            "",
            *_table(_RULES, [_row(one, table.version) for one in measured.rules]),
            "",
            *([f"{_few(thin)}", ""] if thin else []),
            *_reliability(measured),
            "",
        )
    )


def _row(one: Measured, version: str) -> Sequence[object]:
    counts = one.counts
    cells = (f"`{one.rule}`", one.version, counts.tp, counts.fp, counts.fn, counts.tn)
    if one.brier is None:
        return (*cells, *[f"unmeasured: no {'good' if counts.tp + counts.fn else 'bad'} case"] * 2, "-")
    fire = ppv(one.rule, version, counts, DEFAULT_PRIOR)
    silence = miss_rate(one.rule, version, counts, DEFAULT_PRIOR)
    return (*cells, _interval(fire), _interval(silence), _figure(one.brier))


def _is_thin(counts: Counts) -> bool:
    """Whether there are too few cases, or too few of one label, to say much."""
    return counts.n < _ENOUGH or _SIDES * min(counts.tp + counts.fn, counts.fp + counts.tn) < counts.n


def _few(thin: Sequence[Measured]) -> str:
    told = (
        f"`{one.rule}` has {one.counts.tp + one.counts.fn} bad and {one.counts.fp + one.counts.tn} good" for one in thin
    )
    wanted = f"{_ENOUGH} are wanted, a third of them of either label at least"
    return f"Too few cases to say much ({wanted}): {', '.join(told)}."


def _reliability(measured: Measurement) -> list[str]:
    if measured.brier is None:
        return ["No detector has both bad and good cases, so that no chance can be stated."]
    left_out = sum(one.brier is None for one in measured.rules)
    whose = f", without the {left_out} unmeasured detector{'s' * (left_out != 1)}" if left_out else ""
    bins = [(f"{_figure(b.low)} to {_figure(b.high)}", b.n, _figure(b.stated), _figure(b.bad)) for b in measured.bins]
    return [
        f"Chances stated from the other families of cases{whose}; Brier score of all {_figure(measured.brier)}.",
        "",
        *_table(_BINS, bins),
    ]


def _table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(map(str, line))} |" for line in lines]


def _figure(value: float) -> str:
    return f"{value:.3f}"


def _interval(worth: Interval) -> str:
    """All places that are kept: cutting off more would round what is rounded."""
    point, low, high = (f"{each:.{PLACES}f}" for each in (worth.point, worth.low, worth.high))
    return f"{point} ({low} to {high})"
