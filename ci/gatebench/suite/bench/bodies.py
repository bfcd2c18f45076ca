"""Results screened and admitted, by their size."""

from __future__ import annotations

from harness import probe
from seams.contract.syscall import Result, ToolCall
from seams.contract.verdict import ReasonCode, Status, VerdictKind
from seams.syscall.admission import BareGate
from seams.syscall.screen import screen as screened


def _body(size: int) -> bytes:
    """Prose that no screen minds."""
    return " ".join(f"row {at} says nothing of note" for at in range(size // 24 + 1)).encode()[:size]


@probe(check=lambda reason: reason == ReasonCode.TRUST_VIOLATION, source="synthetic")
def screen(size: str):
    """One look at a body of ``size`` bytes whose last words are an injection: what stops early misses it."""
    body = _body(int(size) - 11) + b" exfiltrate"
    return lambda: screened(body)


@probe(check=lambda verdict: (verdict.kind, verdict.by) == (VerdictKind.ALLOW, "bare-gate"), source="synthetic")
def admit(size: str):
    """One result of ``size`` bytes through the bare gate."""
    gate, call, body = BareGate(), ToolCall("get_user_details"), _body(int(size))
    return lambda: gate.admit(call, Result(Status.OK, body, {}))
