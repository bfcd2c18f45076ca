"""The words of a JSON Schema that compare values: each value is written down once, however often it is compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kpis.rules.work import PER_STEP

__all__ = ["Keys", "same_key"]


_PER_KEY = 8
"""Steps of writing down a value that holds no other."""

_written = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def same_key(value: object) -> str:
    """A text that two values of JSON share exactly when they are equal: 1 and 1.0 are, 1 and true are not."""
    return _written(_whole(value))


def _whole(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_whole(item) for item in value]
    return {key: _whole(item) for key, item in value.items()} if isinstance(value, dict) else value


class Keys:
    """The keys of values that outlive it, which are known by their identity; ``take`` is told the steps of each."""

    def __init__(self, take: Callable[[int], None]) -> None:
        self._take = take
        self._keys: dict[int, str] = {}
        self._sets: dict[int, frozenset[str]] = {}

    def _key(self, value: Any) -> str:
        if not isinstance(value, list | dict):
            key = same_key(value)
            self._take(_PER_KEY + len(key) // PER_STEP)
            return key
        if (known := self._keys.get(id(value))) is None:
            known = self._keys[id(value)] = same_key(value)
            self._take(len(known))
        return known

    def equal(self, value: Any, other: Any) -> bool:
        """Whether two values are the same."""
        return self._key(value) == self._key(other)

    def among(self, value: Any, allowed: list[Any]) -> bool:
        """Whether ``value`` is the same as one of ``allowed``."""
        return self._key(value) in self._set(allowed)

    def differ(self, items: list[Any]) -> bool:
        """Whether no two of ``items`` are the same."""
        return len(self._set(items)) == len(items)

    def _set(self, items: list[Any]) -> frozenset[str]:
        if (known := self._sets.get(id(items))) is None:
            known = self._sets[id(items)] = frozenset(map(self._key, items))
        return known
