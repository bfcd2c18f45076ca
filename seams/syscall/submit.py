"""The seam ``syscall/submit``: fast path, adjudication, and a handle that is reaped once.

What it holds back it holds as a refusal: a deny, a witness that did not turn up, and every verdict it has no rule for.
It never runs a tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seams.contract import Engine
from seams.contract.syscall import Handle, ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.enforcement import unwitnessed
from seams.syscall.fold import Claim, claim_of

if TYPE_CHECKING:
    from seams.syscall.kernel import Kernel
    from seams.syscall.state import KernelState

__all__ = ["offer", "submit"]

_SERVED = Verdict(VerdictKind.ALLOW, ReasonCode.NONE, "vdso")

_CLAIMS = 8
"""Claims of one call that are taken to a witness; a rung that thinks of another one each time is never content."""


def submit(kernel: KernelState, call: ToolCall) -> tuple[Handle, Verdict]:
    """Decide ``call`` and keep it pending; stamps its ``seq`` if 0, and replaces its ``args`` on a Transform.

    What is judged and kept is a copy, read from the bytes, so that nothing that is done to ``call`` meanwhile can run.
    A fast-path answer comes before adjudication: it is neither judged nor run nor admitted. It is a result all the
    same, and raises the mark of the call's trace: as far as the body did whose stub is served again.
    """
    counters = kernel.tally
    counters.submits += 1
    kernel.seq = seq = kernel.seq + 1
    if call.seq == 0:
        call.seq = seq
    own = ToolCall(call.tool, call.args, dict(call.meta), call.seq, call.trace_id)
    if kernel.lookup and kernel.fast_path is not None:
        ready = kernel.fast_path.lookup(own)
        if ready is not None:
            counters.vdso_hits += 1
            if kernel.flow is not None:
                kernel.flow.saw(own, sealed="quarantine_id" in ready.meta)
            kernel.pending[seq] = ready
            return Handle(seq), _SERVED
    verdict = kernel.chain.fold(own)
    kind = verdict.kind
    if kind == VerdictKind.REQUIRE_WITNESS:
        verdict = _witnessed(kernel, own, verdict)
        kind = verdict.kind
    if kind == VerdictKind.ALLOW:
        kernel.pending[seq] = own
    elif kind == VerdictKind.TRANSFORM and verdict.new_args is not None:
        counters.transforms += 1
        own.args = call.args = verdict.new_args
        kernel.pending[seq] = own
    else:
        counters.denies += 1
        kernel.pending[seq] = verdict
    return Handle(seq), verdict


def _witnessed(kernel: KernelState, call: ToolCall, verdict: Verdict) -> Verdict:
    """What is left to carry out once every claim about ``call`` is corroborated; the refusal where one is not.

    A confirmed claim lifts its own demand only: the call is folded again, uncounted, and the next strictest verdict
    stands, so that what a rung would redact is redacted.
    """
    again = ToolCall(call.tool, call.args, call.meta, 0, call.trace_id)
    granted: set[Claim] = set()
    for _ in range(_CLAIMS):
        refusal = unwitnessed(kernel.resolvers, call, verdict)
        if refusal is not None:
            return refusal
        granted.add(claim_of(verdict))
        verdict = kernel.chain.fold(again, granted)
        if verdict.kind != VerdictKind.REQUIRE_WITNESS:
            return verdict
    return Verdict(VerdictKind.DENY, ReasonCode.UNWITNESSED, verdict.by, meta={"witness": "none"})


def offer(engine: Engine) -> Kernel | None:
    """A fresh kernel of the default world on that engine; without a local engine there is none."""
    from seams.syscall.kernel import fresh_kernel  # here, because the kernel is composed of this module

    return fresh_kernel("default", engine) if engine in ("mock", "noop") else None
