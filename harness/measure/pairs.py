"""Runs a pair: a new process for each of the two sides, both waiting at a pipe, let go alternately.

Answers what both sides measured, or which side could not be measured and why. It never drops a pair, never repeats
one, and knows nothing of thresholds: judging is the judge's.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.measure.launch import worker_environment
from harness.measure.schedule import PairPlan, Side

__all__ = ["LEAST_LOOPS", "Load", "Pair", "SideJob", "Unmeasured", "calibrate", "run_pair"]

_FLAGS = ("-P", "-s", "-B")


class Unmeasured(Exception):  # noqa: N818 - a side that gives no number is an answer of the pair
    """``side`` could not be measured: a reason by value, and one sentence."""

    def __init__(self, side: Side, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.side = side
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class SideJob:
    """What one side runs: the job, the root that comes first on its path, where it runs.

    ``ends``: after its last value it says how it ended, and the pair counts only if it ended well.
    """

    job: Mapping[str, Any]
    instrument: str
    cwd: Path
    ends: bool = False


LEAST_LOOPS = 34
"""Loops that an injection needs at least: 3 % of 34 calls is one call, so that the truth is exact."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a value of each side runs: ``loops`` calls, the head's ``inject`` times as many, both divided by ``loops``.

    Stamped calls (``means`` False) are injected by blocks: the base stamps 34 calls together, the head more.
    """

    loops: int
    means: bool
    inject: float = 1.0

    def command(self, side: Side) -> str:
        """The line that releases a side."""
        if self.inject == 1.0:
            return f"time {self.loops}"
        if self.means:
            return f"time {self.loops if side == 'base' else self.more(self.loops)}"
        block = LEAST_LOOPS if side == "base" else self.more(LEAST_LOOPS)
        return f"time {block * max(self.loops // LEAST_LOOPS, 1)} {block}"

    def more(self, calls: int) -> int:
        """What the head runs for ``calls`` of the base."""
        return round(self.inject * calls)

    @property
    def divisor(self) -> int:
        """Calls that a value is divided by, the same on both sides."""
        if self.means:
            return self.loops
        return 1 if self.inject == 1.0 else LEAST_LOOPS

    @property
    def truth(self) -> float:
        """The ratio that was injected, exactly."""
        of = self.loops if self.means else LEAST_LOOPS
        return self.more(of) / of


@dataclass(slots=True)
class Pair:
    """The values of both sides in ns a call, round by round, and what disturbed them."""

    wall: dict[Side, list[float]] = field(default_factory=lambda: {"base": [], "head": []})
    cpu: dict[Side, list[float]] = field(default_factory=lambda: {"base": [], "head": []})
    displaced: dict[Side, int] = field(default_factory=lambda: {"base": 0, "head": 0})
    seconds: float = 0.0


class _Worker:
    """One side's process. Leads a process group of its own, which ends with it whatever the probe started."""

    def __init__(self, side: Side, spec: SideJob, plan: PairPlan, deadline: float, folder: Path) -> None:
        self.side = side
        self._ends = spec.ends
        self._deadline = deadline
        go_read, self._go = os.pipe()
        self._say, say_write = os.pipe()
        # The worker holds the reading end and is ended by the kernel when this process is gone.
        life_read, self._life = os.pipe()
        handle, name = tempfile.mkstemp(suffix=".json", dir=folder)
        self._file = Path(name)
        job = {**spec.job, "task": "pair", "seed": str(plan.seed), "go_fd": go_read, "say_fd": say_write}
        job["life_fd"] = life_read
        job["limit"] = max(deadline - time.monotonic(), 1.0)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(job, file)
        environment = worker_environment(plan.seed, instrument=spec.instrument)
        environment["LOOPLADDER_PADDING"] = "x" * plan.padding
        try:
            self._process = subprocess.Popen(
                [sys.executable, *_FLAGS, "-m", "harness", "worker", name, str(say_write)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(go_read, say_write, life_read),
                start_new_session=True,
                env=environment,
                cwd=spec.cwd,
            )
        finally:
            for fd in (go_read, say_write, life_read):
                os.close(fd)
        self._buffer = bytearray()

    def tell(self, command: str) -> None:
        """Send one command; a worker that is gone is noticed when its answer is awaited."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._go, command.encode() + b"\n")

    def hear(self) -> dict[str, Any]:
        """The next answer.

        Raises:
            Unmeasured: it said that it cannot be measured, died, or did not answer in time.
        """
        while b"\n" not in self._buffer:
            left = self._deadline - time.monotonic()
            if left <= 0 or not select.select([self._say], [], [], left)[0]:
                raise Unmeasured(self.side, "timeout", "It did not answer within the limit of its pair.")
            chunk = os.read(self._say, 1 << 16)
            if not chunk:
                raise Unmeasured(self.side, "crashed", f"Its worker ended before it answered ({self._process.wait()}).")
            self._buffer += chunk
        line, _, rest = bytes(self._buffer).partition(b"\n")
        self._buffer = bytearray(rest)
        answer: dict[str, Any] = json.loads(line)
        if "undefined" in answer:
            raise Unmeasured(self.side, answer["undefined"]["reason"], answer["undefined"]["detail"])
        return answer

    def ended(self) -> None:
        """Await the end of a worker that says how it ended.

        Raises:
            Unmeasured: it did not end well.
        """
        if self._ends:
            self.hear()

    def __enter__(self) -> _Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for fd in (self._go, self._say, self._life):
            os.close(fd)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._file.unlink(missing_ok=True)


def calibrate(side: Side, spec: SideJob, plan: PairPlan, *, limit: float, folder: Path) -> tuple[int, float]:
    """Loops a value of one side, and how long that value lasts in ns.

    Raises:
        Unmeasured: the side gives no number.
    """
    with _Worker(side, spec, plan, time.monotonic() + limit, folder) as worker:
        worker.hear()
        worker.tell("calibrate")
        answer = worker.hear()
        worker.tell("quit")
        worker.ended()
        return int(answer["loops"]), float(answer["wall_ns"])


def run_pair(
    specs: Mapping[Side, SideJob],
    plan: PairPlan,
    *,
    load: Load,
    limit: float,
    folder: Path,
    trace: list[tuple[Side, str]] | None = None,
) -> Pair:
    """Run one pair as ``plan`` says.

    ``trace`` collects what ran in which order. Both sides run one value more than they report, as warm-up.

    Raises:
        Unmeasured: a side gives no number; the pair is then void as a whole.
    """
    began = time.monotonic()
    pair = Pair()
    order: Sequence[Side] = (plan.starts, _other(plan.starts))
    with contextlib.ExitStack() as stack:
        workers = {side: stack.enter_context(_Worker(side, specs[side], plan, began + limit, folder)) for side in order}
        for side in order:
            workers[side].hear()
        for number, first in enumerate((plan.rounds[0], *plan.rounds)):
            for side in (first, _other(first)):
                if trace is not None:
                    trace.append((side, "warm-up" if number == 0 else "value"))
                workers[side].tell(load.command(side))
                answer = workers[side].hear()
                if number:
                    pair.wall[side].append(answer["wall_ns"] / load.divisor)
                    pair.cpu[side].append(answer["cpu_ns"] / load.divisor)
                    pair.displaced[side] += answer["displaced"]
        for worker in workers.values():
            worker.tell("quit")
        for worker in workers.values():
            worker.ended()
    pair.seconds = time.monotonic() - began
    return pair


def _other(side: Side) -> Side:
    return "head" if side == "base" else "base"
