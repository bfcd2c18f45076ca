"""Submits after a long history: one kernel that has run two reads a turn, and then takes calls that are simply allowed.

The history is run once, outside every clock, on the mock engine of the airline world: half of its answers are pages of
some kilobytes, which the kernel keeps where it keeps such things. The handles of a batch are redeemed after the clock,
so that no batch leaves anything behind for the next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from harness.measure.clock import Engine, Undefined, WorkNotDoneError, is_async
from harness.probes._set_up import now
from harness.probes.syscall._submits import OUTCOMES, WORLD, require_refusals
from harness.probes.syscall._trace import HINTS, another, offered
from seams.contract.syscall import ToolCall
from seams.contract.verdict import Status, VerdictKind

__all__ = ["GrownSubmits", "grown"]

_TRACE = "grown"
_ARGS = b'{"user_id":"user_1"}'
_UNSHARED = {"readOnlyHint": "true"}


def _history(turns: int) -> Iterator[ToolCall]:
    """A profile and a long list of flights a turn, none of them twice."""
    for turn in range(turns):
        yield ToolCall("get_user_details", b'{"user_id":"user_%d"}' % turn, HINTS, trace_id=_TRACE)
        where = b'{"origin":"OSL","destination":"LIS","date":"day %d","days":60}' % turn
        yield ToolCall("search_direct_flight", where, HINTS, trace_id=_TRACE)


def grown(runtime: Any, turns: int) -> GrownSubmits | Undefined:
    """The slice on a kernel that has that many turns behind it, or why there is none."""
    kernel = offered(runtime, "syscall/submit", "mock", WORLD)
    if isinstance(kernel, Undefined):
        return kernel
    held = 0
    for number, call in enumerate(_history(turns)):
        handle, verdict = now(kernel.submit(call))
        result = now(kernel.reap(handle))
        if verdict.kind != VerdictKind.ALLOW or result.status != Status.OK:
            raise WorkNotDoneError(f"call {number} of the history was not allowed and answered")
        engine = getattr(kernel, "engine", None)
        body = getattr(engine, "complete", None)
        held += len(result.payload) if body is None else len(now(body(call)).payload)
    now(require_refusals(another(runtime, "syscall/submit", "mock", WORLD, kernel)))
    return GrownSubmits(kernel, held)


class GrownSubmits:
    """One submit a loop of a call that is allowed: a read that no cache may serve, so that the history stays.

    The fast path is asked and has to pass. A call without hints could be a write, and its reap would strand all reads.
    """

    engine: Engine = "mock"
    source = "synthetic"

    def __init__(self, kernel: Any, held: int) -> None:
        self._kernel = kernel
        self._outcome = OUTCOMES["allow"]
        self._before = 0
        self._loops = 0
        self.held = held
        # What one submit reads, whatever was before it; the history itself is no work of it.
        self.work = {"calls judged": 1, "bytes of arguments": len(_ARGS)}

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` submits on the one kernel."""
        calls = [ToolCall(self._outcome.tool, _ARGS, _UNSHARED, trace_id=_TRACE) for _ in range(loops)]
        self._loops, self._before = loops, now(self._kernel.counters()).submits
        submit: Callable[[ToolCall], Any] = self._kernel.submit
        if is_async(submit):

            async def run_async() -> list[Any]:
                return [await submit(call) for call in calls]

            return run_async

        def run() -> list[Any]:
            return [submit(call) for call in calls]

        return run

    def check(self, result: Any) -> None:
        """Every submit counted and allowed; then all handles are redeemed, and each must have an answer."""
        moved = now(self._kernel.counters()).submits - self._before
        if moved != self._loops or not isinstance(result, list) or len(result) != self._loops:
            raise WorkNotDoneError(f"{self._loops} submits were due and the kernel counted {moved}")
        for handle, verdict in result:
            answer = now(self._kernel.reap(handle))
            if verdict.kind != VerdictKind.ALLOW or answer.status != Status.OK:
                raise WorkNotDoneError("a call of the batch was not allowed and answered")
