"""Information flow: how far the results that a trace has seen may be believed, as one mark a trace.

The mark only rises: trusted, then tainted, then quarantined. A gate behind the others raises it by what each result
turned out to be; it blocks nothing, and what follows from a mark is for ``sinks`` to say. No content is kept.
"""

from __future__ import annotations

from collections import OrderedDict

from seams.contract.syscall import Result, ToolCall, Verdict
from seams.contract.verdict import TAINT_RANK, ReasonCode, Taint, VerdictKind

__all__ = ["TRACES", "TRUSTED_LOCAL", "FlowLedger", "StampGate", "higher"]

TRACES = 8192
"""Traces whose mark is kept; the oldest row goes first."""

TRUSTED_LOCAL = frozenset({"Read", "Grep", "Glob", "LS", "NotebookRead", "read_file", "cat"})
"""Tools that read what already lies on the user's own machine, by their exact names."""

_TRUSTED = Taint.TRUSTED
_ALLOW = Verdict(VerdictKind.ALLOW, ReasonCode.NONE, "stamp")


def higher(one: int, other: int) -> Taint:
    """The less believable of two labels; a label that nobody knows is tainted."""
    known = (label if label in TAINT_RANK else Taint.TAINTED for label in (one, other))
    return Taint(max(known, key=TAINT_RANK.__getitem__))


class FlowLedger:
    """The marks of at most ``cap`` traces, in the order in which the traces first returned something.

    A trace that is not in it has seen nothing and is trusted, until the first row is evicted: from then on the ledger
    cannot tell a new trace from an evicted one, and counts both as tainted. :meth:`begin` says that a trace is new.
    """

    __slots__ = ("_absent", "_cap", "_marks", "evicted", "trusted_local")

    def __init__(self, cap: int = TRACES, trusted_local: frozenset[str] = TRUSTED_LOCAL) -> None:
        self._cap = max(cap, 1)
        # Ordered: the first key of a plain dict is found by walking over all that were deleted before it.
        self._marks: OrderedDict[str, Taint] = OrderedDict()
        self._absent = _TRUSTED
        self.trusted_local = trusted_local
        self.evicted = 0

    def __len__(self) -> int:
        """Rows: traces whose mark is known."""
        return len(self._marks)

    def mark(self, trace_id: str) -> Taint:
        """The highest taint that the trace has seen."""
        return self._marks.get(trace_id, self._absent)

    def begin(self, trace_id: str) -> None:
        """A new trace: whatever was known under that id is over."""
        self._marks.pop(trace_id, None)
        self._write(trace_id, _TRUSTED)

    def saw(self, call: ToolCall, *, sealed: bool = False) -> Taint:
        """Raise the mark of the call's trace by its result, and return the result's own taint.

        Quarantined where a gate sealed the body, trusted where a trusted local tool read it, else tainted.
        """
        if sealed:
            taint = Taint.QUARANTINED
        elif call.tool in self.trusted_local:
            taint = _TRUSTED
        else:
            taint = Taint.TAINTED
        trace = call.trace_id
        known = self._marks.get(trace)
        if known is None:
            self._write(trace, higher(taint, self._absent))
        elif known is not taint:
            self._marks[trace] = higher(known, taint)
        return taint

    def _write(self, trace_id: str, mark: Taint) -> None:
        self._marks[trace_id] = mark
        if len(self._marks) > self._cap:
            self._marks.popitem(last=False)
            self.evicted += 1
            self._absent = Taint.TAINTED


class StampGate:
    """The gate of rank 20, behind those that may seal a body. It stamps the result's ``taint`` and blocks nothing."""

    __slots__ = ("ledger",)

    name = "stamp"
    rank = 20

    def __init__(self, ledger: FlowLedger) -> None:
        self.ledger = ledger

    def admit(self, call: ToolCall, result: Result) -> Verdict:
        """ALLOW, always. A body is sealed where an earlier gate left the id of its quarantine in the meta."""
        taint = self.ledger.saw(call, sealed="quarantine_id" in result.meta)
        result.meta["taint"] = taint.name.lower()
        return _ALLOW
