"""The seam ``turn/turntax``: replay a recorded trace and say how each call was settled.

It tells; it prices nothing, adds nothing up and judges nothing. What a saved turn is worth is a model and lives with
the formulas. Whether the books balance, and whether something harmful came through, is for who measures: it brings the
engine along, and so sees for itself what arrives there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from seams.contract.syscall import Counters, ToolCall, ToolEngine

__all__ = ["Arm", "Replay", "TurnClass", "TurnTax"]


class TurnClass(Enum):
    """How one call of the trace was settled."""

    GRAMMAR = "grammar"
    PURE = "pure"
    DEDUP = "dedup"
    STATIC = "static"
    QUARANTINE = "quarantine"
    DENY = "deny"
    PASS = "pass"


class Arm(Enum):
    """Which kernel replays. ``shared_cache`` is ``on`` over a fast path that an ``off`` replay has filled."""

    ON = "on"
    OFF = "off"
    SHARED_CACHE = "shared_cache"


@dataclass(frozen=True, slots=True)
class Replay:
    """One replay of a trace on a fresh kernel.

    ``classes`` has one entry a call. ``redactions`` are Transforms that were no repair. The token sums are what the
    engine reported; a fast-path answer and a refusal report none. ``context`` has one entry a call: the body that the
    caller got.
    """

    arm: Arm
    classes: tuple[TurnClass, ...]
    counters: Counters
    redactions: int
    input_tokens: int
    output_tokens: int
    context: tuple[bytes, ...]


class TurnTax(Protocol):
    """``turn/turntax``. The method may be a coroutine function."""

    def replay(self, calls: Sequence[ToolCall], world: str, arm: Arm, engine: ToolEngine | None = None) -> Replay:
        """Replay fresh copies of ``calls`` in a fresh ``world``, one after the other, in their order.

        A call that is let through reaches ``engine`` once, and nothing else does; without one, it is the world's own.
        """
        ...
