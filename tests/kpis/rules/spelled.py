"""Texts that a pattern is found in, one at least for every alternative that it has: chance would miss some."""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants as kinds  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

_CATEGORIES = {
    kinds.CATEGORY_SPACE: " ",
    kinds.CATEGORY_NOT_SPACE: "z",
    kinds.CATEGORY_WORD: "z",
    kinds.CATEGORY_NOT_WORD: " ",
    kinds.CATEGORY_DIGIT: "5",
    kinds.CATEGORY_NOT_DIGIT: "z",
}
_REPEATS = (kinds.MAX_REPEAT, kinds.MIN_REPEAT, kinds.POSSESSIVE_REPEAT)
_LOOKING = (kinds.AT, kinds.ASSERT, kinds.ASSERT_NOT)


def spelled(pattern: re.Pattern[str]) -> Iterator[str]:
    """Texts in which ``pattern`` is found, by each of its alternatives and repetitions in turn."""
    for text in dict.fromkeys(_sequence(_parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))):
        for padded in (text, f"X-{text}", f"{text} ", f" {text}\n"):
            if pattern.search(padded):
                yield padded
                break


def _sequence(items: Any) -> list[str]:
    """The first way of all items, then each other way of one item among the first ways of the rest."""
    ways = [_ways(kind, value) for kind, value in items]
    first = [way[0] for way in ways]
    found = ["".join(first)]
    for at, way in enumerate(ways):
        found += ["".join([*first[:at], other, *first[at + 1 :]]) for other in way[1:]]
    return found


def _ways(kind: Any, value: Any) -> list[str]:
    if kind is kinds.LITERAL:
        return [chr(value)]
    if kind is kinds.NOT_LITERAL:
        return [" " if value != ord(" ") else "z"]
    if kind is kinds.ANY:
        return ["z"]
    if kind is kinds.IN:
        return _members(value)
    if kind is kinds.BRANCH:
        return [way for branch in value[1] for way in _sequence(branch)]
    if kind in _REPEATS:
        low, high, inner = value
        ways = _sequence(inner)
        more = [way * max(1, low) for way in ways]
        if low == 0 and " " in ways:
            return [" ", "", *more]  # what may stand between two words stands there: they would be one without it
        return [*([""] if low == 0 else []), *more, *([ways[0] * (low + 1)] if high > low > 0 else [])]
    if kind is kinds.SUBPATTERN:
        return _sequence(value[-1])
    if kind is kinds.ATOMIC_GROUP:
        return _sequence(value)
    assert kind in (*_LOOKING, kinds.GROUPREF), kind
    return [""]


def _members(members: Any) -> list[str]:
    if members[0][0] is kinds.NEGATE:
        excluded = "".join(_members(members[1:]))
        return [sign for sign in " z.5" if sign not in excluded][:1]
    return [
        chr(value) if kind is kinds.LITERAL else chr(value[0]) if kind is kinds.RANGE else _CATEGORIES[value]
        for kind, value in members
    ]
