"""Runtimes for the probes: the reference one, one whose methods are coroutine functions, and ones that cheat."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

from harness.measure.clock import is_async
from seams.runtimes.reference import make

__all__ = ["Asynchronous", "Cheating", "drive", "opened"]


class Cheating:
    """The reference runtime, but for the objects that are named by seam."""

    name = "cheating"
    version = "1"

    def __init__(self, **others: Any) -> None:
        self._others = {f"rsi/{room}": thing for room, thing in others.items()}

    def offer(self, seam: str, engine: Any) -> Any:
        return self._others[seam] if seam in self._others else make().offer(seam, engine)


class _Awaited:
    """Anything, whose methods suspend once before they answer."""

    def __init__(self, thing: Any, synchronous: frozenset[str]) -> None:
        self._thing = thing
        self._synchronous = synchronous

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._thing, name)
        if not callable(found):
            return found
        if name in self._synchronous:
            return lambda *words, **more: _Awaited(found(*words, **more), self._synchronous)

        async def later(*words: Any, **more: Any) -> Any:
            await asyncio.sleep(0)
            return found(*words, **more)

        return later


class Asynchronous:
    """The reference runtime, waiting inside every method that may."""

    name = "asynchronous"
    version = "1"

    def offer(self, seam: str, engine: Any) -> Any:
        return _Awaited(make().offer(seam, engine), frozenset({"breaker"}))


def opened(probe: Any, kpi: str, runtime: Any) -> Any:
    """What the probe opens, awaited where it has to be."""
    found = probe.open(kpi, runtime, None, {})

    async def awaited() -> Any:
        return await found

    return asyncio.run(awaited()) if inspect.isawaitable(found) else found


def drive(piece: Any, loops: int) -> None:
    """One batch and its check, as a worker does it."""
    call = piece.batch(loops)
    piece.check(asyncio.run(call()) if is_async(call) else call())
