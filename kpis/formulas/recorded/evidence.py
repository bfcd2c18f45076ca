"""What stands behind a number: for each metric of recorded runs the lines that it was counted from.

Of a sum over everything they are the largest parts. Refuses to name files, commands
or addresses unless the caller asks for names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import NamedTuple

from kpis.formulas.recorded import evidence_time as of_time
from kpis.formulas.recorded import evidence_tokens as of_tokens
from kpis.formulas.recorded import evidence_work as of_work
from kpis.formulas.recorded.evidence_tokens import Line
from kpis.formulas.recorded.families import Family
from kpis.formulas.recorded.ledger_spans import Spent
from kpis.formulas.recorded.loops import Cycle, CycleKind
from kpis.formulas.recorded.pricing import PriceTable
from kpis.formulas.recorded.reread import SIGNAL_FAMILIES, WINDOWS
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


def _peaks(main: bool) -> _Source:
    return lambda asked: of_tokens.peaks(asked.view, main)


def _ranked(main: bool, percent: int) -> _Source:
    return lambda asked: of_tokens.ranked(asked.view, main, percent)


def _gaps(asked: _Asked) -> Iterator[Line]:
    return of_tokens.gaps(asked.view)


def _prompts(asked: _Asked) -> Iterator[Line]:
    yield from of_tokens.gaps(asked.view)
    yield from of_tokens.peaks(asked.view, None)


def _largest(part: str, what: str) -> _Source:
    return lambda asked: of_tokens.largest(asked.view, attrgetter(part), what)


def _outputs(asked: _Asked) -> Iterator[Line]:
    yield from of_tokens.gaps(asked.view)
    yield from of_tokens.largest(asked.view, attrgetter("out_total"), "of output")


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


def _signals(family: Family, window: int) -> _Source:
    return lambda asked: of_work.signals(asked.view, family, window, asked.names)


def _cycles(wanted: Callable[[Cycle], bool]) -> _Source:
    return lambda asked: of_work.repeated(asked.view, wanted, asked.names)


def _kinds(*kinds: CycleKind) -> _Source:
    return _cycles(lambda found: found.kind in kinds)


def _outcomes(*wanted: Outcome) -> _Source:
    return lambda asked: of_work.outcomes(asked.view, wanted, asked.names)


def _agents(asked: _Asked) -> Iterator[Line]:
    return of_work.agents(asked.view)


def _times(asked: _Asked) -> Iterator[Line]:
    return of_time.times(asked.view)


_KINDS = ("main", "other")
_PERCENT = {"median": 50, "p95": 95}

_SOURCES: Mapping[str, _Source] = {
    **dict.fromkeys(("recorded_requests", "line_sum_tokens", "line_sum_ratio"), _merged),
    **{f"exposed_{kind}_{what}": _peaks(kind == "main") for kind in _KINDS for what in ("tokens", "mean", "peak")},
    **{f"exposed_{kind}_{name}": _ranked(kind == "main", p) for kind in _KINDS for name, p in _PERCENT.items()},
    "exposed_tokens": _prompts,
    "output_tokens": _outputs,
    "output_per_call": _outputs,
    "output_observed_ratio": _gaps,
    "fresh_tokens": _largest("fresh_in", "were neither read from a cache nor written to one"),
    "cache_read_tokens": _largest("cache_read", "were read from a cache"),
    "cache_write_tokens": _largest("cache_write", "were written to a cache"),
    "reasoning_tokens": _largest("out_reasoning", "of reasoning"),
    **dict.fromkeys(("cache_hit_ratio", "cache_breaks", "cache_break_tokens", "cache_rewritten_tokens"), _breaks),
    "cache_break_cost_usd": _breaks,
    **dict.fromkeys(("compactions", "reclaimed_tokens_across_steps", "compaction_call_tokens"), _folds),
    "compaction_cost_usd": _folds,
    **dict.fromkeys(("implicit_compactions", "implicit_reclaimed_tokens"), _guessed),
    "cost_computed_usd": _costs,
    **dict.fromkeys(("cost_reported_usd", "cost_gap_usd", "unlogged_tokens"), _reported),
    **{f"{name}_{k}": _rereads(k) for k in WINDOWS for name in ("reread_regret", "reread_after_fold")},
    **{f"{family.value}_after_fold_{k}": _signals(family, k) for k in WINDOWS for family in SIGNAL_FAMILIES},
    "demand_page_miss_rate": _rereads(None),
    **dict.fromkeys(("duplicate_calls", "duplicate_call_ratio"), _repeats),
    "tool_loops": _cycles(of_work.looping),
    "tool_loop_warnings": _cycles(of_work.begun),
    "looped_step_ratio": _kinds(CycleKind.LOOP),
    "polling_runs": _kinds(CycleKind.POLLING, CycleKind.UNPROVEN),
    "polling_calls": lambda asked: of_work.polls(asked.view, asked.names),
    **dict.fromkeys(("tool_calls", "calls_per_turn"), _outcomes(*Outcome)),
    **dict.fromkeys(("success_ratio", "score_per_action"), lambda asked: of_work.scores(asked.view)),
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
    "time_tool_overlap_ms": lambda asked: of_time.parallel_tools(asked.view),
    "time_agent_overlap_ms": lambda asked: of_time.parallel_agents(asked.view),
}

EXPLAINED = frozenset(_SOURCES)
"""Metrics that have lines behind them."""


def evidence(
    run: RecordedRun, metric_id: str, table: PriceTable | None = None, *, names: bool = False
) -> Iterator[Line]:
    """(file, line, sentence) of everything behind ``metric_id`` in ``run``; nothing where the number is a plain sum."""
    source = _SOURCES.get(metric_id)
    return iter(()) if source is None else source(_Asked(view_of(run), table, names))
