"""The lines behind the numbers of work: repeats, loops, re-reads, outcomes, waste.

Targets of calls are named only where the user asked for names.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from kpis.formulas.recorded.duplicates import duplicates
from kpis.formulas.recorded.evidence_tokens import Line
from kpis.formulas.recorded.ledger import turn_ledgers
from kpis.formulas.recorded.ledger_spans import Spent
from kpis.formulas.recorded.loops import CycleKind, cycles
from kpis.formulas.recorded.reread import after_folds
from kpis.formulas.recorded.view import RunView
from kpis.formulas.recorded.waste import spawned, wasted_requests
from kpis.terms.trace import Outcome, RequestStatus, ToolCall

__all__ = ["abandoned", "agents", "failures", "outcomes", "repeated", "repeats", "rereads", "times", "wasted"]


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


def repeated(view: RunView, kinds: Collection[CycleKind], names: bool) -> Iterator[Line]:
    """Repeated stretches of these kinds, at their first call."""
    for found in cycles(view):
        if found.kind in kinds:
            first = found.calls[0]
            said = f"{found.rounds} rounds of {found.period} requests, {len(found.calls)} calls"
            yield _at(first, f"{said}, from {_named(first, names)}: {found.kind.value}.")


def outcomes(view: RunView, wanted: Collection[Outcome], names: bool) -> Iterator[Line]:
    """Calls that ended so."""
    for call in view.calls:
        if call.outcome in wanted:
            why = f" ({call.error_class})" if call.error_class is not None else ""
            yield _at(call, f"{_named(call, names)}: {call.outcome.value}{why}.")


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


def times(view: RunView) -> Iterator[Line]:
    """The ledger of each turn."""
    for turn in turn_ledgers(view):
        shares = [(getattr(turn.parts, spent.value), spent.value.replace("_", " ")) for spent in Spent]
        spent = ", ".join(f"{name} {ms / 1000:,.1f} s" for ms, name in shares if ms)
        what = f"Turn {turn.index}" if turn.index >= 0 else "Before the first turn"
        yield None, None, f"{what}: {turn.parts.wall / 1000:,.1f} s ({spent or 'no time'})."
