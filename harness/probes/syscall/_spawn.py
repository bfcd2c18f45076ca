"""One question to one process: a line on its standard input, and what it says until it closes its standard output.

The process is anybody's, so its answer is bounded in bytes and its life in time, and whatever it does otherwise is a
fault in words. Nothing of what it prints is kept in a sentence, and no shell is started. A probe keeps no clock, so the
deadline is a number of moments: each waits for a sign of life, and none is waited for twice.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from typing import NamedTuple

__all__ = ["DEADLINE_S", "LONGEST", "Answer", "ask"]

LONGEST = 65_536
"""Bytes of an answer; a verdict is a short line."""

DEADLINE_S = 10
"""Seconds within which it has answered and ended."""

_MOMENTS = 500
"""Parts that it reads or writes at most, and moments of silence; a call and a verdict are a handful."""


class Answer(NamedTuple):
    """What came of a process; ``fault`` says in words why it is no answer."""

    said: bytes
    fault: str | None = None


def ask(command: Sequence[str], line: bytes, environment: Mapping[str, str]) -> Answer:
    """Start ``command``, hand it ``line``, and wait for its end; one that has not ended in time is killed."""
    try:
        process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment, bufsize=0)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        return Answer(b"", f"its process cannot be started: {why}")
    with process:
        answer, moments = _exchange(process, line)
        if answer.fault is None:
            try:
                process.wait(moments * DEADLINE_S / _MOMENTS)
            except TimeoutExpired:
                answer = Answer(b"", f"it closed its output and had not ended within {DEADLINE_S} s")
        if answer.fault is not None:
            process.kill()
    if answer.fault is None and process.returncode != 0:
        return Answer(answer.said, f"it ended with code {process.returncode}")
    return answer


def _exchange(process: Popen[bytes], line: bytes) -> tuple[Answer, int]:
    """Write and read in turn, as either is possible: a process may answer before it has read, or never read.

    With the answer the moments that are left for its end.
    """
    into, out = process.stdin, process.stdout
    if into is None or out is None:
        return Answer(b"", "it has no pipes"), 0
    os.set_blocking(into.fileno(), False)
    left, said = memoryview(line), bytearray()
    with DefaultSelector() as both:
        both.register(into, EVENT_WRITE)
        both.register(out, EVENT_READ)
        for moment in range(_MOMENTS):
            if not both.get_map():
                return Answer(bytes(said)), _MOMENTS - moment
            for key, _ in both.select(DEADLINE_S / _MOMENTS):
                if key.fileobj is into:
                    try:
                        left = left[os.write(into.fileno(), left) :]
                    except BrokenPipeError:
                        left = left[:0]
                    if not left:
                        both.unregister(into)
                        into.close()
                    continue
                part = os.read(out.fileno(), LONGEST)
                said += part
                if not part:
                    both.unregister(out)
                elif len(said) > LONGEST:
                    return Answer(b"", f"it said more than {LONGEST:,} bytes"), 0
    return Answer(b"", f"it had not answered within {DEADLINE_S} s"), 0
