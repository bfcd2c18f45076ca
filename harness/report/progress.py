"""One line on a terminal that says what is measured now, how much is done and how long the rest will take.

Drawn between points only, from no thread, because a clock that ticks while a slice is timed is noise of our own
making. Refuses to write to anything but a terminal, and leaves nothing behind: the line is wiped on the way out,
whether that is the end, an error or Ctrl-C.
"""

from __future__ import annotations

import io
import os
import sys
import textwrap
import time
from collections.abc import Callable
from types import TracebackType
from typing import TextIO

from harness.report.inert import encoding_of, inert
from harness.report.width import NARROW, WHOLE_WORDS

__all__ = ["Progress", "duration"]

_WIPE = "\r\x1b[2K"


def duration(seconds: float) -> str:
    """``42 s``, ``3 min 05 s``, ``2 h 07 min``; never negative."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


class Progress:
    """A context manager; ``total_seconds_estimate`` is what the plan expects before anything is known.

    ``stream`` is standard error unless given. On anything but a terminal, or with ``TERM=dumb``, nothing is written.
    """

    def __init__(
        self,
        total_seconds_estimate: float,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._estimate = total_seconds_estimate
        self._stream: TextIO = stream or sys.stderr or io.StringIO()  # a process may have no standard error
        self._clock = clock
        self._began = clock()
        self._line = ""
        self._live = _is_terminal(self._stream)

    def show(self, point: str, done: int, total: int) -> None:
        """Draw the line: ``point`` is about to begin, ``done`` of ``total`` points are behind us."""
        if not self._live:
            return
        left = duration(self.remaining(done, total))
        tail = f"  {done}/{total}  about {left} left"
        room = _columns(self._stream) - 1 - len(tail)  # the last column would wrap on some terminals
        name = inert(point, encoding_of(self._stream))
        name = name if len(name) <= room else name[: max(0, room - 3)] + "..."
        self._line = (name + tail)[: max(0, _columns(self._stream) - 1)]
        self._write(_WIPE + self._line)

    def say(self, sentence: str) -> None:
        """Print a sentence above the line, wrapped, on a terminal; in a pipe it is left to the report."""
        if self._live:
            width = min(_columns(self._stream), NARROW)
            text = textwrap.fill(inert(sentence, encoding_of(self._stream)), width, **WHOLE_WORDS)
            self._write(_WIPE + text + "\n" + self._line)

    def remaining(self, done: int, total: int) -> float:
        """The expected rest in seconds: from the plan at first, from what points have really taken as they pass."""
        if done <= 0 or total <= 0:
            return self._estimate
        spent = self._clock() - self._began
        share = min(1.0, done / total)
        # The plan knows which points are slow, the clock knows this machine: trust moves over with the share done.
        planned = self._estimate * (1 - share)
        observed = spent / share * (1 - share)
        return (1 - share) * planned + share * observed

    def close(self) -> None:
        """Wipe the line. May be called more than once."""
        if self._live and self._line:
            self._line = ""
            self._write(_WIPE)

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone or closed: the measurement goes on
            self._live = False

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _is_terminal(stream: TextIO) -> bool:
    try:
        return stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # closed
        return False


def _columns(stream: TextIO) -> int:
    try:
        return os.get_terminal_size(stream.fileno()).columns or 80
    except (OSError, ValueError):
        return 80
