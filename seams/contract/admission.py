"""The seam between a result and the context: a chain of gates, and what each of them did.

Plain data and Protocols. What a gate looks for is in ``seams.syscall``; a kernel asks the same gates about every result
that its engine returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from seams.contract.kernel import Submit
from seams.contract.syscall import Admitter, Result, ToolCall, Verdict

__all__ = ["Admission", "Gate", "GateTally"]


@dataclass(slots=True)
class GateTally:
    """What one gate did since it was made, in results.

    ``total`` counts every result it saw, also one that an earlier gate had already replaced by a stub; ``reasons``
    counts its quarantines by the reason's name. ``evicted`` bodies of those it took out are not held any more.
    """

    gate: str
    total: int = 0
    quarantined: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    evicted: int = 0

    @property
    def rate(self) -> float | None:
        """Quarantines over results seen; None before the first result."""
        return self.quarantined / self.total if self.total else None


class Gate(Admitter, Protocol):
    """A gate that keeps what it held out, and books of it."""

    name: str
    rank: int
    """Its place in the chain, lowest first; among equally strict verdicts the first one's reason stands."""

    def tally(self) -> GateTally:
        """A snapshot."""
        ...

    def clear(self, page: str) -> None:
        """Say that the body held as ``page`` may come back; necessary, not always sufficient."""
        ...

    def page_in(self, page: str) -> bytes:
        """The exact bytes that were held. A ``LookupError`` refuses."""
        ...


class Admission(Protocol):
    """``syscall/admission``: the whole chain of one runtime."""

    def admit(self, call: ToolCall, result: Result) -> Verdict:
        """Show ``result`` to every gate and carry the strictest verdict out in place.

        The verdict is the one that was carried out: ALLOW where no gate objected. A quarantine or a transform has
        replaced the payload.
        """
        ...

    def tallies(self) -> Sequence[GateTally]:
        """A snapshot of each gate's books, in the order of the chain."""
        ...

    def mount(self, world: str) -> Submit:
        """A fresh kernel in ``world`` on its mock engine, whose results pass these very gates."""
        ...
