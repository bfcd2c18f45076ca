"""The kernel: one object that submits, reaps and counts, in one world, on one engine.

It composes the rooms of this floor and adds nothing to them: the whole chain before the engine, every gate behind it,
one ledger of flow that both share, and one content store for gates and fast path. Its engine is always local: what a
remote engine costs is no number of a kernel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from seams.contract.kernel import Ladder
from seams.contract.syscall import Counters, Handle, Resolver, Result, ToolCall, ToolEngine, Verdict
from seams.contract.verdict import Status
from seams.engines.airline import AirlineEngine
from seams.engines.mock import MockEngine
from seams.engines.noop import NoopEngine
from seams.syscall.admission import gates
from seams.syscall.canonical import canonical
from seams.syscall.decide import chain_of
from seams.syscall.epochs import Invalidation
from seams.syscall.flow import FlowLedger, StampGate
from seams.syscall.policy import Policy
from seams.syscall.preflight import PreflightRung
from seams.syscall.reap import reap
from seams.syscall.resolver import MemoryStore
from seams.syscall.state import Answers, KernelState
from seams.syscall.submit import submit
from seams.syscall.vdso import Vdso
from seams.syscall.worlds import world_named

__all__ = ["Kernel", "engine_of", "fresh_kernel"]


@dataclass(slots=True, eq=False)
class Kernel(KernelState):
    """What ``syscall/submit``, ``syscall/reap`` and ``syscall/preflight`` offer.

    ``policy`` (None: the world's own) and ``invalidation`` are what it was made with, and go along into another world.
    """

    policy: Policy | None = None
    invalidation: Invalidation = Invalidation.GLOBAL

    @property
    def ladder(self) -> Ladder:
        """The preflight rung of the chain.

        Raises:
            LookupError: the chain has none.
        """
        for rung in self.chain.rungs:
            if isinstance(rung, PreflightRung):
                return rung
        raise LookupError("This kernel's chain has no preflight rung; fresh_kernel makes one that has.")

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
        return fresh_kernel(
            world,
            engine,
            lookup=self.lookup,
            policy=self.policy,
            invalidation=self.invalidation,
            resolvers=self.resolvers,
        )


def _failed(error: Exception) -> Result:
    """The engine's failure as a value: the kind of error and none of its text, which passed no gate.

    Who needs the text submits and reaps, and gets the error itself.
    """
    kind = type(error).__name__
    return Result(Status.ERROR, canonical({"error": kind}), {"error": kind})


def engine_of(world: str) -> ToolEngine:
    """A fresh local engine of that world: its own tools, or the mock that knows every tool."""
    return AirlineEngine() if world_named(world).name == "airline" else MockEngine()


def fresh_kernel(
    world: str,
    engine: Literal["mock", "noop"] | ToolEngine = "mock",
    *,
    fast_path: Answers | None = None,
    lookup: bool = True,
    policy: Policy | None = None,
    invalidation: Invalidation = Invalidation.GLOBAL,
    resolvers: Sequence[Resolver] = (),
) -> Kernel:
    """A kernel with fresh rungs, gates, ledger, store and counters, over ``fast_path`` or a fresh one.

    ``policy`` stands in for the world's own. ``invalidation`` says what a write strands in a fresh fast path; one that
    is given has its own rule and its own store, and serves here what was read in ``world``. ``resolvers`` corroborate
    claims.

    Raises:
        WorldError: there is no such world.
        PatternError: the policy has a pattern that cannot be matched.
    """
    tools: ToolEngine
    if engine == "mock":
        tools = engine_of(world)
    elif engine == "noop":
        tools = NoopEngine()
    else:
        tools = engine
    flow, store = FlowLedger(), MemoryStore()
    path = Vdso(invalidation=invalidation, store=store) if fast_path is None else fast_path
    return Kernel(
        chain_of(world_named(world), policy, flow),
        tools,
        path.for_world(world) if isinstance(path, Vdso) else path,
        lookup,
        (*gates(store), StampGate(flow)),
        tuple(resolvers),
        flow,
        policy=policy,
        invalidation=invalidation,
    )
