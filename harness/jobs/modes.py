"""How much a run measures: processes, values in each, and the limit of one point.

The smallest sample of a process-level interval is six processes, so ``quick`` prints no interval and says so.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.record.run import Mode

__all__ = ["DEFAULT", "FULL", "MIN_TIME_S", "QUICK", "Effort", "budgeted"]

MIN_TIME_S = 0.005
"""A value lasts 5 ms or more: shorter ones have no honest spread on a shared machine."""

STARTUP_S = 0.09
"""What a worker takes before its first value; only for estimates."""


@dataclass(frozen=True, slots=True)
class Effort:
    """``processes`` fresh processes with ``values`` values each; at most ``limit_s`` seconds a point."""

    mode: Mode
    processes: int
    values: int
    limit_s: float
    budget_s: float | None = None

    def estimate_s(self, *, timed: bool) -> float:
        """Seconds that one point will take if its calls are short; slower slices take longer and say so."""
        if not timed:
            return 2 * STARTUP_S
        one = STARTUP_S + (self.values + 1) * 1.5 * MIN_TIME_S
        return 2 * STARTUP_S + (self.processes + 1) * one


QUICK = Effort(Mode.QUICK, processes=3, values=3, limit_s=30)
DEFAULT = Effort(Mode.DEFAULT, processes=12, values=5, limit_s=120)
FULL = Effort(Mode.FULL, processes=25, values=5, limit_s=120)


def budgeted(seconds: float) -> Effort:
    """As many rounds as fit: three processes a point first, then more in turn up to the full number."""
    return Effort(Mode.BUDGET, processes=FULL.processes, values=FULL.values, limit_s=FULL.limit_s, budget_s=seconds)
