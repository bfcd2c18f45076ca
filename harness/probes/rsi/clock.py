"""Drives the loop under the clock: one cycle from its proposal to its row, and a regression from its commit to red.

The repository, and the loop that has pinned and measured its commit, are made once, outside the clock. A cycle is one
that ends in a revert, so that each begins where the one before did; the commit of a kept one comes on top. Each
candidate has a size that was drawn for it, and so a value of its own, and each harmful commit is worse than the one
before by as much as was drawn, because a loop might remember what it has tried, or count on. The cache has the best
size from the start, so that every other one is worse. What this cannot see is a loop that reads the size in a candidate
and knows what it comes to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import count
from random import SystemRandom
from typing import Any, ClassVar

from harness.measure.clock import Engine, Undefined, Workload, WorkNotDoneError, is_async, repeat
from harness.probes._set_up import now
from harness.probes.rsi._scratch import LEASE, REFERENCE, Scratch, cache_source, value_of, without_git
from kpis.formulas.rsi.lru import ENTRIES, WORKING_SET
from seams.contract.rsi_clock import LoopClock
from seams.contract.rsi_loop import Candidate, Loop, Row, Session, Tracked

__all__ = ["Catches", "Cycles", "Probe"]

_NEVER = 1_000_000
"""A threshold that no batch reaches: the cycles are timed, and not the breaker."""

_SIZES, _STEPS = 10_000, 50
"""Among how many sizes a candidate's is drawn, and by how many slots at most a commit is worse than the last one."""


class _Slice:
    """What both slices share: the repository, the runtime's loop, and the end of it."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._draw = SystemRandom()
        self._scratch = Scratch(WORKING_SET)

    def close(self) -> None:
        """Remove the repository."""
        self._scratch.close()


class Cycles(_Slice):
    """One call is one cycle: a fresh tree, one measurement, the suite, a revert and a row."""

    def __init__(self, loop: Loop, clock: LoopClock) -> None:
        super().__init__(loop)
        self._clock = clock
        self._session: Session | None = None
        self._numbers = count(1)
        self._given: list[Candidate] = []
        self._due: list[float] = []
        self._rows: list[Row] = []

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` cycles, each of a candidate with more slots than are worth their price."""
        charge = self._scratch.charge(k=_NEVER)
        if self._session is None:
            self._session = now(self._loop.open(charge, self._clock.beside(charge.journal)))
        sizes = [ENTRIES + self._draw.randrange(_SIZES) for _ in range(loops)]
        sources = [f"{cache_source(size)}# {next(self._numbers)}\n".encode() for size in sizes]
        self._given = [Candidate(f"candidate {at}", LEASE, {LEASE: each}) for at, each in enumerate(sources)]
        self._due = [value_of(size) for size in sizes]
        self._rows = rows = []
        following, cycle = iter(self._given).__next__, self._session.cycle
        if is_async(cycle):

            async def one_async() -> object:
                rows.append(await cycle(following()))  # type: ignore[misc]
                return rows[-1]

            return repeat(one_async, loops)

        def one() -> object:
            rows.append(cycle(following()))
            return rows[-1]

        return repeat(one, loops)

    def check(self, result: Any) -> None:
        """Raise WorkNotDoneError unless each candidate was measured, found green and clean, and left no trace."""
        rows, journal = self._rows, self._scratch.journal
        # What was written by now, before anything that came is looked at: a stand-in might try its candidate only then.
        lines = [json.loads(line) for line in journal.read_bytes().splitlines()]
        if len(rows) != len(self._given) or result is not rows[-1] or not all(type(row) is Row for row in rows):
            raise WorkNotDoneError(f"{len(self._given)} candidates made {len(rows)} rows, or what is none")
        for row, candidate, value in zip(rows, self._given, self._due, strict=True):
            said = (row.candidate, row.candidate_metric, row.suite_green, row.truth_clean, row.decision)
            due = (candidate.name, value, True, True, "REVERT")
            if said != due:
                raise WorkNotDoneError(f"a cycle came to {said}, where {due} is due: {row.note}")
        last = rows[-1].cycle
        cycles = list(range(1, last + 1))
        written = [(line["candidate"], line["candidate_metric"]) for line in lines[-len(rows) :]]
        came = [(row.candidate, row.candidate_metric) for row in rows]
        if [line["cycle"] for line in lines] != cycles or written != came:
            raise WorkNotDoneError(f"{last} cycles left {len(lines)} lines in the journal, or others")
        if [lap.cycle for lap in self._clock.laps(journal)] != cycles:
            raise WorkNotDoneError(f"{last} cycles did not leave a stamp each beside the journal")
        self._scratch.require_untouched(branch="work")

    def close(self) -> None:
        """End the loop and remove its repository."""
        if self._session is not None:
            now(self._session.close())
            self._session = None
        super().close()


