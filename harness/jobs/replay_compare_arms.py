"""Any number of arms of recorded runs: each against the first, and what all of them together say.

Labels are permuted among all arms, also where two are compared: under the null hypothesis no label means anything.
The front holds what no other arm beats on cost, peak prompt and success, over the runs that every arm has; correctness
comes first, and an arm with a gate that nothing recorded is on no front.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.jobs.replay_compare import Compared, compare
from harness.jobs.replay_pairs import Arm, CaseKey, arm_of
from harness.record.replay import Replayed
from harness.record.replay_context import gates_of, state_of
from kpis.formulas.context.dominance import Comparison, baseline_ratio, dominance_gate, parity_gate
from kpis.formulas.context.gates import GateState
from kpis.formulas.context.pareto import Front, Point, pareto
from kpis.formulas.paired.pass_k import PassK, pass_k
from kpis.formulas.paired.permutation import Permutation, permuted
from kpis.formulas.recorded.evaluate import metrics
from kpis.terms.metric import Metric

__all__ = ["Against", "ComparedArms", "Permuted", "Standing", "compare_arms"]


@dataclass(frozen=True, slots=True)
class Standing:
    """One arm: its ``runs`` are all, and what else is counted is over the runs that all arms have.

    A ``cost``, ``peak`` or ``success`` of None is unknown, or a bound. ``pass_k`` is over all attempts of the arm, and
    leaves out cases with one that nobody judged, of which there are ``unjudged_cases``.
    """

    name: str
    runs: int
    attempts: int
    judged: int
    passed: int
    cost: float | None
    peak: float | None
    success: float | None
    pass_k: tuple[PassK, ...]
    unjudged_cases: int


@dataclass(frozen=True, slots=True)
class Permuted:
    """The test, over ``blocks`` in which both arms are judged, ``lacking`` of them without some other arm."""

    test: Permutation
    blocks: int
    lacking: int


@dataclass(frozen=True, slots=True)
class Against:
    """One arm held against the first. ``unknown`` of the ``workloads`` have no ratio of cost or of quality."""

    name: str
    compared: Compared
    permuted: Permuted | None
    parity: GateState
    dominance: GateState
    workloads: int
    unknown: int


@dataclass(frozen=True, slots=True)
class ComparedArms:
    """All arms in the order given; ``common`` runs are there in each of them."""

    standings: tuple[Standing, ...]
    against: tuple[Against, ...]
    common: int
    front: Front


def compare_arms(results: Mapping[str, Replayed]) -> ComparedArms:
    """Compare ``results``, at least two by name."""
    arms = {name: arm_of(result) for name, result in results.items()}
    first, *others = arms
    common = sorted(set.intersection(*(set(arm.runs) for arm in arms.values())), key=sorted)
    standings = tuple(_standing(name, arm, common) for name, arm in arms.items())
    return ComparedArms(
        standings, tuple(_against(name, first, arms) for name in others), len(common), _front(standings, arms)
    )


def _standing(name: str, arm: Arm, common: Sequence[frozenset[CaseKey]]) -> Standing:
    told = [metrics(arm.runs[each].parts) for each in common]
    costs = _known([_exact(each["cost_computed_usd"]) for each in told])
    peaks = _known([_exact(each["exposed_main_peak"]) for each in told])
    said = [arm.verdicts[key] for each in common for key in each]
    tasks, unjudged = arm.tasks()
    judged = [passed for passed in said if passed is not None]
    return Standing(
        name=name,
        runs=len(arm.result.runs),
        attempts=len(said),
        judged=len(judged),
        passed=sum(judged),
        cost=sum(costs) if costs else None,
        peak=max(peaks) if peaks else None,
        success=sum(passed is True for passed in said) / len(said) if said and None not in said else None,
        pass_k=pass_k(tasks) if any(len(each) > 1 for each in tasks.values()) else (),
        unjudged_cases=unjudged,
    )


def _exact(metric: Metric) -> float | None:
    """The value, None where it is a bound: arms are not told apart by what may be more."""
    return metric.value if metric.low is None and metric.high is None else None


def _known(values: Sequence[float | None]) -> list[float] | None:
    """All of ``values``; None where one of them is unknown."""
    known = [each for each in values if each is not None]
    return known if len(known) == len(values) else None


def _against(name: str, first: str, arms: Mapping[str, Arm]) -> Against:
    reference, candidate = arms[first], arms[name]
    rows = _workloads(reference, candidate)
    return Against(
        name,
        compare(reference, candidate),
        _permuted(name, first, arms),
        parity_gate(rows),
        dominance_gate(rows),
        len(rows),
        sum(row.cost_ratio is None or row.quality_ratio is None for row in rows),
    )


def _permuted(name: str, first: str, arms: Mapping[str, Arm]) -> Permuted | None:
    both = arms[first].verdicts.keys() & arms[name].verdicts.keys()
    told = {key: {each: arm.verdicts.get(key) for each, arm in arms.items()} for key in sorted(both)}
    blocks = [
        {each: int(passed) for each, passed in block.items() if passed is not None}
        for block in told.values()
        if block[first] is not None and block[name] is not None
    ]
    if not blocks:
        return None
    return Permuted(permuted(blocks, name, first), len(blocks), sum(len(block) < len(arms) for block in blocks))


def _workloads(reference: Arm, candidate: Arm) -> list[Comparison]:
    """Cost and quality by case, each summed over its pairs; unknown where one of them is in no pair of runs."""
    shared = reference.runs.keys() & candidate.runs.keys()
    within = {key for keys in shared for key in keys}
    outside = (reference.verdicts.keys() & candidate.verdicts.keys()) - within
    groups: dict[tuple[str, ...], list[frozenset[CaseKey]]] = {}
    for keys in shared:
        groups.setdefault(tuple(sorted({case for case, _ in keys})), []).append(keys)
    rows = [
        Comparison(
            ", ".join(cases),
            _ratio([_cost(candidate, keys) for keys in runs], [_cost(reference, keys) for keys in runs]),
            _quality(*([arm.verdicts[key] for keys in runs for key in keys] for arm in (candidate, reference))),
        )
        for cases, runs in sorted(groups.items())
    ]
    return rows + [Comparison(case, None, None) for case in sorted({case for case, _ in outside})]


def _cost(arm: Arm, keys: frozenset[CaseKey]) -> float | None:
    return _exact(metrics(arm.runs[keys].parts)["cost_computed_usd"])


def _ratio(ours: Sequence[float | None], theirs: Sequence[float | None]) -> float | None:
    one, other = _known(ours), _known(theirs)
    if one is None or other is None:
        return None
    return baseline_ratio(sum(one), sum(other)).value


def _quality(ours: Sequence[bool | None], theirs: Sequence[bool | None]) -> float | None:
    """Attempts passed over those of the first arm. Where that passed none no arm is worse, which needs no ratio."""
    if None not in (*ours, *theirs) and not any(theirs):
        return math.inf if any(ours) else 1.0
    return _ratio(ours, theirs)


def _front(standings: Sequence[Standing], arms: Mapping[str, Arm]) -> Front:
    names = tuple(gates_of(()))
    points, silent = [], {}
    for each in standings:
        lacking = tuple(axis for axis in ("cost", "peak", "success") if getattr(each, axis) is None)
        gates = _gates(arms[each.name])
        if lacking and not any(gates.values()):
            silent[each.name] = (*lacking, *(name for name in names if gates.get(name) is None))
            continue
        points.append(Point(each.name, each.cost or 0, each.peak or 0, each.success or 0, gates))
    found = pareto(points, names)
    return Front(found.frontier, found.dominated, found.excluded, {**found.open, **silent})


def _gates(arm: Arm) -> dict[str, float | None]:
    """How each correctness gate stands, 0 where it is satisfied and 1 where it is violated; none if not recorded."""
    if not arm.result.runs or not all(run.contexts for run in arm.result.runs):
        return {}
    states = {name: state_of(counts) for name, counts in gates_of(arm.result.contexts).items()}
    values = {GateState.SATISFIED: 0.0, GateState.VIOLATED: 1.0, GateState.OPEN: None}
    return {name: values[state] for name, state in states.items()}
