"""Probe of ``syscall/hook``: the same decision in a process that is started for it, round trip.

Interpreter start is in every number it yields; that is what the yardstick is. It compares each spawned verdict with
the one that the same code reaches in process, and it starts nothing but the hook.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any, ClassVar

import harness
from harness.measure.clock import CallSlice, Engine, Undefined, Workload, WorkNotDoneError
from harness.probes.syscall._trace import awaits, calls_of, fresh, offered, settle, settled, unusable
from seams.contract.syscall import ToolCall, Verdict
from seams.syscall.hook import verdict_line

__all__ = ["Probe", "SpawnedDecisions"]

_SAMPLE = ToolCall("get_reservation_details", b'{"id": "ABC123"}', {"readOnlyHint": "true", "idempotentHint": "true"})
"""The call of a run without a workload."""


class SpawnedDecisions:
    """One process for each decision: the call on its standard input, one line of verdict on its standard output."""

    engine: Engine = "none"

    def __init__(self, command: Sequence[str], calls: list[ToolCall], expected: list[Verdict]) -> None:
        self._command = tuple(command)
        self._lines = [_line(call) for call in calls]
        self._expected = [json.loads(verdict_line(verdict)) for verdict in expected]
        self._wanted: Any = None
        # The subject is on this process's path; the hook must import the very same tree.
        root = str(Path(harness.__file__).resolve().parents[1])
        self._environment = {**os.environ, "PYTHONPATH": root}

    def calls(self, n: int) -> Iterator[Callable[[], object]]:
        """``n`` round trips, from the first call on."""
        self._wanted = self._expected[(n - 1) % len(self._expected)]
        return (partial(self._spawn, line) for line in islice(cycle(self._lines), n))

    def _spawn(self, line: bytes) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(self._command, input=line, capture_output=True, env=self._environment, check=False)

    def check(self, result: object) -> None:
        """The last process must have ended well, with the verdict of the in-process decision."""
        if not isinstance(result, subprocess.CompletedProcess) or result.returncode != 0:
            said = result.stderr.decode(errors="replace").strip() if hasattr(result, "stderr") else repr(result)
            raise WorkNotDoneError(f"the hook did not answer: {said[-300:]}")
        try:
            answered = json.loads(result.stdout)
        except ValueError as error:
            raise WorkNotDoneError(f"the hook answered {result.stdout[:100]!r}, which is no line of JSON") from error
        if answered != self._wanted:
            raise WorkNotDoneError(f"the hook decided {answered}, and the same code in process {self._wanted}")


def _line(call: ToolCall) -> bytes:
    """The call as the hook reads it; the arguments stay the bytes of the trace."""
    tool, meta = json.dumps(call.tool), json.dumps(dict(call.meta))
    return b'{"tool": %s, "args": %s, "meta": %s}\n' % (tool.encode(), call.args, meta.encode())


class Probe:
    """Opens the spawned decisions of the workload's calls, or of one sample call."""

    kpis: ClassVar[frozenset[str]] = frozenset({"spawned_hook_baseline_p50_ns"})

    def open(
        self,
        kpi: str,  # noqa: ARG002
        runtime: Any,
        workload: Workload | None,
        params: Mapping[str, str],  # noqa: ARG002
    ) -> CallSlice | Undefined:
        """The slice, or why there is none. A workload is optional here: without one the sample call is decided."""
        world, calls = "default", [_SAMPLE]
        if workload is not None:
            refused = unusable(workload)
            if refused is not None:
                return refused
            world, calls = workload.data["world"], calls_of(workload)
        found = offered(runtime, "syscall/hook", "none", world)
        if isinstance(found, Undefined):
            return found
        words = getattr(found, "command", None) or [sys.executable, "-P", "-s", "-B", "-m", "harness", "hook"]
        command = [*words, *(() if world == "default" else ("--world", world))]
        return settled(_open(found, command, calls), asynchronous=awaits(found, "decide"))


async def _open(found: Any, command: Sequence[str], calls: list[ToolCall]) -> SpawnedDecisions:
    expected = [await settle(found.decide(fresh(call))) for call in calls]
    return SpawnedDecisions(command, calls, expected)
