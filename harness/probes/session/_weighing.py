"""What a live session weighs, and what it keeps of each turn, by Python's allocator after a collection.

A reading is written into a book that was made beforehand, so that none of them is found by the next. Nothing but the
session changes between two readings: the turns are made for each call and let go, and its files are in memory where
that is possible.
"""

from __future__ import annotations

from array import array
from pathlib import Path
from statistics import median
from typing import NamedTuple

from harness.measure.clock import Tally, Undefined, WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.session._held import held, resident, traced
from harness.probes.session._turns import TEXT_A_TURN, opened, require_memory, rest, room, turned
from kpis.formulas.session.retention import Retention, retention
from seams.contract.lifecycle import Lifecycle

__all__ = ["HELD_TURNS", "SESSIONS", "SETTLING", "TURNS", "sloped", "weighed"]

SESSIONS = 3
"""Sessions that are held one after another; their median is the number."""

HELD_TURNS = 50
"""Turns after which a session is weighed: a window of the default budget has been full for long."""

SETTLING = 60
"""Turns before the first reading of a slope, in which windows and caches fill."""

TURNS = 200
"""Readings that a slope is taken from, one a turn."""


class _Books(NamedTuple):
    """Bytes before a session was opened, while it was held, and after it was closed, one place a session.

    They are made beforehand and hold plain numbers, so that no reading is an object which the next one finds.
    """

    before: array[int]
    held: array[int]
    after: array[int]


async def weighed(lifecycle: Lifecycle, waits: bool) -> Tally:
    """Bytes of one open session; ``waits`` where there is a loop to let go round.

    Raises:
        WorkNotDoneError: an open session weighs nothing, or a turn was not run.
    """
    books = _Books(*(array("q", bytes(8 * SESSIONS)) for _ in range(3)))
    with room() as where:
        folder = where.path / "session"
        await require_memory(lifecycle, folder)
        with traced():
            await _weigh(lifecycle, folder, waits, books, 0)  # what the first one makes for all is not the next one's
            for number in range(SESSIONS):
                await _weigh(lifecycle, folder, waits, books, number)
    weights, stayed = ([each - was for each, was in zip(row, books.before, strict=True)] for row in books[1:])
    weight = int(median(weights))
    if weight <= 0:
        raise WorkNotDoneError(f"an open session of {HELD_TURNS} turns held {weight} bytes")
    return Tally(
        weight,
        source="synthetic",
        evidence=(f"{HELD_TURNS} turns brought {HELD_TURNS * TEXT_A_TURN:,} bytes of text",),
        clocked=(
            f"{min(weights):,} to {max(weights):,} bytes of {SESSIONS} sessions, of which {min(stayed):,} to "
            f"{max(stayed):,} stayed once they were closed",
        ),
    )


async def _weigh(lifecycle: Lifecycle, folder: Path, waits: bool, books: _Books, number: int) -> None:
    """One place in the books."""
    await rest(waits)
    books.before[number] = held()
    session, tools = await opened(lifecycle, folder)
    try:
        for turn in range(HELD_TURNS):
            await turned(session, tools, turn)
        await rest(waits)
        books.held[number] = held()
    finally:
        await settled(session.close())
    del session, tools
    await rest(waits)
    books.after[number] = held()


async def sloped(lifecycle: Lifecycle, waits: bool) -> Tally | Undefined:
    """Bytes that a session keeps of each turn; undefined where neither flat nor growing is shown.

    Raises:
        WorkNotDoneError: a turn was not run.
    """
    readings = array("q", bytes(8 * TURNS))
    with room() as where:
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
                    await rest(waits)
                    readings[number] = held()
                ended = resident()
            finally:
                await settled(session.close())
    return _told(retention(readings), began, ended)


def _told(found: Retention, began: int | None, ended: int | None) -> Tally | Undefined:
    low, middle, high = found.shift
    lines = (
        f"the low end moves by {low:,.1f}, the median by {middle:,.1f}, the high end by {high:,.1f}; "
        f"Sen's slope lies between {found.interval[0]:,.1f} and {found.interval[1]:,.1f}"
    )
    retained = found.retained
    if retained is None:
        said = f"Unknown whether a session grows over {TURNS} turns: {found.why}. In bytes a turn, {lines}."
        return Undefined("too-few", said)
    seen = f"{found.trend.value} over {TURNS} turns behind the first {SETTLING}: {found.why}"
    trend = "the system does not show the resident set"
    if began is not None and ended is not None:
        trend = f"resident set {began:,} to {ended:,} bytes, a trend that other things than the session move"
    return Tally(
        retained,
        reasons={found.trend.value: 1},
        basis="formula",
        source="synthetic",
        evidence=(seen, f"a turn brought {TEXT_A_TURN:,} bytes of text"),
        clocked=(f"in bytes a turn, {lines}", trend),
    )
