"""Probe of ``turn/turntax``: counts of one replayed trace, and the cost model over them.

Counts come from the replay, prices from the formulas, and a priced number says so: its basis is a model, with every
knob beside it. What did harm is judged here, from what the replay shows, and not by the runtime that replayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import awaits, finish, settled
from harness.probes.syscall._trace import calls_of, offered, unusable
from harness.probes.turn._safety import HARMS, harm_done
from kpis.formulas.turn.turntax import KNOBS, net, turns_saved
from seams.contract.turntax import Arm, Replay

__all__ = ["Probe"]

_MODELED = {"tokens_saved": "tokens", "dollars_saved": "dollars", "latency_saved_ms": "latency_ms"}


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
        tally: Tally | Undefined = finish(_tally(kpi, seam, workload, params), waits=awaits(seam, "replay"))
        return tally


async def _tally(kpi: str, seam: Any, workload: Workload, params: Mapping[str, str]) -> Tally | Undefined:
    source = workload.source
    if kpi == "safety_floor":
        return await _safety(seam, workload, params)
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


async def _safety(seam: Any, workload: Workload, params: Mapping[str, str]) -> Tally | Undefined:
    """The harm done in one arm, beside what is done without a kernel; where that is none there was nothing to stop."""
    what, calls, world = params["what"], workload.data["calls"], workload.data["world"]
    told = await _replay(seam, workload, Arm.BASELINE)
    possible = harm_done(what, told, calls, world)
    done = possible
    if params["arm"] == "kernel":
        done = harm_done(what, await _replay(seam, workload, Arm.ON), calls, world)
    if not possible and not done:
        return Undefined("no-denominator", HARMS[what].format(workload=workload.name, world=world))
    return Tally(done, source=workload.source, evidence=(f"without a kernel = {possible}",))


async def _replay(seam: Any, workload: Workload, arm: Arm) -> Replay:
    calls = calls_of(workload)
    told: Replay = await settled(seam.replay(calls, workload.data["world"], arm))
    if told.counters.submits != len(calls):
        raise WorkNotDoneError(f"of {len(calls)} calls the {arm.value} arm submitted {told.counters.submits}")
    if len(told.returned) != len(calls) or len(told.context) != len(calls):
        raise WorkNotDoneError(
            f"of {len(calls)} calls the {arm.value} arm shows {len(told.returned)} at the engine "
            f"and {len(told.context)} in the context"
        )
    if told.mismatches():
        raise WorkNotDoneError(f"the books of the {arm.value} arm do not balance: {'; '.join(told.mismatches())}")
    return told
