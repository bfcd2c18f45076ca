"""The replay file, ``harness.replay/1``: what recorded runs came to, as JSON with sorted keys.

Same input, same bytes: no time of writing, no path but the names of the files as they were given. It holds no text of a
recording. Names of files that calls were about stand in it only where attribution by them was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from harness.record.replay_values import attribution_value, facts_value, issue_value, recording_value, turn_value
from kpis.formulas.recorded.carried import CarriedParts
from kpis.formulas.recorded.evaluate import RunParts, metrics
from kpis.formulas.recorded.ledger import TurnLedger
from kpis.terms.metric import Metric
from kpis.terms.trace import Issue, Recording, RunFacts, Severity, Thread

if TYPE_CHECKING:
    from harness.record.replay_context import ContextResult
    from kpis.terms.claim import Claim, Verdict

    Judged = tuple[Verdict, Sequence[Claim]]  # what the runs are against a record
    Contexts = tuple[ContextResult, ...]
else:  # msgspec asks for the type when a cache is read, and few recordings need what stands behind it
    Contexts = tuple[Any, ...]

__all__ = ["SCHEMA", "Replayed", "RunResult", "encode", "metric_value"]

SCHEMA = "harness.replay/1"


@dataclass(slots=True)
class RunResult:
    """What came of one run, without its requests and calls. ``evaluation``, if asked for, is a line of JSON.

    ``turns`` are there where the time ledger was asked for.
    """

    run_id: str
    source_format: str
    recordings: tuple[Recording, ...]
    threads: tuple[Thread, ...]
    facts: tuple[RunFacts, ...]
    issues: tuple[Issue, ...]
    parts: RunParts
    carried: CarriedParts | None = None
    copied: int = 0
    contexts: Contexts = ()
    evaluation: bytes | None = None
    turns: tuple[TurnLedger, ...] = ()


@dataclass(slots=True)
class Replayed:
    """All runs in the order in which they began. ``parts`` is their sum. ``issues`` belong to no run."""

    runs: list[RunResult] = field(default_factory=list)
    issues: list[Issue] = field(default_factory=list)
    passed_over: int = 0
    parts: RunParts = field(default_factory=RunParts)
    carried: CarriedParts | None = None

    @property
    def errors(self) -> list[Issue]:
        """What could not be read, of the runs and of no run."""
        every = (*self.issues, *(issue for run in self.runs for issue in run.issues))
        return [issue for issue in every if issue.severity is Severity.ERROR]

    @property
    def contexts(self) -> list[ContextResult]:
        """What the runs that were recorded for their context came to, each once."""
        found = [result for run in self.runs for result in run.contexts]
        if not found:  # as nearly always, and then what is needed for them is not even imported
            return []
        from harness.record.replay_context import distinct

        return distinct(found)


def encode(result: Replayed, prices: str, by: str | None = None, judged: Judged | None = None) -> bytes:
    """The file of ``result``; ``prices`` names the price table, ``judged`` is what a record said of it."""
    whole: dict[str, Any] = {
        "schema": SCHEMA,
        "prices": prices,
        "attributed_by": by,
        "passed_over": result.passed_over,
        "issues": [issue_value(issue) for issue in result.issues],
        "runs": [_run(run) for run in result.runs],
        "all": {**_numbers(result.parts, result.carried), "context_metrics": _context(result.contexts)},
        "verdict": None,
        "claims": None,
    }
    if judged is not None:
        from harness.record.plain import plain

        verdict, claims = judged
        whole["verdict"] = {**plain(verdict, "verdict"), "passed": verdict.passed}
        whole["claims"] = plain(list(claims), "claims")
    return json.dumps(whole, sort_keys=True, indent=1, allow_nan=False, ensure_ascii=True).encode("ascii") + b"\n"


def _run(run: RunResult) -> dict[str, Any]:
    kinds: dict[str, int] = {}
    for thread in run.threads:
        kinds[thread.kind.value] = kinds.get(thread.kind.value, 0) + 1
    return {
        "run": run.run_id,
        "format": run.source_format,
        "recordings": [recording_value(each) for each in run.recordings],
        "threads": kinds,
        "facts": [facts_value(each) for each in run.facts],
        "copied_requests": run.copied,
        "issues": [issue_value(issue) for issue in run.issues],
        **_numbers(run.parts, run.carried),
        "context_metrics": _context(run.contexts),
        "result_records": _records(run.contexts),
        "evaluation": None if run.evaluation is None else json.loads(run.evaluation),
        "turns": [turn_value(turn) for turn in run.turns],
    }


def _numbers(parts: RunParts, carried: CarriedParts | None) -> dict[str, Any]:
    found = metrics(parts)
    return {
        "trust": {"level": parts.trust.level.value, "reasons": list(parts.trust.reasons())},
        "metrics": {name: metric_value(metric) for name, metric in found.items()},
        "attribution": None if carried is None else attribution_value(carried),
    }


def _context(results: Sequence[ContextResult]) -> dict[str, Any] | None:
    """The context metrics of ``results`` together, and how every gate stands; None where there is no such run."""
    if not results:
        return None
    from harness.record.replay_context import combined, gates_of, mixed, state_of
    from kpis.formulas.context.gates import GateState

    return {
        "runs": len(results),
        "mixed": list(mixed(results)),
        "gates": {
            name: {"state": state_of(states).value, **{state.value: states[state] for state in GateState}}
            for name, states in gates_of(results).items()
        },
        "metrics": {name: metric_value(metric) for name, metric in combined(results).items()},
    }


def _records(results: Sequence[ContextResult]) -> list[dict[str, Any]]:
    if not results:
        return []
    from kpis.formulas.context.result import result_record
    from kpis.recorded_metrics import load

    return [result_record(each.run, each.metrics, load()) for each in results]


def metric_value(metric: Metric) -> dict[str, Any]:
    """One metric as plain values; every key is there, null where it does not apply."""
    plain = asdict(metric)
    plain.pop("id")
    return {**plain, "basis": metric.basis.value, "detail": dict(metric.detail), "notes": list(metric.notes)}
