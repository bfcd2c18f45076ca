"""The seam ``turn/turntax``: replay a trace call by call and classify how each was settled.

Every replay has a fresh kernel, gate and fast path, so that no arm warms another; ``shared_cache`` alone runs ``on``
over what an ``off`` replay left. The safety counts are observed at the engine and in the admitted bytes. It reads no
clock and prices nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seams.contract import Engine
from seams.contract.syscall import Counters, FastPath, Result, ToolCall, ToolEngine, Verdict
from seams.contract.turntax import Arm, Replay, TurnClass
from seams.contract.verdict import VerdictKind
from seams.engines.airline import POISON
from seams.syscall.kernel import engine_of, fresh_kernel
from seams.syscall.monitor import Monitor
from seams.syscall.vdso import Vdso, write_shaped
from seams.syscall.worlds import world_named

__all__ = ["TurnTaxReplay", "classify", "offer"]

_POISON: Mapping[str, tuple[bytes, ...]] = {"airline": (POISON.encode(),)}
"""What must not reach the context, by world: known because the world was authored, not found by the gate's own eye."""

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
    """An engine with a witness at its door: notes the calls that really arrive."""

    __slots__ = ("_inner", "ran")

    def __init__(self, inner: ToolEngine) -> None:
        self._inner = inner
        self.ran: list[ToolCall] = []

    def complete(self, call: ToolCall) -> Result:
        """Note the call, then run it."""
        self.ran.append(call)
        return self._inner.complete(call)


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
    admitted: list[Result] = []
    redactions = 0
    for call in calls:
        result, verdict = kernel.syscall(_copy(call))
        classes.append(classify(result, verdict))
        admitted.append(result)
        redactions += verdict.kind == VerdictKind.TRANSFORM and verdict.by != "grammar"
    return _told(arm, tuple(classes), kernel.counters(), redactions, admitted, world, door)


def _unmediated(calls: Sequence[ToolCall], world: str) -> Replay:
    door = _Watched(engine_of(world))
    returned = [door.complete(_copy(call)) for call in calls]
    counters = Counters(submits=len(returned), engine_calls=len(door.ran), admitted=len(returned))
    return _told(Arm.BASELINE, (), counters, 0, returned, world, door)


def _told(
    arm: Arm,
    classes: tuple[TurnClass, ...],
    counters: Counters,
    redactions: int,
    context: Sequence[Result],
    world: str,
    door: _Watched,
) -> Replay:
    return Replay(
        arm,
        classes,
        counters,
        redactions,
        input_tokens=sum(int(result.meta.get("input_tokens", "0")) for result in context),
        output_tokens=sum(int(result.meta.get("output_tokens", "0")) for result in context),
        injections_admitted=sum(any(bad in each.payload for bad in _POISON.get(world, ())) for each in context),
        destructive_executed=_forbidden(door.ran, world),
    )


def _forbidden(ran: Sequence[ToolCall], world: str) -> int:
    """Write-shaped calls among those that ran although the policy, asked on its own, refuses them."""
    monitor = Monitor(world_named(world).policy)
    return sum(write_shaped(c.tool) and monitor.adjudicate(_copy(c)).kind == VerdictKind.DENY for c in ran)


def _copy(call: ToolCall) -> ToolCall:
    return ToolCall(call.tool, call.args or b"{}", call.meta, trace_id=call.trace_id)


def offer(engine: Engine) -> TurnTaxReplay | None:
    """The replay on mock engines; no other engine is answered."""
    return TurnTaxReplay() if engine == "mock" else None
