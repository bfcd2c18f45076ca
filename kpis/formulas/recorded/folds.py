"""Where in a thread a compaction took place: between which two requests, and so before which calls.

A boundary is placed by its line where it stands in the file of the requests around it, because an append-only log is in
the order of what happened; else by its time. Refuses to place one that has neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kpis.terms.trace import Event, Request, ToolCall

__all__ = ["Fold", "call_positions", "folds_of", "halved"]


@dataclass(frozen=True, slots=True)
class Fold:
    """A compaction before request number ``at`` of its chain (``at`` = their number: after all); its ``event``."""

    at: int
    event: Event

    @property
    def implicit(self) -> bool:
        """Whether it is inferred from a prompt that fell, and no line says it."""
        return self.event.implicit


def folds_of(requests: Sequence[Request], events: Sequence[Event]) -> tuple[Fold, ...]:
    """``events`` placed among ``requests``, in order; those that cannot be placed are left out.

    A fold whose next request is copied belongs to the history of another run, which counts it.
    """
    placed = []
    lines = [request.line for request in requests]
    file = requests[0].file
    known = [line for line in lines if line is not None]
    whole = len(known) == len(lines) and all(request.file == file for request in requests)
    for event in events:
        if whole and event.line is not None and event.file == file:
            at: int | None = sum(map(event.line.__gt__, known))
        else:
            at = _by_time(requests, event)
        beside = requests[at] if at is not None and at < len(requests) else requests[-1]
        if at is not None and not beside.copied:
            placed.append(Fold(at, event))
    return tuple(sorted(placed, key=lambda fold: (fold.at, fold.event.t or 0, fold.event.line or 0)))


def _by_time(requests: Sequence[Request], event: Event) -> int | None:
    """How many of ``requests`` began before ``event``; None where no time tells."""
    if event.t is None:
        return None
    last: int | None = None
    for at, request in enumerate(requests):
        began = request.t_first if request.t_first is not None else request.t_last
        if began is not None and began > event.t:
            return at
        if began is not None:
            last = at
    return None if last is None else len(requests)


def halved(before: int | None, after: int | None) -> bool:
    """Whether a prompt fell by more than half, from which a fold without a line of its own is inferred: a guess."""
    return before is not None and after is not None and 2 * after < before


def call_positions(calls: Sequence[ToolCall], place: Mapping[str, int]) -> list[int]:
    """For each call the number of its request in the chain (``place``); one without is where the call before it is."""
    at = 0
    positions = []
    for call in calls:
        at = place.get(call.request_id, at) if call.request_id is not None else at
        positions.append(at)
    return positions
