"""Numbers, times and payloads in the exports of tracing tools, which write each of them in half a dozen ways.

A 64-bit integer is a string in OTLP JSON; a time is ISO text with or without a zone, a pair of seconds and nanoseconds,
or a number whose unit only its size tells. What cannot be a count or a time is ``None`` and remembered as a fault; this
module refuses to clamp.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

from kpis.terms.trace import Issue, IssueCode, Severity

__all__ = ["MOST", "Numbers", "Payload", "millis", "payload_of", "text_of"]

MOST = 1 << 53
"""The largest count that is believed: beyond it a program that holds numbers as doubles has written something else."""

_DIGITS = re.compile(r"[+-]?\d{1,40}(?:\.0*)?")
_DECIMAL = re.compile(r"\d{1,40}(?:\.\d{0,40})?(?:[eE][+-]?\d{1,3})?")
_LATEST = 7_258_118_400_000_000  # the year 2200, in microseconds
_NAMED = 5


class Numbers:
    """Reads values of one file and keeps the lines of those that make no sense. ``line`` is set by the reader."""

    __slots__ = ("_bad", "line")

    def __init__(self) -> None:
        self.line = 0
        self._bad: list[int] = []

    def _fault(self) -> None:
        self._bad.append(self.line)

    def count(self, value: Any) -> int | None:
        """A count that is not negative; None where there is none, or one that cannot be meant."""
        if value is None or value == "":
            return None
        if isinstance(value, str) and _DIGITS.fullmatch(value.strip()):
            value = int(value.strip().partition(".")[0])
        elif isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is int and 0 <= value <= MOST:
            return value
        self._fault()
        return None

    def amount(self, value: Any) -> float | None:
        """An amount that is not negative, such as a cost or a duration."""
        if value is None or value == "":
            return None
        if isinstance(value, str) and _DECIMAL.fullmatch(value.strip()):
            value = float(value)
        if type(value) in (int, float) and 0 <= value <= MOST and math.isfinite(value):
            return float(value)
        self._fault()
        return None

    def micros(self, value: Any) -> int | None:
        """A time as Unix microseconds.

        Text without a zone is UTC, as the tools that write it mean it. A number is seconds, milliseconds, microseconds
        or nanoseconds: of these only one lies in this age. Zero is how OTLP says that there is none.
        """
        if value is None or (isinstance(value, (str, int, float)) and value in ("", 0, "0")):
            return None
        found = _micros(value)
        if found is None or not 0 < found < _LATEST:
            self._fault()
            return None
        return found

    def issues(self, file: str | None) -> list[Issue]:
        """One issue for all values of the file that could not be believed."""
        if not self._bad:
            return []
        lines = sorted(set(self._bad))
        named = ", ".join(map(str, lines[:_NAMED])) + (", ..." if len(lines) > _NAMED else "")
        many = "value is" if len(self._bad) == 1 else "values are"
        said = f"{len(self._bad):,} {many} no possible count or time and taken as unknown (at {named})."
        return [Issue(Severity.ERROR, IssueCode.E_BAD_NUMBER, said, lines[0], file)]


def _micros(value: Any) -> int | None:
    if isinstance(value, list):
        whole = [each for each in value if type(each) is int]
        if len(value) != 2 or len(whole) != 2:
            return None
        return int(whole[0]) * 1_000_000 + int(whole[1]) // 1_000
    if isinstance(value, str):
        text = value.strip()
        if not _DECIMAL.fullmatch(text):
            return _iso(text)
        value = int(text) if text.isdigit() else float(text)
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < 1e30:
        return None
    for most, scale in ((1e11, 1_000_000), (1e14, 1_000), (1e17, 1)):
        if value < most:
            return round(value * scale)
    return int(value) // 1_000


def _iso(text: str) -> int | None:
    if len(text) > 40:
        return None
    try:
        when = datetime.fromisoformat(text)
        return round((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() * 1_000_000)
    except (ValueError, OverflowError, OSError):
        return None


def millis(micros: int | None) -> int | None:
    """Microseconds as whole milliseconds."""
    return None if micros is None else micros // 1_000


def text_of(value: Any) -> str | None:
    """Text that says something, else None."""
    return value if isinstance(value, str) and value else None


@dataclass(frozen=True, slots=True)
class Payload:
    """What is kept of arguments or a result: bytes, digest, and arguments by name until their target is known.

    ``digest`` is None where only the size is recorded.
    """

    bytes: int
    digest: str | None
    named: Mapping[str, Any] | None = None


def payload_of(value: Any) -> Payload | None:
    """The payload of ``value``; None where there is none.

    Text that holds JSON is that JSON, so that the same arguments are equal whoever wrote them down.
    """
    if value is None or value == "":
        return None
    plain = value
    if isinstance(value, str) and value[:1] in "{[":
        try:
            plain = json.loads(value)
        except (ValueError, RecursionError):
            plain = value
    if isinstance(plain, str):
        body = plain.encode("utf-8", "surrogatepass")
    else:
        try:
            body = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode(
                "utf-8", "surrogatepass"
            )
        except RecursionError:  # JSON inside a string nests as it likes; the text itself is as good a key
            body = str(value).encode("utf-8", "surrogatepass") if isinstance(value, str) else b""
    named = plain if isinstance(plain, dict) else None
    return Payload(len(body), blake2b(body, digest_size=8).hexdigest(), named)
