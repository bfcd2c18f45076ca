"""Exit codes, in one place: what each means, and which applies when several do."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

__all__ = ["Exit", "highest"]


class Exit(IntEnum):
    """What a command's end says to the shell."""

    OK = 0
    FAILED = 1
    """Something was checked and found worse, different or untrue."""
    UNUSABLE = 2
    """Nothing could be begun: the words make no sense, or not one named input can be read."""
    UNKNOWN = 3
    """It stays open: too little was seen, or a KPI that was asked for gave no number."""
    NO_BASELINE = 4
    """There is nothing comparable to hold the numbers against."""
    UNCOVERED = 5
    """Nothing was selected or compared, or what should have been compared has gone."""
    PARTLY_READ = 6
    """Part of the input had to be left out; everything else is there."""
    INTERNAL = 70
    """An internal error, or a result that could not be written; what was measured is kept."""
    INTERRUPTED = 130
    TERMINATED = 143


_ORDER = (
    Exit.INTERRUPTED,
    Exit.TERMINATED,
    Exit.INTERNAL,
    Exit.UNUSABLE,
    Exit.FAILED,
    Exit.UNCOVERED,
    Exit.NO_BASELINE,
    Exit.UNKNOWN,
    Exit.PARTLY_READ,
)


def highest(codes: Iterable[Exit]) -> Exit:
    """The code that applies when several do; OK where none does."""
    held = set(codes)
    return next((code for code in _ORDER if code in held), Exit.OK)
