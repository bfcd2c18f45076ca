"""The candidates that the probes propose, and what each has to come to by the formulas, whatever a loop says of it.

They gain, gain nothing, cheat their suite, touch a second file, do not run, and propose what is there already, so that
none of the rates is 1 by the choice of its input. Bigger is not better: the size of the working set wins, and what is
larger is proposed in vain.
"""

from __future__ import annotations

from typing import NamedTuple

from harness.probes.rsi._scratch import CAPACITY, LEASE, PAGE, cache_source, value_of
from kpis.formulas.rsi.keep import gain, keep, rulings
from seams.contract.rsi_loop import Candidate

__all__ = ["K", "Expected", "expected", "planned"]

K = 3
"""Changes in a row that are not kept, at which the loop hands over."""


class Step(NamedTuple):
    """A candidate, with what its author knows of it: the size it has in the end, if it runs at all, and its bits."""

    candidate: Candidate
    capacity: int | None
    suite_green: bool = True
    truth_clean: bool = True
    claimed: float | None = None
    """What it makes the measurement print, where that is not the metric of its size."""


class Expected(NamedTuple):
    """What the row of a candidate has to say."""

    metric: float | None
    baseline: float
    suite_green: bool
    truth_clean: bool
    decision: str
    nonkeeps: int

    @property
    def kept(self) -> bool:
        """Whether it stays."""
        return self.decision == "KEEP"


def _sized(capacity: int, **more: str) -> Candidate:
    edits = {LEASE: cache_source(capacity), **more}
    name = f"{capacity} slots" if not more else f"{capacity} slots and a page"
    return Candidate(name, LEASE, {path: text.encode() for path, text in edits.items()})


def planned() -> list[Step]:
    """The nine candidates, in the order in which they are proposed."""
    cheat = cache_source(12).replace("if key in held:", "if True:").replace("held.move_to_end(key)", "pass")
    broken = cache_source(12).replace("def replay", "def replay(")
    every = (528 - 20 * 12) / 528
    return [
        Step(_sized(6), 6),
        Step(Candidate("counts every request", LEASE, {LEASE: cheat.encode()}), 12, suite_green=False, claimed=every),
        Step(_sized(12, **{PAGE: "The best cache.\n"}), 12, truth_clean=False),
        Step(_sized(8), 8),
        Step(Candidate("does not run", LEASE, {LEASE: broken.encode()}), None, suite_green=False, truth_clean=False),
        Step(_sized(12), 12),
        Step(_sized(16), 16),
        Step(_sized(12), 12, truth_clean=False),
        Step(_sized(24), 24),
    ]


def expected(steps: list[Step], k: int = K) -> list[Expected]:
    """What each row has to say, up to the one at which the breaker trips."""
    bar = value_of(CAPACITY)
    found: list[Expected] = []
    keeps: list[bool] = []
    for step in steps:
        own = None if step.capacity is None else value_of(step.capacity)
        metric = own if step.claimed is None else step.claimed
        gained = gain(bar, metric, lower_better=False)
        keeps.append(keep("full", gained, step.suite_green, step.truth_clean))
        decision, nonkeeps = rulings(keeps, k)[-1]
        found.append(Expected(metric, bar, step.suite_green, step.truth_clean, decision, nonkeeps))
        if keeps[-1] and metric is not None:
            bar = metric
        if decision == "ESCALATE":
            break
    return found
