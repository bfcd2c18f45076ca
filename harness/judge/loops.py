"""Whether two timings of one slice were taken with loops that belong to the same measurement.

Loops are calibrated afresh in every run: doubled until a value lasts a fixed time. So they say nothing by themselves.
When a call gets ten times faster they grow about tenfold, and what one value lasts stays. What a faster or slower call
does not explain is another way to measure: another least time of a value, another batch. Refuses to blame a call so
long that a single one makes a value: its loops cannot follow it.
"""

from __future__ import annotations

__all__ = ["MOST", "unexplained"]

MOST = 8.0
"""How far loops may move without a cause in the time of a call. A value is asked to last a least time t. It lasts from
0.8 t, below which a run calibrates again, to 4 t: doubling overshoots by 2 at most, and a core that is twice as slow as
while it calibrated makes that 4. So two sound calibrations are within 5 of each other; loops go by powers of two, of
which 8 is the next."""


def unexplained(then: tuple[int, float], now: tuple[int, float]) -> float:
    """How many times more, or fewer, loops there are ``now`` than the times explain; 1 where they explain them all.

    Each side is (loops, time of one call), the time in any one unit.

    Raises:
        ValueError: a number is not positive.
    """
    if min(*then, *now) <= 0:
        raise ValueError("Loops and times are positive.")
    more = now[0] / then[0]
    longer = more * now[1] / then[1]  # what one value lasts
    return max(1.0, min(more, longer), min(1 / more, 1 / longer))
