"""Probe of ``syscall/vdso``: the share of a trace's calls that the fast path answers, and what its answer costs.

Of the rate, ``isolated`` replays on an empty cache; ``shared_cache`` first replays the trace with lookups off on the
same fast path, which fills it, and counts the second replay alone. The latencies are those of authored reads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import awaits, finish, settled
from harness.probes.syscall._fast_path import Hits, Misses
from harness.probes.syscall._trace import calls_of, fresh, offered, unusable

__all__ = ["Probe"]

_TIERS = {"1": "pure", "2": "dedup", "3": "static"}


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
            WorkNotDoneError: the kernel's counters do not account for every call.
        """
        if kpi == "vdso_hit_latency":
            return _latency(runtime, params["path"])
        refused = unusable(workload)
        if refused is not None or workload is None:
            return refused or Undefined("workload-kind", "There is no workload.")
        path = offered(runtime, "syscall/vdso", "mock", workload.data["world"])
        if isinstance(path, Undefined):
            return path
        shared = params["arm"] == "shared_cache"
        waits = awaits(path, "mount")
        if not waits:
            waits = awaits(path.mount(workload.data["world"], lookup=True), "syscall", "counters")
        rate: Tally = finish(_rate(path, workload, shared=shared), waits=waits)
        return rate


def _latency(runtime: Any, way: str) -> Slice | Undefined:
    def another() -> Any:
        return offered(runtime, "syscall/vdso", "mock", "default")

    path = another()
    if isinstance(path, Undefined):
        return path
    return Hits(another) if way == "hit" else Misses(another)


async def _rate(path: Any, workload: Workload, *, shared: bool) -> Tally:
    calls = calls_of(workload)
    world = workload.data["world"]
    if shared:
        filling = await settled(path.mount(world, lookup=False))
        hits = await _hits(filling, calls)
        if hits:
            raise WorkNotDoneError(f"with lookups off the fast path still answered {sum(hits.values())} calls")
    hits = await _hits(await settled(path.mount(world, lookup=True)), calls)
    return Tally(sum(hits.values()), len(calls), reasons=hits, source=workload.source)


async def _hits(kernel: Any, calls: list[Any]) -> Mapping[str, int]:
    """Hits by tier of one replay."""
    tiers: Counter[str] = Counter()
    for call in calls:
        result, _ = await settled(kernel.syscall(fresh(call)))
        if result.meta.get("served_by") == "vdso":
            tiers[_TIERS.get(result.meta.get("tier", ""), "other")] += 1
    counters = await settled(kernel.counters())
    settled_calls = counters.vdso_hits + counters.denies + counters.engine_calls
    if counters.submits != len(calls) or settled_calls != len(calls):
        raise WorkNotDoneError(
            f"of {len(calls)} calls the kernel submitted {counters.submits} and settled {settled_calls}"
        )
    accounted = counters.admitted + counters.quarantines + counters.result_denies + counters.engine_errors
    if counters.engine_calls != accounted:
        raise WorkNotDoneError(f"of {counters.engine_calls} engine calls the gates account for {accounted}")
    if counters.vdso_hits != sum(tiers.values()):
        raise WorkNotDoneError(f"the kernel counts {counters.vdso_hits} hits and {sum(tiers.values())} results say so")
    return dict(tiers)
