"""The worker: opens one slice of one KPI in a fresh process and does what its job says.

A job is a JSON file that the parent wrote; the answer is one line on a file descriptor of its own, a token and JSON, so
that a probe may print what it likes. An exception of the probe is an answer, not a crash; the answer leaves before
anything is closed, so that a close() that hangs costs no number. This module is what every worker imports: standard
library only, nothing else of ours but the clock. It decides nothing about the numbers.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from harness.measure.clock import ENGINES, Tally, Undefined, Workload, WorkNotDoneError
from harness.measure.timing import Loop

__all__ = ["Opened", "Refused", "close", "main", "open_slice", "refusal", "resolve"]


_SAID = 500
"""Characters of what an error says: whole messages stand in the traceback."""

_TRACE = 20_000


class Refused(Exception):  # noqa: N818 - not an error of ours: the reading is undefined, and this says why
    """The slice cannot be measured: a reason of ``kpis.terms.reading.Reason`` by value, and one sentence."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Opened(NamedTuple):
    """A slice or tally, with what has to be closed after it."""

    what: Any
    probe: Any
    runtime: Any
    loop: Loop


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


def refusal(error: BaseException) -> dict[str, Any]:
    """What came in the place of a result, as the answer that says why."""
    if isinstance(error, Refused):
        return {"undefined": {"reason": error.reason, "detail": error.detail}}
    if isinstance(error, WorkNotDoneError):
        said = _first_line(error, f"{type(error).__name__}: ")
        return {"undefined": {"reason": "work-not-done", "detail": f"The expected work was not done: {said}."}}
    if isinstance(error, SystemExit):
        from harness.measure.handed import shown

        return {"undefined": {"reason": "error", "detail": f"The probe called sys.exit({shown(error.code)})."}}
    trace = "".join(traceback.format_exception(error))[-_TRACE:]
    return {"undefined": {"reason": "error", "detail": _in_one_line(error)}, "traceback": trace}


