"""One question to one process: a line on its standard input, and what it says until it closes its standard output.

The process is anybody's, so its answer is bounded in bytes and its silence in time, and whatever it does otherwise is a
fault in words. Nothing of what it prints is kept in a sentence, and no shell is started.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector
from subprocess import DEVNULL, PIPE, Popen
from typing import NamedTuple

__all__ = ["LONGEST", "SILENT_S", "Answer", "ask"]

LONGEST = 65_536
"""Bytes of an answer; a verdict is a short line."""

SILENT_S = 10
"""Seconds without a sign of life, while something is waited for."""


class Answer(NamedTuple):
    """What came of a process; ``fault`` says in words why it is no answer."""

    said: bytes
    fault: str | None = None


def ask(command: Sequence[str], line: bytes, environment: Mapping[str, str]) -> Answer:
    """Start ``command``, hand it ``line``, and wait for its end; one that is silent or endless is killed."""
    try:
        process = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environment, bufsize=0)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or type(error).__name__
        return Answer(b"", f"its process cannot be started: {why}")
    with process:
        answer = _exchange(process, line)
        if answer.fault is not None:
            process.kill()
    if answer.fault is None and process.returncode != 0:
        return Answer(answer.said, f"it ended with code {process.returncode}")
    return answer


def _exchange(process: Popen[bytes], line: bytes) -> Answer:
    """Write and read in turn, as either is possible: a process may answer before it has read, or never read."""
    into, out = process.stdin, process.stdout
    if into is None or out is None:
        return Answer(b"", "it has no pipes")
    os.set_blocking(into.fileno(), False)
    left, said = memoryview(line), bytearray()
    with DefaultSelector() as both:
        both.register(into, EVENT_WRITE)
        both.register(out, EVENT_READ)
        while both.get_map():
            ready = both.select(SILENT_S)
            if not ready:
                return Answer(b"", f"it was silent for {SILENT_S} s")
            for key, _ in ready:
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
                    return Answer(b"", f"it said more than {LONGEST:,} bytes")
    return Answer(bytes(said))
