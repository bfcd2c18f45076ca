"""An output as JSON: what a rule of type ``json_schema`` holds against its schema.

Refuses to choose between two values of one key: which of them counts is what readers disagree about, so that no shape
is that of the output.
"""

from __future__ import annotations

import json

__all__ = ["TwinError", "output_as_json"]

_MOST_DIGITS = 4300
"""Of a whole number that the interpreter reads; far more than any double has."""


class TwinError(Exception):
    """An object of the output has a key twice."""


def output_as_json(output: str, *, once: bool) -> object:
    """The value of ``output``; ``once``: no object of it may have a key twice, else the last one counts.

    Raises:
        TwinError: one has.
        ValueError: it is no JSON. RecursionError: it nests too deep.
    """
    hook = _once if once else None
    return json.loads(output, parse_constant=_no_number, parse_int=_whole, object_pairs_hook=hook)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise TwinError
    return members


def _whole(digits: str) -> float:
    """A whole number; with so many digits that it is not read it is as good as infinite, and JSON all the same."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")
