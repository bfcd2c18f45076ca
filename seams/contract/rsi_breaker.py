"""The seam ``rsi/breaker``: what decides whether a change stays, and when a person has to look.

A decision is read from :class:`Signals` alone. Their numbers are plain; what a clock beside the loop has read is an
``Elapsed`` of ``seams.contract.rsi_clock``, which is no number, so that no decision can be made of it. Records and
Protocols only.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, Protocol

__all__ = ["Breaker", "Breakers", "Decision", "Profile", "Ruling", "Signals"]


class Decision(Enum):
    """What becomes of a change: it stays, it goes, or it goes and a person is called."""

    KEEP = "KEEP"
    REVERT = "REVERT"
    ESCALATE = "ESCALATE"


class Profile(Enum):
    """Which signals a change needs: gain, green suite and clean tree; gain and clean tree; or a clean tree alone.

    A loop takes nobody's word for the last: a change that claims it and touches anything but documents is held to the
    first.
    """

    FULL = "full"
    PROOF_CARRYING = "proof-carrying"
    DOCS_ONLY = "docs-only"


@dataclass(frozen=True, slots=True)
class Signals:
    """Everything that a decision may know of a change.

    ``before`` and ``after`` are values of one metric; ``after`` is None where it could not be measured, which is no
    gain. ``suite_green``: every command of the suite ended with 0. ``truth_clean``: the declared file changed, and
    nothing else. A ``profile`` that is unknown is as strict as the strictest.
    """

    before: float
    after: float | None
    suite_green: bool
    truth_clean: bool
    lower_better: bool = False
    profile: Profile = Profile.FULL


class Ruling(NamedTuple):
    """A decision, and how many changes in a row were not kept, this one included."""

    decision: Decision
    nonkeeps: int


class Breaker(Protocol):
    """One run's breaker. The method may be a coroutine function."""

    def record(self, signals: Signals) -> Ruling:
        """Decide about one change, and count."""
        ...


class Breakers(Protocol):
    """``rsi/breaker``: makes breakers. Set-up of a measurement, so never a coroutine function."""

    def breaker(self, k: int = 3) -> Breaker:
        """A breaker that trips at the ``k``-th change in a row that is not kept; 3 where ``k`` is below 1."""
        ...
