"""Drives live sessions from open to close: what one holds, whether it keeps more each turn, and what it leaves behind.

Bytes are those of Python's allocator after a collection, taken while nothing but the session changes; the resident set
of the process stands beside them as a trend, which no number is made of. What is left is counted after several sessions
in a row, each ended in another way, and once the first ones have made whatever a runtime makes once and keeps.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any, ClassVar
from weakref import ref

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError, is_async
from harness.probes._awaiting import finish, settled
from harness.probes.session._held import held, resident, traced
from harness.probes.session._left import come, readable, there
from harness.probes.session._places import Place, place
from harness.probes.session._turns import TEXT_A_TURN, opened, require_memory, turned
from kpis.formulas.session.retention import Retention, Trend, retention
from seams.contract.lifecycle import Lifecycle, Register

__all__ = ["ENDINGS", "REGISTERED", "SESSIONS", "SETTLING", "TURNS", "Probe"]

SESSIONS = 3
"""Sessions that are held one after another; their median is the number."""

HELD_TURNS = 50
"""Turns after which a session is weighed: a window of the default budget has been full for long."""

SETTLING = 60
"""Turns before the first reading of a slope, in which windows and caches fill."""

TURNS = 200
"""Readings that a slope is taken from, one a turn."""

ENDINGS = ("unused", "used", "failed")
"""How a session is left: no turn was run, three were, or the last of three had a tool that raised."""

ROUNDS = 2
"""Sessions of each ending that are counted, after one of each that is not."""

REGISTERED = "registered_session"

_POLLS, _PAUSE_S = 30, 0.01
"""What ends by itself within so many pauses is not left."""


class Probe:
    """Opens the KPIs of ``session/lifecycle``."""

    kpis: ClassVar[frozenset[str]] = frozenset({"session_resident_bytes", "turn_retained_bytes", "session_leftovers"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Tally or Undefined; of an asynchronous runtime, the coroutine that returns it."""
        lifecycle: Lifecycle | None = runtime.offer("session/lifecycle", "none")
        if lifecycle is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no live session.")
        if kpi == "session_leftovers" and not readable():
            return Undefined("not-installed", "This system has no /proc, which shows descriptors, threads, children.")
        work = {"session_resident_bytes": _weighed, "turn_retained_bytes": _sloped, "session_leftovers": _left}[kpi]
        return finish(work(lifecycle, is_async(lifecycle.open)), lifecycle.open)


def _place() -> Place:
    """In memory where that is possible: no disk is waited for."""
    found = place("tmpfs")
    return Place() if isinstance(found, Undefined) else found


async def _rest(waits: bool, seconds: float = 0.0) -> None:
    """Let the loop go round where there is one, so that what was only asked to end can end."""
    if waits:
        import asyncio  # here, because a synchronous runtime needs none of it

        for _ in range(3):
            await asyncio.sleep(0)
        await asyncio.sleep(seconds)
    elif seconds:
        threading.Event().wait(seconds)


async def _weighed(lifecycle: Lifecycle, waits: bool) -> Tally:
    weights, after = array("q", bytes(8 * SESSIONS)), array("q", bytes(8 * SESSIONS))
    with _place() as where:
        folder = where.path / "session"
        await require_memory(lifecycle, folder)
        with traced():
            await _held_by_one(lifecycle, folder, waits, weights, after, 0)  # not counted: its first reading stands
            for number in range(SESSIONS):
                await _held_by_one(lifecycle, folder, waits, weights, after, number)
    weight = int(median(weights))
    if weight <= 0:
        raise WorkNotDoneError(f"an open session of {HELD_TURNS} turns held {weight} bytes")
    return Tally(
        weight,
        source="synthetic",
        evidence=(f"{HELD_TURNS} turns brought {HELD_TURNS * TEXT_A_TURN:,} bytes of text",),
        clocked=(
            f"{min(weights):,} to {max(weights):,} bytes of {SESSIONS} sessions, of which {min(after):,} to "
            f"{max(after):,} stayed once they were closed",
        ),
    )


