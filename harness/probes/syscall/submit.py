"""Probe of ``syscall/submit``: the kernel's own tallies after one replay of the workload, and the time of one submit.

For a tally every call is submitted and reaped once, on a fresh kernel with its fast path on; nothing is repeated, so no
calibration is in the counts. The time takes no workload: its calls are authored, see ``_submits``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

from harness.measure.clock import Slice, Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import awaits, finish, settled
from harness.probes._history import turns_of
from harness.probes._set_up import completed
from harness.probes.syscall._grown import grown
from harness.probes.syscall._submits import OUTCOMES, WORLD, Submits, require_refusals
from harness.probes.syscall._trace import another, calls_of, offered, replayed, unusable
from harness.probes.syscall._words import kind_name, reason_name, reason_told
from seams.contract.syscall import Counters
from seams.contract.verdict import VerdictKind

__all__ = ["Probe", "Replayed", "replay"]

_GATE = {"quarantined": "QUARANTINE", "transformed": "TRANSFORM", "denied": "DENY"}
"""What a result's meta says of its admission, as the verdict that was carried out."""


class Replayed(NamedTuple):
    """The kernel's counters, and how often each KIND/REASON was given.

    ``verdicts`` has one entry a submit, and one besides for each result that a gate did not simply allow; ``done`` says
    how many of them refused, rewrote, or kept a result out.
    """

    counters: Counters
    verdicts: Mapping[str, int]
    done: Mapping[str, int]


class Probe:
    """Opens one tally of one replay, or the submits of one outcome."""

    kpis: ClassVar[frozenset[str]] = frozenset(
        {"denies", "transforms", "engine_calls", "verdict_reason_distribution", "submit_latency"}
    )

    def open(
        self,
        kpi: str,
        runtime: Any,
        workload: Workload | None,
        params: Mapping[str, str],
    ) -> Slice | Tally | Undefined:
        """The tally or the slice, or why there is none.

        Raises:
            WorkNotDoneError: the books of the replay do not balance, or a kernel that is to be timed refuses nothing.
        """
        if kpi == "submit_latency":
            if "history" not in params:
                return _submits(runtime, params["outcome"])
            turns = turns_of(params["history"])
            return turns if isinstance(turns, Undefined) else grown(runtime, turns)
        refused = unusable(workload)
        if refused is not None or workload is None:
            return refused or Undefined("workload-kind", "There is no workload.")
        kernel = offered(runtime, "syscall/submit", "mock", workload.data["world"])
        if isinstance(kernel, Undefined):
            return kernel
        waits = awaits(kernel, "submit", "reap", "counters")
        tally: Tally = finish(_tally(kpi, kernel, workload), waits=waits)
        return tally


def _submits(runtime: Any, outcome: str) -> Submits | Undefined:
    kernel = offered(runtime, "syscall/submit", "noop", WORLD)
    if isinstance(kernel, Undefined):
        return kernel
    make = another(runtime, "syscall/submit", "noop", WORLD, kernel)
    opened: Submits = finish(_proved(make, outcome), waits=awaits(kernel, "submit", "reap", "counters"))
    return opened


async def _proved(make: Callable[[], Any], outcome: str) -> Submits:
    await require_refusals(make)
    return Submits(make, OUTCOMES[outcome])


async def _tally(kpi: str, kernel: Any, workload: Workload) -> Tally:
    counters, verdicts, done = await replay(kernel, workload)
    if kpi == "verdict_reason_distribution":
        evidence = tuple(f"{name} = {count}" for name, count in done.items())
        return Tally(sum(verdicts.values()), reasons=verdicts, source=workload.source, evidence=evidence)
    return Tally(getattr(counters, kpi), source=workload.source)


async def replay(kernel: Any, workload: Workload) -> Replayed:
    """Submit and reap every call once.

    Raises:
        WorkNotDoneError: the kernel's counters contradict the verdicts it gave, or calls are unaccounted for.
    """
    verdicts: Counter[str] = Counter()
    gates: Counter[str] = Counter()
    submits = served = denied = rewritten = 0
    for verdict, result in await replayed(kernel, calls_of(workload)):
        submits += 1
        verdicts[f"{kind_name(verdict.kind)}/{reason_name(verdict.reason)}"] += 1
        served += result.meta.get("served_by") == "vdso"
        gate = _GATE.get(result.meta.get("admit", ""))
        if gate is not None:
            gates[gate] += 1
            verdicts[f"{gate}/{reason_told(result.meta.get('reason', ''))}"] += 1
        denied += result.meta.get("verdict") == "deny" and gate is None
        rewritten += verdict.kind == VerdictKind.TRANSFORM
    counters: Counters = await settled(kernel.counters())
    seen = {
        "submits": (counters.submits, submits),
        "vdso_hits": (counters.vdso_hits, served),
        "denies": (counters.denies, denied),
        "transforms": (counters.transforms, rewritten),
        "engine_calls": (counters.engine_calls, submits - served - denied),
        "quarantines": (counters.quarantines, gates["QUARANTINE"]),
        "result_denies": (counters.result_denies, gates["DENY"]),
        # Whatever ran and did not fail was admitted, kept out or refused; else a gate broke down and let it pass.
        "admitted": (
            counters.admitted,
            counters.engine_calls - counters.engine_errors - gates["QUARANTINE"] - gates["DENY"],
        ),
    }
    _require_engine(kernel, counters)
    for name, (told, observed) in seen.items():
        if told != observed:
            raise WorkNotDoneError(f"the kernel counts {told} {name} and the replay saw {observed}")
    done = {
        "refusals": denied + gates["DENY"],
        "rewrites": rewritten + gates["TRANSFORM"],
        "results kept out": gates["QUARANTINE"],
    }
    return Replayed(counters, dict(verdicts), done)


def _require_engine(kernel: Any, counters: Counters) -> None:
    """Where the engine keeps a count of its own, it must agree: a kernel cannot call what was not called."""
    ran = completed([kernel])
    if ran is not None and ran != counters.engine_calls:
        raise WorkNotDoneError(f"the kernel counts {counters.engine_calls} engine calls and the engine ran {ran}")
