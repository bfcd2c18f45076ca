"""The kernel: one object that submits, reaps and counts, in one world, on one engine.

It composes the rooms of this floor and adds nothing to them. Its engine is always local: what a remote engine costs is
no number of a kernel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from seams.contract.syscall import Counters, FastPath, Handle, Result, ToolCall, ToolEngine, Verdict
from seams.contract.verdict import Status
from seams.engines.airline import AirlineEngine
from seams.engines.mock import MockEngine
from seams.engines.noop import NoopEngine
from seams.syscall.admission import BareGate
from seams.syscall.canonical import canonical
from seams.syscall.decide import chain_of
from seams.syscall.reap import reap
from seams.syscall.state import KernelState
from seams.syscall.submit import submit
from seams.syscall.vdso import Vdso
from seams.syscall.worlds import world_named

__all__ = ["Kernel", "engine_of", "fresh_kernel"]


class Kernel(KernelState):
    """What ``syscall/submit`` and ``syscall/reap`` offer."""

    __slots__ = ()

    def submit(self, call: ToolCall) -> tuple[Handle, Verdict]:
        """See :func:`seams.syscall.submit.submit`."""
        return submit(self, call)

    def reap(self, handle: Handle) -> Result:
        """See :func:`seams.syscall.reap.reap`."""
        return reap(self, handle)

    def syscall(self, call: ToolCall) -> tuple[Result, Verdict]:
        """Submit and reap; whatever the engine raises becomes a result of status ERROR.

        An error of a rung, a gate or the fast path is none of the engine's, and passes through.
        """
        handle, verdict = submit(self, call)
        return reap(self, handle, _failed), verdict

    def counters(self) -> Counters:
        """A snapshot."""
        return replace(self.tally)

    def in_world(self, world: str) -> Kernel:
        """A fresh kernel in ``world``: a no-op engine stays one, any other becomes that world's own."""
        engine: Literal["mock", "noop"] = "noop" if isinstance(self.engine, NoopEngine) else "mock"
        return fresh_kernel(world, engine, lookup=self.lookup)


def _failed(error: Exception) -> Result:
    """The engine's failure as a value. Its text passed no gate, so only the kind of error enters the payload."""
    kind = type(error).__name__
    return Result(Status.ERROR, canonical({"error": kind}), {"error": f"{kind}: {error}"})


def engine_of(world: str) -> ToolEngine:
    """A fresh local engine of that world: its own tools, or the mock that knows every tool."""
    return AirlineEngine() if world_named(world).name == "airline" else MockEngine()


def fresh_kernel(
    world: str,
    engine: Literal["mock", "noop"] | ToolEngine = "mock",
    *,
    fast_path: FastPath | None = None,
    lookup: bool = True,
) -> Kernel:
    """A kernel with fresh rungs, gate and counters, over ``fast_path`` or a fresh one.

    Raises:
        WorldError: there is no such world.
    """
    tools: ToolEngine
    if engine == "mock":
        tools = engine_of(world)
    elif engine == "noop":
        tools = NoopEngine()
    else:
        tools = engine
    chain = chain_of(world_named(world))
    return Kernel(chain, tools, Vdso() if fast_path is None else fast_path, lookup, (BareGate(),))
