"""The seam ``syscall/decide``: one pure decision about one call.

The whole chain of a world folded, and nothing else: no fast path is asked, no engine called, no counter moved. Since
no result comes back, nothing taints a trace here, and the sink gate stays without an opinion. It imports only what a
decision needs, because a hook process pays for every import.
"""

from __future__ import annotations

from seams.contract import Engine
from seams.contract.syscall import Rung
from seams.syscall.flow import FlowLedger
from seams.syscall.fold import Chain
from seams.syscall.grammar import GrammarRung
from seams.syscall.monitor import Monitor
from seams.syscall.policy import Policy
from seams.syscall.preflight import PreflightRung
from seams.syscall.sinks import SinkGate
from seams.syscall.worlds import World, world_named

__all__ = ["Decider", "chain_of", "offer"]


def chain_of(world: World, policy: Policy | None = None, flow: FlowLedger | None = None) -> Chain:
    """A fresh chain for ``world``: grammar where it has any, preflight, sink gate, and the monitor.

    The monitor holds ``policy``, or the world's own. The sink gate reads ``flow``; without one it has a ledger that
    nothing is ever written to, so that every trace stays trusted.
    """
    rungs: list[Rung] = [
        PreflightRung(world.schemas),
        SinkGate(FlowLedger() if flow is None else flow),
        Monitor(world.policy if policy is None else policy),
    ]
    if world.grammars:
        rungs.append(GrammarRung(world.grammars))
    return Chain(rungs)


class Decider:
    """What ``syscall/decide`` offers."""

    __slots__ = ("chain", "decide")

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.decide = chain.fold
        """``decide(call) -> Verdict``, bound once, so that a decision costs no call beside the fold."""

    def in_world(self, world: str) -> Decider:
        """A fresh one in that world."""
        return Decider(chain_of(world_named(world)))


def offer(engine: Engine) -> Decider | None:
    """The decision of the default world; it has no engine to cut, so only ``none`` is answered."""
    return Decider(chain_of(world_named("default"))) if engine == "none" else None
