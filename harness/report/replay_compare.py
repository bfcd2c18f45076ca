"""Two arms side by side on a console: a line a metric that differs, then who passed where."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from rich.console import Console

from harness.jobs.replay_compare import Compared, MetricPair, PassedWhere
from harness.report.lines import put_text
from harness.report.replay_lines import big
from kpis.formulas.context.gates import GateState
from kpis.terms.metric import Metric
from kpis.terms.quantity import Unit

__all__ = [
    "HEADINGS",
    "difference",
    "is_undefined",
    "not_shown",
    "render_compared",
    "render_passed",
    "several",
    "value_of",
]

HEADINGS = f"{'first':>12}{'second':>12}  difference"

_NON_INFERIOR = {
    GateState.SATISFIED: "non-inferior: no pair was passed by the first arm alone",
    GateState.VIOLATED: "not non-inferior: some pairs were passed by the first arm alone",
    GateState.OPEN: "open: no pair was judged in both arms",
}


def render_compared(compared: Compared, names: tuple[str, str], console: Console, *, verbose: bool) -> None:
    """Print it; metrics that are the same in both arms only where ``verbose``."""
    put = partial(put_text, console)
    one, two = compared.runs
    put(
        f"{names[0]}: {several(one, 'run')}, {names[1]}: {several(two, 'run')}, {several(compared.pairs, 'pair')} by "
        "case and replicate",
        "bold",
    )
    for sentence in _outside(compared):
        put(sentence)
    put(f"{'metric':<32}{HEADINGS}")
    same = undefined = 0
    for pair in compared.metrics:
        if is_undefined(pair) and not verbose:
            undefined += 1
            continue
        if pair.reference.value == pair.candidate.value and not any(pair.deltas) and not verbose:
            same += 1
            continue
        values = f"{value_of(pair.reference):>12}{value_of(pair.candidate):>12}"
        put(f"{pair.row.id[:31]:<32}{values}  {difference(pair)}", indent=4)
    if same or undefined:
        put(not_shown(same, undefined))
    render_passed(compared.passed, put)


def is_undefined(pair: MetricPair) -> bool:
    """Whether neither arm says anything of the metric, nor any pair of runs."""
    return pair.reference.value is None and pair.candidate.value is None and not pair.deltas


def not_shown(same: int, undefined: int) -> str:
    """How many metrics have no line of their own, and why."""
    are = "is" if same == 1 else "are"
    return f"{several(same, 'metric')} {are} the same in both, and {undefined:,} undefined in both; --verbose shows all"


def _outside(compared: Compared) -> Iterator[str]:
    """What has no part in the differences of pairs, or has it together with others."""
    if compared.unpaired:
        word = several(compared.unpaired, "run") if compared.run_pairs == compared.within else f"{compared.unpaired:,}"
        yield f"{word} {'has' if compared.unpaired == 1 else 'have'} no partner and no part in the differences."
    if compared.repeated:
        yield f"Of these {compared.repeated:,} share case and replicate with another of their arm."
    if compared.within > compared.run_pairs:
        yield (
            f"{compared.within:,} of the pairs lie in {several(compared.run_pairs, 'pair')} of runs, whose metrics "
            "differ as wholes."
        )
    if compared.pairs > compared.within:
        yield (
            f"{compared.pairs - compared.within:,} of the pairs lie in runs that hold other cases too: they show who "
            "passed, and no metric."
        )


def several(n: int, word: str) -> str:
    """``n`` of ``word``."""
    return f"{n:,} {word}{'s' * (n != 1)}"


def value_of(metric: Metric) -> str:
    """A cell: its value, marked where it is a lower bound."""
    if metric.value is None:
        return "unknown"
    mark = ">=" if metric.low is not None and metric.low == metric.value else ""
    return mark + (
        f"{metric.value:.4g}" if isinstance(metric.value, float) and metric.value < 100 else big(metric.value)
    )


def difference(pair: MetricPair) -> str:
    """What the pairs of a metric differ by, in words."""
    if not pair.pairs:
        return "no pair has both"
    said = f"median {pair.median:+.4g}" if pair.median is not None else ""
    if pair.interval is not None:
        said += f", mean {pair.interval.mean:+.4g} [{pair.interval.lower:+.4g}, {pair.interval.upper:+.4g}]"
    said += " USD" if pair.row.unit is Unit.USD else ""
    if pair.interval is None and pair.pairs < 3:
        said += f", {several(pair.pairs, 'pair')} and an interval takes 3"
    if pair.tally is not None:
        said += f"; better {pair.tally.wins}, alike {pair.tally.ties}, worse {pair.tally.losses}"
        said += f", without a ratio {pair.tally.skipped}" if pair.tally.skipped else ""
    return said


def render_passed(passed: PassedWhere, put: Callable[[str], None], what: str = "passed by") -> None:
    """Who passed where, what of it nobody judged, and whether the second arm is no worse."""
    table = passed.table
    if table.pairs:
        put(
            f"{what} both {table.both_pass}, by the first alone {table.reference_only}, "
            f"by the second alone {table.candidate_only}, by neither {table.both_fail}"
        )
    if passed.unjudged and table.pairs:
        put(f"{several(passed.unjudged, 'pair')} not judged in both arms, and in no cell of these.")
    if passed.alone:
        put(f"{several(passed.alone, 'verdict')} without a partner, and in no cell of these.")
    said = _NON_INFERIOR[passed.non_inferior]
    if passed.non_inferior is GateState.OPEN and table.pairs:
        said = f"open: {several(passed.undecided, 'pair')} may yet be passed by the first arm alone"
    put(f"{said}.")
