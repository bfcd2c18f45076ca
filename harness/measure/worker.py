"""The worker: opens one slice of one KPI in a fresh process and does what its job says.

A job is a JSON file that the parent wrote; the answer is one JSON line on a file descriptor of its own, so that a
probe may print what it likes. An exception of the probe is an answer, not a crash. This module is what every worker
imports: standard library only, nothing else of ours but the clock. It decides nothing about the numbers.
"""

from __future__ import annotations

import gc
import importlib
import json
import math
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

__all__ = ["Opened", "Refused", "describe_tally", "main", "open_slice", "refusal"]


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
    # Should the parent be killed, this worker ends by itself: the default action of the alarm ends a process.
    signal.setitimer(signal.ITIMER_REAL, job["limit"] + 5)
    if job["task"] == "pair":
        from harness.measure import pair_worker

        pair_worker.run(job)
        return 0
    answer_fd, owner = int(argv[1]), os.getpid()
    os.set_inheritable(answer_fd, False)
    try:
        answer = _answer(job)
    except KeyboardInterrupt:
        return 130
    except BaseException as error:
        answer = refusal(error)
    if os.getpid() != owner:
        # The probe forked and its child came back here: only the process that was asked may answer.
        os._exit(0)
    _send(answer_fd, answer)
    return 0


def refusal(error: BaseException) -> dict[str, Any]:
    """What came in the place of a result, as the answer that says why."""
    if isinstance(error, Refused):
        return {"undefined": {"reason": error.reason, "detail": error.detail}}
    if isinstance(error, WorkNotDoneError):
        return {"undefined": {"reason": "work-not-done", "detail": f"The expected work was not done: {error}."}}
    if isinstance(error, SystemExit):
        return {"undefined": {"reason": "error", "detail": f"The probe called sys.exit({error.code!r})."}}
    trace = "".join(traceback.format_exception(error))
    return {"undefined": {"reason": "error", "detail": _last_line(error)}, "traceback": trace}


def _send(fd: int, answer: Mapping[str, Any]) -> None:
    blob = json.dumps(answer, allow_nan=False).encode() + b"\n"
    with os.fdopen(fd, "wb") as pipe:
        pipe.write(blob)


def _last_line(error: BaseException) -> str:
    """The error in one line, with the innermost place in code that is not ours nor the interpreter's."""
    text = "".join(traceback.format_exception_only(error)).strip().splitlines()
    said = text[-1][:500] if text else type(error).__name__
    ours = str(Path(__file__).parent)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith((ours, sys.base_prefix, "<")):
            file = Path(frame.filename)
            inside = file.relative_to(Path.cwd()) if file.is_relative_to(Path.cwd()) else Path(file.name)
            return f"{said} ({inside.as_posix()}, line {frame.lineno})"
    return said


def _ping(words: list[str]) -> int:
    if words == ["pyperf"]:
        importlib.import_module("harness.measure.session")
    print(json.dumps({"ready_ns": time.clock_gettime_ns(time.CLOCK_MONOTONIC)}), flush=True)  # noqa: T201
    return 0


def _answer(job: Mapping[str, Any]) -> dict[str, Any]:
    seed = os.environ.get("PYTHONHASHSEED")
    if seed != job["seed"]:
        raise Refused("error", f"The worker runs with hash seed {seed}, not with {job['seed']} as it was told.")
    task = job["task"]
    if task in ("calibrate", "measure"):
        session = importlib.import_module("harness.measure.session")
        answer: dict[str, Any] = session.run(job)
        return answer
    if task.startswith("leg:"):
        counted: dict[str, Any] = importlib.import_module(f"harness.measure.legs.{task[4:]}").run(job)
        return counted
    watch = None
    if task == "discover":
        from harness.measure.touched import Watch

        watch = Watch()
        watch.start()
    opened = open_slice(job)
    try:
        answer = _try_once(opened, job)
    finally:
        close(opened)
    if watch is not None:
        answer["touched"] = watch.stop(job["roots"])
        answer["spawns"] = watch.spawned
    return answer


def _try_once(opened: Opened, job: Mapping[str, Any]) -> dict[str, Any]:
    """Describe a tally; run a slice once, so that an idle or broken one is found before any time is spent on it."""
    if isinstance(opened.what, Tally):
        if job["timed"]:
            raise Refused("error", "The probe returned a Tally where this KPI needs a slice to time.")
        return {"tally": describe_tally(opened.what)}
    from harness.measure.timing import time_batch, time_calls

    if not job["timed"]:
        raise Refused("error", "The probe returned a slice where this KPI needs a Tally.")
    wanted = "batch" if job["estimand"] == "call-mean" else "calls"
    if not hasattr(opened.what, wanted):
        raise Refused("error", f"The estimand {job['estimand']} needs a slice with {wanted}(n); this one has none.")
    (time_batch if wanted == "batch" else time_calls)(opened.what, 1, opened.loop)
    found = {name: getattr(opened.what, name, usual) for name, usual in (("source", None), ("checked", True))}
    return {"slice": wanted, "engine": opened.what.engine, **found}


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
        raise Refused(what.reason, what.detail)
    if not isinstance(what, Tally):
        _require_slice(what, job)
    gc.collect()
    gc.freeze()
    return opened


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
    if engine not in ENGINES:
        words = ", ".join(ENGINES)
        raise Refused("engine-not-cut", f"The slice says engine = {engine!r}; it must be one of {words}.")
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


def describe_tally(tally: Tally) -> dict[str, Any]:
    """A tally as plain JSON values.

    Raises:
        Refused: a number in it is not finite, or it claims what it cannot be.
    """
    numbers = [
        tally.numerator,
        tally.denominator,
        tally.excluded,
        *tally.reasons.values(),
        *(tally.knobs or {}).values(),
    ]
    for number in numbers:
        if number is None:
            continue
        if not isinstance(number, int | float) or not math.isfinite(number):
            raise Refused("bad-value", f"The tally holds {number!r}, which is not a finite number.")
    if tally.denominator == 0:
        raise Refused("no-denominator", "The denominator is zero: the rate is undefined.")
    return {
        "numerator": tally.numerator,
        "denominator": tally.denominator,
        "reasons": {str(key): tally.reasons[key] for key in sorted(tally.reasons)},
        "excluded": tally.excluded,
        "knobs": None if tally.knobs is None else dict(sorted(tally.knobs.items())),
        "basis": tally.basis,
        "source": tally.source,
        "evidence": list(tally.evidence),
    }
