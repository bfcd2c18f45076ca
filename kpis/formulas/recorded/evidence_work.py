"""The lines behind the numbers of work: repeats, loops, re-reads, outcomes, waste.

Targets of calls are named only where the user asked for names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from kpis.formulas.recorded.duplicates import duplicates
from kpis.formulas.recorded.evidence_tokens import Line
from kpis.formulas.recorded.families import Family, family_of
from kpis.formulas.recorded.loops import LOOP_ROUNDS, Cycle, CycleKind, cycles
from kpis.formulas.recorded.reread import after_folds
from kpis.formulas.recorded.view import RunView
from kpis.formulas.recorded.waste import spawned, wasted_requests
from kpis.terms.trace import Outcome, RequestStatus, ToolCall

__all__ = [
    "abandoned",
    "agents",
    "begun",
    "failures",
    "looping",
    "outcomes",
    "polls",
    "repeated",
    "repeats",
    "rereads",
    "scores",
    "signals",
    "wasted",
]


def _at(call: ToolCall, said: str) -> Line:
    return call.file, call.line, said


def _named(call: ToolCall, names: bool) -> str:
    name = call.name or "a tool without a name"
    return f"{name} on {call.target}" if names and call.target is not None else name


def rereads(view: RunView, window: int | None, names: bool) -> Iterator[Line]:
    """Calls within ``window`` after a fold that read again what was read before; None: the first fetch of each."""
    for found in after_folds(view):
        if window is None:
            for call in found.missed:
                yield _at(call, f"{_named(call, names)} fetches again what was there before the compaction.")
            continue
        for number, (call, same) in enumerate(zip(found.first[:window], found.again, strict=False), start=1):
            if same:
                size = "unknown" if call.result_bytes is None else f"{call.result_bytes:,}"
                yield _at(call, f"Call {number} after a compaction, {_named(call, names)}, reads again: {size} bytes.")


def repeats(view: RunView, names: bool) -> Iterator[Line]:
    """Calls that repeat an earlier one, and by which bound."""
    for found in duplicates(view):
        bound = "nothing can have changed" if found.certain else "nothing that declares a write came"
        where = f"line {found.earlier.line}" if found.earlier.line is not None else "an earlier call"
        yield _at(found.call, f"{_named(found.call, names)} repeats {where}, and {bound} in between.")


def signals(view: RunView, family: Family, window: int, names: bool) -> Iterator[Line]:
    """The first call of ``family`` within ``window`` calls after each fold."""
    for found in after_folds(view):
        for number, call in enumerate(found.first[:window], start=1):
            if family_of(call.op) is family:
                yield _at(call, f"Call {number} after a compaction, {_named(call, names)}.")
                break


def looping(found: Cycle) -> bool:
    """Whether it is a loop and not only the beginning of one."""
    return found.kind is CycleKind.LOOP and found.rounds >= LOOP_ROUNDS


def begun(found: Cycle) -> bool:
    """Whether it has too few rounds to be called a loop yet."""
    return found.kind is CycleKind.LOOP and found.rounds < LOOP_ROUNDS


def repeated(view: RunView, wanted: Callable[[Cycle], bool], names: bool) -> Iterator[Line]:
    """Repeated stretches that are ``wanted``, at their first call."""
    for found in cycles(view):
        if wanted(found):
            first = found.calls[0]
            said = f"{found.rounds} rounds of {found.period} requests, {len(found.calls)} calls"
            word = "a loop begun" if begun(found) else found.kind.value
            yield _at(first, f"{said}, from {_named(first, names)}: {word}.")


def polls(view: RunView, names: bool) -> Iterator[Line]:
    """Calls of tools that one asks again and again."""
    for call in view.calls:
        if call.in_conversation and call.polling:
            yield _at(call, f"{_named(call, names)} waits for something.")


def outcomes(view: RunView, wanted: Collection[Outcome], names: bool) -> Iterator[Line]:
    """Calls that ended so."""
    for call in view.calls:
        if call.outcome in wanted:
            why = f" ({call.error_class})" if call.error_class is not None else ""
            yield _at(call, f"{_named(call, names)}: {call.outcome.value}{why}.")


def scores(view: RunView) -> Iterator[Line]:
    """What an evaluator said of the run, case by case."""
    for facts in view.facts:
        case = "" if facts.case_id is None else f", case {facts.case_id}"
        trial = "" if facts.replicate is None else f", replicate {facts.replicate}"
        words = [] if facts.success is None else ["passed" if facts.success else "failed"]
        words += [] if facts.score is None else [f"score {facts.score:g}"]
        if words:
            yield facts.file, None, f"Judged{case}{trial}: {', '.join(words)}."


def failures(view: RunView) -> Iterator[Line]:
    """Requests that did not end well."""
    for request in (*view.billed, *view.synthetic):
        if request.status is not RequestStatus.OK:
            yield request.file, request.line, f"The request ended as {request.status.value}."


def wasted(view: RunView) -> Iterator[Line]:
    """Requests that came to nothing."""
    for request in wasted_requests(view):
        new = (request.tokens.out_total or 0) + (request.tokens.fresh_in or 0)
        yield request.file, request.line, f"{new:,} new tokens, and none of what followed ended ok."


def abandoned(view: RunView) -> Iterator[Line]:
    """Requests of branches that were left."""
    for request, prompt in zip(view.billed, view.prompts, strict=True):
        if not request.in_conversation:
            whole = (prompt or 0) + (request.tokens.out_total or 0)
            yield request.file, request.line, f"{whole:,} tokens in a branch that was left."


def agents(view: RunView) -> Iterator[Line]:
    """Sub-agents, and whether their result was read."""
    words = {True: "was read", False: "was never read", None: "cannot be followed: no call that started it is recorded"}
    for found in spawned(view):
        file, line = (found.call.file, found.call.line) if found.call is not None else (None, None)
        yield file, line, f"A sub-agent of {found.tokens:,} tokens; its result {words[found.read]}."
