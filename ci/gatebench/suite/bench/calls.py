"""Calls decided, folded and carried out, by the size of their arguments, the length of the chain, and how they end."""

from __future__ import annotations

import json

from harness import probe
from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.decide import chain_of
from seams.syscall.fold import Chain
from seams.syscall.kernel import fresh_kernel
from seams.syscall.worlds import world_named


@probe(check=lambda verdict: verdict.kind == VerdictKind.ALLOW, source="synthetic")
def decide(size: str):
    """One decision about a call whose arguments have about ``size`` bytes."""
    chain = chain_of(world_named("default"))
    args = json.dumps({f"key{at}": "v" * 20 for at in range(max(int(size) // 32, 1))}).encode()
    return lambda: chain.fold(ToolCall("get_reservation_details", args))


class _Rung:
    """Defers, or says ``kind``."""

    tools = None

    def __init__(self, rank: int, kind: int) -> None:
        self.name, self.rank = f"rung{rank}", rank
        self._verdict = Verdict(kind, ReasonCode.NONE, self.name)

    def adjudicate(self, call: ToolCall) -> Verdict:  # noqa: ARG002 - every call is the same to it
        return self._verdict


@probe(check=lambda verdict: verdict.kind == VerdictKind.ALLOW, source="synthetic")
def fold(rungs: str):
    """One fold over so many rungs, of which the last allows."""
    last = int(rungs) - 1
    chain = Chain([_Rung(at, VerdictKind.ALLOW if at == last else VerdictKind.DEFER) for at in range(int(rungs))])
    call = ToolCall("get_user_details")
    return lambda: chain.fold(call)


_ENDS = {
    "allow": ("get_user_details", b'{"user_id":"u1"}', VerdictKind.ALLOW),
    "deny": ("delete_account", b'{"user_id":"u1"}', VerdictKind.DENY),
    "hit": ("list_all_airports", b"{}", VerdictKind.ALLOW),
    "repair": ("convert_currency", b'{"from":"USD","to":"EUR","amount":3}', VerdictKind.TRANSFORM),
    "malformed": ("get_user_details", b"[1]", VerdictKind.DENY),
}


@probe(engine="noop", check=lambda told: told[0] == told[1], source="synthetic")
def syscall(ends: str):
    """One call submitted and reaped on a no-op engine, which ends as ``ends`` says."""
    kernel = fresh_kernel("airline", "noop")
    tool, args, wanted = _ENDS[ends]

    def call() -> tuple[int, int]:
        _, verdict = kernel.syscall(ToolCall(tool, args))
        return verdict.kind, wanted

    return call
