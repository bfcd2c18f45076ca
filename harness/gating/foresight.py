"""What a gate could see, said before it runs: how long the pairs take, and the smallest change that would show.

One pair a point is run to learn what a pair costs here; the spread is not known before the data, so the smallest
change is given for a quiet and for a loaded machine. What a budget can hold is said in one place, for a plan and for
tests whose pairs are only estimated. Nothing here is judged or kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from harness.gating.deadline import Deadline
from harness.gating.ground import Ground
from harness.gating.options import GateOptions
from harness.gating.rows import label, left_out
from harness.gating.timed import TimedPoint, load_for
from harness.judge.power import smallest_visible
from harness.judge.rule import CONFIRM_PAIRS, FAMILY_ALPHA, SCREEN_ALPHA, SCREEN_PAIRS, Rule
from harness.measure.pairs import Unmeasured, run_pair
from harness.measure.schedule import draw
from harness.report.progress import duration
from kpis.terms.comparison import Comparison, State

__all__ = ["SPREADS", "foreseen", "untimed", "what_fits"]

SPREADS = {"quiet": 0.016, "loaded": 0.024}
"""The standard deviation of the log ratio of a pair, as measured with two checkouts of one commit on two cores."""


def what_fits(count: int, screens_s: float, suspect_s: float, budget_s: float, spent_s: float = 0.0) -> str:
    """What a budget is enough for, of which ``spent_s`` are gone; all in seconds.

    ``screens_s`` is what ``count`` points take if none has moved, ``suspect_s`` what it takes to confirm one.
    """
    budget = f"The budget of {duration(budget_s)}"
    left = max(budget_s - spent_s, 0.0)
    if screens_s > left:
        begun = int(count * left / screens_s)
        if begun == 0:
            return f"{budget} is not enough for one of them: what has changed will end inconclusive."
        return f"{budget} is enough for about {begun} of the {count}: the others, and any suspect, end inconclusive."
    suspects = int((left - screens_s) / suspect_s)
    if suspects == 0:
        return f"{budget} leaves no time to confirm one: a suspect will end inconclusive."
    if suspects >= count:
        return f"{budget} leaves time to confirm every one of them."
    return f"{budget} leaves time to confirm {suspects} suspect{'s' * (suspects != 1)}; more will end inconclusive."


def untimed(found: Mapping[str, Comparison]) -> list[str]:
    """Sentences: what cannot be timed, by the labels of such points; what is unchanged or left out need not be."""
    because: dict[str, list[str]] = {}
    for name, end in found.items():
        if end.state is not State.UNCHANGED and left_out(end) is None:
            because.setdefault("; ".join(end.evidence), []).append(name)
    return [f"{', '.join(names)}: cannot be timed: {why}" for why, names in because.items()]


def foreseen(points: list[TimedPoint], ground: Ground, options: GateOptions, deadline: Deadline) -> list[str]:
    """Sentences: what will be timed, for how long, and what that can see. The pairs tried here are not in the sum."""
    if not points:
        return ["Nothing is to be timed: whatever could be touches the same files on both sides."]
    spent = deadline.spent()
    said = []
    costs = []
    for timed in points:
        try:
            load = load_for(timed, ground, seed=0, limit=options.limit_s)
            plan = draw(Random(label(timed.point)))
            specs = {side: ground.side_job(timed.point, side, plan.copies[side]) for side in plan.copies}
            pair = run_pair(specs, plan, load=load, limit=options.limit_s, folder=ground.scratch)
        except Unmeasured as gone:
            said.append(f"{label(timed.point)}: cannot be timed, on the {gone.side}: {gone.detail}")
            continue
        costs.append(pair.seconds)
        said.append(
            f"{label(timed.point)}: {1000 * pair.seconds:.0f} ms a pair, {SCREEN_PAIRS * pair.seconds:.0f} s if it is "
            f"unchanged, {CONFIRM_PAIRS * pair.seconds:.0f} s more if it is suspected"
        )
    stages = ((SCREEN_PAIRS, SCREEN_ALPHA), (CONFIRM_PAIRS, FAMILY_ALPHA))
    total = SCREEN_PAIRS * sum(costs)
    said.append(f"About {duration(total)} if nothing moved.")
    for delta in sorted({timed.judge.rule.delta for timed in points}):
        margin = Rule(delta=delta).margin
        seen = {name: smallest_visible(spread, stages, margin) for name, spread in SPREADS.items()}
        shown = " and ".join(f"{100 * each:.1f} % on a {name} machine" for name, each in seen.items() if each)
        of = sum(timed.judge.rule.delta == delta for timed in points)
        said.append(f"At a margin of {100 * delta:.1f} % ({of} points) {shown} shows in four of five gates.")
    if options.budget_s is not None and costs:
        said.append(what_fits(len(costs), total, CONFIRM_PAIRS * max(costs), options.budget_s, spent))
    return said
