"""Runs a pair: a new process for each of the two sides, both waiting at a pipe, let go alternately.

Answers what both sides measured, or which side could not be measured and why. It never drops a pair, never repeats
one, and knows nothing of thresholds: judging is the judge's.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.measure.orphans import Orphans
from harness.measure.pair_side import SideJob, SideWorker, Unmeasured
from harness.measure.schedule import PairPlan, Side

__all__ = ["LEAST_LOOPS", "Load", "Pair", "SideJob", "Unmeasured", "calibrate", "run_pair"]

LEAST_LOOPS = 34
"""Loops that an injection needs at least: 3 % of 34 calls is one call, so that the truth is exact."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a value of each side runs: ``loops`` calls, the head's ``inject`` times as many, both divided by ``loops``.

    Stamped calls (``means`` False) are injected by blocks: the base stamps 34 calls together, the head more.
    """

    loops: int
    means: bool
    inject: float = 1.0

    def command(self, side: Side) -> str:
        """The line that releases a side."""
        if self.inject == 1.0:
            return f"time {self.loops}"
        if self.means:
            return f"time {self.loops if side == 'base' else self.more(self.loops)}"
        block = LEAST_LOOPS if side == "base" else self.more(LEAST_LOOPS)
        return f"time {block * max(self.loops // LEAST_LOOPS, 1)} {block}"

    def more(self, calls: int) -> int:
        """What the head runs for ``calls`` of the base."""
        return round(self.inject * calls)

    @property
    def divisor(self) -> int:
        """Calls that a value is divided by, the same on both sides."""
        if self.means:
            return self.loops
        return 1 if self.inject == 1.0 else LEAST_LOOPS

    @property
    def truth(self) -> float:
        """The ratio that was injected, exactly."""
        of = self.loops if self.means else LEAST_LOOPS
        return self.more(of) / of


@dataclass(slots=True)
class Pair:
    """The values of both sides in ns a call, round by round, and what disturbed or outlived them."""

    wall: dict[Side, list[float]] = field(default_factory=lambda: {"base": [], "head": []})
    cpu: dict[Side, list[float]] = field(default_factory=lambda: {"base": [], "head": []})
    displaced: dict[Side, int] = field(default_factory=lambda: {"base": 0, "head": 0})
    seconds: float = 0.0
    left: int = 0
    """Processes that outlived both workers and had to be ended."""


def calibrate(side: Side, spec: SideJob, plan: PairPlan, *, limit: float, folder: Path) -> tuple[int, float]:
    """Loops a value of one side, and how long that value lasts in ns.

    Raises:
        Unmeasured: the side gives no number.
    """
    with _workers((side,), {side: spec}, plan, time.monotonic() + limit, folder, Pair()) as workers:
        worker = workers[side]
        worker.hear()
        worker.tell("calibrate")
        answer = worker.hear()
        worker.tell("quit")
        worker.ended()
        return int(answer["loops"]), float(answer["wall_ns"])


def run_pair(
    specs: Mapping[Side, SideJob],
    plan: PairPlan,
    *,
    load: Load,
    limit: float,
    folder: Path,
    trace: list[tuple[Side, str]] | None = None,
) -> Pair:
    """Run one pair as ``plan`` says.

    ``trace`` collects what ran in which order. Both sides run one value more than they report, as warm-up.

    Raises:
        Unmeasured: a side gives no number; the pair is then void as a whole.
    """
    began = time.monotonic()
    pair = Pair()
    order: Sequence[Side] = (plan.starts, _other(plan.starts))
    with _workers(order, specs, plan, began + limit, folder, pair) as workers:
        for side in order:
            workers[side].hear()
        for number, first in enumerate((plan.rounds[0], *plan.rounds)):
            for side in (first, _other(first)):
                if trace is not None:
                    trace.append((side, "warm-up" if number == 0 else "value"))
                workers[side].tell(load.command(side))
                answer = workers[side].hear()
                if number:
                    pair.wall[side].append(answer["wall_ns"] / load.divisor)
                    pair.cpu[side].append(answer["cpu_ns"] / load.divisor)
                    pair.displaced[side] += answer["displaced"]
        for worker in workers.values():
            worker.tell("quit")
        for worker in workers.values():
            worker.ended()
    pair.seconds = time.monotonic() - began
    return pair


@contextlib.contextmanager
def _workers(
    order: Sequence[Side], specs: Mapping[Side, SideJob], plan: PairPlan, deadline: float, folder: Path, pair: Pair
) -> Iterator[dict[Side, SideWorker]]:
    """The process of each side; afterwards they are ended with all that they started, daemons too, counted."""
    with Orphans() as orphans:
        try:
            with contextlib.ExitStack() as stack:
                workers = {}
                for side in order:
                    worker = SideWorker(
                        side, specs[side], plan, deadline=deadline, folder=folder, adopted=orphans.adopting
                    )
                    workers[side] = stack.enter_context(worker)
                yield workers
        finally:
            if orphans.adopting:
                pair.left += orphans.end()


def _other(side: Side) -> Side:
    return "head" if side == "base" else "base"
