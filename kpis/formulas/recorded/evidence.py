"""What stands behind a number: for each metric of recorded runs the lines that it was counted from.

A metric without an entry here is a sum over everything, and its own detail explains it. Refuses to name files, commands
or addresses unless the caller asks for names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from kpis.formulas.recorded import evidence_tokens as of_tokens
from kpis.formulas.recorded import evidence_work as of_work
from kpis.formulas.recorded.evidence_tokens import Line
from kpis.formulas.recorded.ledger_spans import Spent
from kpis.formulas.recorded.loops import CycleKind
from kpis.formulas.recorded.pricing import PriceTable
from kpis.formulas.recorded.reread import WINDOWS
from kpis.formulas.recorded.view import RunView, view_of
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Outcome

__all__ = ["EXPLAINED", "Line", "evidence"]


class _Asked(NamedTuple):
    view: RunView
    table: PriceTable | None
    names: bool


_Source = Callable[[_Asked], Iterator[Line]]


def _merged(asked: _Asked) -> Iterator[Line]:
    return of_tokens.merged(asked.view)


def _peaks(asked: _Asked) -> Iterator[Line]:
    return of_tokens.peaks(asked.view)


def _gaps(asked: _Asked) -> Iterator[Line]:
    return of_tokens.gaps(asked.view)


def _breaks(asked: _Asked) -> Iterator[Line]:
    return of_tokens.breaks(asked.view, asked.table)


def _folds(asked: _Asked) -> Iterator[Line]:
    return of_tokens.folds(asked.view, asked.table)


def _guessed(asked: _Asked) -> Iterator[Line]:
    return of_tokens.guessed_folds(asked.view)


def _costs(asked: _Asked) -> Iterator[Line]:
    return of_tokens.costs(asked.view, asked.table)


def _reported(asked: _Asked) -> Iterator[Line]:
    return of_tokens.reported(asked.view)


def _rereads(window: int | None) -> _Source:
    return lambda asked: of_work.rereads(asked.view, window, asked.names)


def _repeats(asked: _Asked) -> Iterator[Line]:
    return of_work.repeats(asked.view, asked.names)


def _cycles(*kinds: CycleKind) -> _Source:
    return lambda asked: of_work.repeated(asked.view, kinds, asked.names)


def _outcomes(*wanted: Outcome) -> _Source:
    return lambda asked: of_work.outcomes(asked.view, wanted, asked.names)


def _agents(asked: _Asked) -> Iterator[Line]:
    return of_work.agents(asked.view)


def _times(asked: _Asked) -> Iterator[Line]:
    return of_work.times(asked.view)


_SOURCES: Mapping[str, _Source] = {
    **dict.fromkeys(("recorded_requests", "line_sum_tokens", "line_sum_ratio"), _merged),
    **{f"exposed_{kind}_{what}": _peaks for kind in ("main", "other") for what in ("tokens", "mean", "p95", "peak")},
    **dict.fromkeys(("exposed_tokens", "output_tokens", "output_observed_ratio"), _gaps),
    **dict.fromkeys(("cache_hit_ratio", "cache_breaks", "cache_break_tokens", "cache_rewritten_tokens"), _breaks),
    "cache_break_cost_usd": _breaks,
    **dict.fromkeys(("compactions", "reclaimed_tokens_across_steps", "compaction_call_tokens"), _folds),
    "compaction_cost_usd": _folds,
    **dict.fromkeys(("implicit_compactions", "implicit_reclaimed_tokens"), _guessed),
    "cost_computed_usd": _costs,
    **dict.fromkeys(("cost_reported_usd", "cost_gap_usd", "unlogged_tokens"), _reported),
    **{f"{name}_{k}": _rereads(k) for k in WINDOWS for name in ("reread_regret", "reread_after_fold")},
    "demand_page_miss_rate": _rereads(None),
    **dict.fromkeys(("duplicate_calls", "duplicate_call_ratio"), _repeats),
    **dict.fromkeys(("tool_loops", "tool_loop_warnings", "looped_step_ratio"), _cycles(CycleKind.LOOP)),
    "polling_runs": _cycles(CycleKind.POLLING, CycleKind.UNPROVEN),
    **dict.fromkeys(("tool_errors", "tool_error_ratio"), _outcomes(Outcome.ERROR, Outcome.TIMEOUT)),
    "tool_denials": _outcomes(Outcome.DENIED),
    "tool_timeouts": _outcomes(Outcome.TIMEOUT),
    "tool_interrupts": _outcomes(Outcome.INTERRUPTED),
    "tool_unanswered": _outcomes(Outcome.UNANSWERED),
    "tool_orphans": _outcomes(Outcome.ORPHAN),
    "request_failures": lambda asked: of_work.failures(asked.view),
    **dict.fromkeys(("wasted_tokens", "wasted_token_ratio"), lambda asked: of_work.wasted(asked.view)),
    "abandoned_tokens": lambda asked: of_work.abandoned(asked.view),
    **dict.fromkeys(("subagents", "subagents_unread", "subagent_unread_tokens"), _agents),
    **{f"time_{name}_ms": _times for name in ("wall", *(spent.value for spent in Spent))},
}

EXPLAINED = frozenset(_SOURCES)
"""Metrics that have lines behind them."""


def evidence(
    run: RecordedRun, metric_id: str, table: PriceTable | None = None, *, names: bool = False
) -> Iterator[Line]:
    """(file, line, sentence) of everything behind ``metric_id`` in ``run``; nothing where the number is a plain sum."""
    source = _SOURCES.get(metric_id)
    return iter(()) if source is None else source(_Asked(view_of(run), table, names))
