"""What the probes of this floor share: the calls of a workload, one replay of them, and an offer in their world.

It measures nothing and expects nothing; each probe says itself what its work is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from harness.measure.clock import Engine, Undefined, Workload, WorkNotDoneError, is_async
from harness.probes._awaiting import settled
from seams.contract.syscall import Result, ToolCall, Verdict

__all__ = ["HINTS", "another", "calls_of", "each", "fresh", "is_object", "offered", "replayed", "unusable"]

HINTS: Mapping[str, str] = MappingProxyType({"readOnlyHint": "true", "idempotentHint": "true"})
"""How a call says that it is a read, which may be answered from memory."""


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


def is_object(args: bytes) -> bool:
    """Whether the arguments are a JSON object at all; a runtime may ask for more than that."""
    try:
        return isinstance(json.loads(args), dict)
    except (ValueError, RecursionError):
        return False


def offered(runtime: Any, seam: str, engine: Engine, world: str) -> Any | Undefined:
    """What ``runtime`` offers for ``seam``, moved into ``world`` where it knows worlds."""
    found = runtime.offer(seam, engine)
    if found is None:
        name = getattr(runtime, "name", "the runtime")
        return Undefined("not-offered", f"{name} offers no {seam} with the engine cut out as {engine}.")
    mover = getattr(found, "in_world", None)
    return mover(world) if callable(mover) else found


def another(runtime: Any, seam: str, engine: Engine, world: str, found: Any) -> Callable[[], Any]:
    """What makes a fresh object like ``found``, which was offered for ``seam``: moved out of it, or offered again.

    Making one raises WorkNotDoneError where the runtime has no second one.
    """
    mover = getattr(found, "in_world", None)

    def make() -> Any:
        made = mover(world) if callable(mover) else offered(runtime, seam, engine, world)
        if isinstance(made, Undefined):
            raise WorkNotDoneError(f"the runtime offered its {seam} once only")
        return made

    return make


async def replayed(kernel: Any, calls: Iterable[ToolCall]) -> list[tuple[Verdict, Result]]:
    """What a fresh copy of each call came to, submitted and reaped once and in order."""
    found = []
    for call in calls:
        handle, verdict = await settled(kernel.submit(fresh(call)))
        found.append((verdict, await settled(kernel.reap(handle))))
    return found


def each(rounds: Sequence[tuple[Callable[[Any], Any], Sequence[Any]]]) -> Callable[[], Any]:
    """A batch over ``(method, items)``: each method with each of its items, the last result returned.

    A coroutine function where the first method is one.
    """
    if is_async(rounds[0][0]):

        async def run_async() -> Any:
            result = None
            for method, items in rounds:
                for item in items:
                    result = await method(item)
            return result

        return run_async

    def run() -> Any:
        result = None
        for method, items in rounds:
            for item in items:
                result = method(item)
        return result

    return run
