"""The instruction leg: how many instructions one call executes, by hardware counter if there is one, else cachegrind.

It compares no sides and gives no verdict; where no tool counts, it is unavailable and never zero.

A count is the slope between n and 2n calls in processes that are otherwise alike: garbage collection off, address
layout fixed where the kernel lets us, the hash seed given. Everything is measured twice, because a count that is
called exact has been seen to flip between two values; where the two disagree, the KPI is to be timed instead.
Two sides of one comparison need the same seed and the same loops; a count is not comparable across builds.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.measure.clock import Undefined
from harness.measure.instrument import INSTRUMENT
from harness.measure.launch import launch
from harness.measure.legs.tools import PROGRAMS, READERS, Tool, available, counting, output

__all__ = ["AGREEMENT", "ENOUGH", "InstructionCount", "Tool", "available", "count"]

ENOUGH = 10_000_000
"""The least difference in instructions between n and 2n calls: the floor of .1 % that counts are judged by is then
10,000 instructions, where the check of a round and the scatter of two processes are some hundreds."""

AGREEMENT = 2e-4
"""Two measurements of one count agree within this share: a fifth of the floor of .1 %, so that what two measurements
of the same side may differ by can never add up to a finding."""

_GROWN = 1.25
"""How far beyond ENOUGH the loops are raised at once when a first guess was too few."""

_TRIES = 4
_MAX_LOOPS = 2**24


@dataclass(frozen=True, slots=True)
class InstructionCount:
    """Instructions of one call.

    ``per_call`` is the mean of the two measurements in ``runs``; ``loops`` is the n that they used. ``functions``
    gives, for cachegrind alone, what each C function has of it, in instructions a call.
    """

    per_call: float
    runs: tuple[float, float]
    loops: int
    tool: Tool
    functions: Mapping[str, float] = field(default_factory=dict)

    @property
    def agrees(self) -> bool:
        """Whether the two measurements agree; if not, the count is not exact and the KPI is to be timed."""
        first, second = self.runs
        return abs(first - second) <= AGREEMENT * max(first, second)


def count(
    job: Mapping[str, Any],
    *,
    tool: Tool,
    loops: int,
    seed: int,
    limit: float,
    folder: Path,
    cwd: Path,
    instrument: str = INSTRUMENT,
) -> InstructionCount | Undefined:
    """Count the instructions of one call of the job's slice, twice.

    ``loops`` is a first guess of n (those that take 5 ms are about right) and is raised until the difference is
    ENOUGH, never lowered; give the second side the ``loops`` of the first. ``limit`` is for each process, in seconds:
    under cachegrind everything takes some 40 times as long. ``folder``, ``cwd`` and ``instrument`` are those of
    ``launch``.
    """
    if loops < 1:
        raise ValueError(f"{loops} loops count nothing")
    measure = _Measurement(job, tool, seed, limit, folder, cwd, instrument)
    for _ in range(_TRIES):
        first = measure.slope(loops)
        if isinstance(first, Undefined):
            return first
        if first.difference >= ENOUGH:
            second = measure.slope(loops)
            if isinstance(second, Undefined):
                return second
            runs = (first.difference / loops, second.difference / loops)
            functions = {name: share / loops for name, share in sorted(first.functions.items()) if share > 0}
            return InstructionCount(sum(runs) / 2, runs, loops, tool, functions)
        seen = f"{loops} more calls execute only {first.difference} more instructions in this process"
        # At most 64 times more a step: a difference near zero is no measure of how many it takes.
        loops = min(int(loops * min(_GROWN * ENOUGH / max(first.difference, 1), 64)) + 1, _MAX_LOOPS)
    return Undefined("too-short", f"{seen}, where {ENOUGH} are needed for a count.")


@dataclass(frozen=True, slots=True)
class _Slope:
    difference: int
    functions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class _Measurement:
    """What the processes of one count have in common."""

    job: Mapping[str, Any]
    tool: Tool
    seed: int
    limit: float
    folder: Path
    cwd: Path
    instrument: str

    def slope(self, loops: int) -> _Slope | Undefined:
        """What ``loops`` more calls add, in instructions."""
        once = self.process(loops, 1)
        if isinstance(once, Undefined):
            return once
        twice = self.process(loops, 2)
        if isinstance(twice, Undefined):
            return twice
        (fewer, of_fewer), (more, of_more) = once, twice
        return _Slope(more - fewer, {name: each - of_fewer.get(name, 0) for name, each in of_more.items()})

    def process(self, loops: int, rounds: int) -> tuple[int, dict[str, int]] | Undefined:
        """The instructions of one whole process, and of each C function."""
        job = {**self.job, "task": "leg:counted", "loops": loops, "rounds": rounds, "limit": self.limit}
        place = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            prefix = counting(self.tool, place)
            answer = launch(
                job,
                seed=self.seed,
                limit=self.limit,
                folder=place,
                cwd=self.cwd,
                prefix=prefix,
                instrument=self.instrument,
            )
            if answer.undefined is not None:
                return Undefined(*answer.undefined)
            file = place / output(self.tool, answer.result["pid"])
            total, functions = READERS[self.tool](file.read_text("utf-8") if file.exists() else "")
        finally:
            shutil.rmtree(place, ignore_errors=True)
        if total is None:
            return Undefined("error", f"{PROGRAMS[self.tool]} wrote no count of instructions for the worker.")
        return total, functions
