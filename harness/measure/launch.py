"""Starts a worker, waits for its one answer within a limit, and leaves no process behind.

The answer is a line that begins with a token which this launch alone knows: whatever else comes through the pipe, from
a probe or from a child that it forked, is no answer. Once the line has come the worker is done, and whatever it left
running is ended: a probe that forks, hangs or makes daemons costs one reading and nothing else. What the probe prints
is drained and counted, never mixed with the answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from harness.measure.orphans import Orphans
from harness.measure.temporary import temporary

__all__ = ["INSTRUMENT", "MOST_ANSWER", "Answer", "launch", "worker_environment"]

INSTRUMENT = str(Path(__file__).resolve().parents[2])
"""The folder that holds the packages of the instrument: harness, kpis, seams."""

MOST_ANSWER = 16 * 2**20
"""Bytes of an answer: the largest honest ones, lists of touched files, are a hundredth of it."""

_KEPT_OUTPUT = 64 * 1024
_MOST_REST = 2**20
"""What a pipe can hold at most after its writers are gone (/proc/sys/fs/pipe-max-size)."""

_GRACE_S = 2.0
"""How long a worker may take to end after its answer: an interpreter with heavy packages needs some tenths."""

_COUNTED_GRACE_S = 60.0
"""The same inside a counter of instructions, which runs an interpreter's end about fifty times as slowly."""

_FLAGS = ("-P", "-s", "-B")


@dataclass(slots=True)
class Answer:
    """What came of one worker. ``undefined`` is (reason, detail) where no result came.

    ``notices`` are sentences about how the worker ended: not by itself, with an error, or leaving processes behind.
    """

    result: dict[str, Any] = field(default_factory=dict)
    undefined: tuple[str, str] | None = None
    printed: int = 0
    output: str = ""
    seconds: float = 0.0
    notices: list[str] = field(default_factory=list)


def worker_environment(seed: int, *, instrument: str = INSTRUMENT) -> dict[str, str]:
    """The parent's environment with the instrument first on the path and the hash seed set.

    The path comes by PYTHONPATH and not by -I or -E, which would drop the hash seed with it.
    """
    environment = dict(os.environ)
    inherited = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join([instrument, inherited] if inherited else [instrument])
    environment["PYTHONHASHSEED"] = str(seed)
    if sys.flags.utf8_mode:
        environment.setdefault("PYTHONUTF8", "1")  # `python -X utf8` is the parent's alone
    for name in ("PYTHONSAFEPATH", "PYTHONPYCACHEPREFIX"):  # -P is given; compiled files lie beside their sources
        environment.pop(name, None)
    return environment


def launch(
    job: Mapping[str, Any],
    *,
    seed: int,
    limit: float,
    folder: Path,
    cwd: Path,
    prefix: Sequence[str] = (),
    instrument: str = INSTRUMENT,
) -> Answer:
    """Run one worker on ``job`` within ``limit`` seconds. ``cwd`` is the project root.

    ``folder`` takes the job file and all temporary files of the worker, which are removed when it has ended.

    ``prefix`` is a command that runs the worker's: a counter around the whole process.

    Never raises for what a probe does: a crash, a hang, a worker that answers nothing are values of the answer.
    KeyboardInterrupt passes through after everything that was started is ended. One launch at a time in a process.
    """
    began = time.monotonic()
    heard = _Heard(os.urandom(16).hex())
    handle, job_file = tempfile.mkstemp(suffix=".json", dir=folder)
    read_fd, write_fd = os.pipe()
    # Nothing is ever written here: its end tells the worker that this process is gone.
    life_read, life_write = os.pipe()
    with contextlib.ExitStack() as held:
        held.callback(Path(job_file).unlink, missing_ok=True)
        held.callback(os.close, read_fd)
        held.callback(os.close, life_write)
        orphans = held.enter_context(Orphans())
        try:
            environment = worker_environment(seed, instrument=instrument)
            held.enter_context(temporary(folder, environment))
            more = {"seed": str(seed), "token": heard.token, "most": MOST_ANSWER, "life_fd": life_read}
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump({**job, **more}, file)
            process = _start(job_file, (write_fd, life_read), environment, cwd, prefix)
        finally:
            os.close(write_fd)
            os.close(life_read)
        output = held.enter_context(_output(process))
        left = 0
        try:
            _listen(process, read_fd, began + limit, _COUNTED_GRACE_S if prefix else _GRACE_S, heard)
        finally:
            left = _end(process, orphans)
        heard.take("answer", _rest(read_fd))
        heard.take("output", _rest(output.fileno()))
    answer = Answer(printed=heard.printed, output=heard.output.decode("utf-8", "replace"))
    answer.seconds = time.monotonic() - began
    _read_answer(answer, heard, process.returncode, limit)
    if left:
        some = "A process" if left == 1 else f"{left} processes"
        answer.notices.append(f"{some} that the probe had started outlived the worker and had to be ended.")
    return answer


def _start(
    job_file: str, fds: tuple[int, int], environment: dict[str, str], cwd: Path, prefix: Sequence[str]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*prefix, sys.executable, *_FLAGS, "-m", "harness", "worker", job_file, str(fds[0])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=fds,
        start_new_session=True,
        env=environment,
        cwd=cwd,
    )


