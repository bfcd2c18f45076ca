"""What a kernel holds. One thread owns it: counters and sequence numbers are plain integers.

State alone; what is done with it is in ``submit``, ``reap`` and ``admission``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from seams.contract.syscall import Admitter, Counters, Resolver, Result, ToolCall, ToolEngine, Verdict
from seams.syscall.flow import FlowLedger
from seams.syscall.fold import Chain

__all__ = ["Answers", "KernelState"]


class Answers(Protocol):
    """What a kernel asks of a fast path, and tells it."""

    def lookup(self, call: ToolCall) -> Result | None:
        """The answer, or None on a miss."""
        ...

    def observe(self, call: ToolCall, result: Result) -> None:
        """Learn from a call that ran, however it ended: fill, or invalidate after a write."""
        ...


@dataclass(slots=True, eq=False)
class KernelState:
    """``pending`` maps a sequence number to a call to run, a result that is ready, or a verdict that refuses.

    It is as large as there are handles that nobody has redeemed, and has no bound of its own: to drop an entry would be
    to lose an answer that was promised. Who submits, reaps.

    With ``lookup`` off the fast path is not asked, but still learns from completions. ``flow`` is what the sink gate of
    the chain reads and the stamp gate writes; a kernel without them has none.
    """

    chain: Chain
    engine: ToolEngine
    fast_path: Answers | None = None
    lookup: bool = True
    admitters: tuple[Admitter, ...] = ()
    resolvers: tuple[Resolver, ...] = ()
    flow: FlowLedger | None = None
    tally: Counters = field(default_factory=Counters)
    pending: dict[int, ToolCall | Result | Verdict] = field(default_factory=dict)
    seq: int = 0
