"""Numbers as the clients of agents write them into session files: counts of tokens, and times.

Files of sessions are read line by line, many thousands of lines, so a time costs as little as it can. This module
refuses to believe what no client can mean: such a number is none.
"""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["LARGEST_COUNT", "count_of", "stamp_ms", "unix_ms"]

LARGEST_COUNT = 1 << 53
"""No counter of tokens comes near; a number above it is a fault of the file (and would lose digits as a float)."""


def count_of(value: int | None) -> int | None:
    """``value`` if it can be a count of tokens, else None."""
    return value if value is not None and 0 <= value < LARGEST_COUNT else None


def unix_ms(stamp: str | int | float | None) -> int | None:
    """Unix milliseconds of an ISO 8601 time (without zone: UTC) or of a number in seconds or milliseconds."""
    if isinstance(stamp, str):
        try:
            moment = datetime.fromisoformat(stamp)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        try:
            return round(moment.timestamp() * 1_000)
        except (OverflowError, OSError):
            return None
    if stamp is None or isinstance(stamp, bool) or not 0 <= stamp < LARGEST_COUNT:
        return None
    # Seconds and milliseconds of one century do not overlap: 1e11 s is the year 5138, 1e11 ms is 1973.
    return round(stamp * 1_000) if stamp < 100_000_000_000 else round(stamp)


_minutes: dict[str, int] = {}


def stamp_ms(stamp: str | int | float | None) -> int:
    """Unix milliseconds of a line's time, or 0: no line was written in 1970.

    Sessions hold many lines a minute, so the minute is remembered and only its seconds are read.
    """
    try:
        if len(stamp) == 24:  # type: ignore[arg-type]
            return _minutes[stamp[:17]] + int(stamp[17:19] + stamp[20:23])  # type: ignore[index]
    except (KeyError, TypeError, ValueError):
        pass
    whole = max(0, unix_ms(stamp) or 0)
    if type(stamp) is str and whole and len(stamp) == 24 and stamp[19] == "." and stamp[23] == "Z":
        if len(_minutes) > 8_192:  # a hostile file invents a minute a line
            _minutes.clear()
        _minutes[stamp[:17]] = whole - whole % 60_000
    return whole
