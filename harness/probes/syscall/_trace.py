"""What the probes of this floor share: the calls of a workload, an offer in its world, and awaitable methods.

It measures nothing and expects nothing; each probe says itself what its work is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine, Iterable
from typing import Any, TypeVar

from harness.measure.clock import Engine, Undefined, Workload
from seams.contract.syscall import ToolCall

__all__ = ["awaits", "calls_of", "each", "fresh", "offered", "run_through", "settle", "settled", "unusable"]

T = TypeVar("T")


def unusable(workload: Workload | None) -> Undefined | None:
    """Why the workload cannot be replayed as calls, or None where it can."""
    if workload is None or workload.kind != "calls":
        kind = "none at all" if workload is None else f"{workload.name}, of kind {workload.kind}"
        return Undefined("workload-kind", f"This KPI replays a workload of kind calls; it was given {kind}.")
    if not workload.data["calls"]:
        return Undefined("no-denominator", f"The workload {workload.name} holds no call.")
    return None


def calls_of(workload: Workload) -> list[ToolCall]:
    """The calls of the trace, with their raw argument bytes."""
    return [
        ToolCall(call["tool"], call["args"].encode() or b"{}", dict(call["meta"])) for call in workload.data["calls"]
    ]


def fresh(call: ToolCall) -> ToolCall:
    """An unread, unsubmitted copy: a call object remembers that it was read and submitted."""
    return ToolCall(call.tool, call.args, call.meta, trace_id=call.trace_id)


def offered(runtime: Any, seam: str, engine: Engine, world: str) -> Any | Undefined:
    """What ``runtime`` offers for ``seam``, moved into ``world`` where it knows worlds."""
    found = runtime.offer(seam, engine)
    if found is None:
        name = getattr(runtime, "name", "the runtime")
        return Undefined("not-offered", f"{name} offers no {seam} with the engine cut out as {engine}.")
    mover = getattr(found, "in_world", None)
    return mover(world) if callable(mover) else found


def awaits(owner: Any, *methods: str) -> bool:
    """Whether any of these methods is a coroutine function."""
    return any(inspect.iscoroutinefunction(getattr(owner, name, None)) for name in methods)


async def settle(value: Any) -> Any:
    """``value``, awaited where it is awaitable."""
    return await value if inspect.isawaitable(value) else value


def settled(work: Coroutine[Any, Any, T], *, asynchronous: bool) -> T:
    """The result of ``work`` at once where the runtime is synchronous, else the coroutine for the worker to await.

    The worker awaits what ``open`` returns, on the one loop that the runtime's own tasks live on.
    """
    if asynchronous:
        return work  # type: ignore[return-value]
    return run_through(work)


def run_through(work: Coroutine[Any, Any, T]) -> T:
    """Drive a coroutine that never waits to its end.

    Raises:
        RuntimeError: it waits for something, which only a running loop could bring.
    """
    try:
        work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    work.close()
    raise RuntimeError("The runtime waits inside a method that is set-up here; make that method synchronous.")


def each(method: Callable[[Any], Any], items: Iterable[Any]) -> Callable[[], Any]:
    """A batch that calls ``method`` with each item and returns the last result; a coroutine function if it is one."""
    if inspect.iscoroutinefunction(method):

        async def run_async() -> Any:
            result = None
            for item in items:
                result = await method(item)
            return result

        return run_async

    def run() -> Any:
        result = None
        for item in items:
            result = method(item)
        return result

    return run
