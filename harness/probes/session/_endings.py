"""What sessions leave behind that were closed: each ended in another way, one after another.

The first ones are not counted, since whatever a runtime makes once and keeps (a pool, an engine of its own) is no
leftover of a session. A session is still known where the runtime's book says so, or where its object lives on. Children
of dead processes are adopted meanwhile, so that no daemon gets away.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from weakref import ref

from harness.measure.clock import Tally
from harness.probes._awaiting import settled
from harness.probes.session._adopting import Adopting
from harness.probes.session._left import CHILD, ENDED, There, come, there
from harness.probes.session._turns import opened, require_memory, rest, room, turned
from seams.contract.lifecycle import Lifecycle, Register

__all__ = ["ENDINGS", "REGISTERED", "ROUNDS", "left"]

ENDINGS = ("unused", "used", "failed")
"""How a session is left: no turn was run, three were, or the last of three had a tool that raised."""

ROUNDS = 2
"""Sessions of each ending that are counted, after one of each that is not."""

REGISTERED = "registered_session"

_POLLS, _PAUSE_S = 6, 0.05
"""What ends by itself within so many pauses is not left."""


async def left(lifecycle: Lifecycle, waits: bool) -> Tally:
    """Count what is there after the sessions and was not before; ``waits`` where there is a loop to let go round."""
    notes = []
    with room() as where:
        folder = where.path / "session"
        with Adopting() as adopting:
            start = there()
            await require_memory(lifecycle, folder)
            known = await _ended(lifecycle, folder, 1)
            first = await _come(start, waits)
            before, booked = there(), await _booked(lifecycle)
            followed = await _ended(lifecycle, folder, ROUNDS)
            found = await _come(before, waits)
            booking = await _booked(lifecycle)
            still_known = len(_alive(followed) - _alive(known))
        if not adopting.adopts:
            notes.append("this system adopts no orphans, so a daemon in a session of its own is not seen")
        elif found[ENDED]:
            found[ENDED] = await _unwaited(lifecycle, folder, waits)
    for kinds in (first, found):
        kinds[CHILD] += kinds.pop(ENDED)
    counts = {kind: len(each) for kind, each in found.items()}
    if followed or booked is not None:
        in_book = 0 if booked is None or booking is None else booking - booked
        counts[REGISTERED] = max(still_known, in_book)
    else:
        notes.append("sessions that are still known are not counted: there is no book, and no object can be followed")
    told = (
        f"{ROUNDS * len(ENDINGS)} sessions were closed, {ROUNDS} of each kind ({', '.join(ENDINGS)}), after one of "
        "each uncounted"
    )
    kept = ", ".join(f"{len(each)} {kind}" for kind, each in first.items() if each)
    names = [f"left: {kind} {', '.join(each[:4])}" for kind, each in found.items() if each]
    return Tally(
        sum(counts.values()),
        reasons=counts,
        source="synthetic",
        evidence=(told, *notes),
        clocked=(f"those before left {kept or 'nothing'}", *names),
    )


async def _unwaited(lifecycle: Lifecycle, folder: Path, waits: bool) -> list[str]:
    """Children that ended and that the runtime did not wait for, of as many sessions more while nothing is adopted.

    Whose an ended child was nobody can tell once orphans are adopted, and those nobody has to wait for.
    """
    before = there()
    await _ended(lifecycle, folder, ROUNDS)
    return (await _come(before, waits))[ENDED]


def _alive(followed: list[ref[Any]]) -> set[int]:
    """The sessions whose objects live on, each once: a runtime may hand out the same one again."""
    return {id(each) for one in followed if (each := one()) is not None}


async def _ended(lifecycle: Lifecycle, folder: Path, rounds: int) -> list[ref[Any]]:
    """Open and close ``rounds`` sessions of each kind, one after another; how each is followed, where it can be."""
    known = []
    for ending in ENDINGS * rounds:
        session, tools = await opened(lifecycle, folder)
        try:
            for turn in range(0 if ending == "unused" else 3):
                await turned(session, tools, turn, broken=ending == "failed" and turn == 2)
        finally:
            await settled(session.close())
        try:
            known.append(ref(session))
        except TypeError:  # a class with slots and no place for it
            continue
        finally:
            del session, tools
    return known


async def _come(before: There, waits: bool) -> dict[str, list[str]]:
    """What has come since and does not end by itself in a moment."""
    found = come(before)
    for _ in range(_POLLS):
        if not any(found.values()):
            break
        await rest(waits, _PAUSE_S)
        found = come(before)
    return found


async def _booked(lifecycle: Lifecycle) -> int | None:
    """Sessions in the runtime's book; None where it keeps none."""
    if not isinstance(lifecycle, Register):
        return None
    count: int = await settled(lifecycle.registered())
    return count
