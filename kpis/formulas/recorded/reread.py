"""What a compaction makes an agent fetch again: re-reads of what it had, and what it did first afterwards.

A re-read is a read, within the first k calls after a fold, of a target that had been read before it; arguments differ
(another range of lines), so targets are compared. Later folds do not close the window. Refuses to call a re-read a
mistake: it is a signal, to be compared between runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from kpis.formulas.recorded.compaction import BYTES_PER_TOKEN
from kpis.formulas.recorded.families import Family, family_of, fetches, is_reading
from kpis.formulas.recorded.folds import Fold, call_positions
from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import ToolCall

__all__ = ["SIGNAL_FAMILIES", "WINDOWS", "AfterFold", "RereadParts", "after_folds", "reread_parts"]

WINDOWS = (1, 3, 5, 10)
"""Calls after a fold that are looked at."""

SIGNAL_FAMILIES = (Family.READ, Family.SEARCH, Family.TEST)


@dataclass(frozen=True, slots=True)
class AfterFold:
    """What followed one fold: ``first`` are the calls of the longest window, ``again`` tells which of them re-read.

    ``until_next`` counts the calls up to the next fold, and ``missed`` are those of them that were the first to fetch
    what had been there before.
    """

    fold: Fold
    first: tuple[ToolCall, ...]
    again: tuple[bool, ...]
    until_next: int
    missed: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class RereadParts(Summed):
    """What one run adds; keys are windows, or ``family@window``.

    ``eligible`` folds have at least one call after them; ``short`` ones have fewer than the longest window. ``tokens``
    are bytes / 4 of what was read again; ``unsized`` counts re-reads whose size is not recorded. ``blind`` are reads of
    these threads that do not say of what, each of which may be a re-read or what one reads again, and ``reads`` all.
    """

    folds: int = 0
    eligible: int = 0
    short: int = 0
    rereads: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)
    folds_reread: dict[str, int] = field(default_factory=dict)
    folds_family: dict[str, int] = field(default_factory=dict)
    unsized: dict[str, int] = field(default_factory=dict)
    reads: int = 0
    blind: int = 0
    misses: int = 0
    miss_calls: int = 0


def after_folds(view: RunView) -> Iterator[AfterFold]:
    """Every recorded fold of a conversation with what followed it; inferred ones are left out."""
    chains = {
        chain.thread_id: chain
        for chain in view.chains
        if chain.conversation and any(not fold.implicit for fold in chain.folds)
    }
    if not chains:
        return
    for thread_id, calls in view.calls_by_thread(copied=True):
        chain = chains.get(thread_id)
        if chain is not None:
            place = {request.request_id: at for at, request in enumerate(chain.requests)}
            yield from _of_thread(
                [fold for fold in chain.folds if not fold.implicit], calls, call_positions(calls, place)
            )


def _of_thread(folds: list[Fold], calls: list[ToolCall], positions: list[int]) -> Iterator[AfterFold]:
    starts = [next((n for n, at in enumerate(positions) if at >= fold.at), len(calls)) for fold in folds]
    reads = [is_reading(call) for call in calls]
    first_read: dict[str | None, int] = {}
    for number, call in enumerate(calls):
        if reads[number]:
            first_read.setdefault(call.target, number)
    for fold, start, stop in zip(folds, starts, [*starts[1:], len(calls)], strict=True):
        window = range(start, min(start + WINDOWS[-1], len(calls)))
        missed: dict[str | None, ToolCall] = {}
        for number in range(start, stop):
            target = calls[number].target
            if reads[number] and first_read[target] < start:
                missed.setdefault(target, calls[number])
        yield AfterFold(
            fold=fold,
            first=tuple(calls[number] for number in window),
            again=tuple(reads[number] and first_read[calls[number].target] < start for number in window),
            until_next=stop - start,
            missed=tuple(missed.values()),
        )


def reread_parts(view: RunView) -> RereadParts:
    """The re-read parts of one run."""
    found = list(after_folds(view))
    if not found:
        return RereadParts()
    folded = {each.fold.event.thread_id for each in found}
    reads = [call for call in view.run.calls if call.thread_id in folded and call.in_conversation and fetches(call)]
    rereads: dict[str, int] = {}
    tokens: dict[str, int] = {}
    folds_reread: dict[str, int] = {}
    folds_family: dict[str, int] = {}
    unsized: dict[str, int] = {}
    for k in WINDOWS:
        key = str(k)
        again = [[call for call, same in zip(each.first[:k], each.again, strict=False) if same] for each in found]
        rereads[key] = sum(map(len, again))
        tokens[key] = sum((call.result_bytes or 0) // BYTES_PER_TOKEN for calls in again for call in calls)
        unsized[key] = sum(call.result_bytes is None for calls in again for call in calls)
        folds_reread[key] = sum(map(bool, again))
        for family in SIGNAL_FAMILIES:
            hit = sum(any(family_of(call.op) is family for call in each.first[:k]) for each in found)
            folds_family[f"{family.value}@{k}"] = hit
    return RereadParts(
        folds=len(found),
        eligible=sum(bool(each.first) for each in found),
        short=sum(len(each.first) < WINDOWS[-1] for each in found),
        rereads=rereads,
        tokens=tokens,
        folds_reread=folds_reread,
        folds_family=folds_family,
        unsized=unsized,
        reads=len(reads),
        blind=[call.target for call in reads].count(None),
        misses=sum(len(each.missed) for each in found),
        miss_calls=sum(each.until_next for each in found),
    )
