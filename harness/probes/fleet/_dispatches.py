"""One question at the gate, timed: this machine walked, and three commands asked that answer at once.

The commands are scripts of the shell that do nothing but leave a trace and answer
(:mod:`harness.probes.fleet._errands`), so that a child is started for each; what it says has a number in it that no
question had before, and the decision has to have it. Processes that come with a batch and go with it have to show in
its decisions, so that the machine is walked anew. Which verdict has to come is arranged by what is asked, never by the
machine: a share of the memory that no process or every process is beyond, an aim that is far or reached.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Sequence
from itertools import count
from pathlib import Path
from random import SystemRandom
from typing import Any

from harness.measure.clock import Engine, WorkNotDoneError, is_async
from harness.probes._set_up import now
from harness.probes.fleet._errands import Errands, answers
from seams.contract.fleet_preflight import Decision, Host, Loop, Preflight, Seats, Seen

__all__ = ["ROOM", "Dispatches", "logged", "verify", "verify_run"]

ROOM = 4
"""Workers that a host has to carry before some that live may show where a verdict hangs on there being room."""

_MOST_SHOWN = 2
_NEEDS_ROOM = ("SPAWN_OK", "REFUSE_NO_ACCOUNT")


def verify(verdict: str, number: int, came: Decision, shown: Collection[int] = ()) -> None:
    """Hold a decision against what was asked, and against the processes that were ``shown`` as workers, by number.

    Raises:
        WorkNotDoneError: it is another verdict, or does not have what the commands and the machine said.
    """
    # A stand-in may ask and decide when it is looked at, which is past the clock.
    if type(came) is not Decision or type(came.seen) is not Seen:
        raise WorkNotDoneError(f"the gate answered with a {type(came).__name__}, which is no Decision with its Seen")
    if came.verdict.value != verdict:
        raise WorkNotDoneError(f"the gate said {came.verdict.value} where everything leads to {verdict}")
    if came.ok != (verdict == "SPAWN_OK"):
        raise WorkNotDoneError(f"of {verdict} the gate says ok = {came.ok}")
    said: Any = answers(verdict, number)
    seen = came.seen
    known = None if verdict == "REFUSE_INSPECT" else Loop(**said["loop"])
    if (seen.account, seen.loop, seen.seats) != (said["account"], known, Seats(**said["seats"])):
        raise WorkNotDoneError("the decision does not have what the commands said: not all of them were asked")
    host = seen.host
    if type(host) is not Host or not host.cores or not host.threads or not host.free_ram_mb:
        raise WorkNotDoneError("the decision does not have what the machine shows: it was not looked at")
    if seen.workers != len(shown):
        raise WorkNotDoneError(f"{len(shown)} workers live since this was asked, and the decision has {seen.workers}")
    flagged = {each.pid for each in seen.flagged or ()}
    if verdict == "REFUSE_HOST" and not flagged >= {os.getpid(), *shown}:
        raise WorkNotDoneError("every process takes memory, and some are not flagged: they were not walked")


def verify_run(numbers: Sequence[int], traces: list[str]) -> None:
    """Hold the traces of commands against the questions that have those numbers.

    Raises:
        WorkNotDoneError: a command was not run, or more than once.
    """
    if traces != sorted(f"{check}-{number}" for number in numbers for check in ("account", "loop", "seats")):
        raise WorkNotDoneError(f"{len(numbers)} questions have three commands each, and {len(traces)} were run")


def logged(path: Path) -> list[dict[str, Any]]:
    """The lines of a decision log.

    Raises:
        WorkNotDoneError: there is none, or a line is no object of JSON with the keys that the contract names.
    """
    try:
        rows: list[dict[str, Any]] = [json.loads(line) for line in path.read_bytes().splitlines()]
        whole = all({"ts", "verdict", "cap", "live", "limiter", "ns"} <= set(row) for row in rows)
    except (OSError, ValueError, TypeError) as error:
        raise WorkNotDoneError("the gate wrote no log of its decisions, or one that cannot be read") from error
    if not whole:
        raise WorkNotDoneError("a line of the decision log lacks a key")
    return rows


class Dispatches:
    """Questions that all lead to one verdict. ``roomy``: the host carries :data:`ROOM` workers or more."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, gate: Preflight, verdict: str, errands: Errands, log: Path, *, roomy: bool) -> None:
        self._gate = gate
        self._verdict = verdict
        self._errands = errands
        self._log = log
        # Where workers that live stand in the way of the verdict, and few are carried, none may show.
        needs_room = verdict in _NEEDS_ROOM
        self._shown = (0 if needs_room else 1, _MOST_SHOWN if roomy or not needs_room else 0)
        self._draw = SystemRandom()
        self._numbers = count(1)
        self._asked: list[int] = []
        self._came: list[Decision] = []
        self._before = 0

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` questions, of a machine that is looked at anew for each."""
        errands = self._errands
        errands.lot()
        self._asked = [next(self._numbers) for _ in range(loops)]
        came: list[Decision] = []
        self._came = came
        self._before = self._lines()
        checks: Sequence[Any] = [
            now(self._gate.on_this_machine(errands.asks(self._verdict, number))) for number in self._asked
        ]
        # Last of all: whoever has looked already, though nobody called a check yet, does not see them.
        errands.show(self._draw.randint(*self._shown))
        evaluate: Callable[[Any], Any] = self._gate.evaluate
        if is_async(evaluate):

            async def run_async() -> object:
                came.extend([await evaluate(each) for each in checks])
                return came

            return run_async

        def run() -> object:
            came.extend([evaluate(each) for each in checks])
            return came

        return run

    def _lines(self) -> int:
        return len(self._log.read_bytes().splitlines()) if self._log.exists() else 0

    def check(self, result: object) -> None:
        """Every decision of the batch is the one that is due, of what was asked, and is in the log."""
        if result is not self._came or len(self._came) != len(self._asked):
            raise WorkNotDoneError(f"{len(self._asked)} questions got {len(self._came)} answers")
        # What was done by now, before anything that came is looked at.
        rows, traces = logged(self._log)[self._before :], self._errands.traces()
        verify_run(self._asked, traces)
        for number, came in zip(self._asked, self._came, strict=True):
            verify(self._verdict, number, came, self._errands.pids)
        if [row["verdict"] for row in rows] != [self._verdict] * len(self._asked) or any(
            row["ns"] <= 0 for row in rows
        ):
            raise WorkNotDoneError(f"{len(self._asked)} decisions are not as many lines of the log")
