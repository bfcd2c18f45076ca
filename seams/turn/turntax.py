"""The seam ``turn/turntax``: replay a trace call by call and classify how each was settled.

Every replay has a fresh kernel, gate and fast path, so that no arm warms another; ``shared_cache`` alone runs ``on``
over what an ``off`` replay left. The engine is the caller's where it brings one, so that it sees for itself what comes
there; what entered the context is handed out as it is. Whether any of it does harm is not for this side to say. It
reads no clock and prices nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from seams.contract import Engine
from seams.contract.syscall import Result, ToolCall, ToolEngine, Verdict
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


class TurnTaxReplay:
    """What ``turn/turntax`` offers."""

    __slots__ = ()

    def replay(self, calls: Sequence[ToolCall], world: str, arm: Arm, engine: ToolEngine | None = None) -> Replay:
        """Replay fresh copies of ``calls`` in a fresh ``world``, on ``engine`` or on the world's own.

        Raises:
            WorldError: there is no such world.
        """
        cache, tools = Vdso(), engine_of(world) if engine is None else engine
        if arm is Arm.SHARED_CACHE:
            _mediated(calls, world, Arm.OFF, cache, tools)
        return _mediated(calls, world, arm, cache, tools)


def _mediated(calls: Sequence[ToolCall], world: str, arm: Arm, cache: Vdso, engine: ToolEngine) -> Replay:
    kernel = fresh_kernel(world, engine, fast_path=cache, lookup=arm is not Arm.OFF)
    classes: list[TurnClass] = []
    context: list[Result] = []
    redactions = 0
    for call in calls:
        result, verdict = kernel.syscall(_copy(call))
        classes.append(classify(result, verdict))
        context.append(result)
        redactions += verdict.kind == VerdictKind.TRANSFORM and verdict.by != "grammar"
    return Replay(
        arm,
        tuple(classes),
        kernel.counters(),
        redactions,
        input_tokens=sum(int(result.meta.get("input_tokens", "0")) for result in context),
        output_tokens=sum(int(result.meta.get("output_tokens", "0")) for result in context),
        context=tuple(result.payload for result in context),
    )


def _copy(call: ToolCall) -> ToolCall:
    return ToolCall(call.tool, call.args or b"{}", call.meta, trace_id=call.trace_id)


def offer(engine: Engine) -> TurnTaxReplay | None:
    """The replay on mock engines; no other engine is answered."""
    return TurnTaxReplay() if engine == "mock" else None
