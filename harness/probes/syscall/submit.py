"""Probe of ``syscall/submit``: the kernel's own tallies after one replay of the workload.

Every call is submitted and reaped once, on a fresh kernel with its fast path on; nothing is repeated, so no
calibration is in the counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes.syscall._trace import awaits, calls_of, fresh, offered, settle, settled, unusable
from seams.contract.syscall import Counters
from seams.contract.verdict import VerdictKind
from seams.syscall.fold import kind_name
from seams.syscall.reasons import reason_name

__all__ = ["Probe", "Replayed", "replay"]


class Replayed(NamedTuple):
    """The kernel's counters and how many submits got each KIND/REASON."""

    counters: Counters
    verdicts: Mapping[str, int]


class Probe:
    """Opens one tally of one replay."""

    kpis: ClassVar[frozenset[str]] = frozenset({"denies", "transforms", "engine_calls", "verdict_reason_distribution"})

    def open(
        self,
        kpi: str,
        runtime: Any,
        workload: Workload | None,
        params: Mapping[str, str],  # noqa: ARG002
    ) -> Tally | Undefined:
        """The tally, or why there is none.

        Raises:
            WorkNotDoneError: the books of the replay do not balance.
        """
        refused = unusable(workload)
        if refused is not None or workload is None:
            return refused or Undefined("workload-kind", "There is no workload.")
        kernel = offered(runtime, "syscall/submit", "mock", workload.data["world"])
        if isinstance(kernel, Undefined):
            return kernel
        return settled(_tally(kpi, kernel, workload), asynchronous=awaits(kernel, "submit", "reap", "counters"))


async def _tally(kpi: str, kernel: Any, workload: Workload) -> Tally:
    counters, verdicts = await replay(kernel, workload)
    if kpi == "verdict_reason_distribution":
        return Tally(sum(verdicts.values()), reasons=verdicts, source=workload.source)
    return Tally(getattr(counters, kpi), source=workload.source)


async def replay(kernel: Any, workload: Workload) -> Replayed:
    """Submit and reap every call once.

    Raises:
        WorkNotDoneError: the kernel's counters contradict the verdicts it gave, or calls are unaccounted for.
    """
    verdicts: Counter[str] = Counter()
    served = denied = rewritten = 0
    for call in calls_of(workload):
        handle, verdict = await settle(kernel.submit(fresh(call)))
        result = await settle(kernel.reap(handle))
        verdicts[f"{kind_name(verdict.kind)}/{reason_name(verdict.reason)}"] += 1
        served += result.meta.get("served_by") == "vdso"
        denied += result.meta.get("verdict") == "deny" and result.meta.get("admit") != "denied"
        rewritten += verdict.kind == VerdictKind.TRANSFORM
    counters: Counters = await settle(kernel.counters())
    submits = sum(verdicts.values())
    seen = {
        "submits": (counters.submits, submits),
        "vdso_hits": (counters.vdso_hits, served),
        "denies": (counters.denies, denied),
        "transforms": (counters.transforms, rewritten),
        "engine_calls": (counters.engine_calls, submits - served - denied),
    }
    _require_engine(kernel, counters)
    for name, (told, observed) in seen.items():
        if told != observed:
            raise WorkNotDoneError(f"the kernel counts {told} {name} and the replay saw {observed}")
    return Replayed(counters, dict(verdicts))


def _require_engine(kernel: Any, counters: Counters) -> None:
    """Where the engine keeps a count of its own, it must agree: a kernel cannot call what was not called."""
    completed = getattr(getattr(kernel, "engine", None), "completed", None)
    if isinstance(completed, int) and completed != counters.engine_calls:
        raise WorkNotDoneError(f"the kernel counts {counters.engine_calls} engine calls and the engine ran {completed}")
