"""What a replay says, held against what came to the engine that the probe brought along.

The classes, the counters and the context are the replay's word; which calls arrived, with which arguments, and what
they were answered, is not. Each class has something to show for itself: a call that passed shows the engine's body or a
pointer to it, one that was kept out shows something else, a repeated read shows what the first one showed. What this
cannot see is a runtime that hands its caller other bytes than it shows here. No clock is read.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from harness.measure.clock import WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.turn._door import Arrival, Door
from harness.probes.turn._replay import verified
from harness.probes.turn._worlds import World, canonical
from seams.contract.syscall import ToolCall
from seams.contract.turntax import Arm, Replay, TurnClass
from seams.contract.verdict import Status

__all__ = ["HITS", "mismatches", "replayed", "totals", "verify_told", "write_shaped"]

HITS = (TurnClass.PURE, TurnClass.DEDUP, TurnClass.STATIC)
"""The classes whose calls a fast path answered."""

_REACHED = (TurnClass.PASS, TurnClass.GRAMMAR, TurnClass.QUARANTINE)
_WRITES = ("write", "edit", "delete", "patch", "exec", "run", "book", "update", "cancel", "send")
_READ_HINTS = ("readOnlyHint", "idempotentHint")


async def replayed(
    seam: Any, calls: Sequence[ToolCall], name: str, world: World, arm: Arm
) -> tuple[Replay, list[Arrival | None]]:
    """Replay ``calls`` in the world ``name`` on the tools of ``world``: what was told, and what arrived of each call.

    Raises:
        WorkNotDoneError: from :func:`verify_told`; another arm was told, or what is no replay.
    """
    door = Door(world)
    told: Replay = await settled(seam.replay(calls, name, arm, door))
    found: list[Arrival | None] = []

    def verify(given: Arm, came: Replay) -> None:
        if came.arm is not given:
            raise WorkNotDoneError(f"the {given.value} arm was asked for, and another one was told")
        found[:] = verify_told(calls, came, door, world)

    verified(verify, arm, told)
    return told, found


def totals(told: Replay) -> dict[str, int]:
    """How many calls of each class, every class named."""
    return {kind.value: told.classes.count(kind) for kind in TurnClass}


def mismatches(told: Replay, arrived: int) -> tuple[str, ...]:
    """Where classes, counters and the calls that ``arrived`` disagree; empty when the books balance.

    A guard over bookkeeping, not an oracle. An engine call that is neither admitted, kept out, refused nor failed is a
    gate that broke down.
    """
    counted, kernel = totals(told), told.counters
    gated = kernel.admitted + kernel.quarantines + kernel.result_denies + kernel.engine_errors
    pairs = (
        ("submits", kernel.submits, len(told.classes)),
        ("submits", kernel.submits, kernel.vdso_hits + kernel.denies + kernel.engine_calls),
        ("engine_calls", kernel.engine_calls, arrived),
        ("engine_calls", kernel.engine_calls, gated),
        ("transforms", kernel.transforms, counted["grammar"] + told.redactions),
        ("vdso_hits", kernel.vdso_hits, sum(counted[kind.value] for kind in HITS)),
        ("quarantines", kernel.quarantines, counted["quarantine"]),
        ("denies", kernel.denies, counted["deny"]),
    )
    return tuple(f"{name}: the kernel says {a}, the other side of the book {b}" for name, a, b in pairs if a != b)


def write_shaped(tool: str) -> bool:
    """Whether the name of ``tool`` says that it changes something."""
    name = tool.lower()
    return any(word in name for word in _WRITES)


def verify_told(calls: Sequence[ToolCall], told: Replay, door: Door, world: World) -> list[Arrival | None]:
    """For each call what arrived of it at the door, None where nothing did.

    Raises:
        WorkNotDoneError: not every call has its class and its body in the context; the books do not balance; what
            arrived is not what the classes say; or a body in the context is not what its class has to show.
    """
    arm = told.arm.value
    if not len(calls) == told.counters.submits == len(told.classes) == len(told.context):
        raise WorkNotDoneError(
            f"of {len(calls)} calls the {arm} arm submitted {told.counters.submits}, classed {len(told.classes)} "
            f"and shows {len(told.context)} in the context"
        )
    wrong = mismatches(told, len(door.arrivals))
    if wrong:
        raise WorkNotDoneError(f"the books of the {arm} arm do not balance: {'; '.join(wrong)}")
    following = iter(door.arrivals)
    found = [next(following, None) if kind in _REACHED else None for kind in told.classes]
    reached = [kind in _REACHED for kind in told.classes]
    if [each is not None for each in found] != reached or any(
        each is not None and each.tool != call.tool for call, each in zip(calls, found, strict=True)
    ):
        raise WorkNotDoneError(f"what arrived at the engine of the {arm} arm is not what its classes say")
    _verify_bodies(calls, told, found, world)
    return found


def _verify_bodies(calls: Sequence[ToolCall], told: Replay, found: Sequence[Arrival | None], world: World) -> None:
    read: dict[tuple[str, bytes], bytes] = {}
    changed = 0
    for call, kind, came, body in zip(calls, told.classes, found, told.context, strict=True):
        if came is None:
            if kind in HITS:
                _verify_hit(call, kind, body, read, world)
            continue
        if kind is TurnClass.QUARANTINE:
            if came.body and came.body in body:
                raise WorkNotDoneError("a result that was kept out of the context is in it")
        elif body != came.body and not _points_at(body, came.body):
            changed += 1
        if came.status is Status.OK:
            read[call.tool, _key(came.args)] = body
    # What a gate refuses after the engine has run leaves a refusal in the body's place.
    if changed > told.counters.result_denies:
        raise WorkNotDoneError(
            f"{changed} results that were let in are neither what the engine gave nor a pointer to it"
        )


def _verify_hit(
    call: ToolCall, kind: TurnClass, body: bytes, read: dict[tuple[str, bytes], bytes], world: World
) -> None:
    """A hit is of a call that says it may be answered so, and equals what a fresh call would have brought.

    Raises:
        WorkNotDoneError: it is not, or does not.
    """
    if write_shaped(call.tool) or call.meta.get("destructive") == "true":
        raise WorkNotDoneError("the fast path answered a call that is shaped like a write")
    if kind is TurnClass.STATIC or kind is TurnClass.PURE:
        if not _same(body, world.tools(call.tool, call.args)[1]):
            raise WorkNotDoneError(f"the fast path's {kind.value} answer is not what a fresh call brings")
    elif read.get((call.tool, _key(call.args))) != body:
        raise WorkNotDoneError("the fast path answered a read with something that this replay had not read before")
    if kind is not TurnClass.STATIC and any(call.meta.get(hint) != "true" for hint in _READ_HINTS):
        raise WorkNotDoneError(f"the fast path's {kind.value} answer is to a call without the hints of a read")


def _same(one: bytes, other: bytes) -> bool:
    """Equal as bytes, or as JSON: 3 and 3.0 are one number, and keys have no order."""
    try:
        return one == other or bool(json.loads(one) == json.loads(other))
    except (ValueError, RecursionError):
        return False


def _key(args: bytes) -> bytes:
    try:
        return canonical(json.loads(args))
    except (ValueError, RecursionError):
        return args


def _points_at(body: bytes, returned: bytes) -> bool:
    """Whether ``body`` is what stands for a page that comes back on demand: an id or digest, and the page's length."""
    try:
        pointer = json.loads(body)
    except (ValueError, RecursionError):
        return False
    if not isinstance(pointer, dict) or pointer.get("_paged") is not True:
        return False
    return bool(pointer.get("ref")) and pointer.get("len") == len(returned)
