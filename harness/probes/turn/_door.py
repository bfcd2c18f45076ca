"""The engine that the probe hands into a replay: it answers as the world's tools do, and notes what arrives.

Nothing is judged here and no clock is read.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.probes.turn._worlds import World
from seams.contract.syscall import Result, ToolCall
from seams.contract.verdict import Status

__all__ = ["Arrival", "Door"]


class Arrival(NamedTuple):
    """A call at the engine, as it came there, and how it ended."""

    tool: str
    args: bytes
    status: Status
    body: bytes


class Door:
    """An engine with the tools of ``world`` that notes what arrives, before any gate can rewrite the answer."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.arrivals: list[Arrival] = []

    def complete(self, call: ToolCall) -> Result:
        """The tool's answer, with the tokens that it took: the world's overhead and a quarter of the bytes."""
        status, body = self._world.tools(call.tool, call.args)
        self.arrivals.append(Arrival(call.tool, bytes(call.args), status, body))
        read = self._world.overhead + len(call.args) // 4
        return Result(status, body, {"input_tokens": str(read), "output_tokens": str(len(body) // 4)})
