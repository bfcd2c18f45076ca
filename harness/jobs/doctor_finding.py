"""One finding of the doctor: a sentence about the machine, and where there is a remedy one about what to type.

Refuses to be a verdict: what it is about depends on the hour.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Finding", "Severity"]


class Severity(Enum):
    """How much a finding matters to a number."""

    GOOD = "good"
    NOTE = "note"
    NOISY = "noisy"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fact as a sentence, and what to do about it (None where nothing is to be done).

    ``own`` marks what is about loopladder itself, which says nothing of the code that it measures.
    """

    severity: Severity
    fact: str
    advice: str | None = None
    own: bool = False
