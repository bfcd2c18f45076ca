"""The central 95 % of sorted draws by nearest rank: the smallest draw that the wanted share does not exceed."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["bounds"]

_LOW, _HIGH = 0.025, 0.975


def bounds(drawn: Sequence[float]) -> tuple[float, float]:
    """The 2.5 % and 97.5 % quantiles of ``drawn``, sorted and not empty: of 2000 the 50th and the 1950th."""

    def at(share: float) -> float:
        return drawn[min(len(drawn) - 1, max(0, math.ceil(share * len(drawn)) - 1))]

    return at(_LOW), at(_HIGH)
