"""Probe of ``syscall/preflight``: the share of calls that is caught before anything is dispatched, by two sources.

Both are read off one replay of the workload, every call submitted and reaped once. ``ladder`` is the rung's own book:
what it refused, over the calls that it was asked about; a fast-path answer, and a call that an earlier rung refused,
never come to it. ``deny_before_dispatch`` is the kernel's: every refused submit, whoever refused it, over all submits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import awaits, finish, settled
from harness.probes.syscall._trace import calls_of, is_object, offered, replayed, unusable
from harness.probes.syscall._words import reason_name
from seams.contract.syscall import ToolCall
from seams.contract.verdict import VerdictKind

__all__ = ["Probe"]

_BROKEN = ToolCall("get_user_details", b'{"user_id": ')
_WHOLE = ToolCall("get_user_details", b'{"user_id": "user_1"}')


class Probe:
    """Opens the rate of one source."""

    kpis: ClassVar[frozenset[str]] = frozenset({"preflight_catch_rate"})

    def open(
        self,
        kpi: str,  # noqa: ARG002
        runtime: Any,
        workload: Workload | None,
        params: Mapping[str, str],
    ) -> Tally | Undefined:
        """Caught over total, the refusals by reason; or why there is no rate.

        Raises:
            WorkNotDoneError: the ladder catches nothing, or its book or the kernel's contradicts the replay.
        """
        refused = unusable(workload)
        if refused is not None or workload is None:
            return refused or Undefined("workload-kind", "There is no workload.")
        world = workload.data["world"]
        kernel, control = (offered(runtime, "syscall/preflight", "mock", world) for _ in range(2))
        if isinstance(kernel, Undefined):
            return kernel
        if isinstance(control, Undefined):
            return Undefined("not-offered", "The runtime offered its syscall/preflight once only; a control needs one.")
        waits = awaits(kernel, "submit", "reap", "counters")
        rate: Tally | Undefined = finish(_rate(params["source"], kernel, control, workload), waits=waits)
        return rate


async def _rate(source: str, kernel: Any, control: Any, workload: Workload) -> Tally | Undefined:
    ladder = getattr(kernel, "ladder", None)
    if source == "ladder" and ladder is None:
        return Undefined("not-offered", "The runtime's syscall/preflight has no attribute ladder to read the book of.")
    if ladder is not None:
        await _require_ladder(control)
    denied: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    calls = calls_of(workload)
    served = missed = 0
    for call, (verdict, result) in zip(calls, await replayed(kernel, calls), strict=True):
        if result.meta.get("served_by") == "vdso":
            served += 1
        elif result.meta.get("verdict") == "deny" and result.meta.get("admit") != "denied":
            denied[reason_name(verdict.reason)] += 1
            caught[reason_name(verdict.reason)] += ladder is not None and verdict.by == ladder.name
        elif not is_object(call.args):
            missed += 1
    if missed:
        raise WorkNotDoneError(f"{missed} calls whose arguments are no JSON object came to be dispatched")
    counters = await settled(kernel.counters())
    if (counters.submits, counters.denies) != (len(calls), denied.total()):
        raise WorkNotDoneError(
            f"of {len(calls)} calls {denied.total()} were refused; the kernel counts {counters.submits} submits and "
            f"{counters.denies} denies"
        )
    if source != "ladder" or ladder is None:
        return Tally(denied.total(), len(calls), reasons=dict(denied), source=workload.source)
    if ladder.caught != caught.total() or not ladder.caught <= ladder.total <= len(calls) - served:
        raise WorkNotDoneError(
            f"the ladder says it caught {ladder.caught} of {ladder.total}; it signed {caught.total()} refusals, and "
            f"{len(calls) - served} calls were not answered before it"
        )
    reasons = {name: times for name, times in caught.items() if times}
    unasked = len(calls) - ladder.total
    return Tally(ladder.caught, ladder.total, reasons=reasons, excluded=unasked, source=workload.source)


async def _require_ladder(kernel: Any) -> None:
    """On a kernel of its own: a call that is broken is caught and a whole one is not, and both are counted."""
    found = await replayed(kernel, (_BROKEN, _WHOLE))
    kinds = [verdict.kind == VerdictKind.DENY and verdict.by == kernel.ladder.name for verdict, _ in found]
    if kinds != [True, False] or (kernel.ladder.caught, kernel.ladder.total) != (1, 2):
        raise WorkNotDoneError("the ladder does not catch a call whose arguments break off, or does not count it")
