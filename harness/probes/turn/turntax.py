"""Probe of ``turn/turntax``: counts of one replayed trace, and the cost model over them.

Counts come from the replay, prices from the formulas, and a priced number says so: its basis is a model, with every
knob beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes.syscall._trace import awaits, calls_of, offered, settle, settled, unusable
from kpis.formulas.turn.turntax import KNOBS, net, turns_saved
from seams.contract.turntax import Arm, Replay

__all__ = ["Probe"]

_MODELED = {"tokens_saved": "tokens", "dollars_saved": "dollars", "latency_saved_ms": "latency_ms"}
_SAFETY_ARM = {"baseline": Arm.BASELINE, "kernel": Arm.ON}


class Probe:
    """Opens one tally of one replay."""

    kpis: ClassVar[frozenset[str]] = frozenset(
        {
            "turns_saved",
            "context_pollution_rate",
            "safety_floor",
            "vdso_off_net",
            "tokens_saved",
            "dollars_saved",
            "latency_saved_ms",
        }
    )

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Tally | Undefined:
        """The tally, or why there is none.

        Raises:
            WorkNotDoneError: the replay's classes and counters contradict each other.
        """
        refused = unusable(workload)
        if refused is not None or workload is None:
            return refused or Undefined("workload-kind", "There is no workload.")
        seam = offered(runtime, "turn/turntax", "mock", workload.data["world"])
        if isinstance(seam, Undefined):
            return seam
        return settled(_tally(kpi, seam, workload, params), asynchronous=awaits(seam, "replay"))


async def _tally(kpi: str, seam: Any, workload: Workload, params: Mapping[str, str]) -> Tally:
    source = workload.source
    if kpi == "safety_floor":
        told = await _replay(seam, workload, _SAFETY_ARM[params["arm"]])
        return Tally(getattr(told, params["what"]), source=source)
    if kpi == "vdso_off_net":
        off = await _replay(seam, workload, Arm.OFF)
        return Tally(turns_saved(off.totals()), source=source)
    on = await _replay(seam, workload, Arm.ON)
    if kpi == "context_pollution_rate":
        kept_out = on.counters.quarantines
        return Tally(kept_out, len(on.classes), {"quarantine": kept_out} if kept_out else {}, source=source)
    if kpi == "turns_saved":
        return Tally(turns_saved(on.totals(), params["kind"]), source=source)
    priced = net(turns_saved(on.totals()), KNOBS)
    return Tally(priced[_MODELED[kpi]], knobs=dict(KNOBS), basis="model", source=source)


async def _replay(seam: Any, workload: Workload, arm: Arm) -> Replay:
    calls = calls_of(workload)
    told: Replay = await settle(seam.replay(calls, workload.data["world"], arm))
    if told.counters.submits != len(calls):
        raise WorkNotDoneError(f"of {len(calls)} calls the {arm.value} arm submitted {told.counters.submits}")
    if told.mismatches():
        raise WorkNotDoneError(f"the books of the {arm.value} arm do not balance: {'; '.join(told.mismatches())}")
    return told
