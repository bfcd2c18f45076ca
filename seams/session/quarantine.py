"""The gates as the core image asks them: about a result that is recorded, and about every page that is read in again.

They are the gates of a kernel over content. What they hold out is kept by the image and not by them, so theirs is the
smallest quarantine there is. What they only rewrite (a body that is too long for a context) stays as it came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from seams.contract.admission import Gate
from seams.contract.syscall import Result, ToolCall, Verdict
from seams.contract.turn import Durability
from seams.contract.verdict import Status, VerdictKind
from seams.session.durability import normalised
from seams.syscall.admission import BareGate, CanonicalGate, Gates
from seams.syscall.resolver import MemoryStore

__all__ = ["Look", "Screening", "gates"]

_ADMITTED = (VerdictKind.ALLOW, VerdictKind.TRANSFORM)


class Look(NamedTuple):
    """What the gates say of a body."""

    verdict: Verdict
    durability: Durability

    @property
    def sealed(self) -> bool:
        """Whether the body has to stay out; so it has for whatever nobody here knows how to carry out."""
        return self.verdict.kind not in _ADMITTED


def gates() -> tuple[Gate, ...]:
    """A kernel's gates over content, which hold one body each and page none."""
    store = MemoryStore(max_bytes=1)
    return CanonicalGate(store, cap=1, paging=False), BareGate(store, cap=1)


class Screening:
    """A chain of gates; of several verdicts the strictest counts."""

    __slots__ = ("_chain",)

    def __init__(self, chain: Sequence[Gate] | None = None) -> None:
        self._chain = Gates(gates() if chain is None else chain)

    def look(self, tool: str, body: bytes) -> Look:
        """What is said of ``body`` now; nothing of an earlier look counts."""
        result = Result(Status.OK, body)
        verdict = self._chain.admit(ToolCall(tool), result)
        return Look(verdict, normalised(result.meta.get("durability")))
