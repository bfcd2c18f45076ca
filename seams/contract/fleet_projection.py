"""The seam ``fleet/projection``: work that is really done side by side, next to which a model of it is printed.

The work is a number that can be known beforehand without doing it, so that whoever measures needs nobody's word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

__all__ = ["INCREMENT", "MODULUS", "MULTIPLIER", "Crew", "Job"]

MULTIPLIER, INCREMENT, MODULUS = 1_103_515_245, 12_345, 2**31
"""One step of a job takes ``x`` to ``(MULTIPLIER x + INCREMENT) mod MODULUS``."""


class Job(NamedTuple):
    """``steps`` steps from ``seed``, by a worker who writes in ``trees``; a text alone is no sequence of trees."""

    seed: int
    steps: int
    trees: tuple[str, ...]


class Crew(Protocol):
    """``fleet/projection``. The method may be a coroutine function."""

    def run(self, jobs: Sequence[Job], width: int) -> Sequence[int]:
        """Where each job's steps lead, in the order of ``jobs``.

        Each is done step by step in a process of its own, ``width`` of them at a time at most, and never two at a time
        whose trees intersect. The answer is a plain list or tuple of numbers, all of them there when this returns. A
        width below 1, or a tree that nobody may have, is a ValueError.
        """
        ...
