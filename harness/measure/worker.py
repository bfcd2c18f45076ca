"""The worker: opens one slice of one KPI in a fresh process and does what its job says.

A job is a JSON file that the parent wrote; the answer is one line on a file descriptor of its own, a token and JSON, so
that a probe may print what it likes. An exception of the probe is an answer, not a crash; the answer leaves before
anything is closed, so that a close() that hangs costs no number. This module is what every worker imports: standard
library only, nothing else of ours but the clock. It decides nothing about the numbers.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.measure.clock import Tally
from harness.measure.opening import Opened, Refused, close, first_line, open_slice, refusal, refused

__all__ = ["main"]


def main(argv: list[str]) -> int:
    """Entry point of ``python -m harness worker``: ``--ping [pyperf]``, or a job file and a descriptor number."""
    if argv[:1] == ["--ping"]:
        return _ping(argv[1:])
    job = json.loads(Path(argv[0]).read_bytes())
    # The last resort against a worker without a parent: the default action of the alarm ends a process.
    signal.setitimer(signal.ITIMER_REAL, job["limit"] + 5)
    if "life_fd" in job:
        _end_with_parent(job["life_fd"])
    if job["task"] == "pair":
        importlib.import_module(f"harness.measure.{'pytest' if 'pytest' in job else 'pair'}_worker").run(job)
        return 0
    answer_fd, owner = int(argv[1]), os.getpid()
    os.set_inheritable(answer_fd, False)
    held: list[Opened] = []
    try:
        answer = _answer(job, held)
    except KeyboardInterrupt:
        return 130
    except BaseException as error:
        answer = refusal(error)
    if os.getpid() != owner:
        # The probe forked and its child came back here: only the process that was asked may answer.
        os._exit(0)
    _send(answer_fd, job, answer)
    for opened in held:
        close(opened)
    return 0


def _end_with_parent(fd: int) -> None:
    """Have the kernel end this process and its group once the other end of the pipe ``fd`` is closed.

    The parent holds that end and never writes: it closes when the parent dies, whatever it dies of. Nothing is polled,
    and a system call that hangs is no hindrance. Where the kernel refuses, the alarm is what remains.
    """
    import fcntl

    os.set_inheritable(fd, False)
    with contextlib.suppress(OSError, AttributeError):
        fcntl.fcntl(fd, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(fd, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
        try:
            gone = os.read(fd, 1) == b""
        except BlockingIOError:
            gone = False
        if gone:  # before the kernel was told
            os._exit(1)


def _send(fd: int, job: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    """Write the one answer. It begins a new line, in case that somebody else left one unfinished."""
    try:
        blob = json.dumps(answer, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        blob = _bad_value(f"It answered what cannot be written down: {first_line(error)}.")
    if len(blob) > job["most"]:
        blob = _bad_value(f"Its answer is longer than {job['most'] >> 20} MiB.")
    with os.fdopen(fd, "wb") as pipe:
        pipe.write(b"\n" + job["token"].encode() + blob + b"\n")


def _bad_value(detail: str) -> bytes:
    return json.dumps({"undefined": {"reason": "bad-value", "detail": detail}}).encode()


def _ping(words: list[str]) -> int:
    if words == ["pyperf"]:
        importlib.import_module("harness.measure.session")
    print(json.dumps({"ready_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC)}), flush=True)  # noqa: T201
    return 0


def _answer(job: Mapping[str, Any], held: list[Opened]) -> dict[str, Any]:
    """What the task gives; what it opened goes to ``held``, to be closed once the answer has left."""
    seed = os.environ.get("PYTHONHASHSEED")
    if seed != job["seed"]:
        raise Refused("error", f"The worker runs with hash seed {seed}, not with {job['seed']} as it was told.")
    task = job["task"]
    if "pytest" in job:
        tested: dict[str, Any] = importlib.import_module("harness.measure.pytest_worker").answer(job)
        return tested
    if task in ("calibrate", "measure"):
        session = importlib.import_module("harness.measure.session")
        held.append(open_slice(job))
        answer: dict[str, Any] = session.run(job, held[0])
        return answer
    if task == "ratio":
        held.append(open_slice(job))
        rated: dict[str, Any] = importlib.import_module("harness.measure.arms").run(job, held[0])
        return rated
    if task.startswith("leg:"):
        counted: dict[str, Any] = importlib.import_module(f"harness.measure.legs.{task[4:]}").run(job)
        return counted
    watch = None
    if task == "discover":
        from harness.measure.touched import Watch

        watch = Watch()
        watch.start()
    held.append(open_slice(job))
    answer = _try_once(held[0], job)
    if held[0].beside:
        answer["beside"] = {name: _other(what) for name, what in held[0].beside.items()}
    if watch is not None:
        answer["touched"] = watch.stop(job["roots"])
        answer["spawns"] = watch.spawned
    return answer


def _try_once(opened: Opened, job: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a tally; run a slice once, so that an idle or broken one is found before any time is spent on it."""
    if isinstance(opened.what, Tally):
        if job["timed"]:
            raise Refused("error", "The probe returned a Tally where this KPI needs a slice to time.")
        return {"tally": _sound(opened.what)}
    from harness.measure.timing import time_batch, time_calls

    wanted = {"call-mean": "batch", "rate": "parts"}.get(job["estimand"], "calls")
    if not job["timed"] and (wanted != "parts" or not hasattr(opened.what, wanted)):
        raise Refused("error", "The probe returned a slice where this KPI needs a Tally.")
    if not hasattr(opened.what, wanted):
        raise Refused("error", f"The estimand {job['estimand']} needs a slice with {wanted}(n); this one has none.")
    if wanted == "parts":
        if job["task"] == "tally":
            said = "The probe times the arms of a ratio, and no count can be compared with those: gate it as report."
            raise Refused("error", said)
        from harness.measure.arms import time_round

        time_round(opened.what, opened.loop)
    else:
        (time_batch if wanted == "batch" else time_calls)(opened.what, 1, opened.loop)
    source = getattr(opened.what, "source", None)
    if source is not None and not (isinstance(source, str) and source in ("live", "replay", "synthetic")):
        from harness.measure.handed import SOURCES, shown

        words = ", ".join(SOURCES)
        raise Refused("bad-value", f"The slice says source = {shown(source)}; it must be one of {words}.")
    checked = bool(getattr(opened.what, "checked", True))
    work = getattr(opened.what, "work", None)
    counted = {} if work is None else {"work": dict(work)}
    return {"slice": wanted, "engine": opened.what.engine, "source": source, "checked": checked, **counted}


def _other(what: Any) -> dict[str, Any]:
    """What the opening gave a KPI that was not the one asked for, as the answer that it would have had alone."""
    try:
        if isinstance(what, Tally):
            return {"tally": _sound(what)}
        raise refused(what)
    except Refused as error:
        return refusal(error)


def _sound(tally: Tally) -> dict[str, Any]:
    """A tally as plain JSON values.

    Raises:
        Refused: it holds what cannot be, or a rate has nothing below it.
    """
    from harness.measure.handed import described, tally_fault

    plain = described(tally)
    fault = tally_fault(plain)
    if fault is not None:
        raise Refused("bad-value", fault)
    if plain["denominator"] == 0:
        raise Refused("no-denominator", "The denominator is zero: the rate is undefined.")
    return plain
