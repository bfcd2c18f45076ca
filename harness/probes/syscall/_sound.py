"""What a fast path may never do, shown on one of its own before any is counted or timed.

It may not answer what nobody read before, nor what a write has since reached, nor a call that does not say that it is a
read, nor one that sounds like a write. The calls are authored and allowed in their world; each is expected to miss.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.measure.clock import WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.syscall._trace import HINTS, replayed
from harness.probes.syscall._words import result_told
from seams.contract.syscall import ToolCall
from seams.contract.verdict import Status

__all__ = ["require_empty", "require_sound", "writes"]

_NEEDLES = ("write", "edit", "delete", "patch", "exec", "run", "book", "update", "cancel", "send")

_READ = ToolCall("search_direct_flight", b'{"destination":"JFK","origin":"SFO"}', HINTS)
_OTHER = ToolCall("search_direct_flight", b'{"destination":"BOS","origin":"SFO"}', HINTS)
_UNHINTED = ToolCall("get_user_details", b'{"user_id":"user_1"}')
_DESTROYS = ToolCall("get_user_details", b'{"user_id":"user_2"}', {**HINTS, "destructive": "true"})
# Of flights both, so that a write is felt by the read however narrowly a runtime invalidates.
_WRITES: Mapping[str, tuple[str, bytes]] = {"airline": ("book_flight", b'{"flight_id":"UA123","user_id":"user_1"}')}
_WRITE = ("update_reservation_flights", b'{"reservation_id":"R1"}')


def writes(call: ToolCall) -> bool:
    """Whether the call says that it destroys, or sounds like a write."""
    tool = call.tool.lower()
    return call.meta.get("destructive") == "true" or any(needle in tool for needle in _NEEDLES)


async def require_empty(path: Any) -> None:
    """Nothing was asked of ``path`` and nothing is in it.

    Raises:
        WorkNotDoneError: the runtime handed out a fast path that somebody has warmed.
    """
    told = await settled(path.stats())
    if told.lookups or told.hits or told.fills:
        raise WorkNotDoneError(
            f"a fresh fast path begins with {told.lookups} lookups, {told.hits} hits and {told.fills} fills"
        )


async def require_sound(path: Any, world: str) -> None:
    """Show a fresh fast path, on a kernel in ``world``, what it must not answer.

    Raises:
        WorkNotDoneError: it answers one of them, or the write of the control is not carried out.
    """
    await require_empty(path)
    tool, args = _WRITES.get(world, _WRITE)
    write, posing = ToolCall(tool, args, {"destructive": "true"}), ToolCall(tool, args, HINTS)
    script = (
        ("a read that nobody made before", _READ),
        ("a read of something else than was read before", _OTHER),
        ("a write", write),
        ("a read after a write", _READ),
        *[("a call that does not say that it is a read", _UNHINTED)] * 2,
        *[("a call that sounds like a write", posing)] * 2,
        *[("a call that says that it destroys", _DESTROYS)] * 2,
    )
    kernel = await settled(path.mount(world, lookup=True))
    for (what, call), (_, result) in zip(script, await replayed(kernel, [call for _, call in script]), strict=True):
        if result.meta.get("served_by") == "vdso":
            raise WorkNotDoneError(f"the fast path answers {what}")
        if call is write and result.status != Status.OK:
            raise WorkNotDoneError(f"the write that a read has to feel came back as {result_told(result)}")
