"""Cases that come to the same are judged once: each answer is what it would be if the case stood alone."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from harness.jobs import evaluate_once
from harness.jobs.evaluate import Answer, evaluate_stream
from harness.jobs.evaluate_config import Deployment, reference
from harness.judge.evaluation.judge import judge

NOW = "2031-01-01T00:00:00.000Z"
TEXT = "The retention sweep removes traces older than thirty days from the store. It runs at boot and then every day."
SAFETY = {"output": TEXT, "eval_type": "safety"}
CASES: tuple[dict[str, Any], ...] = (
    {**SAFETY, "id": "a"},
    {**SAFETY, "id": "b", "output": TEXT + " It is quick."},
    {**SAFETY},
    {**SAFETY, "id": "leak", "output": "Write to jane.roe@corp.io."},
    {**SAFETY, "id": "the same leak elsewhere", "output": "So write to jane.roe@corp.io."},
    {**SAFETY, "id": "asked", "input": "When does it run?"},
    {**SAFETY, "id": "strict", "config": {"falsePassCost": 9, "requiredEvidence": ["input"]}},
    {**SAFETY, "id": "ruled", "custom_rules": [{"name": "mine", "type": "min_length", "config": {"length": 9}}]},
    {"output": TEXT, "id": "everything"},
    {"output": TEXT, "id": "everything, and said so", "eval_type": "all"},
    {"output": TEXT, "id": "long enough", "eval_type": "completeness"},
    {"output": TEXT + " " + TEXT, "id": "longer", "eval_type": "completeness"},
)


def _answers(*cases: dict[str, Any], deployment: Deployment) -> list[Answer]:
    stream = io.BytesIO(b"".join(json.dumps(case).encode() + b"\n" for case in cases))
    return list(evaluate_stream(stream, "cases", deployment, lambda: NOW))


@pytest.mark.parametrize("deployment", [Deployment(), reference()], ids=["own", "reference"])
@pytest.mark.parametrize("most", [1, 256])
def test_an_answer_is_that_of_the_case_alone(
    deployment: Deployment, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate_once, "_MOST", most)
    together = _answers(*CASES, *reversed(CASES), deployment=deployment)
    alone = {case.get("id", ""): _answers(case, deployment=deployment)[0].document for case in CASES}
    for case, answer in zip((*CASES, *reversed(CASES)), together, strict=True):
        assert answer.document == alone[case.get("id", "")]
        assert answer.judgement is not None
        assert answer.judgement.case.output == case["output"]


def test_clean_outputs_are_judged_once(monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[object] = []

    def counted(*arguments: Any) -> Any:
        judged.append(arguments)
        return judge(*arguments)

    monkeypatch.setattr(evaluate_once, "judge", counted)
    first, second, *_ = _answers(*CASES[:2], *CASES[:2], deployment=Deployment())
    assert len(judged) == 1
    assert first.document["id"] != second.document["id"]
    assert first.document["case"] == "a"
    assert second.document["case"] == "b"
