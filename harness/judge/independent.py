"""Two files of another tool, judged on what they are: independent samples of process medians, not pairs.

Refuses to pool values, and to say regressed or improved where the difference could be within the margin. What it
cannot know: the sides were measured one after the other, so that a slow hour of the machine is in the difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from harness.judge.comparable import mismatch
from harness.judge.rank_sum import Shift
from harness.judge.settled import settled
from harness.judge.unpaired import RULE, UNDIRECTED, Sample, UnpairedRule, Z, finite_exp, processes_needed, sample_of
from harness.judge.warming import first_values, unsteady
from kpis.terms.bench import Bench
from kpis.terms.comparison import Comparison, State
from kpis.terms.kpi import Direction

__all__ = ["RULE", "UnpairedRule", "compare_all", "processes_needed"]


def compare_all(benches: Sequence[tuple[Bench, Bench]], rule: UnpairedRule = RULE) -> list[Comparison]:
    """Judge each (base, head), in order; ``pairs`` of a comparison is the smaller number of processes.

    A bench whose sides are incomparable, still warming up, too small, constant or coarse is settled by that. The rest
    are one family in each direction: Holm at ``rule.alpha``, because forty benches make forty chances of a false alarm.
    Where the processes of a side begin unlike they go on, a warning says so, whatever the state.
    """
    done: dict[int, Comparison] = {}
    tested: dict[int, tuple[Sample, Shift]] = {}
    for index, (base, head) in enumerate(benches):
        sample = sample_of(base, head)
        known = mismatch(base, head) or unsteady(base, head) or settled(base, head, sample, rule)
        if known is None:
            tested[index] = (sample, sample.log_shift())
        else:
            done[index] = known
    slower = _holm({i: _p(sample, moved, rule, worse=True) for i, (sample, moved) in tested.items()}, rule.alpha)
    faster = _holm({i: _p(sample, moved, rule, worse=False) for i, (sample, moved) in tested.items()}, rule.alpha)
    for index, (sample, moved) in tested.items():
        done[index] = _concluded(sample, moved, slower[index], faster[index], rule)
    return [_with_first_values(done[index], *sides) for index, sides in enumerate(benches)]


def _with_first_values(found: Comparison, base: Bench, head: Bench) -> Comparison:
    return replace(found, warnings=(*found.warnings, *first_values(base, head)))


def _p(sample: Sample, moved: Shift, rule: UnpairedRule, *, worse: bool) -> float:
    """The p value of a change beyond the margin: for the worse, or for the better."""
    beyond = rule.margin
    if worse == (sample.direction is not Direction.HIGHER):
        return moved.p_above(beyond)
    return moved.p_below(-beyond)


def _holm(p_values: Mapping[int, float], alpha: float) -> dict[int, tuple[bool, float]]:
    """For each hypothesis whether Holm's procedure rejects it, and the level that it was held against."""
    verdicts: dict[int, tuple[bool, float]] = {}
    going = True
    for rank, (index, p) in enumerate(sorted(p_values.items(), key=lambda item: (item[1], item[0]))):
        level = alpha / (len(p_values) - rank)
        going = going and p <= level
        verdicts[index] = (going, level)
    return verdicts


def _concluded(
    sample: Sample, moved: Shift, slower: tuple[bool, float], faster: tuple[bool, float], rule: UnpairedRule
) -> Comparison:
    lower, upper = moved.lower(rule.bound), moved.upper(rule.bound)
    neutral = sample.direction is Direction.NEUTRAL
    worst = max(abs(lower), abs(upper)) if neutral else max(sample.worse(lower), sample.worse(upper))
    evidence = [f"{len(sample.base)} against {len(sample.head)} process medians, rank-sum"]
    if slower[0] or faster[0]:
        state = sample.moved(1.0 if slower[0] else -1.0, 0.0)
        evidence += [UNDIRECTED] if neutral else []
    else:
        state = State.OK if worst < rule.ceiling else State.INCONCLUSIVE
    level = faster[1] if faster[0] else slower[1]
    # The width of the interval is the standard error of the shift, whatever the distribution.
    error = (upper - lower) / (2 * Z(1 - rule.bound))
    visible = finite_exp(rule.margin + (Z(1 - level) + Z(rule.power)) * error)
    return Comparison(
        state,
        ratio=finite_exp(moved.centre),
        low=finite_exp(lower),
        high=finite_exp(upper),
        pairs=sample.size,
        smallest_visible=None if visible is None else visible - 1,
        alpha=level,
        evidence=tuple(evidence),
    )
