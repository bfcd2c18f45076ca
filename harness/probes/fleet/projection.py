"""Probe of ``fleet/projection``: the cost model of a fan-out, every knob beside it, and what a clock saw besides.

The model needs no runtime. Beside its speed-up stands one that was seen: workers in processes of their own, one at a
time and then as many at a time as there are cores, once where each has a tree of its own and once where all want the
same. The harness's clock is read for it; it is a sentence beside the model and never the model's number. Where the jobs
lead is known without doing them, by the generator's own powers.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError, is_async, stamp
from kpis.formulas.fleet.projection import KNOBS, break_even, fold_join_ns, fold_turns, limits, project
from seams.contract.fleet_projection import INCREMENT, MODULUS, MULTIPLIER, Crew, Job

__all__ = ["KNOBS_OF", "STEPS", "Probe", "led_to"]

STEPS = 1_000_000
"""Steps of a job: about a tenth of a second, some times what it takes to start an interpreter."""

_MOST = 4
_COSTS = ("agents", "sub_turns", "prefix_tokens", "suffix_tokens", "decode_tokens_per_turn", "fold_tokens_per_result")
_FOLD = ("agents", "fold_tokens_per_result", "fold_budget")
KNOBS_OF: Mapping[str, tuple[str, ...]] = {
    "tax_clawed_back_frac": (*_COSTS, "cache_read", "cache_write"),
    "parallel_speedup": ("agents", "sub_turns", "fold_tokens_per_result", "fold_budget"),
    "fold_turns": _FOLD,
    "fold_join_ns": (*_FOLD, "ms_per_turn"),
}
"""The knobs that each number hangs on."""


def led_to(job: Job) -> int:
    """Where the steps of ``job`` lead, by squaring the step: as many multiplications as ``steps`` has digits."""
    factor, addend, steps = MULTIPLIER, INCREMENT, job.steps
    at = job.seed
    while steps:
        if steps & 1:
            at = (factor * at + addend) % MODULUS
        factor, addend, steps = factor * factor % MODULUS, (factor + 1) * addend % MODULUS, steps >> 1
    return at


class Probe:
    """Opens the numbers of the model."""

    kpis: ClassVar[frozenset[str]] = frozenset(
        {"tax_clawed_back_frac", "parallel_speedup", "fold_turns", "fold_join_ns"}
    )

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Tally | Undefined:  # noqa: ARG002
        """The model's number; what it is made of, and its golden neighbours, as evidence.

        Raises:
            WorkNotDoneError: the workers did not do their jobs.
        """
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
        clocked = _measured(runtime.offer("fleet/projection", "none"))
        return Tally(
            found.total,
            found.critical,
            knobs=knobs,
            basis="model",
            source="synthetic",
            evidence=evidence,
            clocked=clocked,
        )


def _at(field: str, numbers: Sequence[int]) -> tuple[str, ...]:
    return (", ".join(f"{agents} agents: {getattr(project(agents), field):.6g}" for agents in numbers),)


def _measured(crew: Crew | None) -> tuple[str, ...]:
    """Sentences on the speed-up that the clock saw, or on why it saw none."""
    if crew is None:
        return ("measured: nothing, since the runtime offers no workers",)
    if is_async(crew.run):
        return ("measured: nothing, since the runtime's workers are awaited, and this clock is not on their loop",)
    cores = len(os.sched_getaffinity(0))
    width = min(max(cores, 2), _MOST)
    told = [f"measured beside it, on {cores} cores: {width} workers in processes of their own, {STEPS:,} steps each"]
    for name, trees in (("disjoint", range(width)), ("overlapping", [0] * width)):
        jobs = [Job(seed, STEPS, (f"lane-{tree}",)) for seed, tree in zip(range(1, width + 1), trees, strict=True)]
        one, all_ = (_wall_ns(crew, jobs, at_once) for at_once in (1, width))
        told.append(
            f"measured, {name} trees: {one / 1e6:.0f} ms one at a time, {all_ / 1e6:.0f} ms up to {width} at a time: "
            f"{one / all_:.2f} times as fast"
        )
    return tuple(told)


def _wall_ns(crew: Crew, jobs: Sequence[Job], width: int) -> int:
    taken: list[int] = []
    answers = stamp(iter([lambda: crew.run(jobs, width)]), taken)
    if not isinstance(answers, list | tuple) or list(answers) != [led_to(job) for job in jobs]:
        raise WorkNotDoneError("the workers' steps did not lead where they have to")
    return taken[0]
