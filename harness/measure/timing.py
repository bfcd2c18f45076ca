"""One value of a slice: set up outside the clock, run, check that the work was done.

Sync and async slices alike; the coroutines of one worker all run on one event loop, so that what a runtime keeps on
its loop (connections, tasks) lives from one value to the next. Part of the worker: standard library only.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple

from harness.measure.clock import CallSlice, Slice, WorkNotDoneError, is_async, repeat, stamp

__all__ = [
    "CallRound",
    "Loop",
    "Value",
    "calls_of",
    "empty_call_ns",
    "empty_loop_ns",
    "stamp_async",
    "time_batch",
    "time_calls",
    "together",
]


class Value(NamedTuple):
    """What one batch took: wall and CPU time of the whole batch in ns."""

    wall_ns: int
    cpu_ns: int
    loops: int


class CallRound(NamedTuple):
    """What a round of single calls took: each call's wall time in ns, and the CPU time of the round."""

    stamps_ns: list[int]
    cpu_ns: int


class Loop:
    """The one event loop of a worker, made on first use: importing asyncio costs more than most slices."""

    def __init__(self) -> None:
        self._runner: Any = None

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run ``coroutine`` to its end on the worker's loop."""
        if self._runner is None:
            import asyncio

            self._runner = asyncio.Runner()
        return self._runner.run(coroutine)

    def settle(self, value: Any) -> Any:
        """``value``, awaited if it is awaitable."""
        if inspect.isawaitable(value):
            return self.run(_await(value))
        return value

    def close(self) -> None:
        """Cancel what still runs and close the loop, if there is one."""
        if self._runner is not None:
            self._runner.close()
            self._runner = None


async def _await(value: Awaitable[Any]) -> Any:
    return await value


def time_batch(measured: Slice, loops: int, loop: Loop) -> Value:
    """Time one batch of ``loops`` calls and check its result after the clock.

    A slice that is ``afresh`` wants its set-up before every call: its value is the sum of ``loops`` batches of one.

    Raises:
        WorkNotDoneError: from the slice's ``check``. Whatever else the probe raises passes through.
    """
    if loops > 1 and getattr(measured, "afresh", False):
        each = [time_batch(measured, 1, loop) for _ in range(loops)]
        return Value(sum(value.wall_ns for value in each), sum(value.cpu_ns for value in each), loops)
    batch = measured.batch(loops)
    if is_async(batch):

        async def timed() -> tuple[int, int, object]:
            cpu_began = time.process_time_ns()
            began = time.perf_counter_ns()
            result = await batch()  # type: ignore[misc]
            ended = time.perf_counter_ns()
            return ended - began, time.process_time_ns() - cpu_began, result

        wall, cpu, result = loop.run(timed())
    else:
        cpu_began = time.process_time_ns()
        began = time.perf_counter_ns()
        result = batch()
        ended = time.perf_counter_ns()
        wall, cpu = ended - began, time.process_time_ns() - cpu_began
    _require_awaited(result)
    measured.check(result)
    return Value(wall, cpu, loops)


def calls_of(measured: CallSlice, n: int) -> list[Callable[[], Any]]:
    """The slice's next ``n`` calls, drawn beforehand.

    Raises:
        ValueError: it yields fewer or more.
    """
    calls: list[Callable[[], Any]] = list(measured.calls(n))
    if len(calls) != n:
        raise ValueError(f"the slice yielded {len(calls)} calls where {n} were asked for")
    return calls


def together(calls: list[Callable[[], Any]]) -> Callable[[], Any]:
    """Several calls as one; the result of the last."""
    if calls and is_async(calls[0]):

        async def run_async() -> object:
            result = None
            for call in calls:
                result = await call()
            return result

        return run_async

    def run() -> object:
        result = None
        for call in calls:
            result = call()
        return result

    return run


def _require_awaited(result: object) -> None:
    """Refuse a call that made a coroutine or a generator and threw it away: nothing of its work was done."""
    if inspect.iscoroutine(result):
        result.close()
    if inspect.isawaitable(result):
        raise WorkNotDoneError(
            "a call returned a coroutine that nobody awaited; hand over the coroutine function itself (async def), "
            "not a plain function that calls it"
        )
    if inspect.isgenerator(result) or inspect.isasyncgen(result):
        raise WorkNotDoneError("a call returned a generator that nobody ran; run it to its end inside the call")


def time_calls(measured: CallSlice, n: int, loop: Loop, *, block: int = 1) -> CallRound:
    """Stamp ``n`` calls, each by itself or in blocks of ``block``; check the last result after the clock."""
    stamps: list[int] = []
    calls = calls_of(measured, n)
    if block > 1:
        calls = [together(calls[at : at + block]) for at in range(0, n - block + 1, block)]
    if calls and is_async(calls[0]):
        cpu_began = time.process_time_ns()
        result = loop.run(stamp_async(calls, stamps))
    else:
        cpu_began = time.process_time_ns()
        result = stamp(iter(calls), stamps)
    cpu = time.process_time_ns() - cpu_began
    _require_awaited(result)
    measured.check(result)
    return CallRound(stamps, cpu)


async def stamp_async(calls: list[Callable[[], Any]], into: list[int]) -> object:
    """As :func:`harness.measure.clock.stamp`, where calls may be coroutine functions."""
    clock = time.perf_counter_ns
    result = None
    for call in calls:
        began = clock()
        result = call()
        if inspect.isawaitable(result):
            result = await result
        into.append(clock() - began)
    return result


def _nothing() -> None:
    """The empty call that the harness's own loop is measured with."""


async def _nothing_async() -> None:
    """The empty coroutine, likewise."""


def empty_loop_ns(loops: int = 20_000) -> float:
    """What one turn of the loop in :func:`harness.measure.clock.repeat` costs without its call, in ns."""
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter_ns()
        for _ in range(loops):
            _result = None
        best = min(best, (time.perf_counter_ns() - began) / loops)
    return best


def empty_call_ns(loop: Loop, *, asynchronous: bool, calls: int = 5_000) -> float:
    """An empty call through :func:`harness.measure.clock.repeat`, in ns: what a slice without work would take.

    The least of five batches, so that interference cannot make a real slice look like an empty one.
    """
    best = float("inf")
    for _ in range(5):
        batch = repeat(_nothing_async if asynchronous else _nothing, calls)
        if asynchronous:
            began = time.perf_counter_ns()
            loop.run(batch())  # type: ignore[arg-type]
        else:
            began = time.perf_counter_ns()
            batch()
        best = min(best, (time.perf_counter_ns() - began) / calls)
    return best