def _send(fd: int, job: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
    """Write the one answer. It begins a new line, in case that somebody else left one unfinished."""
    try:
        blob = json.dumps(answer, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        blob = _bad_value(f"It answered what cannot be written down: {_first_line(error)}.")
    if len(blob) > job["most"]:
        blob = _bad_value(f"Its answer is longer than {job['most'] >> 20} MiB.")
    with os.fdopen(fd, "wb") as pipe:
        pipe.write(b"\n" + job["token"].encode() + blob + b"\n")


def _bad_value(detail: str) -> bytes:
    return json.dumps({"undefined": {"reason": "bad-value", "detail": detail}}).encode()


def _first_line(error: BaseException, without: str = "") -> str:
    """The type of the error and the first line of what it says: where a message has several, the first is the gist."""
    lines = "".join(traceback.format_exception_only(error)).splitlines()
    # What is indented shows where a syntax error is; what it is comes after.
    said = next((line for line in lines if line.strip() and not line.startswith(" ")), type(error).__name__)
    said = said.strip()[:_SAID]
    return said.removeprefix(without) if said.startswith(without) else said.rpartition(f".{without}")[2]


def _in_one_line(error: BaseException) -> str:
    """The error in one line, with the innermost place in code that is not ours nor the interpreter's."""
    said = _first_line(error)
    ours = str(Path(__file__).parent)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith((ours, sys.base_prefix, "<")):
            file = Path(frame.filename)
            with contextlib.suppress(OSError, ValueError):  # the probe may have removed the folder that we are in
                return f"{said} ({file.relative_to(Path.cwd()).as_posix()}, line {frame.lineno})"
            return f"{said} ({file.name}, line {frame.lineno})"
    return said


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

    if not job["timed"]:
        raise Refused("error", "The probe returned a slice where this KPI needs a Tally.")
    wanted = "batch" if job["estimand"] == "call-mean" else "calls"
    if not hasattr(opened.what, wanted):
        raise Refused("error", f"The estimand {job['estimand']} needs a slice with {wanted}(n); this one has none.")
    (time_batch if wanted == "batch" else time_calls)(opened.what, 1, opened.loop)
    source = getattr(opened.what, "source", None)
    if source is not None and not (isinstance(source, str) and source in ("live", "replay", "synthetic")):
        from harness.measure.handed import SOURCES, shown

        words = ", ".join(SOURCES)
        raise Refused("bad-value", f"The slice says source = {shown(source)}; it must be one of {words}.")
    checked = bool(getattr(opened.what, "checked", True))
    return {"slice": wanted, "engine": opened.what.engine, "source": source, "checked": checked}


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


def open_slice(job: Mapping[str, Any]) -> Opened:
    """Open the job's KPI at its point, with the runtime and workload that it names.

    Raises:
        Refused: the probe answered undefined, the engine is not cut, or what was opened is no slice.
    """
    # Ours are bound before the project's folders come first on the path: a project with a harness/ or kpis/ of its
    # own must not put them in the place of the instrument, unless it says that they are its subject.
    for ours in {"kpis", "seams"} - set(job["under_test"]):
        importlib.import_module(ours)
    sys.path[:0] = job["path"]
    loop = Loop()
    runtime = loop.settle(resolve(job["runtime"])())
    if not hasattr(runtime, "offer"):
        raise Refused("error", f"{job['runtime']} made a {type(runtime).__name__}, which has no offer(seam, engine).")
    probe = resolve(job["probe"])
    probe = probe() if isinstance(probe, type) else probe
    if not hasattr(probe, "open"):
        raise Refused("error", f"{job['probe']} has no open(): write a class with it, or @probe above the function.")
    what = loop.settle(probe.open(job["kpi"], runtime, _workload(job), dict(job["params"])))
    opened = Opened(what, probe, runtime, loop)
    _require_subject(job)
    if isinstance(what, Undefined):
        raise _refused(what)
    if not isinstance(what, Tally):
        _require_slice(what, job)
        opened = opened._replace(what=_Checked(what))
    gc.collect()
    gc.freeze()
    return opened


def _refused(undefined: Undefined) -> Refused:
    """What a probe said in place of a slice, if both of its parts are words."""
    reason: Any = undefined.reason
    detail: Any = undefined.detail
    if isinstance(reason, str) and isinstance(detail, str):
        return Refused(reason, detail[:_SAID])
    from harness.measure.handed import shown

    what = f"Undefined({shown(reason)}, {shown(detail)})"
    return Refused("bad-value", f"The probe answered {what}: its reason and its detail must be text.")


class _Checked:
    """A slice as its author wrote it, but for ``check``: one that says something false means work not done."""

    __slots__ = ("_slice",)

    def __init__(self, what: Any) -> None:
        self._slice = what

    def __getattr__(self, name: str) -> Any:
        return getattr(self._slice, name)

    def check(self, result: object) -> None:
        """Ask the slice; whatever is false, but for None, is as good as an exception."""
        said = self._slice.check(result)
        if said is not None and not said:
            raise WorkNotDoneError(f"the check refused a result of type {type(result).__name__}")


def _require_subject(job: Mapping[str, Any]) -> None:
    """Refuse a subject that came from another tree than the project's: an installed copy that shadows it."""
    for name in job["under_test"]:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file is not None and not any(Path(file).resolve().is_relative_to(root) for root in job["path"]):
            raise Refused("error", f"The package {name} was imported from {file}, not from the project.")


def _require_slice(what: Any, job: Mapping[str, Any]) -> None:
    if not (hasattr(what, "batch") or hasattr(what, "calls")) or not hasattr(what, "check"):
        raise Refused("error", f"open() returned {type(what).__name__}, which is no Slice, CallSlice or Tally.")
    engine = getattr(what, "engine", None)
    if not isinstance(engine, str) or engine not in ENGINES:
        from harness.measure.handed import shown

        words = ", ".join(ENGINES)
        raise Refused("engine-not-cut", f"The slice says engine = {shown(engine)}; it must be one of {words}.")
    if job["frozen_sync"] and engine == "none":
        raise Refused(
            "engine-not-cut",
            f"The seam {job['seam']} is frozen-sync: it blocks on its engine, and the slice does not say how the "
            "engine was cut out (noop, mock or remote).",
        )


def close(opened: Opened) -> None:
    """Close slice, probe and runtime where they can be closed, then the loop."""
    for part in (opened.what, opened.probe, opened.runtime):
        closing = getattr(part, "aclose", None) or getattr(part, "close", None)
        if callable(closing):
            opened.loop.settle(closing())
    opened.loop.close()


def resolve(reference: str) -> Any:
    """The object that ``package.module:name`` names.

    Raises:
        Refused: there is no such module or name; the sentence says which.
    """
    module_name, _, name = reference.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        missing = error.name or module_name
        if module_name == missing or module_name.startswith(f"{missing}."):
            raise Refused("not-installed", f"There is no module {missing} (wanted for {reference}).") from error
        raise Refused("not-installed", f"{module_name} needs the module {missing}, which is not installed.") from error
    try:
        return getattr(module, name)
    except AttributeError as error:
        raise Refused("error", f"The module {module_name} has no {name!r} (wanted for {reference}).") from error


def _workload(job: Mapping[str, Any]) -> Workload | None:
    if job["workload"] is None:
        return None
    return Workload(**json.loads(Path(job["workload"]).read_bytes()))
