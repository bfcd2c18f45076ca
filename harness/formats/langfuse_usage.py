"""The usage buckets of Langfuse: free keys, meant as disjoint, whose sum is the total.

Writers disagree: some leave reasoning or cached tokens inside the larger bucket, some report a total that no buckets
explain. The total decides where it can: of the readings in which the buckets add up to it, the one that takes the keys
at their word is preferred. Where it cannot, the keys are taken at their word and the doubt is told. This module refuses
to take a missing bucket for an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from harness.formats.span_usage import Usage
from harness.formats.span_values import Numbers

__all__ = ["Buckets", "buckets_of", "usage_of_buckets"]

_WORDS = re.compile(r"[a-z]+|\d+[a-z]*")
_REASONING = frozenset(("reasoning", "thinking", "thought", "thoughts"))
_WRITING = frozenset(("creation", "create", "write", "created", "written", "writes"))
_IN = frozenset(("input", "prompt"))
_OUT = frozenset(("output", "completion", "candidates"))
_PLAIN = frozenset(("tokens", "token", "count", "usage", "details", "units"))


@dataclass(slots=True)
class Buckets:
    """What the keys hold. ``other_in`` and ``other_out`` are buckets such as audio; ``rest`` is neither in nor out."""

    input: int | None = None
    output: int | None = None
    read: int | None = None
    write: int | None = None
    write_5m: int | None = None
    write_1h: int | None = None
    reasoning: int | None = None
    other_in: int | None = None
    other_out: int | None = None
    rest: int | None = None
    total: int | None = None


def buckets_of(details: Mapping[str, Any], numbers: Numbers) -> Buckets:
    """Each key by its words; two keys of one meaning add up, but for an alias with the same number."""
    found = Buckets()
    seen: set[tuple[str, int]] = set()
    for key in sorted(details, key=lambda each: (len(each), each)):
        number = numbers.count(details[key])
        if number is None:
            continue
        name = _bucket(frozenset(_WORDS.findall(_spaced(key))))
        if name in ("input", "output", "total", "read", "write") and (name, number) in seen:
            continue
        seen.add((name, number))
        held = getattr(found, name)
        setattr(found, name, number if held is None or name == "total" else held + number)
    return found


def _spaced(key: str) -> str:
    """Lower case with a space where camelCase has none."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", key[:200]).lower()


def _bucket(words: frozenset[str]) -> str:
    """The field of :class:`Buckets` that a key of these words is."""
    if "total" in words:
        return "total"
    if any(word.startswith("cache") for word in words):
        if not words & _WRITING:
            return "read"
        return "write_5m" if "5m" in words else "write_1h" if "1h" in words else "write"
    if words & _REASONING:
        return "reasoning"
    plain = words - _PLAIN
    if words & _IN:
        return "input" if plain <= _IN else "other_in"
    if words & _OUT:
        return "output" if plain <= _OUT else "other_out"
    return "rest"


def usage_of_buckets(found: Buckets, program: str) -> tuple[Usage | None, Sequence[str]]:
    """The usage that the buckets mean, with what must be said of it (keys of the findings); None for no buckets."""
    usage = Usage(
        found.input,
        found.output,
        found.read,
        found.write,
        found.write_5m,
        found.write_1h,
        found.reasoning,
        found.total,
        disjoint=True,
        program=program,
    )
    if usage.empty and found.rest is None:
        return None, ()
    said: list[str] = []
    cached, reasoning = usage.cached, found.reasoning or 0
    inside_in, inside_out, extra = _reading(found, cached, reasoning)
    if found.other_in is not None and (extra or found.input is None):
        usage.input = (found.input or 0) + found.other_in
    if found.other_out is not None and (extra or found.output is None):
        usage.output = (found.output or 0) + found.other_out
    if inside_in and usage.input is not None:
        usage.input -= cached
        said.append("inside")
    elif cached and found.input == 0:
        said.append("clamped")
    elif cached and (found.input or 0) >= cached and not _told(found, cached, reasoning):
        said.append("doubtful")
    if reasoning and not inside_out:
        usage.output = (usage.output or 0) + reasoning  # from here on reasoning is inside, as everywhere else
    if usage.total is None and found.rest:
        usage.total = (usage.input or 0) + cached + (usage.output or 0) + found.rest
    return usage, said


def _sum(found: Buckets, cached: int, reasoning: int, reading: tuple[bool, bool, bool]) -> int:
    inside_in, inside_out, extra = reading
    extras = (found.other_in or 0) + (found.other_out or 0)
    return (
        (found.input or 0)
        + (0 if inside_in else cached)
        + (found.output or 0)
        + (0 if inside_out else reasoning)
        + (extras if extra else 0)
    )


def _reading(found: Buckets, cached: int, reasoning: int) -> tuple[bool, bool, bool]:
    """Whether cached tokens are inside the input, reasoning inside the output, and other buckets beside both."""
    disjoint = (False, False, True)
    if found.total is None:
        return disjoint
    fits_in, fits_out = (found.input or 0) >= cached, (found.output or 0) >= reasoning
    for extra, inside_in, inside_out in product((True, False), (False, True), (False, True)):
        reading = (inside_in, inside_out, extra)
        possible = (fits_in or not inside_in) and (fits_out or not inside_out)
        if possible and _sum(found, cached, reasoning, reading) + (found.rest or 0) == found.total:
            return reading
    return disjoint


def _told(found: Buckets, cached: int, reasoning: int) -> bool:
    """Whether the total is somebody's own count: one that is no more than the sum of all buckets tells nothing."""
    if found.total is None:
        return False
    return found.total != _sum(found, cached, reasoning, (False, False, True)) + (found.rest or 0)
