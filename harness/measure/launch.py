"""Starts a worker, waits for its one answer within a limit, and leaves no process behind.

Once the answer has come the worker is done, and whatever it left running is ended: a probe that forks, hangs or makes
daemons costs one reading and nothing else. Refuses to read the answer: :mod:`harness.measure.answer` does.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.measure.answer import Answer, read_answer
from harness.measure.heard import MOST_ANSWER, Heard, listen, output_of, rest
from harness.measure.instrument import INSTRUMENT, worker_environment
from harness.measure.orphans import Orphans
from harness.measure.temporary import temporary

__all__ = ["launch"]

_GRACE_S = 2.0
"""How long a worker may take to end after its answer: an interpreter with heavy packages needs some tenths."""

_COUNTED_GRACE_S = 60.0
"""The same inside a counter of instructions, which runs an interpreter's end about fifty times as slowly."""

_FLAGS = ("-P", "-s", "-B")


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
    heard = Heard(os.urandom(16).hex())
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
        output = held.enter_context(output_of(process))
        left = 0
        try:
            listen(process, read_fd, began + limit, _COUNTED_GRACE_S if prefix else _GRACE_S, heard)
        finally:
            left = _end(process, orphans)
        heard.take("answer", rest(read_fd))
        heard.take("output", rest(output.fileno()))
    answer = Answer(printed=heard.printed, output=heard.output.decode("utf-8", "replace"))
    answer.seconds = time.monotonic() - began
    read_answer(answer, heard, process.returncode, limit)
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
