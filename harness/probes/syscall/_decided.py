"""What decisions must be, whoever makes them: held to the bytes and the classes of the trace, and to controls.

A verdict that nobody can know beforehand is the runtime's own, so the calls that can be known come first. In every
world a tool that no rule names is refused, and so are arguments that break off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.measure.clock import Workload, WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.syscall._sinks import could_be_late
from harness.probes.syscall._trace import calls_of, fresh, is_object
from harness.probes.syscall._words import verdict_told
from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import VerdictKind

__all__ = ["decided"]

_CONTROLS = (
    ("a tool that no rule names", ToolCall("audit_trail", b'{"user_id":"user_1"}')),
    ("arguments that break off", ToolCall("get_user_details", b'{"user_id": ')),
)
_ALLOWED = ToolCall("get_user_details", b'{"user_id":"user_1"}')
_OPEN_ENDED = (VerdictKind.DEFER, VerdictKind.INDETERMINATE)


async def decided(decide: Callable[[ToolCall], Any], workload: Workload) -> list[Verdict]:
    """The verdict about each call of the trace, every one of them decided as if it came first.

    Raises:
        WorkNotDoneError: a decision is none, contradicts what is known of its call, or nothing is ever allowed.
    """
    for what, control in _CONTROLS:
        verdict = await settled(decide(fresh(control)))
        if getattr(verdict, "kind", None) != VerdictKind.DENY:
            raise WorkNotDoneError(
                f"{what} must be refused in every world, and the decision is {verdict_told(verdict)}"
            )
    calls = calls_of(workload)
    found = [await settled(decide(fresh(call))) for call in calls]
    _require_trace(found, calls, [told.get("class") for told in workload.data["calls"]])
    if all(verdict.kind == VerdictKind.DENY for verdict in found):
        verdict = await settled(decide(fresh(_ALLOWED)))
        if getattr(verdict, "kind", None) != VerdictKind.ALLOW:
            raise WorkNotDoneError(f"every call is refused; one that is allowed everywhere is {verdict_told(verdict)}")
    return found


def _require_trace(found: Sequence[Any], calls: Sequence[ToolCall], classes: Sequence[str | None]) -> None:
    run = {call.tool for call, settled_as in zip(calls, classes, strict=True) if settled_as not in (None, "deny")}
    for number, (verdict, call, settled_as) in enumerate(zip(found, calls, classes, strict=True)):
        kind, told = getattr(verdict, "kind", None), verdict_told(verdict)
        if not isinstance(kind, int) or kind in _OPEN_ENDED:
            raise WorkNotDoneError(f"the decision about call {number} is {told}, which settles nothing")
        if not is_object(call.args) and kind != VerdictKind.DENY:
            raise WorkNotDoneError(f"the arguments of call {number} are no JSON object, and the decision is {told}")
        # A sink that the trace itself shows running was refused for what came before, which one decision cannot know.
        late = settled_as == "deny" and call.tool in run and could_be_late(call)
        if settled_as == "deny" and not late and kind != VerdictKind.DENY:
            raise WorkNotDoneError(f"call {number} must be denied in this trace, and the decision is {told}")
        if settled_as == "grammar" and kind != VerdictKind.TRANSFORM:
            raise WorkNotDoneError(f"call {number} must be repaired in this trace, and the decision is {told}")
