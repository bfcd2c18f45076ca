"""What the numbers of a pair can be, be they a worker's answer or read back from a journal.

The code under test shares its process with the worker: an answer is looked at before it is used. Refuses to mend one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.measure.pair_worker import MAX_LOOPS

__all__ = ["holds", "sound_count", "sound_number"]


def sound_number(value: Any, least: float) -> bool:
    """Whether it is a finite number of at least ``least`` that a time in ns can be."""
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value < 2**64


def sound_count(value: Any, least: int, most: int) -> bool:
    """Whether it is a whole number between the two."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def holds(told: str, answer: Mapping[str, Any]) -> bool:
    """Whether the answer has what its question asks for."""
    if told == "calibrate":
        return sound_count(answer.get("loops"), 1, MAX_LOOPS) and sound_number(answer.get("wall_ns"), 1)
    if told.startswith("time "):
        times = sound_number(answer.get("wall_ns"), 1) and sound_number(answer.get("cpu_ns"), 0)
        return times and sound_count(answer.get("displaced"), 0, 2**63)
    return True
