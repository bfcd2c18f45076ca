"""Workloads and awkward runtimes for the probes of this floor."""

from __future__ import annotations

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
