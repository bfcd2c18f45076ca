"""One rule's result as plain values, under the names of the published schema; what does not apply is left out."""

from __future__ import annotations

import math
from typing import Any

from harness.judge.evaluation.judge import Judged
from harness.judge.evaluation.predictive import Interval
from harness.judge.evaluation.uncertainty import ByDefinition, ByPolicy, Published, Uncertainty
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Citation, Count, EvidenceItem, Pattern, Span, ToolCallAt
from kpis.terms.evaluation_words import SkipClass

__all__ = ["NotFiniteError", "result"]


class NotFiniteError(ValueError):
    """A rule came to a number that JSON cannot hold: a sentence that names the rule."""


def result(judged: Judged) -> dict[str, Any]:
    """One result.

    Raises:
        NotFiniteError: a score or a statistic is no finite number.
    """
    finding, claim, rule = judged.finding, judged.finding.claim, judged.finding.rule
    skip = claim.skip
    # A rule that did not answer passed only where its skip itself reads as nothing wrong.
    passed = claim.state is ClaimState.QUIET or (skip is not None and claim.score == 1)
    members: dict[str, Any] = {
        "ruleName": rule.name,
        "category": rule.bundle.value,
        "critical": finding.critical,
        "criticalSource": "config" if finding.critical_by_config else "default",
        "passed": passed,
        "score": _finite(claim.score, rule.name),
        "message": claim.note,
        "kind": rule.kind.value,
        "role": judged.role.value,
        "classes": [name.value for name in rule.classes],
        "ruleVersion": finding.version,
        "saw": [need.value for need in finding.saw],
    }
    if rule.rule_id is not None:
        members["ruleId"] = rule.rule_id
    if rule.custom:
        members["origin"] = "custom"
    if rule.question is not None:
        members["question"] = rule.question.value
    if claim.value is not None:
        members["value"] = {
            "stat": claim.value.stat,
            "unit": claim.value.unit,
            "value": _finite(claim.value.value, rule.name),
        }
    if claim.evidence:
        members["evidence"] = [_evidence(item, rule.name) for item in claim.evidence]
    if skip is not None:
        members |= {"skipped": True, "skipReason": skip.reason, "skipClass": skip.skip_class.value}
        if skip.skip_class is SkipClass.CONFIG_INVALID:
            members["configInvalid"] = True
        elif skip.skip_class is SkipClass.DEFEATED:
            members["budgetExceeded"] = True
    if judged.uncertainty is not None:
        members["uncertainty"] = _uncertainty(judged.uncertainty)
    return members


def _finite(value: float, rule: str) -> float:
    if not math.isfinite(value):
        raise NotFiniteError(f"{rule} came to {value}, which is no finite number")
    return value


def _evidence(item: EvidenceItem, rule: str) -> dict[str, Any]:
    match item:
        case Span():
            place = {"start": item.start, "end": item.end}
            return {"type": "span", "source": item.source, **place, "label": item.label}
        case Pattern():
            return {"type": "pattern", "name": item.name, "count": item.count}
        case ToolCallAt():
            return {"type": "toolCall", "index": item.index, "toolName": item.tool_name, "label": item.label}
        case Citation():
            return {"type": "citation", "url": item.url, "status": item.status}
        case Count():
            held = _finite(item.value, rule)
            members: dict[str, Any] = {"type": "count", "stat": item.stat, "unit": item.unit, "value": held}
            if item.threshold is not None:
                members["threshold"] = _finite(item.threshold, rule)
            if item.source is not None:
                members["thresholdSource"] = item.source.value
            return members


def _interval(found: Interval) -> dict[str, float]:
    return {"point": found.point, "lo": found.low, "hi": found.high}


def _uncertainty(known: Uncertainty) -> dict[str, Any]:
    match known:
        case Published():
            counts, table = known.counts, known.table
            return {
                "basis": "published_accuracy",
                "fired": known.fired,
                "ppv" if known.fired else "missRate": _interval(known.worth),
                "prior": {"pi": known.prior, "source": "config" if known.configured else "default"},
                "corpus": {
                    "n": counts.n,
                    "tp": counts.tp,
                    "fp": counts.fp,
                    "fn": counts.fn,
                    "tn": counts.tn,
                    "version": table.version,
                    "release": table.release,
                    "labelling": table.labelling.value,
                },
            }
        case ByDefinition():
            return {"basis": "definition", "conformance": {"n": known.n, "matched": known.matched}}
        case ByPolicy():
            return {"basis": "policy"}
        case _:
            return {"basis": "unmeasured", "why": known.why}
