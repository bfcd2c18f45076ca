"""One world of a fleet, replayed through the seam and held against what came to the probe's own engine.

The engine is the probe's, so which calls were made is seen and not told; the classes have to agree with that, a hit has
to be of a read that this very world had made before, and a control says in its answers how much had been written when
they were given, so that no session is served what another one has overwritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.measure.clock import WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.fleet._fleets import Session
from harness.probes.syscall._trace import HINTS
from harness.probes.turn._books import HITS, totals, verify_told
from harness.probes.turn._door import Arrival, Door
from harness.probes.turn._replay import verified
from harness.probes.turn._worlds import World, canonical, world_of
from kpis.formulas.turn.turntax import turns_saved
from seams.contract.fleet_share import interleaved
from seams.contract.syscall import ToolCall
from seams.contract.turntax import Replay, TurnClass
from seams.contract.verdict import Status

__all__ = ["saved", "uplift", "verify_epochs"]

_READ, _WRITE = "get_reservation_details", "book_reservation"
_WRITES = {"readOnlyHint": "false", "idempotentHint": "false", "destructive": "true"}


def _call(tool: str, what: str, meta: dict[str, str]) -> ToolCall:
    return ToolCall(tool, canonical({"reservation_id": what}), meta)


_CONTROL: tuple[Session, Session] = (
    [_call(_READ, "R1", dict(HINTS)), _call(_READ, "R1", dict(HINTS)), _call(_READ, "R2", {})],
    [_call(_WRITE, "R1", _WRITES), _call(_READ, "R1", dict(HINTS)), _call(_READ, "R2", {})],
)
"""One session reads, the other writes; then both read what was written, and both read without a hint."""

_MAY_HIT = 3
"""The one call, in the order of the replay, that may be answered without its engine: the second read of a write."""


async def _epoch(
    seam: Any, sessions: Sequence[Session], plan: Session, name: str, world: World
) -> tuple[Replay, list[Arrival | None]]:
    """One world: what was told, and what arrived of each call.

    Raises:
        WorkNotDoneError: the books do not balance, or an answer is not what it has to be.
    """
    door = Door(world)
    calls = [call for _, call in interleaved(sessions, plan)]
    told = await settled(seam.replay(sessions, name, door, plan))
    found: list[Arrival | None] = []
    verified(lambda given, came: found.extend(verify_told(given, came, door, world)), calls, told)
    return told, found


async def saved(seam: Any, sessions: Sequence[Session], plan: Session) -> int:
    """Turns saved by ``sessions`` in one fresh world of the airline, ``plan`` before them.

    Raises:
        WorkNotDoneError: as the replay is found out.
    """
    told, _ = await _epoch(seam, sessions, plan, "airline", world_of("airline"))
    return turns_saved(totals(told))


async def uplift(seam: Any, sessions: Sequence[Session], plan: Session) -> tuple[int, int]:
    """Turns saved by all sessions in one world, and by each in a world of its own, summed; the plan in every world."""
    # Alone first: who replays a session alone has not been told yet whether others read the same.
    alone = [await saved(seam, [session], plan) for session in sessions]
    return await saved(seam, sessions, plan), sum(alone)


async def verify_epochs(seam: Any) -> None:
    """Replay the control: what one session wrote must not be served to another as it was before.

    Raises:
        WorkNotDoneError: a call was answered that had to reach its engine, or not with what its engine gave.
    """
    writes = 0

    def answer(tool: str, args: bytes) -> tuple[Status, bytes]:
        nonlocal writes
        writes += tool == _WRITE
        return Status.OK, canonical({"asked": args.decode(), "writes": writes})

    told, arrived = await _epoch(seam, _CONTROL, [], "default", World(answer))
    for place, (kind, came, body) in enumerate(zip(told.classes, arrived, told.context, strict=True)):
        if kind in HITS and place != _MAY_HIT:
            raise WorkNotDoneError(f"call {place + 1} of the control was answered by the fast path, and must not be")
        if kind not in HITS and (kind is not TurnClass.PASS or came is None or came.body != body):
            raise WorkNotDoneError(f"call {place + 1} of the control did not come back from its engine as it was")
