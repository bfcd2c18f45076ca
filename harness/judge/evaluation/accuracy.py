"""Published accuracy: how often each detector was right on a labelled corpus, and what follows for one result.

The positive class is the violation: ``tp`` counts violations that fired. A detector without a row, or one whose corpus
lacks positives or negatives, is unmeasured; nothing is assumed in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

__all__ = ["HALF", "AccuracyTable", "Counts", "Labelling"]

HALF = 0.5
"""Jeffreys' prior: half a count a cell, so that a corpus in which nothing went wrong does not claim certainty."""


class Labelling(Enum):
    """Who said what is bad."""

    SAME_MODEL = "same-model"  # whoever wrote the rules, or the model that helped, labelled the corpus as well
    HUMAN_VERIFIED = "human-verified"
    BY_CONSTRUCTION = "by-construction"  # a case was made with its fault, or without it: nobody read it again


@dataclass(frozen=True, slots=True)
class Counts:
    """How a rule did on its labelled cases. All are whole and at least 0."""

    tp: int
    fp: int
    fn: int
    tn: int

    @property
    def n(self) -> int:
        """The labelled cases."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def measured(self) -> bool:
        """Whether there were violations and clean cases, so that both rates exist."""
        return self.tp + self.fn > 0 and self.tn + self.fp > 0

    def sensitivity(self, half: float = HALF) -> float:
        """The share of violations that fired; ``half`` a count is added to either cell."""
        return (self.tp + half) / (self.tp + self.fn + 2 * half)

    def specificity(self, half: float = HALF) -> float:
        """The share of clean cases that stayed quiet; ``half`` a count is added to either cell."""
        return (self.tn + half) / (self.tn + self.fp + 2 * half)


@dataclass(frozen=True, slots=True)
class AccuracyTable:
    """The counts of each rule by name, of one corpus. ``version`` seeds every draw that rests on it.

    ``release`` is what was measured, ``sha256`` that of the table's bytes: a stored verdict names it. ``versions`` are
    those of the rules that were measured; of a rule without one the table does not say, and it serves any.
    """

    name: str
    version: str
    release: str
    labelling: Labelling
    rows: Mapping[str, Counts]
    sha256: str
    versions: Mapping[str, int] = field(default_factory=dict)

    def row(self, rule: str, version: int) -> Counts | None:
        """The counts of ``rule`` in its ``version``; what another version did says nothing of it."""
        return self.rows.get(rule) if self.versions.get(rule, version) == version else None

    def of(self, rule: str, version: int) -> Counts | None:
        """The counts of ``rule`` in its ``version`` if both its rates are known."""
        counts = self.row(rule, version)
        return counts if counts is not None and counts.measured else None
