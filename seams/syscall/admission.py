"""The seam ``syscall/admission``: the gates over content of one runtime, as a chain that can be asked by itself.

Which gates there are, in which order, and over which store; what a verdict of theirs does is in ``enforcement``.
"""

from __future__ import annotations

from collections.abc import Sequence

from seams.contract import Engine
from seams.contract.admission import Gate, GateTally
from seams.contract.kernel import Submit
from seams.contract.store import ContentStore
from seams.contract.syscall import Counters, Resolver, Result, ToolCall, Verdict
from seams.syscall.bare_gate import BareGate
from seams.syscall.canonical_gate import CanonicalGate
from seams.syscall.enforcement import admit
from seams.syscall.resolver import MemoryStore

__all__ = ["BareGate", "CanonicalGate", "Gates", "gates", "offer"]


def gates(store: ContentStore | None = None, *, paging: bool = True) -> tuple[CanonicalGate, BareGate]:
    """The gates of a kernel that look at content, fresh and in order, over one store: ``store``, or one of theirs.

    Without ``paging`` an injection is always kept out, see :class:`CanonicalGate`.
    """
    bodies = MemoryStore() if store is None else store
    return CanonicalGate(bodies, paging=paging), BareGate(bodies)


class Gates:
    """What ``syscall/admission`` offers: a chain that is asked as a kernel asks it, without one around it."""

    __slots__ = ("admitters", "resolvers", "tally")

    def __init__(self, chain: Sequence[Gate] | None = None) -> None:
        self.admitters: Sequence[Gate] = gates() if chain is None else tuple(chain)
        self.resolvers: Sequence[Resolver] = ()
        self.tally = Counters()

    def admit(self, call: ToolCall, result: Result) -> Verdict:
        """See :func:`seams.syscall.enforcement.admit`."""
        return admit(self, call, result)

    def tallies(self) -> tuple[GateTally, ...]:
        """A snapshot of each gate's books."""
        return tuple(gate.tally() for gate in self.admitters)

    def mount(self, world: str) -> Submit:
        """A fresh kernel of ``world`` on its mock engine, with these gates where it had its own over content."""
        from seams.syscall.kernel import fresh_kernel  # here, because the kernel is composed of this module

        kernel = fresh_kernel(world)
        others = [gate for gate in kernel.admitters if not isinstance(gate, CanonicalGate | BareGate)]
        kernel.admitters = (*self.admitters, *others)
        return kernel


def offer(engine: Engine) -> Gates | None:
    """A fresh chain; ``none`` is for admissions alone, and with ``mock`` it can be mounted on a kernel."""
    return Gates() if engine in ("none", "mock") else None
