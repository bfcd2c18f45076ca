"""Evaluates one recorded run: its trajectories and its cost become the document that ``evaluate`` writes for a case.

The evidence names the file and the line of each call beside its number. What the recording does not carry is not
judged, and a verdict that would have needed it stays open.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.jobs.evaluate_config import Deployment
from harness.jobs.evaluate_ident import ENGINE, ID_LENGTH, judged_by
from harness.judge.evaluation.judge import judge
from harness.judge.evaluation.unanswered import left_open
from harness.record.evaluation_write import encode, response
from kpis.formulas.recorded.evaluate import RunParts
from kpis.formulas.recorded.metrics_money import cost_metrics
from kpis.rules.recorded import Cost, recorded_findings
from kpis.rules.recorded_steps import Step, steps_of
from kpis.terms.evaluation_words import Correction
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Severity

__all__ = ["RunJudge"]

_NOTE = "A recorded run: rules that read a text were not asked."


@dataclass(frozen=True, slots=True)
class RunJudge:
    """How every run is evaluated: by ``deployment``, at the ISO time ``judged_at``. It can be sent to a process."""

    deployment: Deployment
    judged_at: str

    def __call__(self, run: RecordedRun, parts: RunParts) -> bytes:
        """The document of ``run``, whose numbers are ``parts``, as one line of JSON.

        ``unanswered`` in it names the rules that were asked and had no answer, whatever the verdict rests on. The id
        follows from what was judged and by what, not from the names of files.
        """
        chosen = self.deployment
        steps = steps_of(run)
        cost = _cost(parts)
        lost = _is_lost(run)
        asked = recorded_findings(steps, cost, chosen.settings, chosen.rules, lost=lost)
        found = judge(asked.findings, asked.present, chosen.settings, chosen.table)
        found = left_open(found, asked.unanswered, chosen.settings)
        document = response(
            found,
            ident=_ident(run, steps, cost, judged_by(chosen), lost=lost),
            case=run.run_id,
            judged_at=self.judged_at,
            engine=f"{ENGINE} as the reference" if chosen.is_reference else ENGINE,
            note=_NOTE,
            counted=chosen.settings.has(Correction.COVERAGE_IS_COUNTED),
        )
        _place(document, steps)
        document["unanswered"] = list(asked.unanswered)
        return encode(document)


def _is_lost(run: RecordedRun) -> bool:
    return any(issue.severity is Severity.ERROR for issue in run.issues)


def _cost(parts: RunParts) -> Cost:
    """As computed, between its bounds; else as reported; else at least what has a price."""
    found = {metric.id: metric for metric in cost_metrics(parts.cost, parts.cache, parts.compaction)}
    computed, reported = found["cost_computed_usd"], found["cost_reported_usd"].value
    if computed.value is not None:
        return Cost(computed.value, computed.value if computed.low is None else computed.high)
    if reported is not None:
        return Cost(reported, reported)
    return Cost(computed.detail.get("priced_part"), None)


def _ident(run: RecordedRun, steps: Sequence[Step], cost: Cost, made_by: bytes, *, lost: bool) -> str:
    told = [
        (step.thread, step.tool, step.given, step.got, step.outcome, step.waits, step.began, step.ended)
        for step in steps
    ]
    what = repr((run.source_format, run.run_id, tuple(cost), told, lost))
    return hashlib.sha256(made_by + what.encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]


def _place(document: dict[str, Any], steps: Sequence[Step]) -> None:
    for result in document["rule_results"]:
        for item in result.get("evidence", ()):
            if item["type"] == "toolCall":
                step = steps[item["index"]]
                item |= {"file": step.file, "line": step.line}
