"""Words of a JSON Schema that are a letter off: they assert nothing, and were meant to.

A word that is unknown is an annotation by the draft, and stays one; only what differs by one letter (left out, too
many, another, or two in the wrong order) or in capitals from a word that asserts is told from it.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["meant"]

_ASSERTING = (
    *("type", "enum", "const", "properties", "patternProperties", "additionalProperties", "propertyNames", "required"),
    *("dependentRequired", "dependentSchemas", "minProperties", "maxProperties", "items", "prefixItems", "contains"),
    *("minContains", "maxContains", "minItems", "maxItems", "uniqueItems", "minLength", "maxLength", "pattern"),
    *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "allOf", "anyOf", "oneOf"),
)
"""The words that are looked for. ``not``, ``if``, ``then`` and ``else`` are too short to be told from other words."""

_LONGEST = max(map(len, _ASSERTING)) + 1


def meant(word: str) -> str | None:
    """The word that ``word``, an unknown one, is a letter off from; None where there is none."""
    return _meant(word) if 3 <= len(word) <= _LONGEST else None


@lru_cache(maxsize=1024)
def _meant(word: str) -> str | None:
    lower = word.lower()
    return next((known for known in _ASSERTING if _is_near(lower, known.lower())), None)


def _is_near(one: str, other: str) -> bool:
    """Whether the two are equal, or one change of a letter makes them so."""
    if len(one) > len(other):
        one, other = other, one
    if len(other) - len(one) > 1:
        return False
    at = next((at for at, letter in enumerate(one) if letter != other[at]), len(one))
    if len(one) < len(other):
        return one[at:] == other[at + 1 :]
    swapped = one[at : at + 2] == other[at : at + 2][::-1]
    return one[at + 1 :] == other[at + 1 :] or (swapped and one[at + 2 :] == other[at + 2 :])
