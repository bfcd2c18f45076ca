"""The seam ``syscall/submit``: fast path, adjudication, and a handle that is reaped once.

What it holds back it holds as a refusal: a deny, a witness that did not turn up, and every verdict it has no rule for.
It never runs a tool.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from seams.contract import Engine
from seams.contract.syscall import Handle, ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.admission import witnessed

if TYPE_CHECKING:
    from seams.syscall.kernel import Kernel
    from seams.syscall.state import KernelState

__all__ = ["offer", "submit"]

_SERVED = Verdict(VerdictKind.ALLOW, ReasonCode.NONE, "vdso")


def submit(kernel: KernelState, call: ToolCall) -> tuple[Handle, Verdict]:
    """Decide ``call`` and keep it pending; stamps its ``seq`` if 0, and replaces its ``args`` on a Transform.

    A fast-path answer comes before adjudication: it is neither judged nor run nor admitted. It is a result all the
    same, and raises the mark of the call's trace.
    """
    counters = kernel.tally
    counters.submits += 1
    kernel.seq = seq = kernel.seq + 1
    if call.seq == 0:
        call.seq = seq
    if kernel.lookup and kernel.fast_path is not None:
        ready = kernel.fast_path.lookup(call)
        if ready is not None:
            counters.vdso_hits += 1
            if kernel.flow is not None:
                kernel.flow.saw(call)
            kernel.pending[seq] = ready
            return Handle(seq), _SERVED
    verdict = kernel.chain.fold(call)
    kind = verdict.kind
    if kind == VerdictKind.REQUIRE_WITNESS:
        verdict = witnessed(kernel, call, verdict)
        kind = verdict.kind
    if kind == VerdictKind.ALLOW:
        kernel.pending[seq] = call
    elif kind == VerdictKind.TRANSFORM and verdict.new_args is not None:
        counters.transforms += 1
        call.args = verdict.new_args
        kernel.pending[seq] = call
    else:
        counters.denies += 1
        kernel.pending[seq] = verdict
    return Handle(seq), verdict


def offer(engine: Engine) -> Kernel | None:
    """A fresh kernel of the default world on that engine; without a local engine there is none."""
    from seams.syscall.kernel import fresh_kernel  # here, because the kernel is composed of this module

    return fresh_kernel("default", engine) if engine in ("mock", "noop") else None
