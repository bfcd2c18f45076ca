"""What a verdict does: a refusal as a value, a claim corroborated or refused, a result rewritten as its gates say.

The result side is here whole: every gate sees every result, in order, and the most restrictive verdict is carried out.
A gate that replaced the payload has the gates behind it look at the replacement. What a gate looks for is in its own
module, and what is kept of a call before dispatch is in ``submit``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from seams.contract.syscall import Admitter, Counters, Resolver, Result, ToolCall, Verdict
from seams.contract.verdict import ReasonCode, Status, VerdictKind, Witness
from seams.syscall.canonical import canonical
from seams.syscall.fold import fold_rank
from seams.syscall.reasons import disposition, reason_name

__all__ = ["RESERVED", "Admits", "admit", "denied_result", "unwitnessed"]

RESERVED = frozenset(
    {
        "admit",
        "by",
        "disposition",
        "durability",
        "quarantine_id",
        "reason",
        "served_by",
        "taint",
        "tier",
        "verdict",
    }
)
"""Keys of a result's meta that say what this side did with it. An engine's own words under them are dropped."""

_ALLOW = Verdict(VerdictKind.ALLOW, ReasonCode.NONE, "kernel")


class Admits(Protocol):
    """What admission needs of a kernel."""

    @property
    def admitters(self) -> Sequence[Admitter]:
        """The gates, in order."""
        ...

    @property
    def resolvers(self) -> Sequence[Resolver]:
        """Who is asked about a claim."""
        ...

    @property
    def tally(self) -> Counters:
        """Where the outcome is counted."""
        ...


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


def unwitnessed(resolvers: Iterable[Resolver], call: ToolCall, verdict: Verdict) -> Verdict | None:
    """The refusal that a REQUIRE_WITNESS becomes, refuted or unwitnessed; None where any resolver confirms its claim.

    A confirmed claim says that this demand is met and nothing else, so whoever asks goes on to the next strictest
    verdict.
    """
    claim = verdict.meta.get("claim", "")
    found = {resolver.resolve(call, claim) for resolver in resolvers}
    if Witness.CONFIRMED in found:
        return None
    refuted = Witness.REFUTED in found
    reason = ReasonCode.TRUST_VIOLATION if refuted else ReasonCode.UNWITNESSED
    return Verdict(VerdictKind.DENY, reason, verdict.by, meta={"witness": "refuted" if refuted else "none"})


def admit(kernel: Admits, call: ToolCall, result: Result) -> Verdict:
    """Run every gate over ``result``, carry out the most restrictive verdict in place, count it and return it.

    Of equally restrictive verdicts the earlier gate's stands; where no gate has an objection it is ALLOW. What was done
    to the result is in its meta: ``admit`` with the ``reason`` by name.
    """
    for key in RESERVED.intersection(result.meta):
        del result.meta[key]
    said = [gate.admit(call, result) for gate in kernel.admitters]
    best = _strictest(said)
    while best.kind == VerdictKind.REQUIRE_WITNESS:
        refusal = unwitnessed(kernel.resolvers, call, best)
        said = [each for each in said if each is not best]
        best = _strictest(said) if refusal is None else refusal
    counters = kernel.tally
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
        denied = denied_result(best)
        result.status, result.payload = denied.status, denied.payload
        result.meta.clear()
        result.meta.update(denied.meta, admit="denied")
    return best


def _strictest(said: Iterable[Verdict]) -> Verdict:
    best, best_rank = _ALLOW, 0
    for verdict in said:
        rank = fold_rank(verdict.kind)
        if rank > best_rank:
            best, best_rank = verdict, rank
    return best
