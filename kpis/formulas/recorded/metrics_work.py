"""The metrics of work: repeats, loops, outcomes, waste and efficiency, from the sums of one run or of many.

A repeat can only be seen where arguments and results are recorded, and waste only be summed where usage is: what lacks
them makes a bound of the number, and none at all where everything lacks them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kpis.formulas.recorded.duplicates import DuplicateParts
from kpis.formulas.recorded.loops import LoopParts
from kpis.formulas.recorded.stated import at_least, count, missing, ratio, ratio_at_least
from kpis.formulas.recorded.verdicts import VerdictParts
from kpis.formulas.recorded.waste import WasteParts
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis
from kpis.terms.trace import Outcome, RequestStatus

__all__ = ["repeat_metrics", "verdict_metrics", "waste_metrics"]

_NO_CALLS = "there are no tool calls"
_NO_ARGUMENTS = "calls have no recorded arguments"
_UNPROVEN = "calls have no recorded arguments, or stretches of equal calls no recorded results"
_UNSIZED = "requests that came to nothing do not say all their tokens"


def repeat_metrics(loops: LoopParts, repeats: DuplicateParts) -> Iterator[Metric]:
    """Loops, polling and duplicate work; the base rate of loops stands in the notes."""
    yield from _loops(loops)
    yield from _polling(loops)
    yield _bounded("duplicate_calls", repeats, None)
    yield _bounded("duplicate_call_ratio", repeats, repeats.calls)


def _loops(loops: LoopParts) -> Iterator[Metric]:
    """Loops from below; a stretch that has only begun may be a loop where something is not recorded."""
    found = loops.loops + loops.warnings
    notes = (f"{found:,} in {loops.steps:,} requests that call tools.",)
    gaps, every = loops.undigested + loops.unproven_runs, loops.calls
    of = _UNPROVEN if loops.unproven_runs else _NO_ARGUMENTS
    detail = {"steps": loops.steps, "unproven": loops.unproven_runs}
    yield at_least("tool_loops", loops.loops, gaps, of, every=every, detail=detail, notes=notes)
    if gaps:
        detail = {"steps": loops.steps, "seen": loops.warnings, "gaps": gaps}
        yield missing("tool_loop_warnings", f"{gaps:,} {of}", detail=detail)
    else:
        yield count("tool_loop_warnings", loops.warnings, detail={"steps": loops.steps}, notes=notes)
    why = "no request calls a tool"
    yield ratio_at_least("looped_step_ratio", loops.repeated_steps, loops.steps, why, gaps, of, every=every)


def _polling(loops: LoopParts) -> Iterator[Metric]:
    yield at_least("polling_runs", loops.polling_runs, loops.undigested, _NO_ARGUMENTS, every=loops.calls)
    yield count("polling_calls", loops.polling_calls)


def _bounded(metric_id: str, repeats: DuplicateParts, of: int | None) -> Metric:
    """The lower bound as the value, with both bounds where they differ."""
    detail = {f"at_least_{family}": n for family, n in repeats.lower_by_family.items()}
    detail |= {f"at_most_{family}": n for family, n in repeats.upper_by_family.items()}
    if of == 0:
        return missing(metric_id, _NO_CALLS, detail=detail)
    if repeats.unkeyed and repeats.unkeyed >= repeats.calls:
        return missing(metric_id, f"{repeats.calls:,} of {repeats.calls:,} {_NO_ARGUMENTS}", Basis.FORMULA, detail)
    low, high, share = repeats.lower, min(repeats.upper + repeats.unkeyed, repeats.calls), of or 1
    notes: tuple[str, ...] = ()
    if repeats.lower != repeats.upper:
        notes += ("The value is the lower bound: what commands change is not recorded.",)
    if repeats.unkeyed:
        detail["unkeyed"] = repeats.unkeyed
        notes += (f"The value is the lower bound: {repeats.unkeyed:,} {_NO_ARGUMENTS} and could not be compared.",)
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


def verdict_metrics(parts: VerdictParts) -> Iterator[Metric]:
    """What became of calls and requests."""
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


def waste_metrics(parts: WasteParts) -> Iterator[Metric]:
    """Tokens that came to nothing, branches that were left, sub-agents that nobody read."""
    detail = {"requests": parts.wasted_requests}
    yield at_least(
        "wasted_tokens",
        parts.wasted_tokens,
        parts.wasted_unsized,
        _UNSIZED,
        every=parts.wasted_requests,
        basis=Basis.FORMULA,
        detail=detail,
    )
    yield _wasted_share(parts)
    yield at_least(
        "abandoned_tokens",
        parts.abandoned_tokens,
        parts.abandoned_unsized,
        "requests of branches that were left do not say all their tokens",
        every=parts.abandoned_requests,
        detail={"requests": parts.abandoned_requests},
    )
    yield from _agents(parts)


def _wasted_share(parts: WasteParts) -> Metric:
    """What was wasted of all; from above where only the base misses something, since waste is a part of it."""
    found = ratio("wasted_token_ratio", parts.wasted_tokens, parts.new_tokens, "no request has new tokens")
    if found.value is None or not parts.wasted_requests or not parts.new_unsized:
        return found
    if parts.wasted_unsized:
        why = f"{parts.wasted_unsized:,} of {parts.wasted_requests:,} {_UNSIZED}"
        return missing(found.id, why, found.basis, {"gaps": parts.wasted_unsized})
    note = f"At most this: {parts.new_unsized:,} requests do not say all their tokens."
    return Metric(
        found.id,
        found.value,
        found.basis,
        numerator=found.numerator,
        denominator=found.denominator,
        high=found.value,
        notes=(note,),
    )


def _agents(parts: WasteParts) -> Iterator[Metric]:
    unlinked = parts.subagents - parts.subagents_read - parts.subagents_unread
    detail = {"read": parts.subagents_read, "unlinked": unlinked, "tokens": parts.subagent_tokens}
    yield count("subagents", parts.subagents, detail=detail)
    yield at_least(
        "subagents_unread",
        parts.subagents_unread,
        unlinked,
        "sub-agents have no recorded call that started them",
        every=parts.subagents,
        basis=Basis.FORMULA,
        detail={"unlinked": unlinked},
    )
    yield at_least(
        "subagent_unread_tokens",
        parts.unread_tokens,
        parts.unread_unsized + unlinked,
        "sub-agents lack usage, or the call that started them",
        every=parts.subagents_unread + unlinked,
        basis=Basis.FORMULA,
    )
