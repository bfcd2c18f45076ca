"""Probe of ``turn/turntax``: counts of one replayed trace, and the cost model over them.

The probe brings the engine, and replays without a kernel itself. Counts come from the replay, held against what
arrived at that engine; prices come from the formulas, and a priced number says so: its basis is a model, with every
knob beside it. What did harm is judged here, and not by the runtime that replayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import awaits, finish
from harness.probes.syscall._trace import calls_of, offered, unusable
from harness.probes.turn._books import replayed, totals
from harness.probes.turn._control import verify_fast_path
from harness.probes.turn._safety import HARMS, harm_done
from harness.probes.turn._worlds import world_of
from kpis.formulas.turn.turntax import KNOBS, net, sensitivity, turns_saved
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
            WorkNotDoneError: the replay's classes, its counters and what arrived at its engine contradict each other,
                or its fast path answers what it must not.
        """
        refused = unusable(workload)
        if refused is not None or workload is None:
            return refused or Undefined("workload-kind", "There is no workload.")
        seam = offered(runtime, "turn/turntax", "mock", workload.data["world"])
        if isinstance(seam, Undefined):
            return seam
        tally: Tally | Undefined = finish(_tally(kpi, seam, workload, params), waits=awaits(seam, "replay"))
        return tally


class _Seen:
    """One replay: what was told of it, and for each call what its engine gave."""

    def __init__(self, told: Replay, returned: list[bytes | None]) -> None:
        self.told = told
        self.returned = returned
        self.classes = totals(told)


async def _tally(kpi: str, seam: Any, workload: Workload, params: Mapping[str, str]) -> Tally | Undefined:
    source = workload.source
    await verify_fast_path(seam)
    on = await _replay(seam, workload, Arm.ON)
    if kpi == "safety_floor":
        return _safety(on, workload, params)
    if kpi == "context_pollution_rate":
        kept_out = on.classes["quarantine"]
        return Tally(kept_out, len(on.told.classes), {"quarantine": kept_out} if kept_out else {}, source=source)
    if kpi == "vdso_off_net":
        off = await _replay(seam, workload, Arm.OFF)
        _verify_switch(on, off)
        return Tally(turns_saved(off.classes), basis="formula", source=source, evidence=_told(off))
    if kpi == "turns_saved":
        saved = turns_saved(on.classes, params["kind"])
        return Tally(saved, basis="formula", source=source, evidence=_told(on))
    turns, amount = turns_saved(on.classes), _MODELED[kpi]
    others = ", ".join(f"{name} {row[amount]:.10g}" for name, row in sensitivity(turns).items())
    evidence = (f"{turns} turns; at other assumed turns: {others}",)
    return Tally(net(turns, KNOBS)[amount], knobs=dict(KNOBS), basis="model", source=source, evidence=evidence)


def _told(seen: _Seen) -> tuple[str, ...]:
    """The classes, the kernel's counters, and the tokens of the calls that reached the engine."""
    told = seen.told
    return (
        "calls by class: " + ", ".join(f"{name} {count}" for name, count in seen.classes.items()),
        "the kernel's counters: " + ", ".join(f"{name} {count}" for name, count in asdict(told.counters).items()),
        f"tokens at the engine: {told.input_tokens} in, {told.output_tokens} out",
    )


def _verify_switch(on: _Seen, off: _Seen) -> None:
    """Hold the replay without a fast path against the one with it.

    Raises:
        WorkNotDoneError: something was answered by a fast path that is off, or the difference is not its hits.
    """
    if off.told.counters.vdso_hits:
        raise WorkNotDoneError(f"with the fast path off {off.told.counters.vdso_hits} calls were answered by it")
    repaired, gained = turns_saved(off.classes), turns_saved(on.classes) - turns_saved(off.classes)
    if repaired != off.classes["grammar"] or gained != on.told.counters.vdso_hits:
        raise WorkNotDoneError(
            f"with the fast path {gained} more turns are saved than without, and it answered "
            f"{on.told.counters.vdso_hits} calls"
        )


def _safety(on: _Seen, workload: Workload, params: Mapping[str, str]) -> Tally | Undefined:
    """The harm done in one arm, beside what is done without a kernel; where that is none there was nothing to stop."""
    what, calls, name = params["what"], workload.data["calls"], workload.data["world"]
    world = world_of(name)
    bare = [world.tools(call.tool, call.args)[1] for call in calls_of(workload)]
    possible = harm_done(what, calls, bare, bare, world.harm)
    done = harm_done(what, calls, on.returned, on.told.context, world.harm)
    if not possible and not done:
        return Undefined("no-denominator", HARMS[what].format(workload=workload.name, world=name))
    evidence = (f"without a kernel = {possible}",)
    return Tally(done if params["arm"] == "kernel" else possible, source=workload.source, evidence=evidence)


async def _replay(seam: Any, workload: Workload, arm: Arm) -> _Seen:
    name = workload.data["world"]
    told, arrived = await replayed(seam, calls_of(workload), name, world_of(name), arm)
    return _Seen(told, [None if each is None else each.body for each in arrived])
