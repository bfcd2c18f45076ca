"""The seam ``syscall/reap``: the return of a result, once for each handle.

It blocks on its engine, so a number read here says how the engine was cut out. What the engine raises is counted, and
nothing is admitted; what a gate raises is never taken for the engine's, so that a gate that broke down cannot pass.
However a call that was run ended, the fast path hears of it: a write may have been done before something broke off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from seams.contract import Engine
from seams.contract.syscall import Handle, Result, ToolCall, Verdict
from seams.contract.verdict import Status
from seams.syscall.enforcement import admit, denied_result

if TYPE_CHECKING:
    from seams.syscall.kernel import Kernel
    from seams.syscall.state import KernelState

__all__ = ["ReapError", "offer", "reap"]


class ReapError(LookupError):
    """The handle is not pending: never submitted here, or reaped before."""


def reap(kernel: KernelState, handle: Handle, failed: Callable[[Exception], Result] | None = None) -> Result:
    """The ready answer, the refusal as a value, or the engine's result after every gate has seen it.

    ``failed`` makes a result of what the engine raised; without it the caller gets the error itself.

    Raises:
        ReapError: there is no pending submission for ``handle``.
    """
    entry = kernel.pending.pop(handle.seq, None)
    if isinstance(entry, ToolCall):
        return _run(kernel, entry, failed)
    if isinstance(entry, Result):
        return entry
    if isinstance(entry, Verdict):
        return denied_result(entry)
    raise ReapError(f"There is no pending submission {handle.seq}; a handle is good for one reap after its submit.")


def _run(kernel: KernelState, call: ToolCall, failed: Callable[[Exception], Result] | None) -> Result:
    kernel.tally.engine_calls += 1
    learned = Result(Status.ERROR, b"")
    try:
        try:
            result = kernel.engine.complete(call)
        except Exception as error:
            kernel.tally.engine_errors += 1
            if kernel.flow is not None:  # no gate stamps it, and its words come from outside all the same
                kernel.flow.saw(call)
            if failed is None:
                raise
            return failed(error)
        admit(kernel, call, result)
        learned = result
    finally:
        if kernel.fast_path is not None:
            kernel.fast_path.observe(call, learned)
    return result


def offer(engine: Engine) -> Kernel | None:
    """A fresh kernel of the default world whose fast path is never asked, on a no-op or a mock engine."""
    from seams.syscall.kernel import fresh_kernel  # here, because the kernel is composed of this module

    return fresh_kernel("default", engine, lookup=False) if engine in ("mock", "noop") else None
