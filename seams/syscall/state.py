"""What a kernel holds. One thread owns it: counters and sequence numbers are plain integers.

State alone; what is done with it is in ``submit``, ``reap`` and ``admission``.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from seams.contract.syscall import Admitter, Counters, FastPath, Resolver, Result, ToolCall, ToolEngine, Verdict
from seams.syscall.flow import FlowLedger
from seams.syscall.fold import Chain

__all__ = ["KernelState"]


@dataclass(slots=True, eq=False)
class KernelState:
    """``pending`` maps a sequence number to a call to run, a result that is ready, or a verdict that refuses.

    With ``lookup`` off the fast path is not asked, but still learns from completions. ``flow`` is what the sink gate of
    the chain reads and the stamp gate writes; a kernel without them has none.
    """

    chain: Chain
    engine: ToolEngine
    fast_path: FastPath | None = None
    lookup: bool = True
    admitters: tuple[Admitter, ...] = ()
    resolvers: tuple[Resolver, ...] = ()
    flow: FlowLedger | None = None
    tally: Counters = field(default_factory=Counters)
    pending: dict[int, ToolCall | Result | Verdict] = field(default_factory=dict)
    seq: int = 0
