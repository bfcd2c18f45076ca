"""Starts a worker, waits for its one answer within a limit, and leaves no process behind.

The worker leads a process group of its own: when it is done, late or dead, the whole group is ended, so that a
probe that forked or hangs costs one reading and nothing else. What the probe prints is drained and counted, never
mixed with the answer.
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
from typing import Any

__all__ = ["INSTRUMENT", "Answer", "launch", "worker_environment"]

INSTRUMENT = str(Path(__file__).resolve().parents[2])
"""The folder that holds the packages of the instrument: harness, kpis, seams."""

_KEPT_OUTPUT = 64 * 1024
_FLAGS = ("-P", "-s", "-B")


@dataclass(slots=True)
class Answer:
    """What came of one worker. ``undefined`` is (reason, detail) where no result came."""

    result: dict[str, Any] = field(default_factory=dict)
    undefined: tuple[str, str] | None = None
    printed: int = 0
    output: str = ""
    seconds: float = 0.0


def worker_environment(seed: int, *, instrument: str = INSTRUMENT) -> dict[str, str]:
    """The parent's environment with the instrument first on the path and the hash seed set.

    The path comes by PYTHONPATH and not by -I or -E, which would drop the hash seed with it.
    """
    environment = dict(os.environ)
    inherited = environment.get("PYTHONPATH")
    environment["PYTHONPATH"] = os.pathsep.join([instrument, inherited] if inherited else [instrument])
    environment["PYTHONHASHSEED"] = str(seed)
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
    """Run one worker on ``job`` within ``limit`` seconds. ``folder`` takes the job file; ``cwd`` is the project root.

    ``prefix`` is a command that runs the worker's: a counter around the whole process.

    Never raises for what a probe does: a crash, a hang, a worker that answers nothing are values of the answer.
    KeyboardInterrupt passes through after the group is ended.
    """
    began = time.monotonic()
    handle, job_file = tempfile.mkstemp(suffix=".json", dir=folder)
    read_fd, write_fd = os.pipe()
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({**job, "seed": str(seed)}, file)
        process = _start(job_file, write_fd, worker_environment(seed, instrument=instrument), cwd, prefix)
        os.close(write_fd)
        write_fd = -1
        try:
            heard = _drain(process, read_fd, began + limit)
        finally:
            _end_group(process)
    finally:
        os.close(read_fd)
        if write_fd >= 0:
            os.close(write_fd)
        Path(job_file).unlink(missing_ok=True)
    answer = Answer(printed=heard.printed, output=heard.output.decode("utf-8", "replace"))
    answer.seconds = time.monotonic() - began
    if heard.late:
        answer.undefined = ("timeout", f"It did not end within its limit of {limit:.0f} s.")
    else:
        _read_answer(answer, bytes(heard.blob), process.returncode)
    return answer


def _start(
    job_file: str, write_fd: int, environment: dict[str, str], cwd: Path, prefix: Sequence[str]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*prefix, sys.executable, *_FLAGS, "-m", "harness", "worker", job_file, str(write_fd)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(write_fd,),
        start_new_session=True,
        env=environment,
        cwd=cwd,
    )


@dataclass(slots=True)
class _Heard:
    """What came through the two pipes of a worker."""

    blob: bytearray = field(default_factory=bytearray)
    output: bytearray = field(default_factory=bytearray)
    printed: int = 0
    late: bool = False

    def take(self, what: str, chunk: bytes) -> None:
        """Keep ``chunk``; of the output only the beginning, for a probe may print without end."""
        if what == "answer":
            self.blob += chunk
        else:
            self.printed += len(chunk)
            self.output += chunk[: max(_KEPT_OUTPUT - len(self.output), 0)]


def _drain(process: subprocess.Popen[bytes], read_fd: int, deadline: float) -> _Heard:
    """Read answer and output until the worker has ended or its time is up."""
    heard = _Heard()
    if process.stdout is None:
        raise RuntimeError("the worker was started without a pipe for its output")
    # A pidfd tells of the worker's own end, even where a child that it forked still holds the pipes.
    pid_fd = os.pidfd_open(process.pid)
    try:
        with process.stdout, selectors.DefaultSelector() as selector:
            selector.register(read_fd, selectors.EVENT_READ, "answer")
            selector.register(process.stdout, selectors.EVENT_READ, "output")
            selector.register(pid_fd, selectors.EVENT_READ, "end")
            ended = False
            while not ended:
                left = deadline - time.monotonic()
                if left <= 0:
                    heard.late = True
                    return heard
                for key, _ in selector.select(left):
                    if key.data == "end":
                        ended = True
                    elif chunk := os.read(key.fd, 1 << 16):
                        heard.take(key.data, chunk)
                    else:
                        selector.unregister(key.fileobj)
            heard.take("answer", _rest(read_fd))
            heard.take("output", _rest(process.stdout.fileno()))
    finally:
        os.close(pid_fd)
    return heard


def _rest(fd: int) -> bytes:
    """What the pipe still holds now, without waiting for whoever else has it open."""
    os.set_blocking(fd, False)
    held = bytearray()
    with contextlib.suppress(BlockingIOError):
        while chunk := os.read(fd, 1 << 16):
            held += chunk
    return bytes(held)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _read_answer(answer: Answer, blob: bytes, code: int | None) -> None:
    if not blob.endswith(b"\n"):
        how = f"was ended by signal {-code}" if code is not None and code < 0 else f"ended with exit status {code}"
        answer.undefined = ("crashed", f"Its worker {how} before it answered.")
        return
    result = json.loads(blob)
    refused = result.get("undefined")
    if refused is not None:
        answer.undefined = (refused["reason"], refused["detail"])
        answer.output += result.get("traceback", "")
    answer.result = result
