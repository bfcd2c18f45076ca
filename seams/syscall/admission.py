"""The result side: every gate sees every result, in order, and the most restrictive verdict is carried out.

The fold over gates is here, and what a verdict does to a result; what a gate looks for is in its own module. A gate
that replaced the payload has the gates behind it look at the replacement.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from seams.contract import Engine
from seams.contract.admission import Gate, GateTally
from seams.contract.store import ContentStore
from seams.contract.syscall import Admitter, Counters, Resolver, Result, Submit, ToolCall, Verdict
from seams.contract.verdict import ReasonCode, Status, VerdictKind, Witness
from seams.syscall.bare_gate import PAGE_OVER, BareGate
from seams.syscall.canonical import canonical
from seams.syscall.canonical_gate import CanonicalGate
from seams.syscall.fold import fold_rank
from seams.syscall.held import HELD_CAP, PageInError
from seams.syscall.reasons import disposition, reason_name
from seams.syscall.resolver import MemoryStore

__all__ = [
    "HELD_CAP",
    "PAGE_OVER",
    "BareGate",
    "CanonicalGate",
    "Gates",
    "PageInError",
    "admit",
    "denied_result",
    "gates",
    "offer",
    "witnessed",
]

_ALLOW = Verdict(VerdictKind.ALLOW, ReasonCode.NONE, "kernel")


class _Admits(Protocol):
    """What admission needs of a kernel."""

    @property
    def admitters(self) -> Sequence[Admitter]: ...
    @property
    def resolvers(self) -> Sequence[Resolver]: ...
    @property
    def tally(self) -> Counters: ...


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


def witnessed(kernel: _Admits, call: ToolCall, verdict: Verdict) -> Verdict:
    """What a REQUIRE_WITNESS becomes: ALLOW if any resolver confirms, else DENY, refuted or unwitnessed."""
    claim = verdict.meta.get("claim", "")
    found = {resolver.resolve(call, claim) for resolver in kernel.resolvers}
    if Witness.CONFIRMED in found:
        return Verdict(VerdictKind.ALLOW, ReasonCode.NONE, verdict.by, meta={"witness": "confirmed"})
    refuted = Witness.REFUTED in found
    reason = ReasonCode.TRUST_VIOLATION if refuted else ReasonCode.UNWITNESSED
    return Verdict(VerdictKind.DENY, reason, verdict.by, meta={"witness": "refuted" if refuted else "none"})


def admit(kernel: _Admits, call: ToolCall, result: Result) -> Verdict:
    """Run every gate over ``result``, carry out the most restrictive verdict in place, count it and return it.

    Of equally restrictive verdicts the earlier gate's stands; where no gate has an objection it is ALLOW. What was done
    to the result is in its meta: ``admit`` with the ``reason`` by name.
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
    elif best.kind == VerdictKind.ALLOW:
        counters.admitted += 1
    elif best.kind == VerdictKind.DEFER:
        counters.admitted += 1
        return _ALLOW
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


def gates(store: ContentStore | None = None) -> tuple[CanonicalGate, BareGate]:
    """The gates of a kernel that look at content, fresh and in order, over one store: ``store``, or one of theirs."""
    bodies = MemoryStore() if store is None else store
    return CanonicalGate(bodies), BareGate(bodies)


class Gates:
    """What ``syscall/admission`` offers: a chain that is asked as a kernel asks it, without one around it."""

    __slots__ = ("admitters", "resolvers", "tally")

    def __init__(self, chain: Sequence[Gate] | None = None) -> None:
        self.admitters: Sequence[Gate] = gates() if chain is None else tuple(chain)
        self.resolvers: Sequence[Resolver] = ()
        self.tally = Counters()

    def admit(self, call: ToolCall, result: Result) -> Verdict:
        """See :func:`admit`."""
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
