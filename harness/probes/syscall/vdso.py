"""Probe of ``syscall/vdso``: the share of a trace's calls that the fast path answers, and what its answer costs.

Of the rate, ``isolated`` replays on an empty cache; ``shared_cache`` first replays the trace with lookups off on the
same fast path, which fills it, and counts the second replay alone. Either is held against a replay with lookups off.
The latencies are those of authored reads. Before all of it a fast path of its own is shown what none may answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import awaits, finish, settled
from harness.probes.syscall._fast_path import Hits, Misses
from harness.probes.syscall._results import require_gated
from harness.probes.syscall._served import replay_of, require_answers
from harness.probes.syscall._sound import require_empty, require_sound
from harness.probes.syscall._trace import another, calls_of, offered, unusable

__all__ = ["Probe"]

_SEAM = "syscall/vdso"


class Probe:
    """Opens the hit rate of one arm, or the latency of one way."""

    kpis: ClassVar[frozenset[str]] = frozenset({"vdso_hit_rate", "vdso_hit_latency"})

    def open(
        self,
        kpi: str,
        runtime: Any,
        workload: Workload | None,
        params: Mapping[str, str],
    ) -> Tally | Slice | Undefined:
        """Hits over calls, the hits by tier; or the slice of a hit or a miss; or why there is neither.

        Raises:
            WorkNotDoneError: the fast path answers what it must not, or otherwise than the engine; or the kernel's
                counters do not account for every call.
        """
        if kpi == "vdso_hit_latency":
            return _open_latency(runtime, params["path"])
        refused = unusable(workload)
        if refused is not None or workload is None:
            return refused or Undefined("workload-kind", "There is no workload.")
        world = workload.data["world"]
        control = offered(runtime, _SEAM, "mock", world)
        if isinstance(control, Undefined):
            return control
        make = another(runtime, _SEAM, "mock", world, control)
        rate: Tally = finish(_rate(control, make, workload, params["arm"]), waits=_waits(control, world))
        return rate


def _waits(path: Any, world: str) -> bool:
    if awaits(path, "mount", "stats"):
        return True
    return awaits(path.mount(world, lookup=True), "submit", "reap", "syscall", "counters")


def _open_latency(runtime: Any, way: str) -> Slice | Undefined:
    control = offered(runtime, _SEAM, "mock", "default")
    if isinstance(control, Undefined):
        return control
    make = another(runtime, _SEAM, "mock", "default", control)
    opened: Slice = finish(_latency(control, make, way), waits=_waits(control, "default"))
    return opened


async def _latency(control: Any, make: Callable[[], Any], way: str) -> Slice:
    await require_sound(control, "default")
    if way == "hit":
        return Hits(make)
    await require_gated(await settled(control.mount("default", lookup=True)))
    return Misses(make)


async def _rate(control: Any, make: Callable[[], Any], workload: Workload, arm: str) -> Tally:
    calls, world = calls_of(workload), workload.data["world"]
    await require_sound(control, world)
    filling = make()
    await require_empty(filling)
    off = await replay_of(await settled(filling.mount(world, lookup=False)), calls)
    if off.hits():
        raise WorkNotDoneError(f"with lookups off the fast path still answered {sum(off.hits().values())} calls")
    counted = filling if arm == "shared_cache" else make()
    if counted is not filling:
        await require_empty(counted)
    on = await replay_of(await settled(counted.mount(world, lookup=True)), calls)
    require_answers(calls, on, off)
    hits = on.hits()
    evidence = (*off.told("lookups off"), *on.told(arm))
    return Tally(sum(hits.values()), len(calls), reasons=hits, source=workload.source, evidence=evidence)
