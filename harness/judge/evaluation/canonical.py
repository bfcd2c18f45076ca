"""JSON in one spelling, so that equal values have equal hashes: compact, numbers at their shortest, order as given."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence

from harness.judge.evaluation.figures import number

__all__ = ["compact", "digest", "in_code_units"]

_HASH_LENGTH = 16


def in_code_units(words: Iterable[str]) -> list[str]:
    """``words`` sorted by their UTF-16 code units, as engines sort that keep text so; no locale has a say."""
    return sorted(words, key=lambda word: word.encode("utf-16-be", "surrogatepass"))


def _text(value: str) -> str:
    spelled = json.dumps(value, ensure_ascii=False)
    # A lone surrogate has no UTF-8; it is spelled by its number, as JSON.stringify does.
    return "".join(f"\\u{ord(sign):04x}" if "\ud800" <= sign <= "\udfff" else sign for sign in spelled)


def compact(value: object) -> str:
    """``value``, plain JSON data, without a space; the keys of an object stay in their order.

    Raises:
        ValueError: it is not plain data, or a number is not finite.
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int | float):
        return number(float(value))
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{_text(str(key))}:{compact(member)}" for key, member in value.items()) + "}"
    if isinstance(value, Sequence):
        return "[" + ",".join(compact(member) for member in value) + "]"
    raise ValueError(f"A {type(value).__name__} is no JSON.")


def digest(value: object) -> str:
    """The first 16 hexadecimal digits of the sha256 of ``value`` in this spelling."""
    return hashlib.sha256(compact(value).encode("utf-8")).hexdigest()[:_HASH_LENGTH]
