"""JSON that a stranger wrote, as plain values, and getters that doubt them.

Trajectories are written by many hands: a count may be a string, a list an object, a file cut or padded. A value of the
wrong type is ``None`` to its reader and never an exception. This module refuses to know what a value means.
"""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

import msgspec

from harness.formats.limits import Limits, check_depth

__all__ = [
    "MOST", "as_amount", "as_count", "as_dict", "as_float", "as_int", "as_list", "as_ms", "as_str", "canonical",
    "decoded", "digest_of", "file_run", "has_keys",
]  # fmt: skip

MOST = 1 << 53
"""The largest count that is believed: beyond it a program that holds numbers as doubles has written something else."""

_LATEST_MS = 7_258_118_400_000  # the year 2200


def decoded(body: bytes, limits: Limits, where: str) -> Any:
    """The one JSON value in ``body``. What the strict decoder refuses (NaN, half a surrogate pair) is tried again.

    Raises:
        FormatError: it nests too deep.
        ValueError: it is no JSON.
    """
    check_depth(body, limits, where)
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        try:
            return json.loads(body.decode("utf-8", "replace"))
        except RecursionError as error:
            raise ValueError("it nests too deep") from error


def as_dict(value: Any) -> dict[str, Any]:
    """``value``, or an empty object where it is none."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """``value``, or an empty list where it is none."""
    return value if isinstance(value, list) else []


def as_str(value: Any) -> str | None:
    """``value``, or None where it is no text or an empty one."""
    return value if isinstance(value, str) and value else None


def as_int(value: Any) -> int | None:
    """A whole number of moderate size; a float without fraction is one, true and false are none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and -MOST <= value <= MOST else None


def as_count(value: Any) -> int | None:
    """A whole number that is not negative."""
    number = as_int(value)
    return number if number is not None and number >= 0 else None


def as_float(value: Any) -> float | None:
    """A finite number of moderate size."""
    if type(value) in (int, float) and -MOST <= value <= MOST and math.isfinite(value):
        return float(value)
    return None


def as_amount(value: Any) -> float | None:
    """A finite number that is not negative: a cost, a duration."""
    number = as_float(value)
    return number if number is not None and number >= 0 else None


def as_ms(value: Any) -> int | None:
    """A time as Unix milliseconds: ISO text (without a zone it is UTC), or a number of seconds or milliseconds.

    Only one of the two units puts a number into this age. Zero is no time.
    """
    if isinstance(value, str):
        try:
            parsed = datetime.fromisoformat(value.strip()[:40])
            when = parsed if parsed.tzinfo is not None else parsed.replace(tzinfo=UTC)
            found = round(when.timestamp() * 1_000)
        except (ValueError, OverflowError):
            return None
        return found if 0 < found < _LATEST_MS else None
    number = as_amount(value)
    if not number:
        return None
    found = round(number * 1_000) if number * 1_000 < _LATEST_MS else round(number)
    return found if found < _LATEST_MS else None


def canonical(value: Any) -> bytes:
    """The bytes that stand for a value: text as UTF-8, anything else as JSON with sorted keys."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    try:
        return msgspec.json.encode(value, order="deterministic")
    except (UnicodeEncodeError, RecursionError, ValueError):
        return json.dumps(value, sort_keys=True).encode()


def digest_of(data: bytes) -> str:
    """16 hex digits, equal for equal bytes: what is kept of a body."""
    return blake2b(data, digest_size=8).hexdigest()


def file_run(filename: str) -> str:
    """The id of the run that a file is where it names none itself: a digest of its name."""
    return f"file-{digest_of(filename.encode('utf-8', 'surrogatepass'))}"


def has_keys(head: bytes, *names: str) -> bool:
    """Whether every name stands in ``head`` as a whole JSON string.

    Inside a text its quotes would be escaped, so words of a conversation are not taken for keys.
    """
    return all(b'"%b"' % name.encode() in head for name in names)
