"""The file of compared arms, ``harness.replay-compare/1``: what is in it, as types, and the JSON Schema of these.

Every key is there, null where it says nothing. Deltas are candidate less reference. Refuses to check a file; that is
the business of whoever reads one.
"""

from __future__ import annotations

from typing import Any, TypedDict

from kpis.formulas.context.gates import GateState
from kpis.formulas.paired.bootstrap import Interval
from kpis.formulas.paired.tally import Tally
from kpis.terms.metric import Metric

__all__ = ["SCHEMA", "ArmsFile", "replay_compare_schema"]

SCHEMA = "harness.replay-compare/1"


class PassAt(TypedDict):
    """pass^k at one k: by windows with both counts, by combinations with the cases that have enough replicates."""

    k: int
    windows: float | None
    windows_passed: int
    windows_all: int
    combinations: float | None
    cases: int
    cases_with_too_few: int


class ArmRow(TypedDict):
    """One arm. Its ``runs`` and pass^k are of all its runs, all else of those that every arm has.

    A cost, peak or success of null is unknown, or only a bound.
    """

    name: str
    runs: int
    attempts: int
    judged: int
    passed: int
    cost_usd: float | None
    peak_tokens: float | None
    success: float | None
    pass_k: list[PassAt]
    cases_not_judged: int


class MetricOfPairs(TypedDict):
    """One metric of both arms as wholes, and what their pairs differ by."""

    reference: Metric
    candidate: Metric
    pairs: int
    deltas: list[float]
    median: float | None
    interval: Interval | None
    tally: Tally | None


class PassedTable(TypedDict):
    """Who passed where, of pairs that are judged in both arms; pairs that are not, and verdicts without a partner."""

    both: int
    reference_only: int
    candidate_only: int
    neither: int
    not_judged: int
    undecided: int
    without_partner: int
    non_inferior: GateState


class PermutationRow(TypedDict):
    """One-sided. ``labellings`` are those counted or drawn, null beyond 2^53; ``lacking`` blocks miss some arm."""

    observed: int
    p: float
    exact: bool
    labellings: int | None
    labellings_log10: float
    blocks: int
    lacking: int


class ContextArms(TypedDict):
    """Both arms where all that stands here was recorded for its context; gates by state, runs of each arm."""

    pairs: int
    unpaired: int
    unlike: int
    unlike_in: list[str]
    gates: dict[str, list[dict[str, int]]]
    metrics: dict[str, MetricOfPairs]
    passed: PassedTable
    available: GateState


class AgainstRow(TypedDict):
    """One arm against the first."""

    name: str
    pairs: int
    unpaired: int
    repeated: int
    run_pairs: int
    pairs_in_run_pairs: int
    metrics: dict[str, MetricOfPairs]
    passed: PassedTable
    permutation: PermutationRow | None
    parity: GateState
    dominance: GateState
    workloads: int
    workloads_unknown: int
    context: ContextArms | None


class FrontRow(TypedDict):
    """Arms that no other one beats, those that are beaten, and those on no front with the gates or axes why."""

    frontier: list[str]
    dominated: list[str]
    excluded: dict[str, list[str]]
    open: dict[str, list[str]]


class ArmsFile(TypedDict):
    """All arms in the order given. ``unmatched`` counts verdicts of ``--oracles`` that are on no run."""

    schema: str
    prices: str
    arms: list[ArmRow]
    against_first: list[AgainstRow]
    common_runs: int
    front: FrontRow
    unmatched: int


def replay_compare_schema() -> dict[str, Any]:
    """The JSON Schema of what ``replay --compare --json`` writes."""
    import msgspec  # here, so that the commands which read no schema do not pay for it

    document = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": SCHEMA,
        **msgspec.json.schema(ArmsFile),
    }
    definitions = document["$defs"]
    del definitions["Metric"]["properties"]["id"]  # it stands as the key
    definitions["ArmsFile"]["properties"]["schema"] = {"const": SCHEMA}
    for definition in definitions.values():
        if "properties" in definition:
            definition["required"] = sorted(definition["properties"])
            definition["additionalProperties"] = False
    return document
