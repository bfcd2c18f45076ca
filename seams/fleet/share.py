"""The seam ``fleet/share``: many sessions in one world, each behind a kernel of its own, over one fast path.

What they share is the fast path and the world's epochs: a read that one session made answers the others, and a write of
one strands what all of them had read. A kernel, its counters and the ledger of what a session has seen are the
session's own. It counts and tells; what a saved turn is worth, and what it is compared with, is not for this side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from seams.contract import Engine
from seams.contract.fleet_share import interleaved
from seams.contract.syscall import Counters, Result, ToolCall, ToolEngine
from seams.contract.turntax import Arm, Replay, TurnClass
from seams.contract.verdict import VerdictKind
from seams.syscall.epochs import Invalidation
from seams.syscall.kernel import Kernel, engine_of, fresh_kernel
from seams.syscall.vdso import Vdso
from seams.turn.turntax import classify

__all__ = ["SharedWorld", "offer"]


class SharedWorld:
    """What ``fleet/share`` offers; ``invalidation`` says what a write strands."""

    __slots__ = ("_invalidation",)

    def __init__(self, invalidation: Invalidation = Invalidation.GLOBAL) -> None:
        self._invalidation = invalidation

    def replay(
        self,
        sessions: Sequence[Sequence[ToolCall]],
        world: str,
        engine: ToolEngine | None = None,
        plan: Sequence[ToolCall] = (),
    ) -> Replay:
        """See the contract.

        Raises:
            WorldError: there is no such world.
        """
        cache, tools = Vdso(invalidation=self._invalidation), engine_of(world) if engine is None else engine
        kernels: dict[int | None, Kernel] = {
            number: fresh_kernel(world, tools, fast_path=cache) for number in (None, *range(len(sessions)))
        }
        classes: list[TurnClass] = []
        context: list[Result] = []
        redactions = 0
        for number, call in interleaved(sessions, plan):
            own = ToolCall(call.tool, call.args or b"{}", call.meta, trace_id=call.trace_id)
            result, verdict = kernels[number].syscall(own)
            classes.append(classify(result, verdict))
            context.append(result)
            redactions += verdict.kind == VerdictKind.TRANSFORM and verdict.by != "grammar"
        return Replay(
            Arm.ON,
            tuple(classes),
            _added([kernel.counters() for kernel in kernels.values()]),
            redactions,
            input_tokens=sum(int(result.meta.get("input_tokens", "0")) for result in context),
            output_tokens=sum(int(result.meta.get("output_tokens", "0")) for result in context),
            context=tuple(result.payload for result in context),
        )


def _added(each: Sequence[Counters]) -> Counters:
    return Counters(*(sum(getattr(one, field.name) for one in each) for field in fields(Counters)))


def offer(engine: Engine) -> SharedWorld | None:
    """The replay on mock engines; no other engine is answered."""
    return SharedWorld() if engine == "mock" else None
