"""The allocation leg: how many blocks and bytes one call asks for, by memray. It compares no sides.

Without memray, an optional dependency, the leg is unavailable and never zero: what the interpreter's own tracer sees
is only what is retained. Measured twice in two processes with one hash seed; where the two disagree the count is not
exact, and says so.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from harness.measure.clock import Undefined
from harness.measure.instrument import INSTRUMENT
from harness.measure.launch import launch
from harness.measure.legs import Unavailable

__all__ = ["LOOPS", "AllocationCount", "Share", "available", "count"]

LOOPS = 64
"""Calls in the smaller of the two rounds: enough that a block allocated once in a round (1.6 % of a block a call)
stands apart from one a call; few enough that the records of a slice with a thousand blocks are read in seconds, and
that the counter of a probe's loop (up to twice as many) stays among the integers that CPython keeps, below 257."""


class Share(NamedTuple):
    """Blocks and bytes a call."""

    blocks: float
    bytes: float


@dataclass(frozen=True, slots=True)
class AllocationCount:
    """What one call allocates, from the first of the two measurements in ``runs``; by Python function in ``functions``.

    A function is named ``file:function`` and holds what was allocated while it was the innermost Python function,
    with one frame object more for each Python function that it calls: naming makes those, so they are not in the
    totals, and the functions may add up to more.
    """

    blocks: float
    bytes: float
    runs: tuple[Share, Share]
    functions: Mapping[str, Share]

    @property
    def agrees(self) -> bool:
        """Whether the two measurements are equal; if not, the count is not exact."""
        return self.runs[0] == self.runs[1]


def available() -> Literal["memray"] | Unavailable:
    """Whether memray is installed beside this interpreter."""
    if importlib.util.find_spec("memray") is None:
        return Unavailable("Allocations are not available: install loopladder[alloc]")
    return "memray"


def count(
    job: Mapping[str, Any],
    *,
    seed: int,
    limit: float,
    folder: Path,
    cwd: Path,
    loops: int = LOOPS,
    instrument: str = INSTRUMENT,
) -> AllocationCount | Undefined | Unavailable:
    """Count blocks and bytes of one call of the job's slice, twice; the arguments are those of ``launch``."""
    tool = available()
    if isinstance(tool, Unavailable):
        return tool
    job = {**job, "task": "leg:allocated", "loops": loops, "limit": limit}
    answers = []
    for _ in range(2):
        answer = launch(job, seed=seed, limit=limit, folder=folder, cwd=cwd, instrument=instrument)
        if answer.undefined is not None:
            return Undefined(*answer.undefined)
        answers.append(answer.result)
    first, second = (Share(each["blocks"], each["bytes"]) for each in answers)
    functions = {name: Share(*share) for name, share in sorted(answers[0]["functions"].items())}
    return AllocationCount(*first, (first, second), functions)
