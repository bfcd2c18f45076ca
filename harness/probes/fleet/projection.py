"""Probe of ``fleet/projection``: the cost model of a fan-out, every knob beside it, and the speed-up that a clock saw.

The model needs no runtime, and no clock runs for it. What workers in processes of their own gain by being many is a
number by itself, read off the harness's clock (``_crews``); neither is part of the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Arms, Tally, Undefined, Workload
from harness.probes.fleet._crews import TREES, Crews
from kpis.formulas.fleet.projection import KNOBS, break_even, fold_join_ns, fold_turns, limits, project
from seams.contract.fleet_projection import Crew

__all__ = ["KNOBS_OF", "Probe"]

_COSTS = ("agents", "sub_turns", "prefix_tokens", "suffix_tokens", "decode_tokens_per_turn", "fold_tokens_per_result")
_FOLD = ("agents", "fold_tokens_per_result", "fold_budget")
KNOBS_OF: Mapping[str, tuple[str, ...]] = {
    "tax_clawed_back_frac": (*_COSTS, "cache_read", "cache_write"),
    "parallel_speedup": ("agents", "sub_turns", "fold_tokens_per_result", "fold_budget"),
    "fold_turns": _FOLD,
    "fold_join_ns": (*_FOLD, "ms_per_turn"),
}
"""The knobs that each number of the model hangs on."""


class Probe:
    """Opens the numbers of the model, and what was measured of workers."""

    kpis: ClassVar[frozenset[str]] = frozenset(
        {"tax_clawed_back_frac", "parallel_speedup", "measured_speedup", "fold_turns", "fold_join_ns"}
    )

    def open(
        self,
        kpi: str,
        runtime: Any,
        workload: Workload | None,  # noqa: ARG002
        params: Mapping[str, str],
    ) -> Arms | Tally | Undefined:
        """The model's number; what it is made of, and its golden neighbours, as evidence. Of the workers, Arms."""
        if kpi == "measured_speedup":
            if params["trees"] not in TREES:
                return Undefined("bad-value", f"trees = {params['trees']} is neither {' nor '.join(TREES)}.")
            crew: Crew | None = runtime.offer("fleet/projection", "none")
            if crew is None:
                return Undefined("not-offered", f"The runtime {runtime.name} offers no workers.")
            return Crews(crew, params["trees"])
        agents = int(KNOBS["agents"])
        found = project(agents)
        knobs = {name: KNOBS[name] for name in KNOBS_OF[kpi]}
        if kpi == "fold_turns":
            return Tally(
                fold_turns(agents),
                knobs=knobs,
                basis="model",
                source="synthetic",
                evidence=_at("fold_turns", (100, 1000)),
            )
        if kpi == "fold_join_ns":
            return Tally(
                fold_join_ns(agents),
                knobs=knobs,
                basis="model",
                source="synthetic",
                evidence=(f"{found.fold_turns} turns",),
            )
        clawed_at_most, speedup_at_most = limits()
        if kpi == "tax_clawed_back_frac":
            evidence = (
                f"tokens of a single agent: naive {found.naive:.4f}, reuse {found.reuse:.4f}",
                *_at("clawed_back", (1, 100, 1000)),
                f"with agents without end {clawed_at_most:.6f}; from {break_even()} agents on a token is saved",
                f"at {agents} agents {found.net_tokens} tokens net, {project(1).net_tokens} with one",
            )
            surplus = found.naive - 1
            return Tally(
                found.naive - found.reuse, surplus, knobs=knobs, basis="model", source="synthetic", evidence=evidence
            )
        evidence = (
            f"{found.total} turns in all, {found.critical} on the longest path, {found.overhead} more than with one",
            *_at("speedup", (100, 1000, 1024)),
            f"with agents without end {speedup_at_most:.6g}",
        )
        return Tally(
            found.total,
            found.critical,
            knobs=knobs,
            basis="model",
            source="synthetic",
            evidence=evidence,
        )


def _at(field: str, numbers: Sequence[int]) -> tuple[str, ...]:
    return (", ".join(f"{agents} agents: {getattr(project(agents), field):.6g}" for agents in numbers),)
