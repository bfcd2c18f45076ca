"""``benchmark.stats`` as a test finds it after its run: plain seconds a call, for a test that prints or asserts them.

They are of one process and of the values of that process, so nothing of the gate rests on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["Stats"]


class Stats:
    """Figures in seconds a call, by attribute, by item, or one level down as ``stats.stats``."""

    iterations = 1

    def __init__(self, fixture: Any, seconds: Sequence[float]) -> None:
        self.fixture = fixture
        self.data = sorted(seconds)
        self.rounds = len(seconds)

    @property
    def stats(self) -> Stats:
        """Itself: pytest-benchmark keeps its figures one level down."""
        return self

    def __bool__(self) -> bool:
        return bool(self.data)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        """The figure of this name, or ``default``."""
        return getattr(self, name, default)

    def __getattr__(self, name: str) -> Any:
        """What is given as it stands by the fixture: name, fullname, group, param, params, extra_info, has_error."""
        if name in ("name", "fullname", "group", "param", "params", "extra_info", "has_error"):
            return getattr(self.fixture, name)
        raise AttributeError(f"benchmark.stats has no {name!r} under the gate")

    @property
    def min(self) -> float:
        """The least."""
        return self.data[0]

    @property
    def max(self) -> float:
        """The greatest."""
        return self.data[-1]

    @property
    def total(self) -> float:
        """The sum."""
        return sum(self.data)

    @property
    def mean(self) -> float:
        """The mean."""
        return self.total / self.rounds

    @property
    def median(self) -> float:
        """The median."""
        half = self.rounds // 2
        return self.data[half] if self.rounds % 2 else (self.data[half - 1] + self.data[half]) / 2

    @property
    def stddev(self) -> float:
        """The standard deviation of the sample; 0 of a single value."""
        squares = sum((value - self.mean) ** 2 for value in self.data)
        return (squares / (self.rounds - 1)) ** 0.5 if self.rounds > 1 else 0.0

    @property
    def ops(self) -> float:
        """Calls a second; 0 where no time passed."""
        return self.rounds / self.total if self.total else 0.0
