"""What a probe hands over, and the only place where a clock is read.

A probe opens a slice; the harness times it. A probe that kept a clock of its own could time the engine and call it
the kernel, so no probe imports ``time``. This module is part of the worker: standard library only, nothing of ours.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

__all__ = [
    "ENGINES",
    "Arms",
    "CallSlice",
    "Engine",
    "Probe",
    "Slice",
    "TICKS",
    "Tally",
    "Undefined",
    "WorkNotDoneError",
    "Workload",
    "clock_fault",
    "clock_overhead_ns",
    "is_async",
    "repeat",
    "stamp",
    "tick_ns",
]

Engine = Literal["none", "noop", "mock", "remote"]
ENGINES = ("none", "noop", "mock", "remote")


@dataclass(frozen=True, slots=True)
class Workload:
    """A named input, parsed once by the parent: plain values only.

    ``kind`` is ``calls`` or ``session``; ``source`` is ``synthetic`` (authored) or ``replay`` (recorded).
    """

    name: str
    kind: str
    sha256: str
    source: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Tally:
    """A count, rate, invariant, histogram or modeled amount, as plain numbers.

    A count or an amount is ``numerator`` with ``denominator`` None; a rate has both and ``reasons`` as the histogram
    of what the numerator is made of; an invariant is 1 or 0. ``excluded`` says how many were left out of the
    denominator. ``knobs`` make it a model. ``basis`` is ``count``, ``formula``, ``model`` or ``reported``.

    ``evidence`` has to be the same in every process; what a clock said beside the number goes to ``clocked``, which is
    printed behind it and may differ.
    """

    numerator: int | float
    denominator: int | float | None = None
    reasons: Mapping[str, int] = field(default_factory=dict)
    excluded: int = 0
    knobs: Mapping[str, float] | None = None
    basis: str = "count"
    source: str | None = None
    evidence: tuple[str, ...] = ()
    clocked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Undefined:
    """What a probe returns in place of a slice: a reason of ``kpis.terms.reading.Reason`` by value, and a sentence."""

    reason: str
    detail: str


class WorkNotDoneError(Exception):
    """``check`` found that the expected work was not done: the reading is void."""


class Slice(Protocol):
    """A part of a runtime that is timed in batches."""

    engine: Engine
    """How the engine was cut out."""

    def batch(self, loops: int) -> Callable[[], object]:
        """Set up ``loops`` calls outside the clock; return the callable (or coroutine function) that runs them."""
        ...

    def check(self, result: object) -> None:
        """After the clock: raise :class:`WorkNotDoneError` unless the expected work was really done."""
        ...


class CallSlice(Protocol):
    """A part of a runtime whose single calls are stamped, for medians and tails over calls."""

    engine: Engine

    def calls(self, n: int) -> Iterator[Callable[[], object]]:
        """Yield ``n`` zero-argument callables, each one call."""
        ...

    def check(self, result: object) -> None:
        """As :meth:`Slice.check`; ``result`` is that of the last call of a round."""
        ...


class Arms(Protocol):
    """Ways to do the same work, which one process times in turn: what a rate is read from whose two sides are times.

    Two processes never agree on it to the digit, so such a rate gates as ``report``.
    An arm is made of parts, whose times add up. Which parts make which side is said by :meth:`ratio`, which is handed
    numbers and has no clock.
    """

    engine: Engine

    def parts(self) -> Sequence[tuple[str, Callable[[], object]]]:
        """Set up one round outside the clock; its parts by name, in the order in which they run. A name may come again.

        Each is a zero-argument callable or coroutine function, and is stamped by itself.
        """
        ...

    def check(self, result: object) -> None:
        """As :meth:`Slice.check`, after each round; ``result`` is that of the last part."""
        ...

    def ratio(self, rounds: Sequence[Mapping[str, int]]) -> Tally:
        """What the rounds of one process come to: each has the ns of its parts by name, summed where one came again.

        Numerator and denominator are ns, and both arms stand in the evidence.
        """
        ...


class Probe(Protocol):
    """What opens the slices of a seam. Whatever it raises makes the one KPI undefined, with reason ``error``.

    A probe whose counts share their work may have ``open_all`` besides, which is called as ``open`` is and returns, by
    KPI, a :class:`Tally` or an :class:`Undefined` for the one that is asked for and for whichever others the same work
    has counted at that point. It is asked where more than one of them is wanted. It may return :class:`Arms` that have
    the same parts: then the rounds of the one that is asked for, checked by it, are handed to the ``ratio`` of each.
    """

    kpis: ClassVar[frozenset[str]]

    def open(
        self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]
    ) -> Slice | CallSlice | Arms | Tally | Undefined:
        """The slice, or the count, of ``kpi`` at the point ``params``. A probe may have ``close()`` besides."""
        ...


def is_async(call: Any) -> bool:
    """Whether calling ``call`` gives a coroutine: a coroutine function, or an object with an async ``__call__``."""
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(getattr(call, "__call__", None))  # noqa: B004


def repeat(call: Callable[[], object], loops: int) -> Callable[[], object]:
    """A batch of ``loops`` calls of ``call``, which may be a coroutine function; returns the last call's result."""
    if is_async(call):

        async def run_async() -> object:
            result = None
            for _ in range(loops):
                result = await call()  # type: ignore[misc]
            return result

        return run_async

    def run() -> object:
        result = None
        for _ in range(loops):
            result = call()
        return result

    return run


