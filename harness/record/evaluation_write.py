"""One evaluation as a line of JSON: plain values, keys sorted, the names of the published schema.

What does not apply to a rule result is left out; a verdict has all its keys, null where they say nothing.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from harness.judge.evaluation.coverage import Coverage
from harness.judge.evaluation.judge import Category, Evaluation
from harness.judge.evaluation.layers import EvaluationVerdict
from harness.judge.evaluation.provenance import Provenance
from harness.judge.evaluation.scores import Tally
from harness.record.evaluation_result import result

__all__ = ["addressed", "encode", "response"]

_ENCODER = msgspec.json.Encoder(order="sorted")


def encode(document: dict[str, Any]) -> bytes:
    """One line of UTF-8 JSON, keys sorted. Half a surrogate pair, which UTF-8 cannot hold, is spelled by its number."""
    try:
        return _ENCODER.encode(document) + b"\n"
    except UnicodeEncodeError:
        text = json.dumps(document, sort_keys=True, separators=(",", ":"))
        return (text + "\n").encode("ascii")


def response(
    found: Evaluation, *, ident: str, case: str, judged_at: str, engine: str, note: str | None, counted: bool
) -> dict[str, Any]:
    """The answer for one case as plain values.

    ``ident`` is the id of this evaluation and ``case`` that of the case; ``judged_at`` an ISO time. ``counted``: the
    coverage says how many of the rules that ask a question have answered it.

    Raises:
        NotFiniteError: a score or a statistic is no finite number.
    """
    document: dict[str, Any] = {
        "id": ident,
        "eval_type": "all" if found.bundle is None else found.bundle.value,
        "score": found.tally.score,
        "passed": found.verdict.passed,
        "verdict": _verdict(found.verdict),
        "rule_results": [result(item) for item in found.results],
        "suggestions": list(found.suggestions),
        **_counts(found.tally),
    }
    if case:
        document["case"] = case
    if found.coverage is not None:
        document["coverage"] = _coverage(found.coverage, counted=counted)
    if found.provenance is not None:
        document["provenance"] = _provenance(found.provenance, judged_at, engine)
    if found.categories is not None:
        document["categories"] = {bundle.value: _category(each) for bundle, each in found.categories.items()}
    if found.interpretations:
        document["interpretations"] = [
            {
                key: value
                for key, value in (
                    ("severity", each.severity),
                    ("rule", each.rule),
                    ("configKey", each.setting),
                )
                if value is not None
            }
            for each in found.interpretations
        ]
    if note is not None:
        document["note"] = note
    return document


def addressed(document: dict[str, Any], *, ident: str, case: str, judged_at: str) -> dict[str, Any]:
    """``document``, which :func:`response` made, as the answer for a case that came to the same; parts are shared."""
    own = {**document, "id": ident}
    if case:
        own["case"] = case
    if "provenance" in document:
        own["provenance"] = {**document["provenance"], "judgedAt": judged_at}
    return own


def _counts(counted: Tally) -> dict[str, Any]:
    members: dict[str, Any] = {
        "rules_evaluated": counted.evaluated,
        "rules_skipped": counted.skipped,
        "insufficient_data": counted.insufficient,
    }
    if counted.critical_failures:
        members["critical_failures"] = list(counted.critical_failures)
    if counted.critical_skipped:
        members["critical_skipped"] = list(counted.critical_skipped)
    return members


def _category(found: Category) -> dict[str, Any]:
    score = None if found.tally.insufficient else found.tally.score
    return {"score": score, "passed": found.passed, **_counts(found.tally)}


def _verdict(verdict: EvaluationVerdict) -> dict[str, Any]:
    members: dict[str, Any] = {
        "state": verdict.state.value,
        "passed": verdict.passed,
        "basis": verdict.basis.value,
        "by": list(verdict.by),
        "risk": None,
        "confidence": None if verdict.confidence is None else verdict.confidence.value,
    }
    if verdict.risk is not None:
        members["risk"] = {
            "pBad": verdict.risk.p_bad,
            "lo": verdict.risk.low,
            "hi": verdict.risk.high,
            "perClass": {name.value: chance for name, chance in verdict.risk.per_class.items()},
            "assumptions": list(verdict.risk.assumptions),
        }
    return members


def _coverage(found: Coverage, *, counted: bool) -> dict[str, Any]:
    questions = []
    for asked in found.questions:
        row: dict[str, Any] = {"id": asked.question.value, "status": asked.status.value}
        if asked.why is not None:
            row["why"] = asked.why
        if counted:
            row |= {"evaluated": asked.evaluated, "of": asked.of}
        questions.append(row)
    return {"inputs": {need.value: there for need, there in found.inputs.items()}, "questions": questions}


def _provenance(found: Provenance, judged_at: str, engine: str) -> dict[str, Any]:
    thresholds: dict[str, Any] = {"default": found.threshold}
    if found.per_rule:
        thresholds["perRule"] = dict(found.per_rule)
    members: dict[str, Any] = {
        "engine": engine,
        "rulesetHash": found.ruleset,
        "configHash": found.config,
        "thresholds": thresholds,
        "corpusVersion": found.corpus,
        "judgedAt": judged_at,
    }
    if found.table is not None:
        members["accuracy"] = {"table": found.table[0], "sha256": found.table[1]}
    if found.composer is not None:
        members["composer"] = dict(found.composer)
    return members
