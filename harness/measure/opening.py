"""Opens one slice of one KPI in this process: subject first on the path, runtime made, probe asked, slice proved.

Whatever cannot be measured is refused by reason and sentence; what a probe raises passes through and is told by
:func:`refusal`. Part of the worker: standard library only.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from harness.measure.clock import ENGINES, Tally, Undefined, Workload, WorkNotDoneError
from harness.measure.timing import Loop

__all__ = [
    "Opened",
    "Refused",
    "close",
    "first_line",
    "open_slice",
    "refusal",
    "refused",
    "require_seed",
    "require_subject",
    "resolve",
]

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
    """A slice or tally, with what has to be closed after it; ``beside`` is what the same opening gave other KPIs."""

    what: Any
    probe: Any
    runtime: Any
    loop: Loop
    beside: Mapping[str, Any] = MappingProxyType({})


def refusal(error: BaseException) -> dict[str, Any]:
    """What came in the place of a result, as the answer that says why."""
    if isinstance(error, Refused):
        return {"undefined": {"reason": error.reason, "detail": error.detail}}
    if isinstance(error, WorkNotDoneError):
        said = first_line(error, f"{type(error).__name__}: ")
        return {"undefined": {"reason": "work-not-done", "detail": f"The expected work was not done: {said}."}}
    if isinstance(error, SystemExit):
        from harness.measure.handed import shown

        return {"undefined": {"reason": "error", "detail": f"The probe called sys.exit({shown(error.code)})."}}
    trace = "".join(traceback.format_exception(error))[-_TRACE:]
    return {"undefined": {"reason": "error", "detail": _in_one_line(error)}, "traceback": trace}


def first_line(error: BaseException, without: str = "") -> str:
    """The type of the error and the first line of what it says: where a message has several, the first is the gist."""
    lines = "".join(traceback.format_exception_only(error)).splitlines()
    # What is indented shows where a syntax error is; what it is comes after.
    said = next((line for line in lines if line.strip() and not line.startswith(" ")), type(error).__name__)
    said = said.strip()[:_SAID]
    return said.removeprefix(without) if said.startswith(without) else said.rpartition(f".{without}")[2]


def _in_one_line(error: BaseException) -> str:
    """The error in one line, with the innermost place in code that is not ours nor the interpreter's."""
    said = first_line(error)
    ours = str(Path(__file__).parent)
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if not frame.filename.startswith((ours, sys.base_prefix, "<")):
            file = Path(frame.filename)
            with contextlib.suppress(OSError, ValueError):  # the probe may have removed the folder that we are in
                return f"{said} ({file.relative_to(Path.cwd()).as_posix()}, line {frame.lineno})"
            return f"{said} ({file.name}, line {frame.lineno})"
    return said


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
    together = getattr(probe, "open_all", None) if job.get("beside") else None
    what = loop.settle((together or probe.open)(job["kpi"], runtime, _workload(job), dict(job["params"])))
    others: dict[str, Any] = {}
    if together is not None:
        what, others = _parted(what, job)
    opened = Opened(what, probe, runtime, loop, others)
    require_subject(job)
    if isinstance(what, Undefined):
        raise refused(what)
    if not isinstance(what, Tally):
        _require_slice(what, job)
        opened = opened._replace(what=_Checked(what))
    gc.collect()
    gc.freeze()
    return opened


def _parted(found: Any, job: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What ``open_all`` gave the job's KPI, and what it gave those that are wanted beside it.

    Counts and refusals; where a ratio is timed, arms and refusals.
    """
    if not isinstance(found, Mapping) or job["kpi"] not in found:
        raise Refused("error", f"open_all() returned {type(found).__name__} without an entry for {job['kpi']}.")
    timed = job["task"] == "ratio"
    others = {
        name: found[name]
        for name in job["beside"]
        if isinstance(found.get(name), Undefined)
        or (hasattr(found.get(name), "ratio") if timed else isinstance(found.get(name), Tally))
    }
    return found[job["kpi"]], others


def refused(undefined: Undefined) -> Refused:
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


def require_seed(job: Mapping[str, Any]) -> None:
    """Refuse a process that did not get the hash seed that its job was drawn with: its sides would not be alike."""
    seed = os.environ.get("PYTHONHASHSEED")
    if seed != job["seed"]:
        raise Refused("error", f"The worker runs with hash seed {seed}, not with {job['seed']} as it was told.")


def require_subject(job: Mapping[str, Any]) -> None:
    """Refuse a subject that came from another tree than the project's: an installed copy that shadows it.

    Of a package, each module that has a source file is looked at: what was imported late counts as much.
    """
    named = frozenset(job["under_test"])
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in named:
            continue
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or ("." in name and not file.endswith(".py")):
            continue
        if not any(Path(file).resolve().is_relative_to(root) for root in job["path"]):
            what = "module" if "." in name else "package"
            raise Refused("error", f"The {what} {name} was imported from {file}, not from the project.")


def _require_slice(what: Any, job: Mapping[str, Any]) -> None:
    if not any(hasattr(what, name) for name in ("batch", "calls", "parts")) or not hasattr(what, "check"):
        raise Refused("error", f"open() returned {type(what).__name__}, which is no Slice, CallSlice, Arms or Tally.")
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
