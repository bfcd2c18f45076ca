"""What the probes of this floor share: the calls of a workload, an offer in its world, and what may be told of either.

It measures nothing and expects nothing; each probe says itself what its work is. What it tells of a verdict or a result
holds no recorded text: kinds, reasons, statuses and lengths only, since a sentence may be committed with a run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from harness.measure.clock import Engine, Undefined, Workload, is_async
from seams.contract.syscall import ToolCall
from seams.contract.verdict import Status
from seams.syscall.fold import kind_name
from seams.syscall.reasons import reason_name

__all__ = ["calls_of", "each", "fresh", "offered", "result_told", "unusable", "verdict_told"]

_NAME = re.compile(r"[a-z][a-z0-9_.-]{0,39}").fullmatch
"""How a rung is named; anything else may be something it was given."""


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


def verdict_told(verdict: Any) -> str:
    """``KIND/REASON by rung``, or the type of what is no verdict."""
    kind, reason, by = (getattr(verdict, name, None) for name in ("kind", "reason", "by"))
    if not isinstance(kind, int) or not isinstance(reason, int):
        return f"no verdict but a {type(verdict).__name__}"
    rung = by if isinstance(by, str) and _NAME(by) else "a rung without a name"
    return f"{kind_name(kind)}/{reason_name(reason)} by {rung}"


def result_told(result: Any) -> str:
    """Status and length of a result, or the type of what is none."""
    status, payload = getattr(result, "status", None), getattr(result, "payload", None)
    if not isinstance(payload, bytes) or status not in set(Status):
        return f"no result but a {type(result).__name__}"
    return f"status {Status(status).name} and {len(payload)} bytes"
