"""What a plan has to be, and what it must reach under its objective, worked out from what the planner was given.

These are the instrument's own rules on purpose: a plan that was filled greedily and labelled otherwise is lawful in all
but its worth. What a plan reaches is compared, not which spans it names, so that ties may fall as they like. No clock
is read here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from harness.measure.clock import WorkNotDoneError
from seams.contract.turn import COVERAGE, EXACT, GREEDY, VALUE_SCALE, Candidate, Geometry, Plan

__all__ = ["SLACK", "choices", "geometry_of", "reachable", "reached", "verify_plan", "verify_reached"]

SLACK = 1e-9
"""The share by which a plan may fall short of its rule: sums of the same numbers in another order."""

_TOP = 10**15


def verify_plan(given: tuple[Any, ...], plan: Plan) -> None:
    """Hold ``plan`` against what :meth:`Planner.optimize` was given, each cost being that of the candidate.

    Raises:
        WorkNotDoneError: it follows another objective, is no partition of the candidates, selects what is barred or
            leaves out a pin, spends more than the budget on other things than pins, says that it spends something
            else, selects one text twice, or elides a span under another digest than its own.
    """
    candidates, budget, pins, releases, objective = given
    if plan.objective != objective:
        raise WorkNotDoneError("the plan follows another objective than the one that was asked for")
    by_id: dict[str, Candidate] = {each.cell.id: each for each in candidates}
    chosen = [each.id for each in plan.selected]
    placed = Counter([*chosen, *(each.id for each in plan.elided)])
    if placed != Counter(by_id.keys()):
        raise WorkNotDoneError(f"{placed.total()} placed spans are no partition of {len(by_id)} candidates")
    kept = [by_id[each] for each in chosen]
    digests = [each.cell.digest for each in kept if each.cell.digest]
    texts = set(digests)
    pinned = [each for each in candidates if each.cell.id in pins and not _barred(each, ())]
    if any(_barred(each, () if each in pinned else releases) for each in kept):
        raise WorkNotDoneError("a span that is sealed, tombstoned or released was selected")
    if any(each.cell.digest not in texts for each in pinned):
        raise WorkNotDoneError(f"not all of {len(pinned)} pinned spans were selected")
    spent = sum(each.cost for each in kept)
    if spent != plan.cost_used:
        raise WorkNotDoneError(f"the selected spans cost {spent} tokens, and the plan says {plan.cost_used}")
    if spent > budget and not all(each in pinned for each in kept):
        raise WorkNotDoneError(f"the selected spans, more than pins, cost {spent} tokens, within a budget of {budget}")
    if len(texts) < len(digests):
        raise WorkNotDoneError(f"of {len(digests)} selected texts only {len(texts)} differ")
    wrong = sum(each.digest != by_id[each.id].cell.digest for each in plan.elided)
    if wrong:
        raise WorkNotDoneError(f"{wrong} elided spans bear another digest than the one that they were given with")


def _barred(candidate: Candidate, releases: Collection[str]) -> bool:
    """Whether it may not be selected: sealed, tombstoned or released."""
    cell = candidate.cell
    return cell.sealed or cell.tombstoned or cell.id in releases


def geometry_of(words: frozenset[str], query: frozenset[str], relevance: float, benefit: float) -> Geometry:
    """The parts of ``benefit``, where the share of ``query`` among the span's ``words`` is worth ``relevance``."""
    shared = query & words
    return Geometry(shared, len(query), relevance, benefit - (relevance * len(shared) / len(query) if shared else 0.0))


def choices(given: tuple[Any, ...]) -> tuple[list[Candidate], int]:
    """The candidates that are free to be chosen, in step order, and the tokens that the pins leave."""
    candidates, budget, pins, releases, _ = given
    kept: dict[str, Candidate] = {}
    single: list[Candidate] = []
    for each in sorted(candidates, key=lambda one: (one.cell.id not in pins, one.cell.step, one.cell.id)):
        if not _barred(each, () if each.cell.id in pins else releases):
            if each.cell.digest:
                kept.setdefault(each.cell.digest, each)
            else:
                single.append(each)
    placed = sorted([*kept.values(), *single], key=lambda one: (one.cell.step, one.cell.id))
    pinned = [each for each in placed if each.cell.id in pins]
    left = budget - sum(each.cost for each in pinned)
    return [each for each in placed if each.cell.id not in pins] if left >= 0 else [], left