def stamp(calls: Iterator[Callable[[], object]], into: list[int]) -> object:
    """Append the wall time of each call to ``into``, in ns; return the last result.

    Half of each of the two reads of the clock is inside a stamp; :func:`clock_overhead_ns` says what that costs.
    """
    clock = time.perf_counter_ns
    result = None
    for call in calls:
        began = clock()
        result = call()
        into.append(clock() - began)
    return result


def clock_overhead_ns(samples: int = 2_000) -> tuple[float, float]:
    """What one stamp adds to a call on this machine, now: median and interquartile range in ns over empty stamps."""
    deltas: list[int] = []
    clock = time.perf_counter_ns
    for _ in range(samples):
        began = clock()
        deltas.append(clock() - began)
    deltas.sort()
    return float(deltas[len(deltas) // 2]), float(deltas[len(deltas) * 3 // 4] - deltas[len(deltas) // 4])


TICKS = 1_000
"""A value lasts at least this many ticks of the clock, so that quantisation stays under .1 %."""

_STEPS = 100
_READS = 100_000
"""A clock of nanoseconds shows all its steps in the first of these reads, which take some milliseconds."""
_MOST_READS = 4_000_000
"""Some tenths of a second: the coarsest clocks in use (15.6 ms) have moved many times by then."""


def tick_ns() -> int | None:
    """The smallest step of the wall clock that can be seen, in ns; None of a clock that stands still.

    The reads themselves take time, so that the step is an upper bound of the resolution: honest on both sides. A clock
    that is patched or frozen by a test is read as it is, and the number of reads is bounded for its sake.
    """
    clock = time.perf_counter_ns
    steps: list[int] = []
    last = clock()
    for number in range(_MOST_READS):
        if len(steps) >= _STEPS or (steps and number >= _READS):
            break
        now = clock()
        if now > last:
            steps.append(now - last)
        last = now
    return min(steps, default=None)


def clock_fault(wall_ns: float) -> str | None:
    """Why a value that lasted ``wall_ns`` cannot be believed, in one sentence; None where the clock is fine enough."""
    tick = tick_ns()
    if tick is None:
        return "The clock stands still: something has frozen it, and no time can be read."
    if wall_ns < TICKS * tick:
        return (
            f"A value of {wall_ns:.0f} ns is under {TICKS:,} ticks of {tick} ns: steps of the clock would be compared."
        )
    return None
