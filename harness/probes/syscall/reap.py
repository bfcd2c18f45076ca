"""Probe of ``syscall/reap``: the kernel's share of a reap, and beside it what the mock engine alone would add.

The seam blocks on its engine. ``kernel`` reaps with a no-op engine, whose payload is ``{}``: two bytes, so the gates
screen next to nothing, and what a result's size costs is no part of this number. ``engine`` never reaps: it completes
the very call objects that a reap would hand over. Handles are submitted before the clock runs. Calls that the kernel
refuses are left out, since nothing is run for them.

Each time through the trace has a kernel of its own, so that a first read fills the cache and a repeated one finds it
filled, in every batch and at any number of loops alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from harness.measure.clock import Engine, Slice, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import at_once, awaits, finish, settled
from harness.probes.syscall._trace import calls_of, each, fresh, offered, result_told, unusable
from harness.probes.turn._replay import spread
from seams.contract.syscall import ToolCall
from seams.contract.verdict import Status, VerdictKind

__all__ = ["EngineAlone", "KernelReaps", "Probe"]

_RUN = (VerdictKind.ALLOW, VerdictKind.TRANSFORM)
_SET_UP = "The runtime waits inside a method that is set-up here; make that method synchronous."


class _Rounds:
    """Loops dealt out over the trace, and a fresh kernel for each time through it."""

    def __init__(self, another: Callable[[], Any], calls: list[ToolCall]) -> None:
        self._another = another
        self._calls = calls
        self._kernels: list[Any] = []
        self._engines: list[Any] = []
        self._completed = 0
        self._loops = 0
        self._last = 0

    def _dealt(self, loops: int) -> Iterator[tuple[Any, list[ToolCall]]]:
        order = spread(len(self._calls), loops)
        self._kernels, self._loops, self._last = [], loops, order[-1]
        for at in range(0, loops, len(self._calls)):
            kernel = self._another()
            if isinstance(kernel, Undefined):
                raise WorkNotDoneError("the runtime offered its kernel once only")
            self._kernels.append(kernel)
            yield kernel, [fresh(self._calls[index]) for index in order[at : at + len(self._calls)]]
        # A runtime may offer the same object again, or several kernels on one engine; each is counted once.
        self._kernels = _distinct(self._kernels)
        self._engines = _distinct([getattr(kernel, "engine", None) for kernel in self._kernels])
        self._completed = sum(_completed(engine) for engine in self._engines)

    def _require_completed(self) -> None:
        """Where the engines keep a count of their own, it must have moved by as much as was asked."""
        counted = all(isinstance(getattr(engine, "completed", None), int) for engine in self._engines)
        ran = sum(_completed(engine) for engine in self._engines) - self._completed
        if counted and ran != self._loops:
            raise WorkNotDoneError(f"{self._loops} calls were due at the engine and it ran {ran}")


class KernelReaps(_Rounds):
    """Reaps of admitted calls on a no-op engine."""

    engine: Engine = "noop"

    def __init__(self, another: Callable[[], Any], calls: list[ToolCall]) -> None:
        super().__init__(another, calls)
        self._before = 0

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` reaps of handles that were submitted just now."""
        rounds = [
            (kernel.reap, [_submitted(kernel, call)[0] for call in calls]) for kernel, calls in self._dealt(loops)
        ]
        self._before = self._engine_calls()
        return each(rounds)

    def _engine_calls(self) -> int:
        return sum(at_once(settled(kernel.counters()), _SET_UP).engine_calls for kernel in self._kernels)

    def check(self, result: object) -> None:
        """Every reap must have reached the engine, and the last one must have come back well."""
        ran = self._engine_calls() - self._before
        if ran != self._loops:
            raise WorkNotDoneError(f"{self._loops} reaps reached the engine {ran} times by the kernel's count")
        self._require_completed()
        if getattr(result, "status", None) != Status.OK:
            raise WorkNotDoneError(f"the last reap returned {result_told(result)}")


class EngineAlone(_Rounds):
    """The mock engine's own completion of the same calls, each as its submit left it: decoded, and repaired."""

    engine: Engine = "mock"

    def __init__(self, another: Callable[[], Any], calls: list[ToolCall], expected: list[bytes]) -> None:
        super().__init__(another, calls)
        self._expected = expected

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` completions."""
        rounds = []
        for kernel, calls in self._dealt(loops):
            for call in calls:
                _submitted(kernel, call)
            rounds.append((kernel.engine.complete, calls))
        return each(rounds)

    def check(self, result: object) -> None:
        """The last completion must carry the payload that its call got before the clock ran."""
        self._require_completed()
        wanted = self._expected[self._last]
        if getattr(result, "payload", None) != wanted:
            raise WorkNotDoneError(
                f"the last completion returned {result_told(result)} where other {len(wanted)} bytes were expected"
            )


def _submitted(kernel: Any, call: ToolCall) -> Any:
    return at_once(settled(kernel.submit(call)), _SET_UP)


def _distinct(objects: list[Any]) -> list[Any]:
    return list({id(found): found for found in objects}.values())


def _completed(engine: Any) -> int:
    count = getattr(engine, "completed", 0)
    return count if isinstance(count, int) else 0


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
        world = workload.data["world"]
        kernel = offered(runtime, "syscall/reap", engine, world)
        if isinstance(kernel, Undefined):
            return kernel
        if engine == "mock" and not hasattr(kernel, "engine"):
            return Undefined("not-offered", "The runtime's syscall/reap has no attribute engine to time alone.")
        mover = getattr(kernel, "in_world", None)

        def another() -> Any:
            return mover(world) if callable(mover) else offered(runtime, "syscall/reap", engine, world)

        waits = awaits(kernel, "submit", "reap", "counters")
        opened: Slice | Undefined = finish(_open(kernel, another, engine, workload), waits=waits)
        return opened


async def _open(kernel: Any, another: Callable[[], Any], engine: Engine, workload: Workload) -> Slice | Undefined:
    admitted: list[ToolCall] = []
    payloads: list[bytes] = []
    for call in calls_of(workload):
        submitted = fresh(call)
        handle, verdict = await settled(kernel.submit(submitted))
        result = await settled(kernel.reap(handle))
        if verdict.kind not in _RUN or verdict.by == "vdso":
            continue
        if engine == "mock":
            # Again and without the gates: what they made of the body is not what the engine returned.
            result = await settled(kernel.engine.complete(fresh(submitted)))
        if result.status == Status.OK:
            admitted.append(call)
            payloads.append(result.payload)
    if not admitted:
        return Undefined("no-denominator", f"No call of {workload.name} is admitted, so nothing is reaped.")
    return KernelReaps(another, admitted) if engine == "noop" else EngineAlone(another, admitted, payloads)
