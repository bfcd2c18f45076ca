"""The metrics of work: repeats, loops, outcomes, waste and efficiency, from the sums of one run or of many."""

from __future__ import annotations

from collections.abc import Iterator

from kpis.formulas.recorded.duplicates import DuplicateParts
from kpis.formulas.recorded.efficiency import SCORE_UNIT, EfficiencyParts
from kpis.formulas.recorded.loops import LoopParts
from kpis.formulas.recorded.stated import count, missing, ratio
from kpis.formulas.recorded.verdicts import VerdictParts
from kpis.formulas.recorded.waste import WasteParts
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis
from kpis.terms.trace import Outcome, RequestStatus

__all__ = ["repeat_metrics", "verdict_metrics", "waste_metrics"]

_NO_CALLS = "there are no tool calls"


def repeat_metrics(loops: LoopParts, repeats: DuplicateParts) -> Iterator[Metric]:
    """Loops, polling and duplicate work; the base rate of loops stands in the notes."""
    found = loops.loops + loops.warnings
    base = f"{found:,} in {loops.steps:,} requests that call tools."
    yield count(
        "tool_loops", loops.loops, detail={"steps": loops.steps, "unproven": loops.unproven_runs}, notes=(base,)
    )
    yield count("tool_loop_warnings", loops.warnings, detail={"steps": loops.steps}, notes=(base,))
    yield ratio("looped_step_ratio", loops.repeated_steps, loops.steps, "no request calls a tool")
    yield count("polling_runs", loops.polling_runs)
    yield count("polling_calls", loops.polling_calls)
    undigested = f"{repeats.unkeyed:,} calls have no recorded arguments and could not be compared."
    notes = (undigested,) if repeats.unkeyed else ()
    yield _bounded("duplicate_calls", repeats.lower, repeats.upper, None, repeats, notes)
    yield _bounded("duplicate_call_ratio", repeats.lower, repeats.upper, repeats.calls, repeats, notes)


def _bounded(
    metric_id: str, low: int, high: int, of: int | None, repeats: DuplicateParts, notes: tuple[str, ...]
) -> Metric:
    """The lower bound as the value, with both bounds where they differ."""
    detail = {f"at_least_{family}": n for family, n in repeats.lower_by_family.items()}
    detail |= {f"at_most_{family}": n for family, n in repeats.upper_by_family.items()}
    if of == 0:
        return missing(metric_id, _NO_CALLS, detail=detail)
    share = of or 1
    if low != high:
        notes = ("The value is the lower bound: what commands change is not recorded.", *notes)
    one, other = (low, high) if of is None else (low / share, high / share)
    return Metric(
        metric_id,
        one,
        Basis.FORMULA,
        numerator=low,
        denominator=of,
        low=one if low != high else None,
        high=other if low != high else None,
        detail=detail,
        notes=notes,
    )


def verdict_metrics(parts: VerdictParts, work: EfficiencyParts) -> Iterator[Metric]:
    """What became of calls and requests, and how much work a turn and a score took."""
    errors = parts.count(Outcome.ERROR) + parts.count(Outcome.TIMEOUT)
    yield count("tool_calls", parts.calls, detail=parts.outcomes)
    yield count("tool_errors", errors, detail=parts.error_classes)
    yield ratio(
        "tool_error_ratio", errors, parts.answered, "no call was answered", detail={"failed": parts.failed_exits}
    )
    for name, outcome in (
        ("tool_denials", Outcome.DENIED),
        ("tool_timeouts", Outcome.TIMEOUT),
        ("tool_interrupts", Outcome.INTERRUPTED),
        ("tool_unanswered", Outcome.UNANSWERED),
        ("tool_orphans", Outcome.ORPHAN),
    ):
        detail = {"reported_denials": parts.denied_reported} if outcome is Outcome.DENIED else {}
        yield count(name, parts.count(outcome), detail=detail)
    failed = sum(n for status, n in parts.requests.items() if status != RequestStatus.OK.value)
    yield count("request_failures", failed, detail={**parts.requests, **parts.events})
    turns = "no input of a person is recorded"
    yield ratio("calls_per_turn", work.turn_calls, work.turns, turns, detail={"turns": work.turns})
    yield ratio("output_per_call", work.output, work.calls, _NO_CALLS)
    yield ratio(
        "score_per_action",
        work.score_units / SCORE_UNIT,
        work.scored_actions,
        "no run has a score",
        detail={"runs": work.scored, "succeeded": work.succeeded, "judged": work.judged},
    )


def waste_metrics(parts: WasteParts) -> Iterator[Metric]:
    """Tokens that came to nothing, branches that were left, sub-agents that nobody read."""
    yield count("wasted_tokens", parts.wasted_tokens, Basis.FORMULA, {"requests": parts.wasted_requests})
    yield ratio("wasted_token_ratio", parts.wasted_tokens, parts.new_tokens, "no request has new tokens")
    yield count("abandoned_tokens", parts.abandoned_tokens, detail={"requests": parts.abandoned_requests})
    unlinked = parts.subagents - parts.subagents_read - parts.subagents_unread
    detail = {"read": parts.subagents_read, "unlinked": unlinked, "tokens": parts.subagent_tokens}
    yield count("subagents", parts.subagents, detail=detail)
    yield count("subagents_unread", parts.subagents_unread, Basis.FORMULA, {"unlinked": unlinked})
    yield count("subagent_unread_tokens", parts.unread_tokens, Basis.FORMULA)
