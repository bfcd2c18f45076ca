"""The two rates of an audit of closed work, from its counts.

Both leave out what was closed because nobody means to do it, and what is open. A rate of a part of the work is a rate
of that part: how much was looked at belongs beside it.
"""

from __future__ import annotations

__all__ = ["closure_rate", "honest_close_rate"]


def closure_rate(resolved: int, claimed: int) -> float | None:
    """``resolved / (resolved + claimed)`` to four digits, ``resolved`` by a diff; None where there is neither."""
    return honest_close_rate(resolved, 0, claimed)


def honest_close_rate(resolved: int, by_data: int, claimed: int) -> float | None:
    """The same where what only data bears out is resolved as well. It is never below :func:`closure_rate`."""
    borne_out = resolved + by_data
    return round(borne_out / (borne_out + claimed), 4) if borne_out + claimed else None
