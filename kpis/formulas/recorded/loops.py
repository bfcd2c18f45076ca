"""Tool loops: the same calls with the same results, over and over; and polling, where results change or a tool waits.

A step is a request that calls tools; its signature is the multiset of its (name, argument digest). A cycle is a stretch
that repeats itself with a period of 1 to 5 steps: three rounds warn, five are a loop. Names alone never match, and
without equal results nothing is called a loop. Refuses to judge where digests are missing; such repeats stand apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from operator import attrgetter, eq

from kpis.formulas.recorded.parts import Summed
from kpis.formulas.recorded.view import RunView
from kpis.terms.trace import ToolCall

__all__ = ["LONGEST_PERIOD", "LOOP_ROUNDS", "WARN_ROUNDS", "Cycle", "CycleKind", "LoopParts", "cycles", "loop_parts"]

WARN_ROUNDS = 3
LOOP_ROUNDS = 5
LONGEST_PERIOD = 5

_REQUEST = attrgetter("request_id")


class CycleKind(Enum):
    """What a repeated stretch is."""

    LOOP = "loop"  # same calls, same results
    POLLING = "polling"  # same calls, and the results change, or the tool waits for something
    UNPROVEN = "unproven"  # same calls, and a result is not known


@dataclass(frozen=True, slots=True)
class Cycle:
    """One repeated stretch: ``rounds`` times ``period`` steps, and all its calls in order."""

    kind: CycleKind
    period: int
    rounds: int
    calls: tuple[ToolCall, ...]


@dataclass(frozen=True, slots=True)
class LoopParts(Summed):
    """What one run adds. ``steps`` is the base: requests of a conversation that call tools.

    ``repeated_steps`` are those of loops and warnings beyond their first round. ``calls`` are those that could be part
    of one, and ``undigested`` those of them whose arguments are not recorded; an orphan is one of both.
    """

    steps: int = 0
    loops: int = 0
    warnings: int = 0
    repeated_steps: int = 0
    repeated_calls: int = 0
    polling_runs: int = 0
    unproven_runs: int = 0
    polling_calls: int = 0
    calls: int = 0
    undigested: int = 0


def _rounds(signatures: Sequence[object | None], taken: list[bool]) -> Iterator[tuple[int, int, int]]:
    """(start, period, rounds) of each stretch of equal rounds outside ``taken``, shortest period first."""
    counts = Counter(signature for signature in signatures if signature is not None)
    if not counts or max(counts.values()) < WARN_ROUNDS:
        return
    # Numbers are quick to compare. An unknown signature is like no other, not even like another unknown one.
    known: dict[object, int] = {}
    codes = [-at if each is None else known.setdefault(each, len(known)) for at, each in enumerate(signatures, 1)]
    for period in range(1, LONGEST_PERIOD + 1):
        same = bytes(map(eq, codes[period:], codes))
        repeated = b"\1" * ((WARN_ROUNDS - 1) * period)
        start = same.find(repeated)
        while start >= 0:
            end = same.find(b"\0", start)
            end = (len(same) if end < 0 else end) + period
            if not any(taken[start:end]):
                taken[start:end] = [True] * (end - start)
                yield start, period, (end - start) // period
            start = same.find(repeated, end - period)


def cycles(view: RunView) -> Iterator[Cycle]:
    """Every loop, warning, poll and unproven repeat of the run's conversations."""
    for _, calls in view.calls_by_thread():
        if not _may_repeat(calls):
            continue
        steps = [tuple(group) for request_id, group in groupby(calls, _REQUEST) if request_id is not None]
        asked = [_asked(step) for step in steps]
        answered = [_answered(step, said) for step, said in zip(steps, asked, strict=True)]
        taken = [False] * len(steps)
        for start, period, rounds in _rounds(answered, taken):
            yield _cycle(CycleKind.LOOP, steps, start, period, rounds)
        looped = list(taken)
        for start, period, rounds in _rounds(asked, taken):
            stretch = steps[start : start + period * rounds]
            kind = CycleKind.UNPROVEN if _open(stretch) else CycleKind.POLLING
            yield _cycle(kind, steps, start, period, rounds)
        if any(looped):  # a loop whose next rounds lack their results may be a longer one
            for start, period, rounds in _rounds(asked, [False] * len(steps)):
                end = start + period * rounds
                if any(looped[start:end]) and _open(steps[start:end]):
                    yield _cycle(CycleKind.UNPROVEN, steps, start, period, rounds)


