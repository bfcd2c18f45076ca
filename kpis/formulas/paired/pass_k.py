"""pass^k, how likely k tries of one task all pass, in both definitions that are in use.

By windows: the share of k consecutive replicates that all pass, pooled over tasks. By combinations: the share of all
k-subsets of a task's replicates that all pass, C(c, k) / C(n, k), averaged over tasks. They agree at k = 1 and k = n
where tasks have equally many replicates, and differ between; a value without the name of its definition says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

from kpis.formulas.context.values import Ratio, ratio

__all__ = ["PassByCombinations", "PassK", "pass_by_combinations", "pass_by_windows", "pass_k"]

TOO_FEW = "no task has that many replicates"


def _checked(k: int) -> None:
    if k < 1:
        raise ValueError(f"pass^k needs a k of at least 1, not {k}")


def pass_by_windows(tasks: Mapping[str, Sequence[bool]], k: int) -> Ratio:
    """Windows that all pass over all windows. ``tasks`` has each task's replicates in order.

    Raises:
        ValueError: ``k`` is not positive.
    """
    _checked(k)
    windows = [runs[at : at + k] for runs in tasks.values() for at in range(len(runs) - k + 1)]
    return ratio(sum(map(all, windows)), len(windows), TOO_FEW)


@dataclass(frozen=True, slots=True)
class PassByCombinations:
    """The mean over ``tasks`` that have enough replicates; ``too_few`` have not. None where no task has."""

    value: float | None
    tasks: int
    too_few: int


def pass_by_combinations(tasks: Mapping[str, Sequence[bool]], k: int) -> PassByCombinations:
    """The unbiased estimator, task by task.

    Raises:
        ValueError: ``k`` is not positive.
    """
    _checked(k)
    shares = [comb(sum(runs), k) / comb(len(runs), k) for runs in tasks.values() if len(runs) >= k]
    value = sum(shares) / len(shares) if shares else None
    return PassByCombinations(value, len(shares), len(tasks) - len(shares))


@dataclass(frozen=True, slots=True)
class PassK:
    """Both definitions at one k."""

    k: int
    windows: Ratio
    combinations: PassByCombinations


def pass_k(tasks: Mapping[str, Sequence[bool]]) -> tuple[PassK, ...]:
    """Both at 1, 2, 4 and so on up to the most replicates of a task, and at those; none where no task has any."""
    most = max(map(len, tasks.values()), default=0)
    steps = sorted({most, *(1 << at for at in range(most.bit_length()))} - {0})
    return tuple(PassK(k, pass_by_windows(tasks, k), pass_by_combinations(tasks, k)) for k in steps if k <= most)
