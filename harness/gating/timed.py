"""Times the points that are to be timed: screens of all, then what stayed open, then the suspects on fresh pairs.

Which point gets the next pairs follows from the stages alone, never from a value; a budget stops points where they
are, and what it cuts off is no answer: it is not kept, and a resumed gate asks again. Each pair is on disk before the
next begins, and each is drawn from its own seed, so that a resumed gate goes on with the very schedule that was
interrupted.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from harness.gating.deadline import NEVER, Deadline
from harness.gating.ground import Ground
from harness.jobs.plan import PlannedPoint
from harness.judge.rule import Rule
from harness.judge.sequence import PointJudge, Stage
from harness.judge.warming import first_log
from harness.measure.pairs import LEAST_LOOPS, Load, Pair, Unmeasured, calibrate, run_pair
from harness.measure.schedule import Side, draw
from kpis.terms.kpi import Estimand
from kpis.terms.reading import Reason

__all__ = ["Keep", "TimedPoint", "load_for", "off_cpu", "time_points", "waiting_ns"]

LONGEST_VALUE_S = 0.1
"""A value of the slower side lasts at most this long where the faster side's still lasts its minimum: a head that is
seventy times slower must not take seventy times the gate."""

Keep = Callable[[str, Callable[[], dict[str, Any]]], dict[str, Any]]
"""(name, measure) -> what is on disk under the name, measured and kept there first if it is not."""


@dataclass(slots=True)
class TimedPoint:
    """A point on its way: its judge, its load, and every pair that it has seen."""

    point: PlannedPoint
    judge: PointJudge
    inject: float = 1.0
    load: Load | None = None
    pairs: list[tuple[float, float]] = field(default_factory=list)
    cpu: list[tuple[float, float]] = field(default_factory=list)
    first: list[tuple[float, float]] = field(default_factory=list)
    displaced: int = 0
    left: int = 0
    """Processes that outlived the workers of a pair, in all pairs."""
    seconds: float = 0.0
    void: Unmeasured | None = None

    @property
    def open(self) -> bool:
        """Whether it still wants pairs."""
        return self.void is None and self.judge.wants().pairs > 0

    @property
    def injected(self) -> bool:
        """Whether its head was slowed down in some pair: what is said of it is about the gate."""
        return self.load is not None and self.load.inject != 1.0 and bool(self.pairs)


class _Cut(Exception):  # noqa: N818 - the end of the budget is no error
    """The budget ended while this was measured."""


def time_points(
    points: Iterable[TimedPoint],
    ground: Ground,
    *,
    seed: int,
    limit: float,
    deadline: Deadline,
    keep: Keep,
    on_step: Callable[[TimedPoint, Stage], None] = lambda _point, _stage: None,
) -> None:
    """Feed every point until it wants no more or ``deadline`` has passed."""
    waiting = [point for point in points if _calibrated(point, ground, seed, limit, deadline, keep)]
    for stage in (Stage.SCREEN, Stage.EXTENSION, Stage.CONFIRM):
        for point in waiting:
            while point.open and point.judge.stage is stage:
                if deadline.over():
                    point.judge.stop("the budget ended before this point was decided")
                    break
                on_step(point, stage)
                _one_pair(point, ground, seed, limit, deadline, keep)


def _calibrated(timed: TimedPoint, ground: Ground, seed: int, limit: float, deadline: Deadline, keep: Keep) -> bool:
    """Fix the loops of a point, once for both sides: enough for the faster one, not too many for the slower."""
    if deadline.over():
        timed.judge.stop("the budget ended before this point was begun")
        return False

    def find() -> dict[str, Any]:
        try:
            return {"loops": load_for(timed, ground, seed=seed, limit=limit, deadline=deadline).loops}
        except Unmeasured as gone:
            return _void(gone, deadline)

    try:
        answer = keep(f"calibrate {timed.point.key}", find)
    except _Cut:
        timed.judge.stop("the budget ended while this point was begun")
        return False
    if "void" in answer:
        timed.void = Unmeasured(*answer["void"])
        return False
    means = timed.point.kpi.estimand is Estimand.CALL_MEAN
    timed.load = Load(answer["loops"], means=means, inject=timed.inject)
    return True


def _void(gone: Unmeasured, deadline: Deadline) -> dict[str, Any]:
    """What is kept of a side that gives no number.

    Raises:
        _Cut: it was the budget that left it no time.
    """
    if gone.reason == Reason.TIMEOUT.value and deadline.over():
        raise _Cut from None
    return {"void": [gone.side, gone.reason, gone.detail]}


def load_for(timed: TimedPoint, ground: Ground, *, seed: int, limit: float, deadline: Deadline = NEVER) -> Load:
    """The load of a point: enough loops for the faster side, not too many for the slower.

    Raises:
        Unmeasured: a side gives no number.
    """
    rng = Random(f"{seed} calibrate {timed.point.key}")
    sides: tuple[Side, Side] = ("base", "head")
    found = []
    for side in sides:
        left = deadline.left(limit)
        found.append(calibrate(side, ground.side_job(timed.point, side), draw(rng), limit=left, folder=ground.scratch))
    (most, _), (fewest, slow) = sorted(found, reverse=True)
    # What the slower side takes for the loops that the faster one needs, cut to the longest value.
    cut = LONGEST_VALUE_S * 1e9 / (slow / fewest)
    loops = max(fewest, min(most, int(cut)), 1)
    if timed.inject != 1.0:
        loops = max(loops, LEAST_LOOPS)
    return Load(loops, means=timed.point.kpi.estimand is Estimand.CALL_MEAN, inject=timed.inject)


def _one_pair(timed: TimedPoint, ground: Ground, seed: int, limit: float, deadline: Deadline, keep: Keep) -> None:
    number = len(timed.pairs)
    load = timed.load
    if load is None:
        raise RuntimeError(f"{timed.point.key} was not calibrated")

    def measure() -> dict[str, Any]:
        plan = draw(Random(f"{seed} pair {timed.point.key} {number}"))
        specs = {side: ground.side_job(timed.point, side, plan.copies[side]) for side in plan.copies}
        try:
            return _plain(run_pair(specs, plan, load=load, limit=deadline.left(limit), folder=ground.scratch))
        except Unmeasured as gone:
            return _void(gone, deadline)

    try:
        answer = keep(f"pair {timed.point.key} {number} {load.loops}", measure)
    except _Cut:
        timed.judge.stop("the budget ended while this point was timed")
        return
    if "void" in answer:
        timed.void = Unmeasured(*answer["void"])
        return
    wall = tuple(statistics.median(answer["wall"][side]) for side in ("base", "head"))
    cpu = tuple(statistics.median(answer["cpu"][side]) for side in ("base", "head"))
    timed.pairs.append((wall[0], wall[1]))
    timed.cpu.append((cpu[0], cpu[1]))
    timed.first.append((first_log(answer["wall"]["base"]), first_log(answer["wall"]["head"])))
    timed.displaced += sum(answer["displaced"].values())
    timed.left += answer["left"]
    timed.seconds += answer["seconds"]
    timed.judge.feed([(wall[0], wall[1])])


def _plain(pair: Pair) -> dict[str, Any]:
    return {
        # Nine digits, and not so many decimals: what is small must not become zero.
        "wall": {side: [float(f"{value:.9g}") for value in values] for side, values in pair.wall.items()},
        "cpu": {side: [float(f"{value:.9g}") for value in values] for side, values in pair.cpu.items()},
        "displaced": dict(pair.displaced),
        "left": pair.left,
        "seconds": round(pair.seconds, 4),
    }


def waiting_ns(timed: TimedPoint) -> tuple[float, float]:
    """Median waiting (wall minus CPU) of each side in ns a call."""
    waits = [(wall[0] - cpu[0], wall[1] - cpu[1]) for wall, cpu in zip(timed.pairs, timed.cpu, strict=True)]
    return statistics.median(wait[0] for wait in waits), statistics.median(wait[1] for wait in waits)


def off_cpu(timed: TimedPoint, rule: Rule) -> bool:
    """Whether what the wall clock saw is not seen by CPU time: it is spent waiting, in sleep, I/O or a lock.

    Only pairs in which both sides took CPU time are asked; where none did, all of it was waiting.
    """
    both = [(wall, cpu) for wall, cpu in zip(timed.pairs, timed.cpu, strict=True) if min(cpu) > 0]
    if not both:
        return bool(timed.pairs)
    wall = statistics.median(math.log(head / base) for (base, head), _ in both)
    cpu = statistics.median(math.log(head / base) for _, (base, head) in both)
    return abs(wall) > rule.margin and abs(cpu) < abs(wall) / 2
