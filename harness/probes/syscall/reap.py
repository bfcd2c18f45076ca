"""Probe of ``syscall/reap``: the kernel's share of a reap, and beside it what the mock engine alone would add.

The seam blocks on its engine. ``kernel`` reaps with a no-op engine; ``engine`` never touches the kernel. Handles are
submitted before the clock runs, and calls that the kernel refuses are left out, since nothing is run for them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle, islice
from typing import Any, ClassVar

from harness.measure.clock import Engine, Slice, Undefined, Workload, WorkNotDoneError
from harness.probes.syscall._trace import (
    awaits,
    calls_of,
    each,
    fresh,
    offered,
    run_through,
    settle,
    settled,
    unusable,
)
from seams.contract.syscall import Counters, ToolCall
from seams.contract.verdict import Status, VerdictKind

__all__ = ["EngineAlone", "KernelReaps", "Probe"]

_RUN = (VerdictKind.ALLOW, VerdictKind.TRANSFORM)


class KernelReaps:
    """Reaps of admitted calls on a no-op engine."""

    engine: Engine = "noop"

    def __init__(self, kernel: Any, calls: list[ToolCall]) -> None:
        self._kernel = kernel
        self._calls = calls
        self._before = Counters()
        self._completed = 0
        self._loops = 0

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` reaps of handles that were submitted just now."""
        submit = self._kernel.submit
        handles = [run_through(settle(submit(fresh(call))))[0] for call in islice(cycle(self._calls), loops)]
        self._before = run_through(settle(self._kernel.counters()))
        self._completed = _completed(getattr(self._kernel, "engine", None))
        self._loops = loops
        return each(self._kernel.reap, handles)

    def check(self, result: object) -> None:
        """Every reap must have reached the engine, and the last one must have come back well."""
        after = run_through(settle(self._kernel.counters()))
        ran = after.engine_calls - self._before.engine_calls
        if ran != self._loops:
            raise WorkNotDoneError(f"{self._loops} reaps reached the engine {ran} times by the kernel's count")
        _require_completed(getattr(self._kernel, "engine", None), self._completed, self._loops)
        if getattr(result, "status", None) != Status.OK:
            raise WorkNotDoneError(f"the last reap returned {result!r}")


class EngineAlone:
    """The mock engine's own completion of the same calls."""

    engine: Engine = "mock"

    def __init__(self, tools: Any, calls: list[ToolCall], expected: list[bytes]) -> None:
        self._tools = tools
        self._calls = calls
        self._expected = expected
        self._wanted = b""
        self._completed = 0
        self._loops = 0

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` completions."""
        self._wanted = self._expected[(loops - 1) % len(self._expected)]
        self._completed = _completed(self._tools)
        self._loops = loops
        return each(self._tools.complete, [fresh(call) for call in islice(cycle(self._calls), loops)])

    def check(self, result: object) -> None:
        """The last completion must carry the payload that its call got before the clock ran."""
        _require_completed(self._tools, self._completed, self._loops)
        if getattr(result, "payload", None) != self._wanted:
            raise WorkNotDoneError(f"the last completion returned {result!r} where {self._wanted!r} was expected")


def _completed(tools: Any) -> int:
    count = getattr(tools, "completed", 0)
    return count if isinstance(count, int) else 0


def _require_completed(tools: Any, before: int, loops: int) -> None:
    """Where the engine keeps a count of its own, it must have moved by as much as was asked."""
    if isinstance(getattr(tools, "completed", None), int) and _completed(tools) - before != loops:
        raise WorkNotDoneError(f"{loops} calls were due at the engine and it ran {_completed(tools) - before}")


class Probe:
    """Opens one of the two slices."""

    kpis: ClassVar[frozenset[str]] = frozenset({"reap_latency_kernel"})

    def open(
        self,
        kpi: str,  # noqa: ARG002
        runtime: Any,
        workload: Workload | None,
        params: Mapping[str, str],
    ) -> Slice | Undefined:
        """The slice, or why there is none."""
        refused = unusable(workload)
        if refused is not None or workload is None:
            return refused or Undefined("workload-kind", "There is no workload.")
        engine: Engine = "noop" if params["slice"] == "kernel" else "mock"
        kernel = offered(runtime, "syscall/reap", engine, workload.data["world"])
        if isinstance(kernel, Undefined):
            return kernel
        if engine == "mock" and not hasattr(kernel, "engine"):
            return Undefined("not-offered", "The runtime's syscall/reap has no attribute engine to time alone.")
        return settled(_open(kernel, engine, workload), asynchronous=awaits(kernel, "submit", "reap", "counters"))


async def _open(kernel: Any, engine: Engine, workload: Workload) -> Slice | Undefined:
    admitted: list[ToolCall] = []
    payloads: list[bytes] = []
    for call in calls_of(workload):
        submitted = fresh(call)
        handle, verdict = await settle(kernel.submit(submitted))
        result = await settle(kernel.reap(handle))
        if verdict.kind not in _RUN or verdict.by == "vdso":
            continue
        if engine == "mock":
            # What the engine is given is the call as it was admitted, repaired where it had to be.
            result = await settle(kernel.engine.complete(fresh(submitted)))
        if result.status == Status.OK:
            admitted.append(submitted if engine == "mock" else call)
            payloads.append(result.payload)
    if not admitted:
        return Undefined("no-denominator", f"No call of {workload.name} is admitted, so nothing is reaped.")
    return KernelReaps(kernel, admitted) if engine == "noop" else EngineAlone(kernel.engine, admitted, payloads)
