"""The seam ``turn/turntax``: replay a recorded trace and say how each call was settled.

It counts and shows; it prices nothing and judges nothing. What a saved turn is worth is a model and lives with the
formulas; whether something harmful came through is judged by who measures, never by what is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from seams.contract.syscall import Counters, ToolCall

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
    """Which kernel replays. ``shared_cache`` is ``on`` over a fast path that an ``off`` replay has filled.

    ``baseline`` has no kernel at all: every call goes to the engine as it is written.
    """

    ON = "on"
    OFF = "off"
    SHARED_CACHE = "shared_cache"
    BASELINE = "baseline"


@dataclass(frozen=True, slots=True)
class Replay:
    """One replay of a trace on a fresh kernel.

    ``classes`` has one entry a call, none in the baseline arm. ``redactions`` are Transforms that were no repair.
    The token sums are what the engine reported; a fast-path answer and a refusal report none. The last two have one
    entry a call in every arm: ``returned`` is the body as the engine gave it, before any gate (empty where it raised,
    None where the call never reached it), and ``context`` the body that the caller got.
    """

    arm: Arm
    classes: tuple[TurnClass, ...]
    counters: Counters
    redactions: int
    input_tokens: int
    output_tokens: int
    returned: tuple[bytes | None, ...]
    context: tuple[bytes, ...]

    def totals(self) -> dict[str, int]:
        """How many calls of each class, every class named."""
        return {kind.value: sum(1 for each in self.classes if each is kind) for kind in TurnClass}

    def mismatches(self) -> tuple[str, ...]:
        """Where the classes and the kernel's own counters disagree; empty when the books balance.

        A guard over bookkeeping, not an oracle: both sides come from the same replay.
        An engine call that is neither admitted, kept out, refused nor failed is a gate that broke down.
        """
        if self.arm is Arm.BASELINE:
            return ()
        counted, kernel = self.totals(), self.counters
        pairs = (
            ("submits", kernel.submits, len(self.classes)),
            ("submits", kernel.submits, kernel.vdso_hits + kernel.denies + kernel.engine_calls),
            ("engine_calls", kernel.engine_calls, sum(body is not None for body in self.returned)),
            (
                "engine_calls",
                kernel.engine_calls,
                kernel.admitted + kernel.quarantines + kernel.result_denies + kernel.engine_errors,
            ),
            ("transforms", kernel.transforms, counted["grammar"] + self.redactions),
            ("vdso_hits", kernel.vdso_hits, counted["pure"] + counted["dedup"] + counted["static"]),
            ("quarantines", kernel.quarantines, counted["quarantine"]),
            ("denies", kernel.denies, counted["deny"]),
        )
        return tuple(f"{name}: the kernel says {a}, the other side of the book {b}" for name, a, b in pairs if a != b)


class TurnTax(Protocol):
    """``turn/turntax``."""

    def replay(self, calls: Sequence[ToolCall], world: str, arm: Arm) -> Replay:
        """Replay fresh copies of ``calls`` in a fresh ``world``."""
        ...
