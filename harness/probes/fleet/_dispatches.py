"""One question at the gate, timed: this machine walked, and three commands asked that answer at once.

The commands are ``echo``, so that a child is started for each and does nothing else; what it says has a number in it
that no question had before, and the decision has to have it. Which verdict has to come is arranged by what is asked,
never by the machine: a share of the memory that no process or every process is beyond, an aim that is far or reached.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

from harness.measure.clock import Engine, WorkNotDoneError, is_async
from harness.probes._set_up import now
from seams.contract.fleet_preflight import Asks, Decision, Loop, Preflight, Seats

__all__ = ["Dispatches", "asked", "logged", "verify"]

_FAR = 1_000_000
_SECONDS = 10.0


def asked(verdict: str, number: int, echo: str) -> Asks:
    """What leads to ``verdict`` on any machine; ``number`` is in every answer that is one."""
    loop: object = {"alive": _FAR + number if verdict == "REFUSE_AT_CAP" else 0, "target": _FAR + number}
    seats = {"total": _FAR, "free": number, "leased": 0, "depleted": False}
    if verdict == "REFUSE_NO_SEAT":
        seats = {"total": 1, "free": number, "leased": 1, "depleted": True}
    if verdict == "REFUSE_INSPECT":
        loop = {"alive": f"unknown {number}"}
    account = None if verdict == "REFUSE_NO_ACCOUNT" else f"account-{number}"
    # Nothing takes twice the memory that there is, and all that takes any takes more than none of it.
    share = 0.0 if verdict == "REFUSE_HOST" else 2.0
    first, second, third = ((echo, json.dumps(said)) for said in (account, loop, seats))
    return Asks(first, second, third, share=share, max_workers=_FAR, seconds=_SECONDS)


def verify(verdict: str, number: int, came: Decision) -> None:
    """Hold a decision against what was asked.

    Raises:
        WorkNotDoneError: it is another verdict, or does not have what the commands and the machine said.
    """
    if came.verdict.value != verdict:
        raise WorkNotDoneError(f"the gate said {came.verdict.value} where everything leads to {verdict}")
    if came.ok != (verdict == "SPAWN_OK"):
        raise WorkNotDoneError(f"of {verdict} the gate says ok = {came.ok}")
    wanted = asked(verdict, number, "")
    account, loop, seats = (
        json.loads(command[1]) for command in (wanted.account, wanted.loop, wanted.seats) if command
    )
    seen = came.seen
    known = None if verdict == "REFUSE_INSPECT" else Loop(**loop)
    if (seen.account, seen.loop, seen.seats) != (account, known, Seats(**seats)):
        raise WorkNotDoneError("the decision does not have what the commands said: not all of them were asked")
    host = seen.host
    if host is None or not host.cores or not host.threads or not host.free_ram_mb or seen.workers is None:
        raise WorkNotDoneError("the decision does not have what the machine shows: it was not looked at")
    if verdict == "REFUSE_HOST" and os.getpid() not in {each.pid for each in seen.flagged or ()}:
        raise WorkNotDoneError("every process takes memory, and this one is not flagged: they were not walked")


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
    """Questions that all lead to one verdict."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, gate: Preflight, verdict: str, echo: str, log: Path) -> None:
        self._gate = gate
        self._verdict = verdict
        self._echo = echo
        self._log = log
        self._numbers = count(1)
        self._asked: list[int] = []
        self._came: list[Decision] = []
        self._before = 0

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` questions, of a machine that is looked at anew for each."""
        self._asked = [next(self._numbers) for _ in range(loops)]
        came: list[Decision] = []
        self._came = came
        self._before = self._lines()
        checks: Sequence[Any] = [
            now(self._gate.on_this_machine(asked(self._verdict, number, self._echo))) for number in self._asked
        ]
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
        for number, came in zip(self._asked, self._came, strict=True):
            verify(self._verdict, number, came)
        rows = logged(self._log)[self._before :]
        if [row["verdict"] for row in rows] != [self._verdict] * len(self._asked) or any(
            row["ns"] <= 0 for row in rows
        ):
            raise WorkNotDoneError(f"{len(self._asked)} decisions are not as many lines of the log")
