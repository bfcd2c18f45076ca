"""What two unpaired files are judged by: the rule with the least size of a sample, and the sample itself.

The sample of a process is its median; the values of one process never count as more. Refuses to decide anything.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import chain
from statistics import NormalDist

from harness.judge.bounds import median
from harness.judge.rank_sum import Shift, shift
from harness.judge.rule import BOUND, DELTA, EQUIVALENCE, FAMILY_ALPHA
from kpis.terms.bench import Bench, BenchUnit
from kpis.terms.comparison import State
from kpis.terms.kpi import Direction

__all__ = ["RULE", "UNDIRECTED", "Sample", "UnpairedRule", "Z", "finite_exp", "processes_needed", "sample_of"]

Z = NormalDist().inv_cdf
"""The quantile of the normal distribution."""


@dataclass(frozen=True, slots=True)
class UnpairedRule:
    """What is claimed and how surely; margins are logarithms of ratios.

    ``alpha`` is the chance of a false word in one direction, over all benches: half of the family's .01. ``margin`` is
    the change that nobody asks about, 2 %; ``ceiling`` the one that ``ok`` excludes, 5 %; ``bound`` the level of the
    printed bounds, .025; ``spread`` the standard deviation between processes that the least sample is made for.
    """

    alpha: float = FAMILY_ALPHA / 2
    margin: float = math.log1p(DELTA)
    ceiling: float = EQUIVALENCE
    bound: float = 1 - BOUND
    power: float = 0.80
    spread: float = 0.026


RULE = UnpairedRule()


def processes_needed(rule: UnpairedRule = RULE) -> int:
    """The least number of processes a side: 20.

    The rank-sum bound exists from 5 against 5 on (one of C(10, 5) = 252 orders is .004, below alpha = .005), but five
    processes see nothing. The least sample is the one that sees a change of the size of the ceiling four times out
    of five. The variance of the shift is s^2 (1/n + 1/n) over the efficiency of the rank-sum test, 3/pi at the normal
    distribution (Hollander and Wolfe, 4.5), so that

        n = 2 pi/3 ((z(1 - alpha) + z(power)) s / (ceiling - margin))^2
          = 2.094 ((2.576 + 0.842) 0.026 / (ln 1.05 - ln 1.02))^2 = 19.7

    s = 2.6 % lies in the range of 2.0 to 3.6 % that fresh processes showed on a shared machine of two cores. Twenty is
    also what pyperf starts unless told otherwise.
    """
    reach = rule.ceiling - rule.margin
    return math.ceil(2 * math.pi / 3 * ((Z(1 - rule.alpha) + Z(rule.power)) * rule.spread / reach) ** 2)


def finite_exp(log_ratio: float) -> float | None:
    """The ratio of a logarithm; None for a bound that does not exist or is beyond what a number holds."""
    return math.exp(log_ratio) if abs(log_ratio) < 700 else None


@dataclass(frozen=True, slots=True)
class Sample:
    """Two sides of one bench: a median for each independent process."""

    base: tuple[float, ...]
    head: tuple[float, ...]
    unit: BenchUnit
    direction: Direction

    @property
    def both(self) -> tuple[float, ...]:
        """The medians of both sides."""
        return self.base + self.head

    @property
    def size(self) -> int:
        """The smaller of the two numbers of processes."""
        return min(len(self.base), len(self.head))

    def log_shift(self) -> Shift:
        """Of the logarithms, head minus base: its exponential is the ratio.

        Raises:
            ValueError: a side is empty, or a median is not above zero.
        """
        return shift([math.log(value) for value in self.base], [math.log(value) for value in self.head])

    def worse(self, log_ratio: float) -> float:
        """``log_ratio`` with the sign turned so that more is worse."""
        return -log_ratio if self.direction is Direction.HIGHER else log_ratio

    def moved(self, cost: float, beyond: float) -> State:
        """The state of a change for the worse by ``cost`` (a logarithm), known to be that large."""
        if abs(cost) <= beyond:
            return State.OK
        if self.direction is Direction.NEUTRAL:
            return State.INCONCLUSIVE
        return State.REGRESSED if cost > 0 else State.IMPROVED


UNDIRECTED = "the file does not say which way is better: give the benchmark the metadata direction=lower or =higher"
"""Said where an amount without a direction has moved."""


def sample_of(base: Bench, head: Bench) -> Sample:
    """The sample of a bench, once both sides are known to be of one unit and direction."""
    return Sample(_medians(base), _medians(head), base.unit, base.direction)


def _medians(bench: Bench) -> tuple[float, ...]:
    """One number an independent process."""
    if bench.independent < len(bench.processes):
        return (median(list(chain.from_iterable(process.values for process in bench.processes))),)
    return tuple(median(process.values) for process in bench.processes)
