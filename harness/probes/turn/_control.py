"""A replay that every runtime goes through first, so that a fast path which answers too much is found out.

Its engine counts the writes and says in each answer how many there were, so that an answer from before a write reads
unlike a fresh one. A read may be answered again until something was written; a read without hints, and a write however
it is hinted, may not. Nothing is counted for a KPI here.
"""

from __future__ import annotations

from typing import Any

from harness.measure.clock import WorkNotDoneError
from harness.probes.turn._books import HITS, replayed
from harness.probes.turn._worlds import World, canonical
from seams.contract.syscall import ToolCall
from seams.contract.turntax import Arm, TurnClass
from seams.contract.verdict import Status

__all__ = ["verify_fast_path"]

_HINTED = {"readOnlyHint": "true", "idempotentHint": "true"}
_READ, _WRITE, _OTHER = "get_reservation_details", "book_reservation", "get_user_details"
_BOOKING, _USER = b'{"reservation_id":"R1"}', b'{"user_id":"u1"}'

_CALLS: tuple[tuple[str, bytes, dict[str, str]], ...] = (
    (_READ, _BOOKING, _HINTED),
    (_READ, _BOOKING, _HINTED),
    (_WRITE, _BOOKING, {"destructive": "true"}),
    (_READ, _BOOKING, _HINTED),
    (_OTHER, _USER, {}),
    (_OTHER, _USER, {}),
    (_WRITE, _BOOKING, _HINTED),
    (_WRITE, _BOOKING, _HINTED),
)
_MAY_HIT = 1
"""The one call that may be answered without its engine."""


def _counting() -> World:
    writes = 0

    def answer(tool: str, args: bytes) -> tuple[Status, bytes]:
        nonlocal writes
        writes += tool == _WRITE
        return Status.OK, canonical({"asked": args.decode(), "writes": writes})

    return World(answer)


async def verify_fast_path(seam: Any) -> None:
    """Replay the control on the kernel of ``seam``.

    Raises:
        WorkNotDoneError: a call was answered that had to reach its engine, or not with what its engine gave.
    """
    calls = [ToolCall(tool, args, dict(meta)) for tool, args, meta in _CALLS]
    told, arrived = await replayed(seam, calls, "default", _counting(), Arm.ON)
    for place, (kind, came, body) in enumerate(zip(told.classes, arrived, told.context, strict=True)):
        if kind in HITS and place != _MAY_HIT:
            raise WorkNotDoneError(f"call {place + 1} of the control was answered by the fast path, and must not be")
        if kind not in HITS and (kind is not TurnClass.PASS or came is None or came.body != body):
            raise WorkNotDoneError(f"call {place + 1} of the control did not come back from its engine as it was")
