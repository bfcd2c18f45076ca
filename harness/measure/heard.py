"""What comes through the two pipes of a worker: its one answer, and whatever its probe prints.

The answer is a line that begins with a token which this launch alone knows: whatever else comes through the pipe, from
a probe or from a child that it forked, is no answer. What the probe prints is drained and counted, never mixed with the
answer. Refuses to wait for whoever holds a pipe open once the worker has ended.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from dataclasses import dataclass, field
from typing import IO

__all__ = ["MOST_ANSWER", "Heard", "listen", "output_of", "rest"]

MOST_ANSWER = 16 * 2**20
"""Bytes of an answer: the largest honest ones, lists of touched files, are a hundredth of it."""

_KEPT_OUTPUT = 64 * 1024
_MOST_REST = 2**20
"""What a pipe can hold at most after its writers are gone (/proc/sys/fs/pipe-max-size)."""


@dataclass(slots=True)
class Heard:
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


def output_of(process: subprocess.Popen[bytes]) -> IO[bytes]:
    """The pipe of what ``process`` prints."""
    if process.stdout is None:
        raise RuntimeError("the worker was started without a pipe for its output")
    return process.stdout


def listen(process: subprocess.Popen[bytes], read_fd: int, deadline: float, grace: float, heard: Heard) -> None:
    """Read answer and output until the worker has ended, or its time is up, or its grace after the answer."""
    # A pidfd tells of the worker's own end, even where a child that it forked still holds the pipes.
    pid_fd = os.pidfd_open(process.pid)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(read_fd, selectors.EVENT_READ, "answer")
            selector.register(output_of(process), selectors.EVENT_READ, "output")
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


def rest(fd: int) -> bytes:
    """What the pipe still holds now, without waiting for whoever else has it open."""
    os.set_blocking(fd, False)
    held = bytearray()
    with contextlib.suppress(BlockingIOError):
        while len(held) < _MOST_REST and (chunk := os.read(fd, 1 << 16)):
            held += chunk
    return bytes(held)