def reached(objective: str, chosen: Iterable[Candidate]) -> float:
    """What free candidates that were chosen are worth together under ``objective``."""
    if objective == EXACT:
        return sum(map(_value, chosen))
    if objective == GREEDY:
        return sum(each.benefit for each in chosen)
    covered: set[str] = set()
    worth, asked, relevance = 0.0, 0, 0.0
    for each in chosen:
        if each.geometry is None:
            worth += each.benefit
            continue
        words, asked, relevance, rest = each.geometry
        covered |= words
        worth += rest
    return worth + (relevance * len(covered) / asked if covered else 0.0)


def reachable(given: tuple[Any, ...]) -> float:
    """What a plan of what was ``given`` has to reach under its objective."""
    free, left = choices(given)
    objective = given[-1]
    if objective == EXACT:
        return _optimum(free, left)
    return reached(objective, _covering(free, left) if objective == COVERAGE else _densest(free, left))


def verify_reached(given: tuple[Any, ...], plan: Plan, expected: float) -> None:
    """Raise WorkNotDoneError unless ``plan`` reaches the optimum, where it is exact, or what its rule comes to."""
    by_id = {each.cell.id: each for each in given[0]}
    objective, pins = given[-1], given[2]
    came = reached(objective, [by_id[each.id] for each in plan.selected if each.id not in pins])
    if objective == EXACT and came != expected:
        raise WorkNotDoneError(f"the plan calls itself exact and is worth {came} where the optimum is {expected}")
    if objective != EXACT and came < expected * (1 - SLACK):
        name = "coverage" if objective == COVERAGE else "greedy"
        raise WorkNotDoneError(f"the plan calls itself {name} and reaches {came:.6f} where the rule {expected:.6f}")


def _value(candidate: Candidate) -> int:
    if not candidate.benefit > 0:
        return 0
    return int(min(candidate.benefit * VALUE_SCALE + 0.5, _TOP))


def _optimum(free: Sequence[Candidate], left: int) -> int:
    """The value of the best knapsack: one row of a table, the largest sum for each number of tokens."""
    free = [each for each in free if each.cost <= left]
    if not free or sum(each.cost for each in free) <= left:
        return sum(map(_value, free))

    import numpy as np  # here, because no other objective should wait for it

    best = np.zeros(left + 1, dtype=np.int64)
    for each in free:
        best[each.cost :] = np.maximum(best[each.cost :], best[: left + 1 - each.cost] + _value(each))
    return int(best[left])


def _densest(free: Sequence[Candidate], left: int) -> list[Candidate]:
    """Most benefit a token first, then most benefit, then the earliest; whatever does not fit is passed over."""

    def order(each: Candidate) -> tuple[float, float, int, str]:
        density = each.benefit / each.cost if each.cost else math.inf
        return -density, -each.benefit, each.cell.step, each.cell.id

    chosen = []
    for each in sorted((each for each in free if each.benefit > 0), key=order):
        if each.cost <= left:
            chosen.append(each)
            left -= each.cost
    return chosen


def _covering(free: Sequence[Candidate], left: int) -> list[Candidate]:
    """The rule as it reads: whatever adds most a token, again and again, until nothing fits or adds anything."""
    open_ = [each for each in free if each.benefit > 0]
    covered: set[str] = set()
    chosen: list[Candidate] = []
    while True:
        best, best_key = None, (0.0, 0.0)
        open_ = [each for each in open_ if each.cost <= left]
        for each in open_:
            adds = _adds(each, covered)
            key = (adds / each.cost if each.cost else float("inf"), adds)
            if adds > 0 and key > best_key:
                best, best_key = each, key
        if best is None:
            return chosen
        open_.remove(best)
        chosen.append(best)
        left -= best.cost
        covered |= best.geometry.words if best.geometry else set()


def _adds(candidate: Candidate, covered: set[str]) -> float:
    if candidate.geometry is None:
        return candidate.benefit
    words, asked, relevance, rest = candidate.geometry
    fresh = len(words - covered)
    return relevance * fresh / asked + rest if fresh else rest
