"""pass^k over the judged attempts of recorded runs, in both definitions, as metrics that explain themselves.

The value is at the largest k, the number of replicates that the case with most of them has; a note has every k. Cases
with an attempt that nobody judged are left out and counted: what is not known passes nothing.
"""

from __future__ import annotations

from harness.jobs.replay_pairs import arm_of
from harness.record.replay import Replayed
from kpis.formulas.paired.pass_k import pass_k
from kpis.terms.metric import Metric
from kpis.terms.quantity import Basis

__all__ = ["BOTH", "pass_k_metric"]

BOTH = ("pass_k_windows", "pass_k_combinations")


def pass_k_metric(metric_id: str, result: Replayed) -> Metric | None:
    """The metric over ``result``; None if it is another one, or no run says of which case it is."""
    arm = arm_of(result)
    if metric_id not in BOTH or not (arm.verdicts or arm.repeated):
        return None
    tasks, unjudged = arm.tasks()
    left_out = tuple(
        f"Left out: {what} ({n:,})."
        for what, n in (
            ("cases with an attempt that nobody judged", unjudged),
            ("attempts that share case and replicate with another", arm.repeated),
            ("runs that name no case", arm.caseless),
        )
        if n
    )
    every = pass_k(tasks)
    if not every:
        why = "no case has all its attempts judged"
        return Metric(metric_id, None, Basis.FORMULA, undefined=why, notes=left_out)
    last = every[-1]
    at_each = ", ".join(
        f"{value:.4g} at {each.k}"
        for each in every
        if (value := each.windows.value if metric_id == BOTH[0] else each.combinations.value) is not None
    )
    notes = (f"At k {last.k}, of {len(tasks):,} cases; by k {at_each}.", *left_out)
    if metric_id == BOTH[0]:
        found = last.windows
        return Metric(
            metric_id, found.value, Basis.FORMULA, numerator=found.numerator, denominator=found.denominator, notes=notes
        )
    return Metric(metric_id, last.combinations.value, Basis.FORMULA, notes=notes)
