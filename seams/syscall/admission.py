"""The result side: gates between what an engine returned and what enters the context.

The bare gate screens raw bytes, pages a finding out behind a stub, and pages an oversize body out behind a pointer.
Every gate of a kernel sees every result, in order, and the most restrictive verdict is carried out. Nothing quarantined
comes back before somebody cleared it.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from seams.contract import Engine
from seams.contract.syscall import Result, ToolCall, Verdict
from seams.contract.verdict import ReasonCode, Status, VerdictKind, Witness
from seams.syscall.canonical import canonical
from seams.syscall.fold import fold_rank
from seams.syscall.reasons import disposition, reason_name
from seams.syscall.screen import screen

if TYPE_CHECKING:
    from seams.syscall.state import KernelState

__all__ = ["HELD_CAP", "PAGE_OVER", "BareGate", "PageInError", "admit", "denied_result", "offer", "witnessed"]

HELD_CAP = 8192
"""Bodies kept; the oldest goes first, and is then refused for ever."""

PAGE_OVER = 4096
"""A body longer than this, in bytes, enters the context as a pointer."""

_ALLOW = Verdict(VerdictKind.ALLOW, ReasonCode.NONE, "kernel")
_CLEAN = Verdict(VerdictKind.ALLOW, ReasonCode.NONE, "bare-gate")


class PageInError(LookupError):
    """The body is not there, or nobody cleared it."""


class BareGate:
    """The gate of rank 10. ``total`` and ``quarantined`` count results; an oversize page is in ``total`` only."""

    __slots__ = ("_cap", "_cleared", "_held", "_pages", "evicted", "quarantined", "total")

    def __init__(self, cap: int = HELD_CAP) -> None:
        self._cap = cap
        self._held: dict[str, bytes] = {}
        self._pages: dict[str, bytes] = {}
        self._cleared: set[str] = set()
        self.total = 0
        self.quarantined = 0
        self.evicted = 0

    def admit(self, call: ToolCall, result: Result) -> Verdict:  # noqa: ARG002 - other gates look at the call
        """QUARANTINE (the payload is then the stub), TRANSFORM to a pointer, or ALLOW."""
        self.total += 1
        body = result.payload
        reason = screen(body)
        if reason != ReasonCode.NONE:
            self.quarantined += 1
            page = f"q{self.quarantined}"
            self._keep(self._held, page, body)
            stub = {"_quarantined": True, "id": page, "len": len(body), "reason": reason_name(reason)}
            result.payload = canonical(stub)
            result.meta["quarantine_id"] = page
            return Verdict(VerdictKind.QUARANTINE, reason, "bare-gate")
        if len(body) > PAGE_OVER:
            digest = hashlib.sha256(body).hexdigest()
            self._keep(self._pages, digest, body)
            pointer = {"_paged": True, "hint": "oversize", "len": len(body), "ref": digest}
            return Verdict(VerdictKind.TRANSFORM, ReasonCode.NONE, "bare-gate", canonical(pointer))
        return _CLEAN

    def clear(self, page: str) -> None:
        """Allow a held body back; an id that is not held stays refused."""
        if page in self._held:
            self._cleared.add(page)

    def page_in(self, page: str) -> bytes:
        """The exact bytes of a quarantined body that was cleared, or of an oversize one by its digest.

        Raises:
            PageInError: it is not held, no longer held, or not cleared.
        """
        if page in self._pages:
            return self._pages[page]
        if page not in self._held:
            raise PageInError(f"{page} is not held; a body that was evicted does not come back.")
        if page not in self._cleared:
            raise PageInError(f"{page} is in quarantine; call clear({page!r}) first.")
        return self._held[page]

    def _keep(self, store: dict[str, bytes], page: str, body: bytes) -> None:
        store[page] = body
        if len(store) > self._cap:
            oldest = next(iter(store))
            del store[oldest]
            self._cleared.discard(oldest)
            self.evicted += 1


def denied_result(verdict: Verdict) -> Result:
    """A refusal as a value: status ERROR, and what the caller may do about it in ``meta`` and payload."""
    code = verdict.reason
    how = disposition(code)
    meta = {"verdict": "deny", "reason": reason_name(code), "disposition": how.value, "by": verdict.by}
    if "witness" in verdict.meta:
        meta["witness"] = verdict.meta["witness"]
    if how.value == "wait":  # only a refusal that time can lift may say how much of it
        meta |= {key: verdict.meta[key] for key in ("retry_after", "retry_after_ms") if key in verdict.meta}
    return Result(Status.ERROR, canonical(meta), meta)


def witnessed(kernel: KernelState, call: ToolCall, verdict: Verdict) -> Verdict:
    """What a REQUIRE_WITNESS becomes: ALLOW if any resolver confirms, else DENY, refuted or unwitnessed."""
    claim = verdict.meta.get("claim", "")
    found = {resolver.resolve(call, claim) for resolver in kernel.resolvers}
    if Witness.CONFIRMED in found:
        return Verdict(VerdictKind.ALLOW, ReasonCode.NONE, verdict.by, meta={"witness": "confirmed"})
    refuted = Witness.REFUTED in found
    reason = ReasonCode.TRUST_VIOLATION if refuted else ReasonCode.UNWITNESSED
    return Verdict(VerdictKind.DENY, reason, verdict.by, meta={"witness": "refuted" if refuted else "none"})


def admit(kernel: KernelState, call: ToolCall, result: Result) -> Verdict:
    """Run every gate over ``result``, carry out the most restrictive verdict in place, and count it.

    Of equally restrictive verdicts the earlier gate's stands. What was done to the result is in its meta: ``admit``
    with the ``reason`` by name.
    """
    best, best_rank = _ALLOW, 0
    for admitter in kernel.admitters:
        verdict = admitter.admit(call, result)
        rank = fold_rank(verdict.kind)
        if rank > best_rank:
            best, best_rank = verdict, rank
    counters = kernel.tally
    if best.kind == VerdictKind.REQUIRE_WITNESS:
        best = witnessed(kernel, call, best)
    if best.kind == VerdictKind.QUARANTINE:
        counters.quarantines += 1
        result.meta.update(admit="quarantined", reason=reason_name(best.reason))
    elif best.kind in (VerdictKind.ALLOW, VerdictKind.DEFER):
        counters.admitted += 1
    elif best.kind == VerdictKind.TRANSFORM and best.new_args is not None:
        result.payload = best.new_args
        result.meta.update(admit="transformed", reason=reason_name(best.reason))
        counters.admitted += 1
    else:
        # A deny, and whatever nobody here knows how to carry out.
        counters.result_denies += 1
        refusal = denied_result(best)
        result.status, result.payload = refusal.status, refusal.payload
        result.meta.clear()
        result.meta.update(refusal.meta, admit="denied")
    return best


def offer(engine: Engine) -> BareGate | None:
    """A fresh bare gate; it needs no engine, so only ``none`` is answered."""
    return BareGate() if engine == "none" else None
