"""Probe of ``syscall/hook``: the same decision in a process that is started for it, round trip.

Interpreter start is in every number it yields; that is what the yardstick is. It decides the calls of the workload, as
the decision in process does, compares each spawned verdict with the one reached there, and starts nothing but the hook.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle
from math import gcd
from pathlib import Path
from typing import Any, ClassVar

import harness
from harness.measure.clock import CallSlice, Engine, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import awaits, finish, settled
from harness.probes.syscall._trace import calls_of, fresh, offered, unusable
from seams.contract.syscall import ToolCall, Verdict
from seams.syscall.hook import verdict_line

__all__ = ["Probe", "SpawnedDecisions", "scattered"]


def scattered(calls: int) -> list[int]:
    """The places 0 to ``calls`` - 1 in an order whose every beginning is spread over them all.

    Steps of the golden section (.618 of the whole), whose multiples divide a circle most evenly; made coprime to
    ``calls``, so that each place comes once.
    """
    step = max(round(calls * 0.618), 1)
    while gcd(step, calls) != 1:
        step += 1
    return [index * step % calls for index in range(calls)]


class SpawnedDecisions:
    """One process for each decision: the call on its standard input, one line of verdict on its standard output.

    A process takes long, so a round has few of them; the next round goes on where the last one ended.
    """

    engine: Engine = "none"

    def __init__(self, command: Sequence[str], calls: list[ToolCall], expected: list[Verdict]) -> None:
        self._command = tuple(command)
        self._lines = [_line(call) for call in calls]
        self._expected = [json.loads(verdict_line(verdict)) for verdict in expected]
        self._turn = cycle(scattered(len(calls)))
        self._due: list[int] = []
        self._answers: list[subprocess.CompletedProcess[bytes]] = []
        # The subject is on this process's path; the hook must import the very same tree.
        root = str(Path(harness.__file__).resolve().parents[1])
        self._environment = {**os.environ, "PYTHONPATH": root}

    def calls(self, n: int) -> Iterator[Callable[[], object]]:
        """``n`` round trips."""
        self._due = [next(self._turn) for _ in range(n)]
        self._answers = []
        return (partial(self._spawn, self._lines[index]) for index in self._due)

    def _spawn(self, line: bytes) -> subprocess.CompletedProcess[bytes]:
        done = subprocess.run(self._command, input=line, capture_output=True, env=self._environment, check=False)
        self._answers.append(done)
        return done

    def check(self, result: object) -> None:
        """Every process of the round must have ended well, with the verdict of the in-process decision."""
        if not self._answers or result is not self._answers[-1]:
            raise WorkNotDoneError("the hook did not answer: no process was started for the last decision")
        for index, answer in zip(self._due, self._answers, strict=False):
            _require(index, answer, self._expected[index])


def _require(index: int, answer: subprocess.CompletedProcess[bytes], wanted: Mapping[str, str]) -> None:
    """Refuse another verdict than ``wanted``, in a sentence without a word of what the process printed."""
    if answer.returncode != 0:
        raise WorkNotDoneError(
            f"the hook did not answer call {index}: it ended with code {answer.returncode} "
            f"and {len(answer.stderr)} bytes on standard error"
        )
    try:
        answered = json.loads(answer.stdout)
    except ValueError as error:
        raise WorkNotDoneError(
            f"the hook answered call {index} with {len(answer.stdout)} bytes that are no line of JSON"
        ) from error
    if answered != wanted:
        differs = [key for key in wanted if not isinstance(answered, dict) or answered.get(key) != wanted[key]]
        raise WorkNotDoneError(
            f"the hook decided call {index} otherwise than the same code in process, which said "
            f"{wanted['kind']}/{wanted['reason']}: {', '.join(differs) or 'more keys'} not the same"
        )


def _line(call: ToolCall) -> bytes:
    """The call as the hook reads it; the arguments stay the bytes of the trace."""
    tool, meta = json.dumps(call.tool), json.dumps(dict(call.meta))
    return b'{"tool": %s, "args": %s, "meta": %s}\n' % (tool.encode(), call.args, meta.encode())


class Probe:
    """Opens the spawned decisions of the workload's calls."""

    kpis: ClassVar[frozenset[str]] = frozenset({"spawned_hook_baseline_p50_ns"})

    def open(
        self,
        kpi: str,  # noqa: ARG002
        runtime: Any,
        workload: Workload | None,
        params: Mapping[str, str],  # noqa: ARG002
    ) -> CallSlice | Undefined:
        """The slice, or why there is none."""
        refused = unusable(workload)
        if refused is not None or workload is None:
            return refused or Undefined("workload-kind", "There is no workload.")
        world, calls = workload.data["world"], calls_of(workload)
        found = offered(runtime, "syscall/hook", "none", world)
        if isinstance(found, Undefined):
            return found
        words = getattr(found, "command", None) or [sys.executable, "-P", "-s", "-B", "-m", "harness", "hook"]
        command = [*words, *(() if world == "default" else ("--world", world))]
        opened: SpawnedDecisions = finish(_open(found, command, calls), waits=awaits(found, "decide"))
        return opened


async def _open(found: Any, command: Sequence[str], calls: list[ToolCall]) -> SpawnedDecisions:
    expected = [await settled(found.decide(fresh(call))) for call in calls]
    return SpawnedDecisions(command, calls, expected)
