"""The JSON Schema of the replay file, from the types that are written. Every key is there, null where it says nothing.

Refuses to check a file; that is the business of whoever reads one.
"""

from __future__ import annotations

from typing import Any, TypedDict

from harness.record.replay import SCHEMA
from kpis.formulas.context.gates import GateState
from kpis.formulas.recorded.trust import Trust
from kpis.terms.claim import Claim, Verdict
from kpis.terms.metric import Metric
from kpis.terms.trace import Issue, Recording, RunFacts, ThreadKind

__all__ = ["replay_schema"]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_UNWRITTEN = {
    "Recording": ("project", "branch", "places"),
    "Metric": ("id",),
    "Tokens": ("provenance",),
}
"""Fields that stay in memory, or stand as the key of what is written."""


class TrustRow(TypedDict):
    """How far the numbers can be trusted, and why not further."""

    level: Trust
    reasons: list[str]


class AttributionRow(TypedDict):
    """One key: its calls or requests, prompt tokens first sent and sent again, output tokens, and dollars of each.

    ``unsized`` calls brought a result whose size is not recorded, and which is in none of the row's other numbers.
    """

    calls: int
    initial: int
    carried: int
    output: int
    initial_cost: float
    carried_cost: float
    output_cost: float
    unsized: int


class Attribution(TypedDict):
    """Tokens and cost by key. The rows add up to ``prompt``, ``output`` and ``cost_usd``."""

    rows: dict[str, AttributionRow]
    prompt: int
    output: int
    cost_usd: float
    derived_tokens: int
    requests_without_price: int
    requests_without_prompt: int
    calls_without_size: int


class GateRow(TypedDict):
    """A correctness gate of runs that were recorded for their context: as the worst stands, and how many stand how."""

    state: GateState
    satisfied: int
    open: int
    violated: int


class ContextNumbers(TypedDict):
    """What such runs came to; ``mixed`` names the fields of their headers that a sum over them hides."""

    runs: int
    mixed: list[str]
    gates: dict[str, GateRow]
    metrics: dict[str, Metric]


class Numbers(TypedDict):
    """The metrics by id, how far they can be trusted, and the attribution where it was asked for."""

    trust: TrustRow
    metrics: dict[str, Metric]
    attribution: Attribution | None
    context_metrics: ContextNumbers | None


class Turn(TypedDict):
    """What passed from one input of a person to the next, from ``start`` in Unix milliseconds on.

    ``index`` is -1 before the first input. ``file`` and ``line`` are those of its first answer. The ``ms`` of its nine
    categories add up to its ``wall``; overlap is beside them.
    """

    index: int
    start: int
    file: str | None
    line: int | None
    ms: dict[str, int]


class Run(Numbers):
    """One run: its files, its conversations by kind, what its recordings say of it as a whole, and its numbers.

    ``result_records`` are those of runs that were recorded for their context. ``evaluation``, if asked for, is what
    ``evaluate`` writes for a case; its evidence says beside the number of a call its file and line. ``turns`` are there
    where the time ledger was made.
    """

    run: str
    format: str
    recordings: list[Recording]
    threads: dict[str, int]
    facts: list[RunFacts]
    copied_requests: int
    issues: list[Issue]
    result_records: list[dict[str, Any]]
    evaluation: dict[str, Any] | None
    turns: list[Turn]


class ReplayFile(TypedDict):
    """All runs in the order in which they began, and their sum. ``issues`` are those of no run."""

    schema: str
    prices: str
    attributed_by: str | None
    passed_over: int
    issues: list[Issue]
    runs: list[Run]
    all: Numbers
    verdict: Verdict | None
    claims: list[Claim] | None


def replay_schema() -> dict[str, Any]:
    """The JSON Schema of what ``replay --json`` writes."""
    import msgspec  # here, so that the commands which read no schema do not pay for it

    document = {"$schema": _DRAFT, "title": SCHEMA, **msgspec.json.schema(ReplayFile)}
    definitions = document["$defs"]
    for name, fields in _UNWRITTEN.items():
        for field in fields:
            del definitions[name]["properties"][field]
    del definitions["Place"]
    definitions["ReplayFile"]["properties"]["schema"] = {"const": SCHEMA}
    definitions["Run"]["properties"]["threads"] = {
        "type": "object",
        "properties": {kind.value: {"type": "integer"} for kind in ThreadKind},
        "additionalProperties": False,
    }
    definitions["Verdict"]["properties"]["passed"] = {"type": "boolean"}
    for definition in definitions.values():
        if "properties" in definition:
            definition["required"] = sorted(definition["properties"])
            definition["additionalProperties"] = False
    _describe_evaluation(definitions)
    return document


def _describe_evaluation(definitions: dict[str, Any]) -> None:
    """Put the schema of an evaluation into ``definitions``, under names of its own, and refer to it."""
    from harness.record.evaluation import EvaluationResponse  # its models are slow to make

    described = EvaluationResponse.model_json_schema(ref_template="#/$defs/Evaluation.{model}")
    definitions |= {f"Evaluation.{name}": each for name, each in described.pop("$defs").items()}
    definitions["Evaluation"] = described
    definitions["Run"]["properties"]["evaluation"] = {"anyOf": [{"$ref": "#/$defs/Evaluation"}, {"type": "null"}]}