def _open(stretch: Sequence[tuple[ToolCall, ...]]) -> bool:
    """Whether a result is not known of a call that is no polling."""
    return any(call.result_digest is None for step in stretch for call in step if not call.polling)


def _may_repeat(calls: Sequence[ToolCall]) -> bool:
    """Whether anything is said three times within the longest three rounds: in most threads nothing is."""
    if len(calls) < WARN_ROUNDS:
        return False
    said = [call.arg_digest for call in calls]
    often = {digest for digest, n in Counter(said).items() if n >= WARN_ROUNDS and digest is not None}
    if not often:
        return False
    widest = max(Counter([call.request_id for call in calls]).values())
    reach = (WARN_ROUNDS * LONGEST_PERIOD) * widest
    seen: dict[str, list[int]] = {}
    for at, digest in enumerate(said):
        if digest in often and digest is not None:
            places = seen.setdefault(digest, [])
            places.append(at)
            if len(places) >= WARN_ROUNDS and at - places[-WARN_ROUNDS] < reach:
                return True
    return False


def _cycle(kind: CycleKind, steps: Sequence[tuple[ToolCall, ...]], start: int, period: int, rounds: int) -> Cycle:
    stretch = steps[start : start + period * rounds]
    return Cycle(kind, period, rounds, tuple(call for step in stretch for call in step))


def _asked(step: Sequence[ToolCall]) -> object | None:
    if len(step) == 1:  # as nearly all steps are
        call = step[0]
        return None if call.arg_digest is None else (call.name, call.arg_digest)
    if any(call.arg_digest is None for call in step):
        return None
    return tuple(sorted((call.name or "", call.arg_digest or "") for call in step))


def _answered(step: Sequence[ToolCall], asked: object | None) -> object | None:
    if len(step) == 1:
        call = step[0]
        return None if asked is None or call.result_digest is None or call.polling else (asked, call.result_digest)
    if asked is None or any(call.result_digest is None for call in step) or polls(step):
        return None
    return tuple(sorted((call.name or "", call.arg_digest or "", call.result_digest or "") for call in step))


def polls(step: Sequence[ToolCall]) -> bool:
    """Whether the step only waits: all its calls are of tools that one asks again and again."""
    return all(call.polling for call in step)


def loop_parts(view: RunView) -> LoopParts:
    """The loop parts of one run."""
    kept = [call for call in view.calls if call.in_conversation]
    judged = [call.arg_digest for call in kept if not call.polling]
    found = list(cycles(view))
    looped = [cycle for cycle in found if cycle.kind is CycleKind.LOOP]
    return LoopParts(
        steps=len({call.request_id for call in kept} - {None}),
        loops=sum(cycle.rounds >= LOOP_ROUNDS for cycle in looped),
        warnings=sum(cycle.rounds < LOOP_ROUNDS for cycle in looped),
        repeated_steps=sum((cycle.rounds - 1) * cycle.period for cycle in looped),
        repeated_calls=sum(len(cycle.calls) * (cycle.rounds - 1) // cycle.rounds for cycle in looped),
        polling_runs=sum(cycle.kind is CycleKind.POLLING for cycle in found),
        unproven_runs=sum(cycle.kind is CycleKind.UNPROVEN for cycle in found),
        polling_calls=[call.polling for call in kept].count(True),
        calls=len(judged),
        undigested=judged.count(None),
    )
