"""How many pairs of workers want the same tree, where ``workers`` are dealt out evenly over ``lanes``.

A count over a layout, no forecast: that two workers share a lane says that they could not write at the same time.
"""

from __future__ import annotations

__all__ = ["collisions"]


def collisions(workers: int, lanes: int) -> int:
    """Pairs within a lane, summed over the lanes: ``size (size - 1) / 2`` of each.

    Fewer than one worker are one, and the lanes lie between one and the workers. The first lanes take what does not go
    round. One more lane never makes the count larger.
    """
    workers = max(workers, 1)
    lanes = min(max(lanes, 1), workers)
    base, extra = divmod(workers, lanes)
    sizes = [base + 1] * extra + [base] * (lanes - extra)
    return sum(size * (size - 1) // 2 for size in sizes)
