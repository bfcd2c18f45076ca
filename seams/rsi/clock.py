"""A clock beside the loop: each cycle's time goes into a sidecar of the journal, and from there to people alone.

What it reads is handed out as :class:`Elapsed`, which no decision can be made of. A stamp that cannot be written is
lost, and the loop does not notice.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from seams.contract import Engine
from seams.contract.rsi_clock import Elapsed, Lap

__all__ = ["ReferenceClock", "Stamps", "offer"]


# Not blocking: where somebody put a pipe in its place, the loop must not wait for a reader.
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK


class Stamps:
    """Appends one line a cycle to ``path``; an observer of one loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._began: dict[int, int] = {}

    def proposed(self, cycle: int) -> None:
        """The cycle has begun."""
        self._began[cycle] = time.perf_counter_ns()

    def decided(self, cycle: int) -> None:
        """Its row is in the journal; one that never began is no lap.

        Raises:
            OSError: the sidecar cannot be written.
        """
        now = time.perf_counter_ns()
        began = self._began.pop(cycle, None)
        if began is not None:
            line = json.dumps({"cycle": cycle, "elapsed_ns": now - began}, sort_keys=True)
            handle = os.open(self._path, _APPEND, 0o600)
            try:
                os.write(handle, line.encode() + b"\n")
            finally:
                os.close(handle)


class ReferenceClock:
    """See :class:`seams.contract.rsi_clock.LoopClock`."""

    def sidecar(self, journal: Path) -> Path:
        """The journal's name with ``.times`` behind it."""
        return journal.with_name(f"{journal.name}.times")

    def beside(self, journal: Path) -> Stamps:
        """What stamps a loop's cycles into the sidecar of ``journal``."""
        return Stamps(self.sidecar(journal))

    def laps(self, journal: Path) -> tuple[Lap, ...]:
        """What the sidecar holds, without lines that are torn or none of ours; what is no file holds nothing."""
        place = self.sidecar(journal)
        lines = place.read_bytes().splitlines() if place.is_file() else []
        return tuple(lap for line in lines if (lap := _lap(line)) is not None)


def _lap(line: bytes) -> Lap | None:
    try:
        held = json.loads(line)
        cycle, elapsed = held["cycle"], held["elapsed_ns"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    whole = type(cycle) is int and type(elapsed) is int and elapsed >= 0
    return Lap(cycle, Elapsed(elapsed)) if whole else None


def offer(engine: Engine) -> ReferenceClock | None:
    """The clock; there is no engine in it."""
    return ReferenceClock() if engine == "none" else None