async def _held_by_one(
    lifecycle: Lifecycle, folder: Path, waits: bool, weights: array[int], after: array[int], number: int
) -> None:
    """Write into the books what a session held, and what of that stayed behind it."""
    await _rest(waits)
    before = held()
    session, tools = await opened(lifecycle, folder)
    try:
        for turn in range(HELD_TURNS):
            await turned(session, tools, turn)
        await _rest(waits)
        weights[number] = held() - before
    finally:
        await settled(session.close())
    del session, tools
    await _rest(waits)
    after[number] = held() - before


async def _sloped(lifecycle: Lifecycle, waits: bool) -> Tally | Undefined:
    readings = array("q", bytes(8 * TURNS))
    with _place() as where:
        folder = where.path / "session"
        await require_memory(lifecycle, folder)
        with traced():
            session, tools = await opened(lifecycle, folder)
            try:
                for turn in range(SETTLING):
                    await turned(session, tools, turn)
                began = resident()
                for number in range(TURNS):
                    await turned(session, tools, SETTLING + number)
                    await _rest(waits)
                    readings[number] = held()
                ended = resident()
            finally:
                await settled(session.close())
    return _told(retention(readings), began, ended)


def _told(found: Retention, began: int | None, ended: int | None) -> Tally | Undefined:
    low, middle, high = found.shift
    lines = (
        f"the least reading moves by {low:,.1f}, the median by {middle:,.1f}, the greatest by {high:,.1f}; "
        f"Sen's slope lies between {found.interval[0]:,.1f} and {found.interval[1]:,.1f}"
    )
    if found.trend is Trend.UNKNOWN:
        said = f"Unknown whether a session grows over {TURNS} turns: {found.why}. In bytes a turn, {lines}."
        return Undefined("too-few", said)
    seen = f"{found.trend.value} over {TURNS} turns behind the first {SETTLING}: {found.why}"
    trend = "the system does not show the resident set"
    if began is not None and ended is not None:
        trend = f"resident set {began:,} to {ended:,} bytes, a trend that other things than the session move"
    return Tally(
        round(found.slope),
        reasons={found.trend.value: 1},
        basis="formula",
        source="synthetic",
        evidence=(seen, f"a turn brought {TEXT_A_TURN:,} bytes of text"),
        clocked=(f"in bytes a turn, {lines}", trend),
    )


async def _left(lifecycle: Lifecycle, waits: bool) -> Tally:
    with _place() as where:
        folder = where.path / "session"
        await require_memory(lifecycle, folder)
        start = there()
        await _ended(lifecycle, folder, 1)
        first = await _come(start, waits)
        before, booked = there(), await _booked(lifecycle)
        known = await _ended(lifecycle, folder, ROUNDS)
        found = await _come(before, waits)
        booking = await _booked(lifecycle)
    counts = {kind: len(each) for kind, each in found.items()}
    alive = sum(each() is not None for each in known)
    in_book = 0 if booked is None or booking is None else booking - booked
    notes = []
    if known or booked is not None:
        counts[REGISTERED] = max(alive, in_book, 0)
    else:
        notes.append("sessions that are still known are not counted: there is no book and nothing to follow them by")
    ended = ROUNDS * len(ENDINGS)
    told = f"{ended} sessions were closed, {ROUNDS} of each kind ({', '.join(ENDINGS)}), after one of each uncounted"
    names = [f"left: {kind} {', '.join(each[:4])}" for kind, each in found.items() if each]
    kept = ", ".join(f"{len(each)} {kind}" for kind, each in first.items() if each)
    once = f"those before left {kept}" if kept else "those before left nothing"
    return Tally(
        sum(counts.values()), reasons=counts, source="synthetic", evidence=(told, *notes), clocked=(once, *names)
    )


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


async def _come(before: Any, waits: bool) -> dict[str, list[str]]:
    """What has come since and does not end by itself in a moment."""
    found = come(before)
    for _ in range(_POLLS):
        if not any(found.values()):
            break
        await _rest(waits, _PAUSE_S)
        found = come(before)
    return found


async def _booked(lifecycle: Lifecycle) -> int | None:
    """Sessions in the runtime's book; None where it keeps none."""
    if not isinstance(lifecycle, Register):
        return None
    count: int = await settled(lifecycle.registered())
    return count
