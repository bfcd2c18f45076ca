"""One text for one JSON value, so that equal values have equal digests.

Compact, UTF-8, keys sorted; a number without a fraction is written without one, as JavaScript does. The reference keeps
the order of keys, so that the same arguments written in another order are to it other arguments.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from kpis.formulas.context.values import Mode

__all__ = ["canonical", "digest", "normalised_query"]

_EXACT_INTEGERS = 1e21  # above it JavaScript, too, writes an exponent

# JavaScript's white space: Python's own set has four separators more, and lacks the byte order mark.
_SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_SPACES = re.compile(f"[{_SPACE}]+")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return int(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def canonical(value: Any, mode: Mode = Mode.STRICT) -> bytes:
    """``value``, of JSON's types, as text. Half a surrogate pair is written as its escape.

    Raises:
        ValueError: a number is not finite.
        TypeError: something in it is no JSON value.
    """
    text = json.dumps(
        _plain(value),
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
        sort_keys=mode is Mode.STRICT,
    )
    return text.encode("utf-8", "backslashreplace")


def digest(value: Any, mode: Mode = Mode.STRICT) -> str:
    """SHA-256 of the canonical text, in hexadecimal."""
    return hashlib.sha256(canonical(value, mode)).hexdigest()


def normalised_query(query: str) -> str:
    """A search query without what does not change its meaning: lower case, single spaces, none at the ends."""
    return _SPACES.sub(" ", query.lower()).strip(" ")
