"""A trajectory as lines of JSON, and back: one value a line, and the value that is read is the one that was written.

JSON has no numbers that are none or endless, and no names but texts. Python would write the first in words of its own
and turn the second into texts, so both are refused, going in and coming out. What is a tuple comes back as a list.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from typing import Any, NoReturn

from seams.session.lines import Lines

__all__ = ["Trajectory", "line_of", "value_of"]

_ENCODE = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode
_NESTED = (dict, list, tuple)


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError(f"a number {text[:40]} is beyond what can be counted with")
    return number


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


_DECODE = json.JSONDecoder(parse_float=_finite, parse_constant=_no_number).decode


def line_of(value: Any) -> bytes:
    """The line of ``value``, its line feed included.

    Raises:
        ValueError: it is no JSON value, or would come back as another one.
    """
    try:
        text = _ENCODE(value)
        _require_names(value)
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    return text.encode("utf-8", "surrogatepass") + b"\n"


def value_of(line: bytes) -> Any:
    """The value of a line.

    Raises:
        ValueError: it is no JSON.
        RecursionError: it is too deep.
    """
    return _DECODE(line.decode("utf-8", "surrogatepass"))


def _require_names(value: Any) -> None:
    """ValueError where an object, however deep, has a name that is no text. The value was encoded, so it has an end."""
    if isinstance(value, dict):
        for name, each in value.items():
            if not isinstance(name, str):
                raise ValueError(f"an object has the name {name!r:.60}, which is no text")
            if isinstance(each, _NESTED):
                _require_names(each)
    elif isinstance(value, _NESTED):
        for each in value:
            if isinstance(each, _NESTED):
                _require_names(each)


class Trajectory(Sequence[Any]):
    """The values of a trajectory, each read when it is asked for."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        return value_of(self._lines[at + len(self) if at < 0 else at])
