"""The members of an object from outside, taken out by name and kind; what cannot be used is refused by its path.

Refuses to guess: a truth value is no number, a number is no text, and a number that JSON cannot hold is none.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from harness.formats.limits import FormatError, printable
from kpis.errors import did_you_mean

__all__ = ["WHOLE", "Keys"]

WHOLE = "the file"
_MOST = 2**53


class Keys:
    """The members of one object, taken out by name and kind; ``where`` is how its reader knows it.

    Of a whole file (:data:`WHOLE`) a member is known by its key alone, as it stands there.
    """

    __slots__ = ("_members", "where")

    def __init__(self, members: object, where: str) -> None:
        if not isinstance(members, Mapping) or not all(isinstance(key, str) for key in members):
            raise FormatError(f"{where} is {_kind(members)}, and has to be an object")
        self._members: Mapping[str, Any] = members
        self.where = where

    def at(self, key: str) -> str:
        """How a member is known."""
        return key if self.where == WHOLE else f"{self.where}.{key}"

    def only(self, known: Collection[str]) -> None:
        """Refuse a key that is not among ``known``."""
        for key in self._members:
            if key not in known:
                raise FormatError(f"{self.where} has the unknown key {printable(key)}{did_you_mean(key, known)}")

    def has(self, key: str) -> bool:
        """Whether something other than null is there."""
        return self._members.get(key) is not None

    def get(self, key: str) -> Any:
        """The value as it came; None where there is none."""
        return self._members.get(key)

    def number(self, key: str, low: float = -math.inf, high: float = math.inf) -> float | None:
        """A finite number from ``low`` to ``high``."""
        value = self._members.get(key)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise FormatError(f"{self.at(key)} is {_kind(value)}, and has to be a number")
        if not _finite(value):
            raise FormatError(f"{self.at(key)} is no finite number")
        if not low <= value <= high:
            wanted = f"be {low:g} or more" if high == math.inf else f"lie between {low:g} and {high:g}"
            raise FormatError(f"{self.at(key)} is {value:g}, and has to {wanted}")
        return _held(value)

    def text(self, key: str, among: Collection[str] = ()) -> str | None:
        """A text, one of ``among`` if that is not empty."""
        value = self._members.get(key)
        return None if value is None else _text(value, self.at(key), among)

    def truth(self, key: str) -> bool | None:
        """True or false."""
        value = self._members.get(key)
        if value is not None and not isinstance(value, bool):
            raise FormatError(f"{self.at(key)} is {_kind(value)}, and has to be true or false")
        return value

    def texts(self, key: str, among: Collection[str] = ()) -> tuple[str, ...] | None:
        """A list of texts, each one of ``among`` if that is not empty."""
        items = self.items(key)
        if items is None:
            return None
        return tuple(_text(item, f"{self.at(key)}[{at}]", among) for at, item in enumerate(items))

    def items(self, key: str) -> list[Any] | None:
        """A list."""
        value = self._members.get(key)
        if value is not None and not isinstance(value, list):
            raise FormatError(f"{self.at(key)} is {_kind(value)}, and has to be a list")
        return value

    def object(self, key: str) -> Keys | None:
        """An object."""
        value = self._members.get(key)
        return None if value is None else Keys(value, self.at(key))

    def needed(self, key: str) -> str:
        """A text that has to be there; it may be empty."""
        value = self.text(key)
        if value is None:
            raise FormatError(f"{self.where} has no {key}")
        return value

    def plain(self) -> dict[str, Any]:
        """All members as they came."""
        return dict(self._members)

    def thresholds(self) -> dict[str, Any]:
        """All members as they came, whatever they are; but every number is one that JSON can hold."""
        return {key: _numbers(value, self.at(key)) for key, value in self._members.items()}


def _held(value: float) -> float:
    """Whole numbers beyond those that a double tells apart are doubles, as they are for every other reader."""
    return float(value) if abs(value) > _MOST else value


def _numbers(value: Any, where: str) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not _finite(value):
            raise FormatError(f"{where} is no finite number")
        return _held(value)
    if isinstance(value, list):
        return [_numbers(item, f"{where}[{at}]") for at, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _numbers(item, f"{where}.{key}") for key, item in value.items()}
    return value


def _text(value: object, where: str, among: Collection[str]) -> str:
    if not isinstance(value, str):
        raise FormatError(f"{where} is {_kind(value)}, and has to be a text")
    if among and value not in among:
        hint = did_you_mean(value, among)
        raise FormatError(f"{where} is {printable(value)!r}{hint}, and has to be one of {', '.join(among)}")
    return value


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that no double holds
        return False


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    names = {int: "a number", float: "a number", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), f"a {type(value).__name__}")
