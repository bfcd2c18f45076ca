"""Probe of ``syscall/reap``: the kernel's share of a reap, and beside it what the mock engine alone would add.

The seam blocks on its engine. ``kernel`` reaps with a no-op engine, whose payload is ``{}``: two bytes, so the gates
screen next to nothing, and what a result's size costs is no part of this number; that they are on is shown beforehand,
on a kernel with the mock engine. ``engine`` never reaps: it completes such call objects as a reap would hand to it.
Handles are submitted before the clock runs. Calls that the kernel refuses are left out, since nothing is run for them.

Each time through the trace has a kernel of its own, so that a first read fills the cache and a repeated one finds it
filled, in every batch and at any number of loops alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from harness.measure.clock import Engine, Slice, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import awaits, finish, settled
from harness.probes._set_up import completed, distinct, now
from harness.probes._spread import spread
from harness.probes.syscall._results import require_gated
from harness.probes.syscall._trace import another, calls_of, each, fresh, offered, unusable
from harness.probes.syscall._words import result_told
from seams.contract.syscall import ToolCall
from seams.contract.verdict import Status, VerdictKind

__all__ = ["EngineAlone", "KernelReaps", "Probe"]

_RUN = (VerdictKind.ALLOW, VerdictKind.TRANSFORM)


class _Rounds:
    """Loops dealt out over the trace, and a fresh kernel for each time through it."""

    def __init__(self, another: Callable[[], Any], calls: list[ToolCall]) -> None:
        self._another = another
        self._calls = calls
        self._kernels: list[Any] = []
        self._completed: int | None = None
        self._loops = 0
        self._last = 0

    def _dealt(self, loops: int) -> Iterator[tuple[Any, list[ToolCall]]]:
        order = spread(len(self._calls), loops)
        self._kernels, self._loops, self._last = [], loops, order[-1]
        for at in range(0, loops, len(self._calls)):
            kernel = self._another()
            self._kernels.append(kernel)
            yield kernel, [fresh(self._calls[index]) for index in order[at : at + len(self._calls)]]
        self._kernels = distinct(self._kernels)
        self._completed = completed(self._kernels)

    def _require_completed(self) -> None:
        """Where the engines keep a count of their own, it must have moved by as much as was asked."""
        after = completed(self._kernels)
        if self._completed is not None and after is not None and after - self._completed != self._loops:
            ran = after - self._completed
            raise WorkNotDoneError(f"{self._loops} calls were due at the engine and it ran {ran}")


class KernelReaps(_Rounds):
    """Reaps of admitted calls on a no-op engine."""

    engine: Engine = "noop"

    def __init__(self, another: Callable[[], Any], calls: list[ToolCall]) -> None:
        super().__init__(another, calls)
        self._before = (0, 0)

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` reaps of handles that were submitted just now."""
        rounds = [
            (kernel.reap, [_submitted(kernel, call)[0] for call in calls]) for kernel, calls in self._dealt(loops)
        ]
        self._before = self._books()
        return each(rounds)

    def _books(self) -> tuple[int, int]:
        """Engine calls and admitted results of all kernels."""
        told = [now(kernel.counters()) for kernel in self._kernels]
        return sum(each.engine_calls for each in told), sum(each.admitted for each in told)

    def check(self, result: object) -> None:
        """Every reap must have reached the engine and been admitted, and the last one must have come back well."""
        ran, admitted = (after - before for after, before in zip(self._books(), self._before, strict=True))
        if ran != self._loops:
            raise WorkNotDoneError(f"{self._loops} reaps reached the engine {ran} times by the kernel's count")
        if admitted != self._loops:
            raise WorkNotDoneError(f"of {self._loops} reaps the kernel admitted {admitted} results")
        self._require_completed()
        if getattr(result, "status", None) != Status.OK:
            raise WorkNotDoneError(f"the last reap returned {result_told(result)}")


class EngineAlone(_Rounds):
    """The mock engine's own completion of the same calls, each as its adjudication left it: decoded, or repaired."""

    engine: Engine = "mock"

    def __init__(self, another: Callable[[], Any], calls: list[ToolCall], expected: list[bytes]) -> None:
        super().__init__(another, calls)
        self._expected = expected

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` completions."""
        rounds = []
        for kernel, calls in self._dealt(loops):
            for call in calls:
                _, verdict = _submitted(kernel, call)
                if verdict.kind == VerdictKind.ALLOW:
                    call.arguments()  # a kernel may judge a copy, and the engine is handed what was judged
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
    return now(kernel.submit(call))


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
        """The slice, or why there is none.

        Raises:
            WorkNotDoneError: the gates of a kernel whose reaps are to be timed keep nothing out.
        """
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
        # Gates are seen at work where an engine brings something back, which a no-op engine never does.
        control = offered(runtime, "syscall/reap", "mock", world) if engine == "noop" else None
        if isinstance(control, Undefined):
            return control
        make = another(runtime, "syscall/reap", engine, world, kernel)
        waits = awaits(kernel, "submit", "reap", "counters") or awaits(control, "submit", "reap")
        opened: Slice | Undefined = finish(_open(kernel, control, make, workload), waits=waits)
        return opened


async def _open(kernel: Any, control: Any, make: Callable[[], Any], workload: Workload) -> Slice | Undefined:
    """The reaps where there is a ``control`` of the gates, else the engine alone."""
    if control is not None:
        await require_gated(control)
    admitted: list[ToolCall] = []
    payloads: list[bytes] = []
    for call in calls_of(workload):
        submitted = fresh(call)
        handle, verdict = await settled(kernel.submit(submitted))
        result = await settled(kernel.reap(handle))
        if verdict.kind not in _RUN or verdict.by == "vdso":
            continue
        if control is None:
            # Again and without the gates: what they made of the body is not what the engine returned.
            result = await settled(kernel.engine.complete(fresh(submitted)))
        if result.status == Status.OK:
            admitted.append(call)
            payloads.append(result.payload)
    if not admitted:
        return Undefined("no-denominator", f"No call of {workload.name} is admitted, so nothing is reaped.")
    return EngineAlone(make, admitted, payloads) if control is None else KernelReaps(make, admitted)
