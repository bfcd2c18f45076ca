"""What one gate over content keeps: the bodies it took out, what it is holding each of them for, and its books.

Two gates hold bodies in the same way and differ in what they look for. A body in quarantine needs somebody to clear it,
one that was only paged comes back for who asks.
"""

from __future__ import annotations

from dataclasses import replace

from seams.contract.admission import GateTally
from seams.contract.store import ContentStore
from seams.contract.syscall import Result, Verdict
from seams.contract.verdict import VerdictKind
from seams.syscall.held import HELD_CAP, HeldPages
from seams.syscall.reasons import reason_name
from seams.syscall.resolver import MemoryStore
from seams.syscall.stubs import quarantine_stub

__all__ = ["Quarantine"]


class Quarantine:
    """Bodies in ``store``, or in one of its own: ``cap`` of them in quarantine and as many on demand.

    ``held`` and ``pages`` are the two kinds. Whoever owns it counts each result in ``books.total``.
    """

    __slots__ = ("books", "held", "pages")

    def __init__(self, gate: str, store: ContentStore | None = None, cap: int = HELD_CAP) -> None:
        bodies = MemoryStore() if store is None else store
        self.books = GateTally(gate)
        self.held = HeldPages(bodies, cap)
        self.pages = HeldPages(bodies, cap, on_demand=True)

    def keep_out(self, result: Result, page: str, reason: int) -> Verdict:
        """Hold the payload as ``page``, leave a stub in its place and its id in the meta, and book it by its reason."""
        books, body, name = self.books, result.payload, reason_name(reason)
        books.quarantined += 1
        books.reasons[name] = books.reasons.get(name, 0) + 1
        self.held.hold(body, page, reason)
        result.payload = quarantine_stub(page, len(body), reason)
        result.meta["quarantine_id"] = page
        return Verdict(VerdictKind.QUARANTINE, reason, books.gate)

    def tally(self) -> GateTally:
        """A snapshot."""
        evicted = self.held.evicted + self.pages.evicted
        return replace(self.books, reasons=dict(self.books.reasons), evicted=evicted)
