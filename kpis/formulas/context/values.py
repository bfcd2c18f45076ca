"""What a formula hands back: a ratio with its parts, or word that the recording contradicts itself.

The reference implementation of these metrics writes 0 or infinity where the text has no value. ``Mode.REFERENCE``
gives its numbers, for conformance alone; the default is strict, and undefined is no number.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Mode", "Ratio", "RecordError", "ratio"]


class Mode(Enum):
    """Whose rule holds where the text and its reference implementation differ."""

    STRICT = "strict"
    REFERENCE = "reference"


class RecordError(ValueError):
    """Numbers of a recording that cannot all be true; the text says which, as one sentence."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio and the two sums behind it. ``value`` is None exactly where ``undefined`` says why."""

    numerator: float
    denominator: float
    value: float | None
    undefined: str | None = None


def ratio(numerator: float, denominator: float, undefined: str) -> Ratio:
    """``numerator`` over ``denominator``, without value (for the reason ``undefined``) where that is 0."""
    if denominator == 0:
        return Ratio(numerator, denominator, None, undefined)
    return Ratio(numerator, denominator, numerator / denominator)
