"""Runs a candidate's commands one after the other and leaves no process of theirs behind; a program of its own.

Each line of its standard input is a job, and each is answered by one line of its standard output. It is the process to
which the children of dead processes fall, so that a daemon is found however often it forked and whatever session it
went to. Where its input ends, the loop is done, or dead, killed perhaps, and everything ends at once. A command that
leaves a process behind has failed. Standard library only; what it cannot prevent stands in :mod:`seams.rsi.confine`.
"""

from __future__ import annotations

import ctypes
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import IO, Any

from seams.rsi.confine import interface, restriction
from seams.rsi.ending import end

__all__ = ["main"]

_DEATH_SIGNAL, _SUBREAPER = 1, 36  # PR_SET_PDEATHSIG and PR_SET_CHILD_SUBREAPER of <sys/prctl.h>
_LIBC = ctypes.CDLL(None)
_KEPT = 64 * 1024
"""Bytes of output that are kept, of its beginning and of its end each; the rest is drained."""


class _LoopGone(Exception):  # noqa: N818 - nobody is there any more to be told of an error
    """The other end of the standard input was closed."""


class _Output:
    """What a command said, in bounded space."""

    def __init__(self) -> None:
        self.head = bytearray()
        self.tail = bytearray()

    def take(self, chunk: bytes) -> None:
        room = _KEPT - len(self.head)
        self.head += chunk[: max(room, 0)]
        self.tail = (self.tail + chunk[max(room, 0) :])[-_KEPT:]

    @property
    def text(self) -> str:
        return (self.head + self.tail).decode("utf-8", "replace")


def main() -> int:
    """Do jobs until there are no more."""
    _LIBC.prctl(_SUBREAPER, 1, 0, 0, 0)
    # No job comes before the last one was answered, so that nothing is read ahead.
    while line := sys.stdin.buffer.readline():
        job = json.loads(line)
        outcomes: list[dict[str, Any]] = []
        try:
            while len(outcomes) < len(job["commands"]) and not (outcomes and outcomes[-1]["fault"]):
                outcomes.append(_outcome(job["commands"][len(outcomes)], job))
        except _LoopGone:
            return 1
        report = {"confined": interface() if job["confine"] else 0, "outcomes": outcomes}
        print(json.dumps(report), flush=True)  # noqa: T201 - this is the answer
    return 0


def _outcome(words: list[str], job: Mapping[str, Any]) -> dict[str, Any]:
    """What came of one command: what it said, and why it failed."""
    held, output = None, _Output()
    try:
        # Where the kernel can confine and then does not, the command is not run at all.
        held = restriction(job["writable"]) if job["confine"] else None
        process = _start(words, job, None if held is None else held[0])
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return {"fault": f"could not start: {error}", "said": ""}
    finally:
        if held is not None:
            os.close(held[1])
    late = True  # where listening fails, the command has not ended by itself either
    try:
        late = _listen(process, time.monotonic() + job["limit_s"], output)
    finally:
        left = end(process, settle=not late)
        _drain(process, output)
    return {"fault": _fault(process.returncode, late, left, job["limit_s"]), "said": output.text}


def _start(words: list[str], job: Mapping[str, Any], restrict: Callable[[], None] | None) -> subprocess.Popen[bytes]:
    def before() -> None:
        # A candidate that can signal us may kill us: then the command dies too, though not what it started.
        _LIBC.prctl(_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
        if restrict is not None:
            restrict()

    return subprocess.Popen(
        words,
        cwd=job["cwd"],
        env=job["environment"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        preexec_fn=before,  # noqa: PLW1509 - there is one thread here
    )


def _fault(code: int, late: bool, left: int, limit_s: float) -> str | None:
    if late:
        return f"did not end within {limit_s:g} s"
    if code < 0:
        return f"was ended by signal {-code}"
    if code > 0:
        return f"exited with status {code}"
    if left:
        return f"left {left} {'process' if left == 1 else 'processes'} running"
    return None


def _listen(process: subprocess.Popen[bytes], deadline: float, output: _Output) -> bool:
    """Take its output until it has ended; True where its time was up first.

    Raises:
        _LoopGone: nobody waits for the report any more.
    """
    # A descriptor of the process tells of its own end, even where a child that it forked still holds the pipe.
    handle = os.pidfd_open(process.pid)
    pipe = _pipe(process)
    try:
        with selectors.DefaultSelector() as selector:
            for source, name in ((handle, "end"), (pipe, "output"), (sys.stdin, "loop")):
                selector.register(source, selectors.EVENT_READ, name)
            while (left := deadline - time.monotonic()) > 0:
                ready = {key.data: key.fileobj for key, _ in selector.select(left)}
                if "loop" in ready:
                    raise _LoopGone
                if "output" in ready:
                    chunk = os.read(pipe.fileno(), 1 << 16)
                    output.take(chunk)
                    if not chunk:
                        selector.unregister(pipe)
                if "end" in ready:
                    return False
    finally:
        os.close(handle)
    return True


def _pipe(process: subprocess.Popen[bytes]) -> IO[bytes]:
    if process.stdout is None:
        raise RuntimeError("the command was started without a pipe for its output")
    return process.stdout


def _drain(process: subprocess.Popen[bytes], output: _Output) -> None:
    """What the pipe still holds, without waiting for whoever else has it open."""
    pipe = _pipe(process)
    os.set_blocking(pipe.fileno(), False)
    with suppress(BlockingIOError):
        # No pipe holds more than this; what comes later comes from somebody who could not be ended.
        for _ in range(16):
            output.take(os.read(pipe.fileno(), 1 << 16))
    pipe.close()


if __name__ == "__main__":
    sys.exit(main())