@dataclass(slots=True)
class _Heard:
    """What came through the two pipes of a worker. ``line`` is its answer, once it has come."""

    token: str
    line: bytes | None = None
    output: bytearray = field(default_factory=bytearray)
    printed: int = 0
    late: bool = False
    lingers: bool = False
    flooded: bool = False
    _strange: bool = False
    _blob: bytearray = field(default_factory=bytearray)
    _size: int = 0

    def take(self, what: str, chunk: bytes) -> None:
        """Keep ``chunk``; of the output only the beginning, for a probe may print without end."""
        if what == "output":
            self.printed += len(chunk)
            self.output += chunk[: max(_KEPT_OUTPUT - len(self.output), 0)]
        elif self.line is None:
            self._size += len(chunk)
            self._blob += chunk
            if b"\n" in chunk:
                self._look()
            self.flooded = self.line is None and self._size > MOST_ANSWER + len(self.token) + 2

    def _look(self) -> None:
        """Take the worker's line from those that are whole, and forget the others."""
        *lines, self._blob = self._blob.split(b"\n")
        for line in lines:
            if line.startswith(self.token.encode()):
                self.line = bytes(line[len(self.token) :])
                return
            self._strange = self._strange or bool(line)

    @property
    def strange(self) -> bool:
        """Whether something came through the pipe of the answer that the worker did not write."""
        begun = self._blob[: len(self.token)]
        return self._strange or not self.token.encode().startswith(begun)


def _output(process: subprocess.Popen[bytes]) -> IO[bytes]:
    if process.stdout is None:
        raise RuntimeError("the worker was started without a pipe for its output")
    return process.stdout


def _listen(process: subprocess.Popen[bytes], read_fd: int, deadline: float, grace: float, heard: _Heard) -> None:
    """Read answer and output until the worker has ended, or its time is up, or its grace after the answer."""
    # A pidfd tells of the worker's own end, even where a child that it forked still holds the pipes.
    pid_fd = os.pidfd_open(process.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(read_fd, selectors.EVENT_READ, "answer")
            selector.register(_output(process), selectors.EVENT_READ, "output")
            selector.register(pid_fd, selectors.EVENT_READ, "end")
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    heard.late, heard.lingers = heard.line is None, heard.line is not None
                    return
                ended = False
                for key, _ in selector.select(left):
                    if key.data == "end":
                        ended = True
                    elif chunk := os.read(key.fd, 1 << 16):
                        heard.take(key.data, chunk)
                        if key.data == "answer" and heard.line is not None:
                            selector.unregister(read_fd)
                            deadline = time.monotonic() + grace
                    else:
                        selector.unregister(key.fileobj)
                if ended or heard.flooded:
                    return
    finally:
        os.close(pid_fd)


def _rest(fd: int) -> bytes:
    """What the pipe still holds now, without waiting for whoever else has it open."""
    os.set_blocking(fd, False)
    held = bytearray()
    with contextlib.suppress(BlockingIOError):
        while len(held) < _MOST_REST and (chunk := os.read(fd, 1 << 16)):
            held += chunk
    return bytes(held)


def _end(process: subprocess.Popen[bytes], orphans: Orphans) -> int:
    """End the worker and all that it started; how many processes besides the worker had to be ended."""
    if orphans.adopting:
        process.kill()
        process.wait()
        return orphans.end()
    # Before the wait: as long as the leader was not waited for, nobody else can have the number of its group.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return 0


def _read_answer(answer: Answer, heard: _Heard, code: int, limit: float) -> None:
    how = f"was ended by signal {-code}" if code < 0 else f"ended with exit status {code}"
    if heard.line is None:
        if heard.flooded:
            answer.undefined = ("bad-value", f"Its answer is longer than {MOST_ANSWER >> 20} MiB.")
        elif heard.late:
            answer.undefined = ("timeout", f"It did not end within its limit of {limit:.1f} s.")
        else:
            strange = "; something else wrote to the pipe for its answer" if heard.strange else ""
            answer.undefined = ("crashed", f"Its worker {how} before it answered{strange}.")
        return
    if heard.lingers:
        answer.notices.append(
            "The worker had answered and did not end by itself (a thread or a close() that hangs?); it was ended."
        )
    elif code:
        answer.notices.append(f"The worker {how} after it had answered.")
    try:
        result = json.loads(heard.line, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        answer.undefined = ("crashed", f"Its worker answered what cannot be read: {str(error)[:200]}.")
        return
    if not isinstance(result, dict):
        answer.undefined = ("crashed", "Its worker answered what is no answer.")
        return
    refused = result.get("undefined")
    if refused is not None:
        words = [refused.get(name) for name in ("reason", "detail")] if isinstance(refused, dict) else [None]
        if not all(isinstance(word, str) for word in words):
            answer.undefined = ("crashed", "Its worker answered undefined without a reason.")
            return
        answer.undefined = (refused["reason"], refused["detail"])
        answer.output += str(result.get("traceback", ""))
    answer.result = result


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number")
