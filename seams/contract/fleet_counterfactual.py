"""The seam ``fleet/counterfactual``: a frozen trace replayed under another policy, no model asked.

A policy is text, as its author would keep it in a file. Records and Protocols only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from seams.contract.syscall import Counters, ToolCall, ToolEngine

__all__ = ["Counterfactual", "ModelClient", "Outcome", "Settled"]


class ModelClient(Protocol):
    """The way to a model. In a replay it is a guard that counts whoever comes by, and raises."""

    def complete(self, prompt: str) -> str:
        """What the model says."""
        ...


class Outcome(Enum):
    """What became of a call, as far as the one who made it could tell."""

    SERVED = "served"
    DENIED = "denied"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class Settled:
    """One trace under one policy: an outcome and a rewrite a call, and the kernel's counters.

    A rewrite is what a redaction made of the arguments, None where there was none; a repair is no redaction.
    """

    outcomes: tuple[Outcome, ...]
    rewrites: tuple[bytes | None, ...]
    counters: Counters


class Counterfactual(Protocol):
    """``fleet/counterfactual``. The method may be a coroutine function."""

    def replay(
        self, calls: Sequence[ToolCall], world: str, policy: str | None, engine: ToolEngine, model: ModelClient
    ) -> Settled:
        """Replay fresh copies of ``calls`` in a fresh ``world`` under ``policy``, None for the world's own.

        The calls are frozen: whatever they come to, the next one is made as it stands. So nobody has to ask ``model``,
        which is the only way to one. A call that is let through reaches ``engine``, unless it was answered before.
        """
        ...
