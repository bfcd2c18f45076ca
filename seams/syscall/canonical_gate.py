"""The gate over canonical views, rank 5: it finds what a disguise hides from a look at the raw bytes.

A secret is kept out whatever returned it. An injection is kept out where it is sure of itself and came from elsewhere;
read from the user's own machine, or with little to go by, it is paged: a pointer enters the context, and the text comes
back for who asks. It replaces the payload in both cases, so the gates behind see the stub or the pointer. Of everything
else it has no opinion.
"""

from __future__ import annotations

from seams.contract.admission import GateTally
from seams.contract.store import ContentStore
from seams.contract.syscall import Result, ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.flow import TRUSTED_LOCAL
from seams.syscall.held import HELD_CAP, PageInError
from seams.syscall.markers import Injection, injection_in
from seams.syscall.quarantine import Quarantine
from seams.syscall.secrets import secret_in
from seams.syscall.stubs import page_pointer
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
    """Bodies are held in ``store``, or in one of its own; ``cap`` of them in quarantine and as many on demand.

    Without ``paging`` every injection is kept out, for a context in which no pointer can stand in a body's place.
    """

    __slots__ = ("_kept", "_paging", "_taken", "_trusted")

    name = "canonical-gate"
    rank = 5

    def __init__(
        self,
        store: ContentStore | None = None,
        *,
        cap: int = HELD_CAP,
        trusted_local: frozenset[str] = TRUSTED_LOCAL,
        paging: bool = True,
    ) -> None:
        self._kept = Quarantine(self.name, store, cap)
        self._trusted = trusted_local
        self._paging = paging
        self._taken = 0

    def admit(self, call: ToolCall, result: Result) -> Verdict:
        """QUARANTINE or TRANSFORM, the payload then being the stub or the pointer; DEFER where nothing was found."""
        kept = self._kept
        kept.books.total += 1
        body = result.payload
        reason, injection = scan(body)
        if reason == ReasonCode.NONE:
            return _DEFER
        self._taken += 1
        page = f"ng-q{self._taken}"
        if injection is not None and self._paging:
            trusted = call.tool in self._trusted
            if trusted or not injection.confident:
                kept.pages.hold(body, page)
                result.payload = page_pointer(page, len(body), TRUSTED if trusted else LOW_CONFIDENCE)
                return Verdict(VerdictKind.TRANSFORM, ReasonCode.NONE, self.name, result.payload)
        return kept.keep_out(result, page, reason)

    def tally(self) -> GateTally:
        """A snapshot; an injection that was paged is in ``total`` alone."""
        return self._kept.tally()

    def clear(self, page: str) -> None:
        """Allow a body in quarantine back, unless it holds a secret; an id that is not held stays refused."""
        self._kept.held.clear(page)

    def page_in(self, page: str) -> bytes:
        """The exact bytes of a cleared or a paged body, after another look at them.

        Raises:
            PageInError: it is not held, not cleared, or it holds a secret, which stays out whoever cleared it.
        """
        kept = self._kept
        body = (kept.pages if page in kept.pages else kept.held).take(page)
        if rescreen(body) != ReasonCode.NONE:
            raise PageInError(f"{page} holds a secret and stays out, cleared or not; read it where it came from.")
        return body


_DEFER = Verdict(VerdictKind.DEFER, ReasonCode.NONE, CanonicalGate.name)
