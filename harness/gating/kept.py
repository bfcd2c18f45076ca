"""Whether what a journal holds of an interrupted gate is a pair, or the loops of a point, that can be used.

Anybody may have edited a journal: an entry that does not hold is passed over, and measured again. Refuses to mend one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.measure.pair_answers import sound_count, sound_number
from harness.measure.pair_worker import MAX_LOOPS
from harness.measure.schedule import ROUNDS

__all__ = ["kept_holds"]

_LEAST_NS = 2.0**-30
"""A nanosecond in as many calls as a value has at most, and some more for an injection."""


def kept_holds(name: str, answer: Any) -> bool:
    """Whether ``answer`` is what a gate can have kept under ``name``: a journal may have been edited."""
    if not isinstance(answer, dict):
        return False
    if "void" in answer:
        void = answer["void"]
        words = isinstance(void, list) and len(void) == 3 and all(isinstance(word, str) for word in void)
        return words and void[0] in ("base", "head")
    if name.startswith("calibrate "):
        return sound_count(answer.get("loops"), 1, MAX_LOOPS)
    whole = sound_count(answer.get("left"), 0, 2**31) and sound_number(answer.get("seconds"), 0)
    moved = _sided(answer.get("displaced"), lambda count: sound_count(count, 0, 2**63))
    return whole and moved and _values(answer.get("wall"), _LEAST_NS) and _values(answer.get("cpu"), 0)


def _sided(value: Any, holds: Callable[[Any], bool]) -> bool:
    return isinstance(value, dict) and value.keys() == {"base", "head"} and all(map(holds, value.values()))


def _values(value: Any, least: float) -> bool:
    def side(each: Any) -> bool:
        return isinstance(each, list) and len(each) == ROUNDS and all(sound_number(one, least) for one in each)

    return _sided(value, side)
