"""Where a row got slower: the functions to look at, the likeliest first, from counts of both sides.

Evidence comes before inference: code that was edited and is executed, then functions that are called more, then
functions that execute more opcodes. Code that ran in the set-up comes after them, and functions of C are named only
where none of them moved. It sees no time, so it blames nothing: it says what changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from harness.judge.exact import apart

__all__ = ["SCATTERS", "Cause", "Function", "where"]

SCATTERS = 3
"""Calls that scatter have moved beyond so many times the sum of both sides' scatter. Between normal counts of one
spread this says "moved" of 2 in 100 that did not, where once the sum would say it of 17; a test recomputes it."""

_NATIVE_SHARE = 1e-3
"""A C function counts as moved beyond this share of all instructions: the floor that instruction counts have."""


class Cause(Enum):
    """Why a function is named, in the order in which they are named."""

    EDITED = "edited"
    CALLS = "calls"
    OPCODES = "opcodes"
    SET_UP = "edited, runs in the set-up"
    NATIVE = "instructions"


@dataclass(frozen=True, slots=True)
class Function:
    """A function that changed, by what it was named for.

    ``base`` and ``head`` are opcodes (edited, opcodes), calls (calls) or instructions (native), each a call of the
    slice; None for the set-up. ``file`` and ``line`` (the head's) are None for what is written in C.
    """

    name: str
    file: str | None
    line: int | None
    cause: Cause
    base: float | None
    head: float | None

    def __str__(self) -> str:
        place = "" if self.file is None else f"{self.file}:{self.line} "
        if self.base is None or self.head is None:
            return f"{place}{self.name} ({self.cause.value})"
        unit = {Cause.CALLS: "calls", Cause.NATIVE: "instructions"}.get(self.cause, "opcodes")
        edited = "edited, " if self.cause is Cause.EDITED else ""
        return f"{place}{self.name} ({edited}{' -> '.join(apart(self.base, self.head))} {unit} a call)"


def where(base: Mapping[str, Any], head: Mapping[str, Any], *, slower: bool = True) -> tuple[Function, ...]:
    """The functions that changed between two answers of the worker's leg ``where``.

    Either answer may carry ``native`` besides: instructions a call by C function. Within a cause, what grew most
    comes first, or what shrank most where ``slower`` is False; then by name.

    Raises:
        ValueError: the sides were counted over different numbers of calls.
    """
    if base["loops"] != head["loops"]:
        raise ValueError(f"the base made {base['loops']} calls and the head {head['loops']}: they cannot be compared")
    pairs = list(_paired(base["functions"], head["functions"]))
    margins = _margins(base.get("scatter") or {}, head.get("scatter") or {})
    found = [each for each in (_changed(*pair, margins.get(pair[0], 0.0)) for pair in pairs) if each is not None]
    found += _moved(base["builtins"], head["builtins"], Cause.CALLS, margins)
    if all(each.cause is Cause.SET_UP for each in found):
        native = base.get("native") or {}
        after = head.get("native") or {}
        floor = _NATIVE_SHARE * sum(native.values())
        found += _moved(native, after, Cause.NATIVE, dict.fromkeys(native.keys() | after.keys(), floor))
    causes = list(Cause)
    sign = -1 if slower else 1

    def order(each: Function) -> tuple[int, float, str, str]:
        grown = 0.0 if each.base is None or each.head is None else each.head - each.base
        return causes.index(each.cause), sign * grown, each.file or "", each.name

    return tuple(sorted(found, key=order))


Entry = Mapping[str, Any]


def _margins(base: Mapping[str, float], head: Mapping[str, float]) -> dict[str, float]:
    return {name: SCATTERS * (base.get(name, 0.0) + head.get(name, 0.0)) for name in base.keys() | head.keys()}


def _paired(base: Mapping[str, Entry], head: Mapping[str, Entry]) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    """Each function's two entries; one that moved to another file unchanged is paired with itself."""
    gone = {(_split(key)[1], base[key]["digest"]): key for key in base.keys() - head.keys() if base[key]["digest"]}
    moved = set()
    for key, entry in head.items():
        before = base.get(key)
        if before is None:
            old = gone.pop((_split(key)[1], entry["digest"]), None)
            if old is not None:
                moved.add(old)
                before = base[old]
        yield key, before, entry
    for key in base.keys() - head.keys() - moved:
        yield key, base[key], None


def _changed(key: str, base: Entry | None, head: Entry | None, margin: float) -> Function | None:
    """Why the function is to be named, if it is; calls that differ by no more than ``margin`` did not move."""
    file, name = _split(key)
    line = (head or base or {})["line"]
    if base is None or head is None:
        # Executed on one side only. In the set-up that alone costs no call anything; else it is called more or less.
        calls = tuple(0.0 if each is None else each["calls"] for each in (base, head))
        return Function(name, file, line, Cause.CALLS, *calls) if sum(calls) > margin else None
    if base["digest"] != head["digest"]:
        if base["set_up"] and head["set_up"]:
            return Function(name, file, line, Cause.SET_UP, None, None)
        return Function(name, file, line, Cause.EDITED, base["opcodes"], head["opcodes"])
    if abs(head["calls"] - base["calls"]) > margin:
        return Function(name, file, line, Cause.CALLS, base["calls"], head["calls"])
    if head["opcodes"] != base["opcodes"] and not margin:
        return Function(name, file, line, Cause.OPCODES, base["opcodes"], head["opcodes"])
    return None


def _moved(
    base: Mapping[str, float], head: Mapping[str, float], cause: Cause, beyond: Mapping[str, float]
) -> Iterator[Function]:
    for name in sorted(base.keys() | head.keys()):
        before, after = base.get(name, 0.0), head.get(name, 0.0)
        if abs(after - before) > beyond.get(name, 0.0):
            yield Function(name, None, None, cause, before, after)


def _split(key: str) -> tuple[str, str]:
    file, _, name = key.rpartition(":")
    return file, name
