"""The lines behind the numbers of time: each turn with what it was spent on, and what ran beside something else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kpis.formulas.recorded.evidence_tokens import Line
from kpis.formulas.recorded.intervals import Span
from kpis.formulas.recorded.ledger import turn_ledgers
from kpis.formulas.recorded.ledger_spans import Spent, thread_spans, tool_spans
from kpis.formulas.recorded.view import RunView

__all__ = ["parallel_agents", "parallel_tools", "times"]

Placed = tuple[Span, str, str | None, int | None]


def times(view: RunView) -> Iterator[Line]:
    """The ledger of each turn, at its first answer."""
    for turn in turn_ledgers(view):
        shares = [(getattr(turn.parts, spent.value), spent.value.replace("_", " ")) for spent in Spent]
        spent = ", ".join(f"{name} {ms / 1000:,.1f} s" for ms, name in shares if ms)
        what = f"Turn {turn.index}" if turn.index >= 0 else "Before the first turn"
        yield turn.file, turn.line, f"{what}: {turn.parts.wall / 1000:,.1f} s ({spent or 'no time'})."


def parallel_tools(view: RunView) -> Iterator[Line]:
    """Calls that ran while another one did."""
    return _beside(
        (span, call.name or "a tool without a name", call.file, call.line) for call, span in tool_spans(view)
    )


def parallel_agents(view: RunView) -> Iterator[Line]:
    """Sub-agents that worked while another one did, at their first answer."""
    first = {request.thread_id: request for request in reversed(view.billed)}
    spans: list[Placed] = []
    for thread_id, span in thread_spans(view):
        request = first.get(thread_id)
        where = (None, None) if request is None else (request.file, request.line)
        spans.append((span, f"the {view.kind_of(thread_id).value} {thread_id}", *where))
    return _beside(spans)


def _beside(spans: Iterable[Placed]) -> Iterator[Line]:
    """Those of ``spans`` that began before all earlier ones had ended; their shares add up to the overlap."""
    reached: int | None = None
    for (start, end), name, file, line in sorted(spans, key=lambda each: each[0]):
        if end <= start:
            continue
        shared = 0 if reached is None else max(0, min(reached, end) - start)
        if shared:
            whole = f"{(end - start) / 1000:,.1f} s"
            yield file, line, f"{name[:1].upper()}{name[1:]} took {whole}, {shared / 1000:,.1f} s of it beside others."
        reached = end if reached is None else max(reached, end)
