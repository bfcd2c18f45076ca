"""Which requests of a thread continue one another: its conversation, and each branch that was left, as chains.

A chain is what a cache and a context follow. A branch is never taken for the conversation's next step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kpis.formulas.recorded.folds import Fold, folds_of
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Event, EventKind, Request, ThreadKind

__all__ = ["Chain", "chains_of", "compactions_of"]


@dataclass(frozen=True, slots=True)
class Chain:
    """Requests of one thread that continue one another, oldest first, with the prompt of each (None: unknown).

    ``conversation`` is False of a branch that was abandoned. ``folds`` are the compactions between them.
    """

    thread_id: str
    kind: ThreadKind
    conversation: bool
    requests: Sequence[Request]
    prompts: Sequence[int | None]
    folds: tuple[Fold, ...] = ()


def compactions_of(run: RecordedRun) -> dict[str, list[Event]]:
    """The compactions of each thread; one that a copy of the history says again counts once."""
    seen: set[tuple[object, ...]] = set()
    by_thread: dict[str, list[Event]] = {}
    for event in run.events:
        if event.kind is not EventKind.COMPACTION:
            continue
        said = (event.thread_id, event.t, event.trigger, event.pre_tokens, event.summary_bytes)
        if event.t is not None and said in seen:
            continue
        seen.add(said)
        by_thread.setdefault(event.thread_id, []).append(event)
    return by_thread


def chains_of(
    rows: Sequence[Request],
    prompts: Sequence[int | None],
    kinds: dict[str, ThreadKind],
    compactions: dict[str, list[Event]],
) -> Iterator[Chain]:
    """The conversation of each thread as one chain, and each abandoned stretch as a chain of its own."""
    start = 0
    while start < len(rows):
        thread_id = rows[start].thread_id
        end = start
        whole = True
        while end < len(rows) and rows[end].thread_id == thread_id:
            whole = whole and rows[end].in_conversation
            end += 1
        kind = kinds.get(thread_id, ThreadKind.MAIN)
        requests, shown = rows[start:end], prompts[start:end]
        if not whole:
            for at, length in _abandoned(requests):
                yield Chain(thread_id, kind, False, requests[at : at + length], shown[at : at + length])
            kept = [at for at, request in enumerate(requests) if request.in_conversation]
            requests, shown = [requests[at] for at in kept], [shown[at] for at in kept]
        if requests:
            folds = folds_of(requests, compactions.pop(thread_id)) if thread_id in compactions else ()
            yield Chain(thread_id, kind, True, requests, shown, folds)
        start = end


def _abandoned(requests: Sequence[Request]) -> Iterator[tuple[int, int]]:
    """(start, length) of each stretch outside the conversation: neighbours of one turn or of turns that follow."""
    start: int | None = None
    for at, request in enumerate(requests):
        goes_on = start is not None and not request.in_conversation and request.turn >= requests[at - 1].turn
        if start is not None and not goes_on:
            yield start, at - start
            start = None
        if not request.in_conversation and start is None:
            start = at
    if start is not None:
        yield start, len(requests) - start
