"""The gate over raw bytes, rank 10: it screens them, keeps a finding out, and pages what is too long.

It undoes no disguise; the gate in front of it does. Behind that one it sees a stub where something was kept out
already, and rightly lets the stub pass, so its own books say nothing about the chain.
"""

from __future__ import annotations

from seams.contract.admission import GateTally
from seams.contract.store import ContentStore
from seams.contract.syscall import Result, ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.durability import durability_of_text
from seams.syscall.held import HELD_CAP, PageInError
from seams.syscall.quarantine import Quarantine
from seams.syscall.reasons import reason_name
from seams.syscall.screen import screen
from seams.syscall.stubs import page_pointer
from seams.syscall.views import lowered

__all__ = ["PAGE_OVER", "BareGate"]

PAGE_OVER = 4096
"""A body longer than this, in bytes, enters the context as a pointer."""


class BareGate:
    """Bodies are held in ``store``, or in one of its own; ``cap`` of them in quarantine and as many on demand."""

    __slots__ = ("_kept",)

    name = "bare-gate"
    rank = 10

    def __init__(self, store: ContentStore | None = None, *, cap: int = HELD_CAP) -> None:
        self._kept = Quarantine(self.name, store, cap)

    def admit(self, call: ToolCall, result: Result) -> Verdict:  # noqa: ARG002 - other gates look at the call
        """QUARANTINE (the payload is then the stub), TRANSFORM to a pointer, or ALLOW.

        What is not kept out is stamped with the ``durability`` of its wording.
        """
        kept = self._kept
        kept.books.total += 1
        body = result.payload
        lower = lowered(body)
        reason = screen(body, lower)
        if reason != ReasonCode.NONE:
            return kept.keep_out(result, f"q{kept.books.quarantined + 1}", reason)
        result.meta["durability"] = durability_of_text(lower).value
        if len(body) > PAGE_OVER:
            ref = kept.pages.hold(body)
            pointer = page_pointer(ref.digest, len(body), "oversize")
            return Verdict(VerdictKind.TRANSFORM, ReasonCode.NONE, self.name, pointer)
        return _CLEAN

    def tally(self) -> GateTally:
        """A snapshot; a result that was paged for its length is in ``total`` alone."""
        return self._kept.tally()

    def clear(self, page: str) -> None:
        """Allow a body in quarantine back in spite of what it is held for; an id that is not held stays refused."""
        self._kept.held.clear(page)

    def page_in(self, page: str) -> bytes:
        """The exact bytes of a body in quarantine that was cleared, or of a long one by its digest.

        It is screened again: what was let pass, or cleared for one finding, does not come back with another.

        Raises:
            PageInError: it is not held, not cleared, or the screen now finds in it what nobody cleared.
        """
        kept = self._kept
        paged = page in kept.pages
        body = (kept.pages if paged else kept.held).take(page)
        cleared = ReasonCode.NONE if paged else kept.held.reason(page)
        reason = screen(body, lowered(body))
        if reason not in (ReasonCode.NONE, cleared):
            raise PageInError(f"{page} does not pass the screen any more: {reason_name(reason)}.")
        return body


_CLEAN = Verdict(VerdictKind.ALLOW, ReasonCode.NONE, BareGate.name)
