"""What the probes do before and after the clock: take an answer at once, and count what may be the same object twice.

A batch is set up and checked outside every event loop, so that whatever is asked there has to answer without waiting.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from harness.probes._awaiting import at_once, settled

__all__ = ["completed", "distinct", "now"]

_WAITS = "The runtime waits inside a method that is set-up here; make that method synchronous."


def now(value: Any) -> Any:
    """``value``, or what it gives when it is awaited without a loop.

    Raises:
        TypeError: it waits for something.
    """
    return at_once(settled(value), _WAITS)


def distinct(objects: Iterable[Any]) -> list[Any]:
    """Each object once, in order: a runtime may offer the same one again."""
    return list({id(found): found for found in objects}.values())


def completed(owners: Iterable[Any]) -> int | None:
    """Calls that the engines of these kernels say they ran, each engine counted once; None where one does not count.

    ``completed`` is an attribute that an engine may have besides; the reference ones have it.
    """
    engines = distinct(getattr(owner, "engine", None) for owner in owners)
    told = [getattr(engine, "completed", None) for engine in engines]
    counts = [count for count in told if isinstance(count, int)]
    return sum(counts) if len(counts) == len(told) else None
