"""The gate over canonical views, rank 5: it finds what a disguise hides from a look at the raw bytes.

A secret is kept out whatever returned it. An injection is kept out where it is sure of itself and came from elsewhere;
read from the user's own machine, or with little to go by, it is paged: a pointer enters the context, and the text comes
back for who asks. It replaces the payload in both cases, so the gates behind see the stub or the pointer. Of everything
else it has no opinion.
"""

from __future__ import annotations

from dataclasses import replace

from seams.contract.admission import GateTally
from seams.contract.store import ContentStore
from seams.contract.syscall import Result, ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.flow import TRUSTED_LOCAL
from seams.syscall.held import HELD_CAP, HeldPages, PageInError
from seams.syscall.markers import Injection, injection_in
from seams.syscall.reasons import reason_name
from seams.syscall.resolver import MemoryStore
from seams.syscall.secrets import secret_in
from seams.syscall.stubs import page_pointer, quarantine_stub
from seams.syscall.views import views_of

__all__ = ["LOW_CONFIDENCE", "TRUSTED", "CanonicalGate", "rescreen", "scan"]

TRUSTED = "paged-trusted-local"
"""Hint of a pointer: an injection in what a trusted local tool read."""

LOW_CONFIDENCE = "paged-low-confidence"
"""Hint of a pointer: something like an injection, with nothing beside it that makes it one."""


def scan(body: bytes) -> tuple[ReasonCode, Injection | None]:
    """What the views of ``body`` hold: SECRET_EXFIL, TRUST_VIOLATION with the injection, or NONE; in that order."""
    views = views_of(body)
    if secret_in(views.text):
        return ReasonCode.SECRET_EXFIL, None
    injection = injection_in(views)
    return (ReasonCode.NONE if injection is None else ReasonCode.TRUST_VIOLATION), injection


def rescreen(body: bytes) -> ReasonCode:
    """What keeps a body out even after somebody cleared it: SECRET_EXFIL, or NONE."""
    return ReasonCode.SECRET_EXFIL if secret_in(views_of(body).text) else ReasonCode.NONE


class CanonicalGate:
    """Bodies are held in ``store``, or in one of its own; ``cap`` of them in quarantine and as many on demand."""

    __slots__ = ("_held", "_pages", "_taken", "_tally", "_trusted")

    name = "canonical-gate"
    rank = 5

    def __init__(
        self, store: ContentStore | None = None, *, cap: int = HELD_CAP, trusted_local: frozenset[str] = TRUSTED_LOCAL
    ) -> None:
        bodies = MemoryStore() if store is None else store
        self._held = HeldPages(bodies, cap)
        self._pages = HeldPages(bodies, cap, on_demand=True)
        self._trusted = trusted_local
        self._taken = 0
        self._tally = GateTally(self.name)

    def admit(self, call: ToolCall, result: Result) -> Verdict:
        """QUARANTINE or TRANSFORM, the payload then being the stub or the pointer; DEFER where nothing was found."""
        self._tally.total += 1
        body = result.payload
        reason, injection = scan(body)
        if reason == ReasonCode.NONE:
            return _DEFER
        self._taken += 1
        page = f"ng-q{self._taken}"
        if injection is not None:
            trusted = call.tool in self._trusted
            if trusted or not injection.confident:
                self._pages.hold(body, page)
                result.payload = page_pointer(page, len(body), TRUSTED if trusted else LOW_CONFIDENCE)
                return Verdict(VerdictKind.TRANSFORM, ReasonCode.NONE, self.name, result.payload)
        tally, name = self._tally, reason_name(reason)
        tally.quarantined += 1
        tally.reasons[name] = tally.reasons.get(name, 0) + 1
        self._held.hold(body, page)
        result.payload = quarantine_stub(page, len(body), reason)
        result.meta["quarantine_id"] = page
        return Verdict(VerdictKind.QUARANTINE, reason, self.name)

    def tally(self) -> GateTally:
        """A snapshot."""
        return replace(self._tally, reasons=dict(self._tally.reasons))

    def clear(self, page: str) -> None:
        """Allow a body in quarantine back, unless it holds a secret; an id that is not held stays refused."""
        self._held.clear(page)

    def page_in(self, page: str) -> bytes:
        """The exact bytes of a cleared or a paged body, after another look at them.

        Raises:
            PageInError: it is not held, not cleared, or it holds a secret, which stays out whoever cleared it.
        """
        body = (self._pages if page in self._pages else self._held).take(page)
        if rescreen(body) != ReasonCode.NONE:
            raise PageInError(f"{page} holds a secret and stays out, cleared or not; read it where it came from.")
        return body


_DEFER = Verdict(VerdictKind.DEFER, ReasonCode.NONE, CanonicalGate.name)
