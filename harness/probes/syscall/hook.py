"""Probe of ``syscall/hook``: the same decision in a process that is started for it, round trip.

Interpreter start is in every number it yields; that is what the yardstick is. It decides the calls of the workload, as
the decision in process does, compares each spawned verdict with the one reached there, and starts nothing but the hook.
A parameter ``hook`` is the user's own command, started in the place of ours; it must decide alike, and may sign with
another name.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle
from math import gcd
from pathlib import Path
from typing import Any, ClassVar

import harness
from harness.measure.clock import CallSlice, Engine, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import awaits, finish
from harness.probes.syscall._decided import decided
from harness.probes.syscall._spawn import Answer, ask
from harness.probes.syscall._trace import calls_of, offered, unusable
from harness.probes.syscall._words import kind_name, reason_name, same_word
from seams.contract.syscall import ToolCall, Verdict

__all__ = ["Probe", "SpawnedDecisions", "scattered"]

_SAID = ("kind", "reason", "by")
"""What a hook says of a call."""


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

    def __init__(
        self,
        command: Sequence[str],
        calls: list[ToolCall],
        expected: list[Verdict],
        environment: Mapping[str, str],
        compared: Sequence[str] = _SAID,
    ) -> None:
        self._command = tuple(command)
        self._lines = [_line(call) for call in calls]
        self._expected = [{key: _due(verdict)[key] for key in compared} for verdict in expected]
        self._compared = tuple(compared)
        self._turn = cycle(scattered(len(calls)))
        self._due: list[int] = []
        self._answers: list[Answer] = []
        self._environment = environment

    def calls(self, n: int) -> Iterator[Callable[[], object]]:
        """``n`` round trips."""
        self._due = [next(self._turn) for _ in range(n)]
        self._answers = []
        return (partial(self._spawn, self._lines[index]) for index in self._due)

    def prove(self) -> None:
        """Ask one call of each verdict that is due: a round has few calls, and all of them may be allowed alike.

        Raises:
            WorkNotDoneError: the hook does not answer, or decides otherwise.
        """
        firsts = {tuple(wanted.values()): index for index, wanted in reversed(list(enumerate(self._expected)))}
        for index in sorted(firsts.values()):
            answer = ask(self._command, self._lines[index], self._environment)
            self._require(index, answer, self._expected[index])

    def _spawn(self, line: bytes) -> Answer:
        answer = ask(self._command, line, self._environment)
        self._answers.append(answer)
        return answer

    def check(self, result: object) -> None:
        """Every process of the round must have ended well, with the verdict of the in-process decision."""
        if not self._answers or result is not self._answers[-1]:
            raise WorkNotDoneError("the hook did not answer: no process was started for the last decision")
        for index, answer in zip(self._due, self._answers, strict=False):
            self._require(index, answer, self._expected[index])

    def _require(self, index: int, answer: Answer, wanted: Mapping[str, str]) -> None:
        """Refuse another verdict than ``wanted``, in a sentence without a word of what the process printed."""
        if answer.fault is not None:
            raise WorkNotDoneError(f"the hook did not answer call {index}: {answer.fault}")
        try:
            answered = json.loads(answer.said)
        except (ValueError, RecursionError) as error:
            raise WorkNotDoneError(
                f"the hook answered call {index} with {len(answer.said)} bytes that are no line of JSON"
            ) from error
        given = answered if isinstance(answered, dict) else {}
        differs = [key for key in wanted if not _same(key, given.get(key), wanted[key])]
        if differs or (self._compared == _SAID and len(given) > len(_SAID)):
            raise WorkNotDoneError(
                f"the hook decided call {index} otherwise than the same code in process, which said "
                f"{wanted['kind']}/{wanted['reason']}: {', '.join(differs) or 'more keys'} not the same"
            )


def _due(verdict: Verdict) -> dict[str, str]:
    """What a hook has to say where this is the verdict."""
    return dict(zip(_SAID, (kind_name(verdict.kind), reason_name(verdict.reason), verdict.by), strict=True))


def _same(key: str, said: object, due: str) -> bool:
    return said == due if key == "by" else same_word(said, due)


def _line(call: ToolCall) -> bytes:
    """The call as the hook reads it: the arguments are the bytes of the trace, or a text of them where no JSON."""
    try:
        json.loads(call.args)
        args = call.args
    except (ValueError, RecursionError):
        args = json.dumps(call.args.decode(errors="replace")).encode()
    tool, meta = json.dumps(call.tool), json.dumps(dict(call.meta))
    return b'{"tool": %s, "args": %s, "meta": %s}\n' % (tool.encode(), args, meta.encode())


class Probe:
    """Opens the spawned decisions of the workload's calls."""

    kpis: ClassVar[frozenset[str]] = frozenset({"spawned_hook_baseline_p50_ns"})

    def open(
        self,
        kpi: str,  # noqa: ARG002
        runtime: Any,
        workload: Workload | None,
        params: Mapping[str, str],
    ) -> CallSlice | Undefined:
        """The slice, or why there is none.

        Raises:
            WorkNotDoneError: the decision in process contradicts what is known of its call; or another's hook does
                not answer, or decides otherwise.
        """
        refused = unusable(workload)
        if refused is not None or workload is None:
            return refused or Undefined("workload-kind", "There is no workload.")
        world, calls = workload.data["world"], calls_of(workload)
        found = offered(runtime, "syscall/hook", "none", world)
        if isinstance(found, Undefined):
            return found
        own = params.get("hook")
        where = () if world == "default" else ("--world", world)
        theirs = own is not None or getattr(found, "command", None) is not None
        if own is None:
            words = getattr(found, "command", None) or [sys.executable, "-P", "-s", "-B", "-m", "harness", "hook"]
            # The subject is on this process's path; the hook must import the very same tree.
            environment = {**os.environ, "PYTHONPATH": str(Path(harness.__file__).resolve().parents[1])}
        else:
            words, environment = shlex.split(own), dict(os.environ)
            if shutil.which(words[0]) is None:
                return Undefined("not-installed", f"The hook cannot be started: there is no program {words[0]}.")

        def started(expected: list[Verdict]) -> SpawnedDecisions:
            compared = _SAID if own is None else _SAID[:2]
            spawned = SpawnedDecisions([*words, *where], calls, expected, environment, compared)
            if theirs:
                spawned.prove()
            return spawned

        opened: SpawnedDecisions = finish(_open(found, started, workload), waits=awaits(found, "decide"))
        return opened


async def _open(
    found: Any, started: Callable[[list[Verdict]], SpawnedDecisions], workload: Workload
) -> SpawnedDecisions:
    return started(await decided(found.decide, workload))
