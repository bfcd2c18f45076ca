"""From a reader's stream to one :class:`~kpis.terms.trace.Trace`, and from a trace to what it reports in total.

Totals are somebody else's numbers: their basis is *reported*, and they are never added to a count of ours. This module
refuses to put 0 where nothing is known.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kpis.terms.quantity import Basis
from kpis.terms.trace import (
    Event,
    Issue,
    Node,
    Outcome,
    Provenance,
    Recording,
    Request,
    Thread,
    ToolCall,
    Trace,
    TraceEvent,
    Turn,
)

__all__ = ["build", "totals"]


def build(stream: Iterable[TraceEvent | Issue]) -> Trace:
    """Assemble what a reader yielded; each kind keeps the order of the stream.

    Raises:
        ValueError: the stream has no :class:`Recording`, or two.
    """
    held: dict[type[Any], list[Any]] = {
        kind: [] for kind in (Recording, Thread, Turn, Request, ToolCall, Event, Node, Issue)
    }
    for item in stream:
        held[type(item)].append(item)
    if len(held[Recording]) != 1:
        raise ValueError(f"A trace is of one recording, not of {len(held[Recording])}.")
    return Trace(
        held[Recording][0],
        threads=tuple(held[Thread]),
        turns=tuple(held[Turn]),
        requests=tuple(held[Request]),
        calls=tuple(held[ToolCall]),
        events=tuple(held[Event]),
        nodes=tuple(held[Node]),
        issues=tuple(held[Issue]),
    )


def _sum(parts: Iterable[int | None]) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def totals(trace: Trace) -> dict[str, int | str | None]:
    """What the recording reports over all threads and branches, because all of them were paid for.

    ``fresh_in``, ``cache_read``, ``cache_write``, ``out`` are tokens, None where no request knows the part; they are
    lower bounds where ``requests_without_usage`` or ``placeholder_outputs`` is not 0. ``tool_calls`` leaves out
    results without a call.
    """
    tokens = [request.tokens for request in trace.requests]
    return {
        "basis": Basis.REPORTED.value,
        "requests": len(trace.requests),
        "tool_calls": sum(1 for call in trace.calls if call.outcome is not Outcome.ORPHAN),
        "turns": len(trace.turns),
        "threads": len(trace.threads),
        "fresh_in": _sum(part.fresh_in for part in tokens),
        "cache_read": _sum(part.cache_read for part in tokens),
        "cache_write": _sum(part.cache_write for part in tokens),
        "out": _sum(part.out_total for part in tokens),
        "requests_without_usage": sum(1 for part in tokens if part.prompt is None and part.out_total is None),
        "placeholder_outputs": sum(1 for part in tokens if part.provenance_of("out_total") is Provenance.PLACEHOLDER),
    }
