"""Workloads and awkward runtimes for the probes of this floor."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from harness.formats.limits import Limits
from harness.formats.toolcalls import read_tool_calls
from harness.measure.clock import Workload

AUTHORED = Path(__file__).parents[3] / "cases" / "syscall"


def workload(file: Path) -> Workload:
    return Workload(file.stem, "calls", "0" * 64, "replay", read_tool_calls(file.read_bytes(), file.name, Limits()))


def library() -> Workload:
    return workload(AUTHORED / "library.json")


def airline() -> Workload:
    return workload(AUTHORED / "desk-airline.json")


CANARY = "canary-9f3b"
"""A text that must not be found again where nothing recorded belongs."""


def canary(expected: str | None = None) -> Workload:
    """The library's trace with the canary in every argument, in every tool's name and in the hints."""
    work = library()
    calls = [
        {
            "tool": f"get_{CANARY}",
            "args": json.dumps({CANARY: CANARY, "n": number}),
            "meta": {**call["meta"], "note": CANARY},
            "class": expected,
        }
        for number, call in enumerate(work.data["calls"])
    ]
    return replace(work, data={**work.data, "calls": calls})


class Makes:
    """A runtime that makes a fresh object for each offer, and remembers them."""

    name, version = "own", "1"

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.made: list[Any] = []

    def offer(self, seam: str, engine: str) -> Any:
        self.made.append(self.make())
        return self.made[-1]


class Offers:
    """A runtime that offers one object for everything."""

    name = "own"
    version = "1"

    def __init__(self, what: Any) -> None:
        self.what = what

    def offer(self, seam: str, engine: str) -> Any:
        return self.what


class Slow:
    """The same object with every method a coroutine function that really waits where told."""

    def __init__(self, inner: Any, *, waits: bool = False) -> None:
        self.inner = inner
        self.waits = waits
        self.engine = getattr(inner, "engine", None)

    async def _call(self, name: str, *args: Any, **more: Any) -> Any:
        if self.waits:
            import asyncio

            await asyncio.sleep(0)
        return getattr(self.inner, name)(*args, **more)

    async def decide(self, call: Any) -> Any:
        return await self._call("decide", call)

    async def submit(self, call: Any) -> Any:
        return await self._call("submit", call)

    async def reap(self, handle: Any) -> Any:
        return await self._call("reap", handle)

    async def syscall(self, call: Any) -> Any:
        return await self._call("syscall", call)

    async def counters(self) -> Any:
        return await self._call("counters")

    async def replay(self, *args: Any) -> Any:
        return await self._call("replay", *args)

    def in_world(self, world: str) -> Slow:
        inner = self.inner.in_world(world) if hasattr(self.inner, "in_world") else self.inner
        return Slow(inner, waits=self.waits)
