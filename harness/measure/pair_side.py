"""One side of a pair, seen from the parent: its process, the pipes to it, and what it may answer.

An answer is a line that begins with a token of this one process, says which command it answers, and holds the numbers
that were asked for. Whatever else comes through the pipe, from the code under test or from a child of it, is no answer;
a side that answers something else is one that could not be measured. Nothing here is judged.
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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from harness.measure.heard import MOST_ANSWER
from harness.measure.instrument import worker_environment
from harness.measure.pair_answers import holds
from harness.measure.schedule import PairPlan, Side
from harness.measure.temporary import temporary

__all__ = ["SideJob", "SideWorker", "Unmeasured"]

_FLAGS = ("-P", "-s", "-B")

_GRACE_S = 2.0
"""How long a side may take to end the processes that it has started, after its last value."""


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


class SideWorker:
    """One side's process. Leads a process group of its own, which ends with it whatever the probe started.

    ``adopted``: what it leaves running falls to this process, which ends it afterwards; see
    :class:`harness.measure.orphans.Orphans`.
    """

    def __init__(
        self, side: Side, spec: SideJob, plan: PairPlan, *, deadline: float, folder: Path, adopted: bool
    ) -> None:
        self.side = side
        self._ends = spec.ends
        self._deadline = deadline
        self._adopted = adopted
        self._token = os.urandom(16).hex()
        go_read, self._go = os.pipe()
        self._say, say_write = os.pipe()
        # The worker holds the reading end and is ended by the kernel when this process is gone.
        life_read, self._life = os.pipe()
        handle, name = tempfile.mkstemp(suffix=".json", dir=folder)
        self._file = Path(name)
        job = {**spec.job, "task": "pair", "seed": str(plan.seed), "go_fd": go_read, "say_fd": say_write}
        job |= {"life_fd": life_read, "token": self._token, "limit": max(deadline - time.monotonic(), 1.0)}
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(job, file)
        environment = worker_environment(plan.seed, instrument=spec.instrument)
        environment["LOOPLADDER_PADDING"] = "x" * plan.padding
        self._held = contextlib.ExitStack()
        try:
            self._held.enter_context(temporary(folder, environment))
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
        # Of its own end the pipe does not tell, where a child that it forked still holds it.
        self._end_fd = os.pidfd_open(self._process.pid)
        os.set_blocking(self._say, False)
        self._buffer = bytearray()
        self._told = "open"

    def tell(self, command: str) -> None:
        """Send one command; a worker that is gone is noticed when its answer is awaited."""
        self._told = command
        with contextlib.suppress(BrokenPipeError):
            os.write(self._go, command.encode() + b"\n")

    def hear(self) -> dict[str, Any]:
        """The answer to what it was told last; the first is that it is ready.

        Raises:
            Unmeasured: it said that it cannot be measured, died, answered something else, or nothing in time.
        """
        try:
            answer = json.loads(self._line())
        except (ValueError, RecursionError):
            answer = None
        if isinstance(answer, dict) and "undefined" in answer:
            said = answer["undefined"] if isinstance(answer["undefined"], dict) else {}
            reason, detail = said.get("reason"), said.get("detail")
            if isinstance(reason, str) and isinstance(detail, str):
                raise Unmeasured(self.side, reason, detail)
        elif isinstance(answer, dict) and answer.get("to") == self._told and holds(self._told, answer):
            return answer
        raise self._crashed("Its worker answered what is no answer to its question.")

    def _line(self) -> bytes:
        """The next line that begins with the token, without it."""
        heard, ended = len(self._buffer), False
        while True:
            while b"\n" in self._buffer:
                line, _, self._buffer = self._buffer.partition(b"\n")
                if line.startswith(self._token.encode()):
                    return bytes(line[len(self._token) :])
            if heard > MOST_ANSWER:
                raise self._crashed(f"More than {MOST_ANSWER >> 20} MiB came in the place of its answer.")
            if ended:
                raise self._crashed(f"Its worker ended before it answered ({self._process.wait()}).")
            left = self._deadline - time.monotonic()
            ready = select.select([self._say, self._end_fd], [], [], left)[0] if left > 0 else []
            if not ready:
                raise Unmeasured(self.side, "timeout", "It did not answer within the limit of its pair.")
            chunk = self._read()
            heard += len(chunk or b"")
            self._buffer += chunk or b""
            if chunk == b"":  # nobody can write any more; a worker that lives on has closed its pipe
                self._end_within(_GRACE_S)
            # What it wrote before it ended is still to be read.
            ended = chunk == b"" or (chunk is None and self._end_fd in ready)

    def _end_within(self, seconds: float) -> None:
        if not select.select([self._end_fd], [], [], seconds)[0]:
            self._process.kill()

    def _read(self) -> bytes | None:
        """What there is; None where there is nothing now."""
        try:
            return os.read(self._say, 1 << 16)
        except BlockingIOError:
            return None

    def _crashed(self, detail: str) -> Unmeasured:
        return Unmeasured(self.side, "crashed", detail)

    def ended(self) -> None:
        """Await the end of a worker that says how it ended, or that still has children to end.

        Raises:
            Unmeasured: it did not end well.
        """
        if self._ends:
            self.hear()
        if self._has_children():
            select.select([self._end_fd], [], [], min(_GRACE_S, max(self._deadline - time.monotonic(), 0.0)))

    def _has_children(self) -> bool:
        pid = self._process.pid
        with contextlib.suppress(OSError):  # it has ended, or the kernel does not tell
            return bool(Path(f"/proc/{pid}/task/{pid}/children").read_bytes())
        return False

    def __enter__(self) -> SideWorker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for fd in (self._go, self._say, self._life):
            os.close(fd)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            # Before the wait: as long as the leader was not waited for, nobody else can have its number.
            (os.kill if self._adopted else os.killpg)(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._end_fd)
        self._held.close()
        self._file.unlink(missing_ok=True)
