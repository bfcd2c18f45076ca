"""Workers that do the same jobs one at a time and up to as many at a time as there are cores, for a clock to see.

Once each worker has a tree of its own, and once all want the same one, where whoever waits for the tree cannot gain.
Where the jobs lead is known without doing them, by the generator's own powers, and no two jobs of a process are the
same, so that none can be answered from memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

from harness.measure.clock import Engine, Tally, WorkNotDoneError, is_async
from kpis.formulas.fleet.projection import project
from seams.contract.fleet_projection import INCREMENT, MODULUS, MULTIPLIER, Crew, Job

__all__ = ["STEPS", "TREES", "Crews", "led_to"]

STEPS = 500_000
"""Steps of a job: about a twentieth of a second, some times what it takes to start an interpreter."""

TREES = ("disjoint", "overlapping")

_MOST = 4


def led_to(job: Job) -> int:
    """Where the steps of ``job`` lead, by squaring the step: as many multiplications as ``steps`` has digits."""
    factor, addend, steps = MULTIPLIER, INCREMENT, job.steps
    at = job.seed
    while steps:
        if steps & 1:
            at = (factor * at + addend) % MODULUS
        factor, addend, steps = factor * factor % MODULUS, (factor + 1) * addend % MODULUS, steps >> 1
    return at


class Crews:
    """Rounds of as many jobs as there are cores, two at least and four at most: in one arm one at a time."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, crew: Crew, trees: str) -> None:
        self._crew = crew
        self._trees = trees
        self._cores = len(os.sched_getaffinity(0))
        self.width = min(max(self._cores, 2), _MOST)
        self._seeds = count(1)
        self._rounds = 0
        self._answers: dict[str, tuple[Sequence[Job], Any]] = {}

    def parts(self) -> Sequence[tuple[str, Callable[[], object]]]:
        """Both arms, each with jobs of its own; which comes first takes turns."""
        self._answers = {}
        arms = [("serial", self._arm("serial", 1)), ("parallel", self._arm("parallel", self.width))]
        self._rounds += 1
        return arms if self._rounds % 2 else arms[::-1]

    def _jobs(self) -> list[Job]:
        lanes = range(self.width) if self._trees == "disjoint" else [0] * self.width
        return [Job(next(self._seeds), STEPS, (f"lane-{lane}",)) for lane in lanes]

    def _arm(self, name: str, width: int) -> Callable[[], object]:
        crew, jobs = self._crew, self._jobs()
        if is_async(crew.run):

            async def awaited() -> None:
                self._answers[name] = jobs, await crew.run(jobs, width)  # type: ignore[misc]

            return awaited

        def run() -> None:
            self._answers[name] = jobs, crew.run(jobs, width)

        return run

    def check(self, result: object) -> None:  # noqa: ARG002 - both arms are looked at, not the last one
        """Raise WorkNotDoneError unless every job of both arms led to where it has to."""
        for name in ("serial", "parallel"):
            jobs, answers = self._answers.get(name, ((), None))
            # No stand-in for a sequence or a number, whose steps might be taken when somebody looks.
            plain = type(answers) in (list, tuple) and all(type(each) is int for each in answers)
            if not plain or list(answers) != [led_to(job) for job in jobs]:
                raise WorkNotDoneError(f"the workers' steps did not lead where they have to ({name})")

    def ratio(self, rounds: Sequence[Mapping[str, int]]) -> Tally:
        """The least of each arm over the rounds: what displaces a worker is nothing of the crew's."""
        serial, parallel = (min(spent[name] for spent in rounds) for name in ("serial", "parallel"))
        return Tally(
            serial,
            parallel,
            source=self.source,
            evidence=(
                f"{self.width} workers in processes of their own on {self._cores} cores, {self._trees} trees, "
                f"{STEPS:,} steps each; each arm the least of {len(rounds)} rounds of one process",
                f"serial {serial / 1e6:.1f} ms one at a time, parallel {parallel / 1e6:.1f} ms up to {self.width} at a "
                f"time: {serial / parallel:.2f} times as fast",
                f"modeled, and no part of it: parallel_speedup with {self.width} agents "
                f"{project(self.width).speedup:.3f}",
            ),
        )
