"""The rules that are scored: this project's judge, and five others re-stated from what their documentation says.

Each is a pure function of what the processes of both sides gave. The restatements are ours, not the tools' code: they
take the rule and leave out how the tool measures. Where a tool pools the values of its processes, so does its rule
here. Refuses nothing and raises nothing: a tool that fails says what its users then read.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from enum import Enum

from scipy.stats import mannwhitneyu, t

from harness.judge.in_order import judge_in_order
from kpis.terms.comparison import Comparison, State

__all__ = ["OTHERS", "Says", "judge_in_order", "of_state", "this_judge"]

Processes = Sequence[Sequence[float]]
"""Single values by process, in the order of the pairs; a shorter time is better."""


class Says(Enum):
    """What a rule says of one KPI. Most rules know no third answer."""

    REGRESSED = "regressed"
    OK = "ok"
    INCONCLUSIVE = "inconclusive"


def of_state(found: Comparison) -> Says:
    """The three answers of a gate that looks for slowdowns: faster is not slower."""
    if found.state is State.REGRESSED:
        return Says.REGRESSED
    return Says.INCONCLUSIVE if found.state is State.INCONCLUSIVE else Says.OK


def this_judge(base: Processes, head: Processes) -> Says:
    """Signed-rank on pairs of process medians: screen, extension, confirmation on fresh pairs (docs/gate.md)."""
    sides = ([statistics.median(process) for process in side] for side in (base, head))
    return of_state(judge_in_order([list(zip(*sides, strict=False))])[0])


def _pooled(side: Processes) -> list[float]:
    return [value for process in side for value in process]


def _if(regressed: bool) -> Says:
    return Says.REGRESSED if regressed else Says.OK


def pyperf_t(base: Processes, head: Processes) -> Says:
    """``pyperf compare_to``: Student's pooled two-sample t-test on all values, two-sided at 95 %; slower by the mean.

    The test is for samples of one size. For others, and where it cannot be computed, the answer is "significant".
    """
    old, new = _pooled(base), _pooled(head)
    n = len(old)
    slower = statistics.fmean(new) > statistics.fmean(old)
    error = math.sqrt((statistics.variance(old) + statistics.variance(new)) / n)
    if len(new) != n or error == 0:
        return _if(slower)
    score = abs(statistics.fmean(new) - statistics.fmean(old)) / error
    return _if(slower and score >= float(t.ppf(0.975, 2 * n - 2)))


def pytest_benchmark_mean(base: Processes, head: Processes) -> Says:
    """``--benchmark-compare-fail=mean:5%``: the mean grew by more than 5 %, whatever it is worth."""
    old, new = statistics.fmean(_pooled(base)), statistics.fmean(_pooled(head))
    return _if((new - old) / old * 100 > 5)


def _rank_sum_p(old: Sequence[float], new: Sequence[float]) -> float:
    """The two-sided Mann-Whitney p; 1 where all values are equal."""
    return 1.0 if len({*old, *new}) == 1 else float(mannwhitneyu(old, new).pvalue)


def asv(base: Processes, head: Processes) -> Says:
    """``asv continuous``: the median grew by more than a factor of 1.1, and Mann-Whitney says p < .002.

    Samples that are too small for such a p are told apart by 99 % intervals, and those of so few values are infinite.
    """
    old, new = _pooled(base), _pooled(head)
    enough = 1 / math.comb(len(old) + len(new), len(old)) < 0.002
    grew = statistics.median(new) > 1.1 * statistics.median(old)
    return _if(grew and enough and _rank_sum_p(old, new) < 0.002)


def benchstat(base: Processes, head: Processes) -> Says:
    """``benchstat``: Mann-Whitney at .05 on all values, each taken for a sample; slower by the median."""
    old, new = _pooled(base), _pooled(head)
    return _if(statistics.median(new) > statistics.median(old) and _rank_sum_p(old, new) < 0.05)


def ratio_150(base: Processes, head: Processes) -> Says:
    """An alert threshold of 150 %, as github-action-benchmark has one: the mean is over one and a half times itself."""
    return _if(statistics.fmean(_pooled(head)) > 1.5 * statistics.fmean(_pooled(base)))


OTHERS: dict[str, Callable[[Processes, Processes], Says]] = {
    "pyperf, pooled t": pyperf_t,
    "pytest-benchmark `mean:5%`": pytest_benchmark_mean,
    "asv": asv,
    "benchstat, Mann-Whitney": benchstat,
    "ratio over 150 %": ratio_150,
}
