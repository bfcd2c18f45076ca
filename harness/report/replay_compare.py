"""Two arms side by side on a console: a line a metric that differs, then who passed where."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from rich.console import Console

from harness.jobs.replay_compare import Compared, MetricPair
from harness.report.lines import put_text
from harness.report.replay_lines import big
from kpis.formulas.context.gates import GateState
from kpis.terms.metric import Metric
from kpis.terms.quantity import Unit

__all__ = ["difference", "render_compared", "value_of"]

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
        f"{names[0]}: {_counted(one)}, {names[1]}: {_counted(two)}, {compared.pairs:,} pair"
        f"{'s' * (compared.pairs != 1)} by case and replicate",
        "bold",
    )
    if compared.unpaired:
        alone = f"{_counted(compared.unpaired)} {'has' if compared.unpaired == 1 else 'have'}"
        put(f"{alone} no partner and no part in the differences.")
    put(f"{'metric':<32}{'first':>12}{'second':>12}  difference of pairs")
    same = 0
    for pair in compared.metrics:
        if pair.reference.value == pair.candidate.value and not any(pair.deltas) and not verbose:
            same += 1
            continue
        values = f"{value_of(pair.reference):>12}{value_of(pair.candidate):>12}"
        put(f"{pair.row.id[:31]:<32}{values}  {difference(pair)}", indent=4)
    if same:
        put(f"{same:,} metrics are the same in both; --verbose shows them")
    _successes(compared, put)


def _counted(runs: int) -> str:
    return f"{runs:,} run{'s' * (runs != 1)}"


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
    else:
        said += f", {pair.pairs} of 3 pairs that an interval takes" if pair.pairs < 3 else ""
    if pair.tally is not None:
        said += f"; better {pair.tally.wins}, alike {pair.tally.ties}, worse {pair.tally.losses}"
    return said + (" USD" if pair.row.unit is Unit.USD else "")


def _successes(compared: Compared, put: Callable[[str], None]) -> None:
    found = compared.successes
    if found is not None:
        put(
            f"passed by both {found.both_pass}, by the first alone {found.reference_only}, "
            f"by the second alone {found.candidate_only}, by neither {found.both_fail}"
        )
    put(_NON_INFERIOR[compared.non_inferior] + ".")
