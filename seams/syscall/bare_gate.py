"""The gate over raw bytes, rank 10: it screens them, keeps a finding out, and pages what is too long.

It undoes no disguise; the gate in front of it does. Behind that one it sees a stub where something was kept out
already, and rightly lets the stub pass, so its own books say nothing about the chain.
"""

from __future__ import annotations

from dataclasses import replace

from seams.contract.admission import GateTally
from seams.contract.store import ContentStore
from seams.contract.syscall import Result, ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.durability import durability_of_text
from seams.syscall.held import HELD_CAP, HeldPages, PageInError
from seams.syscall.reasons import reason_name
from seams.syscall.resolver import MemoryStore
from seams.syscall.screen import screen
from seams.syscall.stubs import page_pointer, quarantine_stub
from seams.syscall.views import lowered

__all__ = ["PAGE_OVER", "BareGate"]

PAGE_OVER = 4096
"""A body longer than this, in bytes, enters the context as a pointer."""


class BareGate:
    """Bodies are held in ``store``, or in one of its own; ``cap`` of them in quarantine and as many on demand."""

    __slots__ = ("_held", "_pages", "_tally")

    name = "bare-gate"
    rank = 10

    def __init__(self, store: ContentStore | None = None, *, cap: int = HELD_CAP) -> None:
        bodies = MemoryStore() if store is None else store
        self._held = HeldPages(bodies, cap)
        self._pages = HeldPages(bodies, cap, on_demand=True)
        self._tally = GateTally(self.name)

    @property
    def total(self) -> int:
        """Results seen; one that was paged for its length is in no other count."""
        return self._tally.total

    @property
    def quarantined(self) -> int:
        """Results kept out."""
        return self._tally.quarantined

    @property
    def evicted(self) -> int:
        """Bodies of either kind that are not held any more."""
        return self._held.evicted + self._pages.evicted

    def admit(self, call: ToolCall, result: Result) -> Verdict:  # noqa: ARG002 - other gates look at the call
        """QUARANTINE (the payload is then the stub), TRANSFORM to a pointer, or ALLOW.

        What is not kept out is stamped with the ``durability`` of its wording.
        """
        tally = self._tally
        tally.total += 1
        body = result.payload
        lower = lowered(body)
        reason = screen(body, lower)
        if reason != ReasonCode.NONE:
            tally.quarantined += 1
            name = reason_name(reason)
            tally.reasons[name] = tally.reasons.get(name, 0) + 1
            page = f"q{tally.quarantined}"
            self._held.hold(body, page)
            result.payload = quarantine_stub(page, len(body), reason)
            result.meta["quarantine_id"] = page
            return Verdict(VerdictKind.QUARANTINE, reason, self.name)
        result.meta["durability"] = durability_of_text(lower).value
        if len(body) > PAGE_OVER:
            ref = self._pages.hold(body)
            pointer = page_pointer(ref.digest, len(body), "oversize")
            return Verdict(VerdictKind.TRANSFORM, ReasonCode.NONE, self.name, pointer)
        return _CLEAN

    def tally(self) -> GateTally:
        """A snapshot."""
        return replace(self._tally, reasons=dict(self._tally.reasons))

    def clear(self, page: str) -> None:
        """Allow a body in quarantine back; an id that is not held stays refused."""
        self._held.clear(page)

    def page_in(self, page: str) -> bytes:
        """The exact bytes of a body in quarantine that was cleared, or of a long one by its digest.

        A long body is screened again: its digest may be asked for long after it was let pass.

        Raises:
            PageInError: it is not held, not cleared, or the screen now finds something in it.
        """
        if page not in self._pages:
            return self._held.take(page)
        body = self._pages.take(page)
        reason = screen(body, lowered(body))
        if reason != ReasonCode.NONE:
            raise PageInError(f"{page} does not pass the screen any more: {reason_name(reason)}.")
        return body


_CLEAN = Verdict(VerdictKind.ALLOW, ReasonCode.NONE, BareGate.name)
