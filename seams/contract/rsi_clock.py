"""The seam ``rsi/clock``: a clock beside the loop, whose readings lie in a file of their own.

A time is an :class:`Elapsed`: no number, without order and without arithmetic, so that it cannot come into ``Signals``
or be compared with a bar, neither under a type checker nor when it runs. Records and Protocols only.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple, Protocol

from seams.contract.rsi_loop import Observer

__all__ = ["Elapsed", "Lap", "LoopClock"]


class Elapsed:
    """Some nanoseconds that are to be read by people: :meth:`shown` is the one way out."""

    __slots__ = ("_ns",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, ns: int) -> None:
        self._ns = ns

    def __eq__(self, other: object) -> bool:
        raise TypeError("A time of the loop's clock is not compared with anything: it takes no part in decisions.")

    def __bool__(self) -> bool:
        raise TypeError("A time of the loop's clock is neither true nor false: it takes no part in decisions.")

    def shown(self) -> str:
        """The nanoseconds as text."""
        return f"{self._ns} ns"

    def __repr__(self) -> str:
        return f"Elapsed({self.shown()})"


class Lap(NamedTuple):
    """A cycle by its number, and how long it took from the proposal to the row in the journal."""

    cycle: int
    elapsed: Elapsed


class LoopClock(Protocol):
    """``rsi/clock``. The methods are set-up and read-out of a measurement, so never coroutine functions."""

    def beside(self, journal: Path) -> Observer:
        """What stamps a loop's cycles into the sidecar of ``journal``."""
        ...

    def sidecar(self, journal: Path) -> Path:
        """The file that the stamps of ``journal`` go to: never the journal."""
        ...

    def laps(self, journal: Path) -> tuple[Lap, ...]:
        """What the sidecar holds; a line that is torn is left out."""
        ...