class Catches(_Slice):
    """One call is one harmful commit: it lands on the reference, and the reference is tracked until that says so."""

    def __init__(self, loop: Loop) -> None:
        super().__init__(loop)
        self._tip: str | None = None
        self._slots = ENTRIES
        self._commits: list[tuple[str, float]] = []
        self._found: list[Tracked] = []

    def batch(self, loops: int) -> Callable[[], object]:
        """A tracked reference, and ``loops`` commits on top of it, each with more slots than the last."""
        scratch, charge = self._scratch, self._scratch.charge()
        if self._tip is None:
            begun: Tracked = now(self._loop.track(charge))
            if (begun.trend.value, begun.row.candidate_metric) != ("first", value_of(WORKING_SET)):
                raise WorkNotDoneError(f"the reference was tracked as {begun}")
            self._tip = scratch.base
        self._commits, self._found = [], []
        for _ in range(loops):
            self._slots += 1 + self._draw.randrange(_STEPS)
            self._tip = scratch.commit({LEASE: cache_source(self._slots)}, self._tip)
            self._commits.append((self._tip, value_of(self._slots)))
        landing = scratch.top / ".git" / "refs" / "heads" / REFERENCE
        following = iter(self._commits).__next__
        track, found = self._loop.track, self._found

        def lands() -> None:
            landing.write_text(f"{following()[0]}\n", encoding="ascii")

        if is_async(track):

            async def one_async() -> object:
                lands()
                found.append(await track(charge))  # type: ignore[misc]
                return found[-1]

            return repeat(one_async, loops)

        def one() -> object:
            lands()
            found.append(track(charge))
            return found[-1]

        return repeat(one, loops)

    def check(self, result: Any) -> None:
        """Raise WorkNotDoneError unless every commit was called a regression by its own name and value."""
        if len(self._found) != len(self._commits) or result is not self._found[-1]:
            raise WorkNotDoneError(f"{len(self._commits)} commits landed and {len(self._found)} were tracked")
        if not all(type(found) is Tracked and type(found.row) is Row for found in self._found):
            raise WorkNotDoneError("the loop answered with what is no Tracked with its Row")
        for found, (commit, value) in zip(self._found, self._commits, strict=True):
            said = (found.trend.value, found.row.baseline_ref, found.row.candidate_metric)
            if said != ("regressed", commit, value):
                raise WorkNotDoneError(f"{commit[:12]}, which has {value!r}, was tracked as {said}")
        self._scratch.require_untouched(branch="work")


class Probe:
    """Opens the KPIs of ``rsi/clock``."""

    kpis: ClassVar[frozenset[str]] = frozenset({"rsi_cycle_ns", "regression_catch_latency"})

    def __init__(self) -> None:
        self._slice: _Slice | None = None

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Slice or Undefined."""
        clock: LoopClock | None = runtime.offer("rsi/clock", "none")
        loop: Loop | None = runtime.offer("rsi/loop", "none")
        if loop is None or clock is None:
            missing = "loop over a repository" if loop is None else "clock beside a loop"
            return Undefined("not-offered", f"The runtime {runtime.name} offers no {missing}.")
        if (unmade := without_git()) is not None:
            return unmade
        self._slice = Cycles(loop, clock) if kpi == "rsi_cycle_ns" else Catches(loop)
        return self._slice

    def close(self) -> None:
        """End what the slice holds."""
        if self._slice is not None:
            self._slice.close()
