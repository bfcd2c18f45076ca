"""One question to one child process, bounded in time and in bytes, and no child left behind where it goes wrong.

The child has a session of its own, so that a deadline ends what it started as well. No shell is started. What it says
on its standard error is kept in its last bytes only. It judges no answer: an exit code is the caller's to read.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from typing import IO, NamedTuple

__all__ = ["Answer", "ChildError", "ask"]

_PART = 65_536
_SAID = 4_096


class Answer(NamedTuple):
    """How a child ended, what it wrote, and the end of what it said on its standard error."""

    code: int
    out: bytes
    said: str


class ChildError(Exception):
    """There is no answer; the sentence begins with the command and does not say what to type next."""


def ask(
    command: Sequence[str],
    *,
    seconds: float,
    most: int,
    cwd: Path | None = None,
    feed: bytes = b"",
    environment: Mapping[str, str] | None = None,
) -> Answer:
    """Start ``command``, hand it ``feed``, and read what it writes, up to ``most`` bytes, until it ends.

    Raises:
        ChildError: it cannot be started, wrote more than that, or had not ended within ``seconds``. It is killed then,
            with all of its session.
    """
    shown = shlex.join(command)[:200]
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env=None if environment is None else dict(environment),
            start_new_session=True,
            bufsize=0,
        )
    except (OSError, ValueError) as error:  # a ValueError where a word holds a NUL
        why = getattr(error, "strerror", None) or str(error)
        raise ChildError(f"{shown!r} cannot be started: {why}") from error
    done = False
    try:
        answer = _exchange(process, feed, time.monotonic() + seconds, most)
        done = answer is not None
    finally:
        if not done:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()
    if answer is None:
        raise ChildError(f"{shown!r} had not ended within {seconds:g} s, or wrote more than {most:,} bytes")
    return answer


def _exchange(process: subprocess.Popen[bytes], feed: bytes, until: float, most: int) -> Answer | None:
    """Write and read in turn, as either is possible; None where the time or the bytes ran out."""
    into, out, err = process.stdin, process.stdout, process.stderr
    assert into is not None
    assert out is not None
    assert err is not None
    os.set_blocking(into.fileno(), False)
    left, wrote, said = memoryview(feed), bytearray(), bytearray()
    with DefaultSelector() as pipes:
        pipes.register(into, EVENT_WRITE)
        pipes.register(out, EVENT_READ)
        pipes.register(err, EVENT_READ)
        while pipes.get_map():
            ready = pipes.select(max(until - time.monotonic(), 0))
            if not ready:
                return None
            for key, _ in ready:
                pipe: IO[bytes] = key.fileobj  # type: ignore[assignment]
                if pipe is into:
                    try:
                        left = left[os.write(into.fileno(), left[:_PART]) :] if left else left
                    except BrokenPipeError:
                        left = left[:0]
                    if not left:
                        pipes.unregister(into)
                        into.close()
                    continue
                part = os.read(pipe.fileno(), _PART)
                if not part:
                    pipes.unregister(pipe)
                elif pipe is out:
                    wrote += part
                else:
                    said = (said + part)[-_SAID:]
            if len(wrote) > most or time.monotonic() > until:
                return None
    try:
        code = process.wait(max(until - time.monotonic(), 0.001))
    except subprocess.TimeoutExpired:
        return None
    return Answer(code, bytes(wrote), said.decode("utf-8", "replace"))
