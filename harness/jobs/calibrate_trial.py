"""One trial: a point timed in pairs on two sides of which it is known by how much they differ.

It takes the pairs that the gate's own judge asks for at the point's margin, and at least those that were planned.
Refuses to drop or to repeat a pair, and to lose those that were there when it broke off.
"""

from __future__ import annotations

import os
import statistics
from dataclasses import dataclass
from random import Random

from harness.gating.ground import Ground
from harness.gating.rows import label
from harness.jobs.plan import PlannedPoint
from harness.judge.rule import CONFIRM_PAIRS, Rule, delta_for
from harness.judge.sequence import PointJudge
from harness.measure import machine
from harness.measure.pairs import LEAST_LOOPS, Load, Unmeasured, calibrate, run_pair
from harness.measure.schedule import draw
from harness.record.floors import facts_of
from harness.record.trials import VALUES_OF, Kind, LoadState, Trial, brief
from kpis.terms.kpi import Estimand

__all__ = ["INTERRUPTED", "LEAST_PAIRS", "LIMIT_S", "PLANNED", "Asked", "make_trial"]

LEAST_PAIRS = VALUES_OF
"""What every trial holds at least, whatever the judge asks for."""

PLANNED = {Kind.NULL: LEAST_PAIRS, Kind.INJECTED: LEAST_PAIRS, Kind.NEUTRAL: CONFIRM_PAIRS}
"""Pairs that a trial is planned with: a floor takes those only that nobody asked for because of what he saw."""

KEPT_VALUES = 3
"""Single values kept of each process: what pyperf takes of each by default."""

LIMIT_S = 60.0

INTERRUPTED = "interrupted"
"""Why a trial broke off that Ctrl-C ended: its pairs are kept, and the recording stops."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One trial to be made: the point, by how much its head is slowed down, and the edit that was made to the head.

    ``said`` is the edit in words, the same words for the same edit; ``floor`` the point's, None where it is unknown.
    """

    point: PlannedPoint
    kind: Kind
    factor: float = 1.0
    said: str | None = None
    suite: int | None = None
    floor: float | None = None


def make_trial(asked: Asked, on: Ground, seed: int, *, planned: int, state: LoadState | None = None) -> Trial:
    """Make it, on the sides of ``on``. Ctrl-C ends it as :data:`INTERRUPTED`, with the pairs so far."""
    point, began = asked.point, os.getloadavg()[0]
    rng = Random(f"{seed} {point.key}")
    delta = delta_for(asked.floor)
    judge = PointJudge(point.kpi.direction, Rule(delta=delta))
    pairs: list[tuple[float, float]] = []
    values: list[tuple[tuple[float, ...], tuple[float, ...]]] = []
    truth, void = 1.0, None
    try:
        loops = min(
            calibrate(side, on.side_job(point, side), draw(rng), limit=LIMIT_S, folder=on.scratch)[0]
            for side in ("base", "head")
        )
        means = point.kpi.estimand is Estimand.CALL_MEAN
        work = Load(max(loops, LEAST_LOOPS if asked.factor != 1.0 else 1), means=means, inject=asked.factor)
        truth = work.truth
        while (wanted := judge.wants().pairs) or len(pairs) < planned:
            plan = draw(rng)
            specs = {side: on.side_job(point, side, plan.copies[side]) for side in plan.copies}
            pair = run_pair(specs, plan, load=work, limit=LIMIT_S, folder=on.scratch)
            sides = (pair.wall["base"], pair.wall["head"])
            pairs.append((brief(statistics.median(sides[0])), brief(statistics.median(sides[1]))))
            if len(pairs) <= VALUES_OF:
                base, head = (tuple(map(brief, side[:KEPT_VALUES])) for side in sides)
                values.append((base, head))
            if wanted:
                judge.feed(pairs[-1:])
    except Unmeasured as gone:
        void = f"{gone.side}: {gone.detail}"
    except KeyboardInterrupt:
        void = INTERRUPTED
    fingerprint = machine.fingerprint()
    return Trial(
        kpi=label(point),
        kind=asked.kind,
        truth=truth,
        seed=seed,
        machine=machine.slug(fingerprint),
        load=f"{began:.1f} to {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores",
        pairs=tuple(pairs),
        values=tuple(values),
        asked=asked.factor,
        edit=asked.said,
        void=void,
        planned=planned,
        fingerprint=facts_of(fingerprint),
        state=state,
        suite=asked.suite,
        delta=None if asked.floor is None else delta,
    )
