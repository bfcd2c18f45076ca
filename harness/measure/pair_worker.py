"""One side of a pair: opens its slice once, then times a value whenever the parent releases it.

Both sides of a pair are alive at once and are released in turn, so that what the machine does meanwhile falls on both.
Commands come as lines on a descriptor of their own: ``calibrate``, ``time N``, ``quit``. Answers leave as lines of a
token and JSON, so that whatever else comes through the pipe is known to be none. The heap is frozen after set-up.
Standard library only: a pair worker that took longer to start would buy fewer pairs.
"""

from __future__ import annotations

import json
import math
import os
import resource
import sys
import time
from collections.abc import Mapping
from typing import Any, BinaryIO

from harness.measure.clock import clock_fault, tick_ns
from harness.measure.opening import Opened, Refused, close, open_slice, refusal, require_seed, require_subject
from harness.measure.timing import time_batch, time_calls

__all__ = ["MAX_LOOPS", "Answers", "serve"]

MAX_LOOPS = 2**24
"""Beyond this the batch does not do its loops; see ``harness.measure.session``."""

LONGEST_SET_UP_S = 0.5
"""A slice that is set up afresh for every call may spend most of its time so: its loops stop to double after this long,
of which the last value took a quarter, and a value is then shorter than it should be."""


class Answers:
    """The pipe to the parent. Only the process that made it may answer: a child that the probe forked ends here."""

    def __init__(self, pipe: BinaryIO, token: str) -> None:
        self._pipe = pipe
        self._token = token.encode()
        self._owner = os.getpid()

    def say(self, to: str, answer: Mapping[str, Any]) -> None:
        """Answer the command ``to``. It begins a new line, in case that somebody else left one unfinished."""
        if os.getpid() != self._owner:
            os._exit(0)
        self._pipe.write(b"\n" + self._token + json.dumps({**answer, "to": to}).encode() + b"\n")
        self._pipe.flush()


def serve(job: Mapping[str, Any], commands: BinaryIO, answers: Answers) -> None:
    """Answer commands until ``quit`` or the end of the pipe; an error of the probe is the last answer."""
    opened, told = None, "open"
    try:
        require_seed(job)
        opened = open_slice(job)
        answers.say(told, {"engine": opened.what.engine})
        known = len(sys.modules)
        for line in commands:
            told = line.decode().strip()
            word, *numbers = told.split()
            if word == "quit":
                break
            calls = [int(number) for number in numbers]
            answer = _calibrated(opened, job) if word == "calibrate" else _timed(opened, job, *calls)
            if len(sys.modules) != known:  # the calls imported what opening did not
                require_subject(job)
                known = len(sys.modules)
            answers.say(told, answer)
    except BaseException as error:
        answers.say(told, refusal(error))
    finally:
        if opened is not None:
            close(opened)


def _value(opened: Opened, job: Mapping[str, Any], calls: int, block: int = 1) -> dict[str, Any]:
    """Wall and CPU time in ns of one value, and how often the process was displaced meanwhile.

    Of a mean, ``wall_ns`` is the time of all ``calls``. Of a median it is that of the middle one among stamped blocks
    of ``block`` calls: one call, unless a slowdown is injected by making the blocks longer.
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw
    if job["estimand"] == "call-mean":
        value = time_batch(opened.what, calls, opened.loop)
        wall, cpu = float(value.wall_ns), float(value.cpu_ns)
    else:
        round_ = time_calls(opened.what, calls, opened.loop, block=block)
        stamps = sorted(round_.stamps_ns)
        wall, cpu = float(stamps[len(stamps) // 2]), round_.cpu_ns / len(stamps)
    displaced = resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw - before
    return {"wall_ns": wall, "cpu_ns": cpu, "displaced": displaced}


def _timed(opened: Opened, job: Mapping[str, Any], calls: int, block: int = 1) -> dict[str, Any]:
    """As :func:`_value`, and never zero: a ratio to no time at all is none."""
    answer = _value(opened, job, calls, block)
    _require_forward(answer)
    if answer["wall_ns"] == 0:
        raise Refused("too-short", "A value took no time at all on this clock: it stands still, or is too coarse.")
    return answer


def _require_forward(value: Mapping[str, Any]) -> None:
    """Refuse a value of a clock that ran backwards or says no number: more loops would not mend it."""
    for name in ("wall_ns", "cpu_ns"):
        if not math.isfinite(value[name]) or value[name] < 0:
            said = (
                f"The clock says that a value took {value[name]:g} ns ({name}): something has put another in its place."
            )
            raise Refused("too-short", said)


def _calibrated(opened: Opened, job: Mapping[str, Any]) -> dict[str, Any]:
    """Double the loops until a value lasts ``min_time``; the lesser of two values decides, so that a stall does not.

    Raises:
        Refused: the batch does no work, or the clock stands still or is too coarse for the value.
    """
    loops, means, least = 1, job["estimand"] == "call-mean", job["min_time"] * 1e9
    afresh, began = getattr(opened.what, "afresh", False), time.perf_counter()
    while True:
        values = [_value(opened, job, loops) for _ in range(2)]
        for value in values:
            _require_forward(value)
        wall, cpu = (min(value[of] for value in values) * (1 if means else loops) for of in ("wall_ns", "cpu_ns"))
        # The wall clock has not moved. It may be coarse; if it stands still, more loops would be asked for without end.
        still = wall == 0 and (cpu >= least or (loops == 1 and tick_ns() is None))
        if still or wall >= least or (afresh and time.perf_counter() - began > LONGEST_SET_UP_S):
            if (fault := clock_fault(wall)) is not None:
                raise Refused("too-short", fault)
            return {"loops": loops, "wall_ns": wall}
        if loops >= MAX_LOOPS:
            raise Refused(
                "work-not-done",
                f"{loops} calls take less than {job['min_time'] * 1e3:g} ms: the batch does no work, "
                "or ignores `loops`.",
            )
        loops *= 2


def run(job: Mapping[str, Any]) -> None:
    """Serve on the descriptors that the job names, which no program that the probe starts gets."""
    for fd in (job["go_fd"], job["say_fd"]):
        os.set_inheritable(fd, False)
    with os.fdopen(job["go_fd"], "rb", buffering=0) as commands, os.fdopen(job["say_fd"], "wb") as pipe:
        serve(job, commands, Answers(pipe, job["token"]))
