"""The seam ``turn/turntax``: replay a trace call by call and classify how each was settled.

Every replay has a fresh kernel, gate and fast path, so that no arm warms another; ``shared_cache`` alone runs ``on``
over what an ``off`` replay left. What reached the engine, and what came into the context, is handed out as it was seen:
whether any of it does harm is not for this side to say. It reads no clock and prices nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from seams.contract import Engine
from seams.contract.syscall import Counters, FastPath, Result, ToolCall, ToolEngine, Verdict
from seams.contract.turntax import Arm, Replay, TurnClass
from seams.contract.verdict import VerdictKind
from seams.syscall.kernel import engine_of, fresh_kernel
from seams.syscall.vdso import Vdso

__all__ = ["TurnTaxReplay", "classify", "offer"]

_TIER = {"2": TurnClass.DEDUP, "3": TurnClass.STATIC}


def classify(result: Result, verdict: Verdict) -> TurnClass:
    """How the call was settled; the first rule that fits."""
    if result.meta.get("admit") == "quarantined":
        return TurnClass.QUARANTINE
    if result.meta.get("verdict") == "deny" and result.meta.get("admit") != "denied":
        return TurnClass.DENY
    if verdict.by == "vdso":
        return _TIER.get(result.meta.get("tier", ""), TurnClass.PURE)
    if verdict.kind == VerdictKind.TRANSFORM and verdict.by == "grammar":
        return TurnClass.GRAMMAR
    return TurnClass.PASS


class _Watched:
    """An engine with a witness at its door: notes for each call of the trace whether it arrives, and what it gets."""

    __slots__ = ("_inner", "returned")

    def __init__(self, inner: ToolEngine) -> None:
        self._inner = inner
        self.returned: list[bytes | None] = []

    def expect(self) -> None:
        """The next call of the trace is on its way, and may never arrive."""
        self.returned.append(None)

    def complete(self, call: ToolCall) -> Result:
        """Note the arrival, run the call, note the body before a gate can rewrite the result."""
        self.returned[-1] = b""
        result = self._inner.complete(call)
        self.returned[-1] = result.payload
        return result


class TurnTaxReplay:
    """What ``turn/turntax`` offers."""

    __slots__ = ()

    def replay(self, calls: Sequence[ToolCall], world: str, arm: Arm) -> Replay:
        """Replay fresh copies of ``calls`` in a fresh ``world``.

        Raises:
            WorldError: there is no such world.
        """
        if arm is Arm.BASELINE:
            return _unmediated(calls, world)
        cache = Vdso()
        if arm is Arm.SHARED_CACHE:
            _mediated(calls, world, Arm.OFF, cache)
        return _mediated(calls, world, arm, cache)


def _mediated(calls: Sequence[ToolCall], world: str, arm: Arm, cache: FastPath) -> Replay:
    door = _Watched(engine_of(world))
    kernel = fresh_kernel(world, door, fast_path=cache, lookup=arm is not Arm.OFF)
    classes: list[TurnClass] = []
    context: list[Result] = []
    redactions = 0
    for call in calls:
        door.expect()
        result, verdict = kernel.syscall(_copy(call))
        classes.append(classify(result, verdict))
        context.append(result)
        redactions += verdict.kind == VerdictKind.TRANSFORM and verdict.by != "grammar"
    return _told(arm, tuple(classes), kernel.counters(), redactions, context, door)


def _unmediated(calls: Sequence[ToolCall], world: str) -> Replay:
    door = _Watched(engine_of(world))
    context: list[Result] = []
    for call in calls:
        door.expect()
        context.append(door.complete(_copy(call)))
    counters = Counters(submits=len(context), engine_calls=len(context), admitted=len(context))
    return _told(Arm.BASELINE, (), counters, 0, context, door)


def _told(
    arm: Arm,
    classes: tuple[TurnClass, ...],
    counters: Counters,
    redactions: int,
    context: Sequence[Result],
    door: _Watched,
) -> Replay:
    return Replay(
        arm,
        classes,
        counters,
        redactions,
        input_tokens=sum(int(result.meta.get("input_tokens", "0")) for result in context),
        output_tokens=sum(int(result.meta.get("output_tokens", "0")) for result in context),
        returned=tuple(door.returned),
        context=tuple(result.payload for result in context),
    )


def _copy(call: ToolCall) -> ToolCall:
    return ToolCall(call.tool, call.args or b"{}", call.meta, trace_id=call.trace_id)


def offer(engine: Engine) -> TurnTaxReplay | None:
    """The replay on mock engines; no other engine is answered."""
    return TurnTaxReplay() if engine == "mock" else None
