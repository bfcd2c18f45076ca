"""One schema for all that judges: gates, ratchets, recorded runs and evaluations keep to it; it refuses what lies."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from harness.cli.main import main
from harness.judge.compose import claim_of, compose, coverage_of
from harness.judge.evaluation.judge import judge
from harness.record.evaluation import EvaluationResponse, evaluation_schema
from harness.record.evaluation_result import NotFiniteError
from harness.record.evaluation_write import encode, response
from harness.record.gate import GateFile, GateSide
from harness.record.gate import encode as encode_gate
from harness.record.ratchet import encode as encode_ratchet
from harness.record.run import Machine
from harness.record.verdict_file import VerdictFile, verdict_schema
from kpis.terms.claim import Evidence
from kpis.terms.comparison import Comparison, State
from kpis.terms.evaluation import Citation, Count, Finding, Pattern, RuleClaim, Span, ToolCallAt, Value
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import Need, SkipClass, ThresholdSource
from kpis.terms.kpi import Direction, Gate
from tests.harness.jobs.recorded import Lab
from tests.harness.jobs.session_files import busy
from tests.harness.judge.evaluation.made import COST, DETECTORS, LENGTH, TABLE, fired, quiet, skipped
from tests.schema_check import faults

Document = dict[str, Any]
Lie = Callable[[Document], object]


def gate_file() -> Document:
    compared = {
        "a_ns": Comparison(State.REGRESSED, 1.2, 1.1, 1.3, 40, 0.03, 0.01, ("slower",)),
        "b": Comparison(State.UNCHANGED),
        "c_ns": Comparison(State.VOID, evidence=("too few",)),
    }
    gates = {"a_ns": Gate.TIMED, "b": Gate.EXACT, "c_ns": Gate.TIMED}
    proof = [Evidence(artifact="0" * 64, pointer="/rows/0")]
    claims = [
        claim_of(name, found, gates[name], Direction.LOWER, table="1" * 64, evidence=proof)
        for name, found in compared.items()
    ]
    side = GateSide(commit=None, dirty=None, touched={})
    whole = GateFile(
        id="g", created="2031-01-01T00:00:00Z", argv=["gate"], base=side, head=side, claims=claims, rows=[],
        verdict=compose(claims, coverage_of(compared)), injected={}, machine=Machine(slug="m", fingerprint={}),
        environment={}, noise={}, seed=1, seconds=1.0,
    )  # fmt: skip
    document: Document = json.loads(encode_gate(whole))
    return document


def told(findings: list[Finding], settings: Settings | None = None) -> Document:
    """The answer to ``findings`` as it is written and read."""
    found = judge(findings, frozenset({Need.OUTPUT}), settings or Settings(), TABLE)
    line = response(found, ident="1", case="c", judged_at="2031-01-01T00:00:00Z", engine="x", note=None, counted=True)
    document: Document = json.loads(encode(line))
    return document


def evaluation() -> Document:
    """An answer with every kind of evidence and uncertainty."""
    seen = (Span("output", 3, 9, "SSN"), Pattern("x", 2), ToolCallAt(0, "ls", "repeated"), Citation("u", "dead"))
    pii = fired(DETECTORS["pii"], critical=False)
    shown = Finding(pii.rule, RuleClaim(pii.claim.state, 0, "seen", evidence=seen), False, True, pii.saw)
    others = [quiet(DETECTORS["stub"]), quiet(LENGTH), fired(COST, source=ThresholdSource.DEFAULT)]
    return told([shown, *others, skipped(DETECTORS["loop"], SkipClass.DEFEATED), skipped(DETECTORS["silent"])])


def test_every_file_that_judges_keeps_to_one_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    lab = Lab(tmp_path)
    nothing = json.loads(encode_ratchet(lab.check(lab.run(0))))
    lab.sessions(5)
    worse = json.loads(encode_ratchet(lab.check(lab.run(6, {"denies": 13}))))
    busy().save(tmp_path / "runs")
    assert main(["replay", "runs", "--gate", "mine", "--json", "replay.json"]) == 4
    replayed = json.loads((tmp_path / "replay.json").read_bytes())
    files = {"gate": gate_file(), "nothing": nothing, "worse": worse, "replay": replayed, "evaluation": evaluation()}
    states = {name: (file["verdict"]["state"], file["verdict"]["basis"]) for name, file in files.items()}
    assert states == {
        "gate": ("fail", "detector_veto"),
        "nothing": ("unknown", "required_evidence_missing"),
        "worse": ("fail", "policy_gate"),
        "replay": ("unknown", "required_evidence_missing"),
        "evaluation": ("fail", "risk_over_loss"),
    }
    schema = json.loads(json.dumps(verdict_schema()))
    for name, file in files.items():
        assert faults(file, schema) == [], name
        assert VerdictFile.model_validate(file).verdict.passed is False
        for lie in ({"passed": True}, {"basis": "luck"}, {"state": "ok"}, {"risk": {"pBad": 2}}):
            lying = {**file, "verdict": {**file["verdict"], **lie}}
            assert faults(lying, schema) != [], (name, lie)
            with pytest.raises(ValidationError):
                VerdictFile.model_validate(lying)


RISK = {"pBad": 0.6, "lo": 0.5, "hi": 0.7}
MAY = {
    "policy_gate": {"fail"},
    "detector_veto": {"fail"},
    "critical_unknown": {"fail", "unknown"},
    "required_evidence_missing": {"unknown"},
    "risk_over_loss": {"fail"},
    "score_below_threshold": {"fail"},
    "clean": {"pass"},
    "no_rules": {"unknown"},
}
"""By basis: the states that it can have, as docs/evaluate.md tells them."""


def held(document: Document) -> bool:
    """Whether the schema takes it; the model says the same."""
    try:
        VerdictFile.model_validate(document)
    except ValidationError:
        taken = False
    else:
        taken = True
    assert (faults(document, json.loads(json.dumps(verdict_schema()))) == []) is taken
    return taken


def plain(basis: str, state: str, **more: Any) -> Document:
    risk = RISK if basis == "risk_over_loss" else None
    verdict = {"basis": basis, "state": state, "passed": state == "pass", "by": [], "risk": risk, "confidence": None}
    return {"verdict": {**verdict, **more}, "claims": []}


def test_each_basis_has_its_states() -> None:
    for basis, may in MAY.items():
        assert {state for state in ("pass", "fail", "unknown") if held(plain(basis, state))} == may, basis


def test_a_verdict_that_contradicts_itself_is_none() -> None:
    assert held(plain("clean", "pass", risk=RISK))
    assert not held(plain("clean", "pass", by=["x"]))
    assert held(plain("policy_gate", "fail", by=["x"]))
    assert not held(plain("policy_gate", "fail", passed=True))
    assert not held(plain("risk_over_loss", "fail", risk=None))


@pytest.mark.parametrize("risk", [{"lo": 0.61}, {"hi": 0.59}, {"lo": 0.9, "hi": 0.1}])
def test_the_interval_of_a_risk_holds_it(risk: dict[str, float]) -> None:
    """No word of JSON Schema compares two members, so that the model alone can hold it."""
    with pytest.raises(ValidationError, match="lo <= pBad <= hi"):
        VerdictFile.model_validate(plain("risk_over_loss", "fail", risk={**RISK, **risk}))
    edge = {"pBad": 0.5, "lo": 0.5, "hi": 0.5}
    assert held(plain("risk_over_loss", "fail", risk=edge))


def test_a_verdict_rests_on_something() -> None:
    bare = {"verdict": plain("clean", "pass")["verdict"]}
    assert not held(bare)
    assert not held({**bare, "claims": None})
    assert not held({**bare, "claims": None, "rule_results": None})
    assert held({**bare, "claims": []})
    assert held({**bare, "rule_results": []})


def test_the_schema_says_that_its_two_lists_are_read_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", "verdict"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert "read apart" in schema["description"]
    assert "rule result" in schema["$defs"]["KpiUncertainty"]["description"]
    claims, results = (verdict_schema()["$defs"][name]["properties"] for name in ("KpiClaim", "RuleResult"))
    assert {"evidence", "uncertainty"} <= claims.keys() & results.keys()
    assert "type" not in verdict_schema()["$defs"]["KpiEvidence"]["properties"]


def test_an_answer_is_as_published() -> None:
    document = evaluation()
    assert faults(document, json.loads(json.dumps(evaluation_schema()))) == []
    read = EvaluationResponse.model_validate(document)
    assert read.verdict is not None
    assert {each.uncertainty.basis for each in read.rule_results if each.uncertainty} == {
        "published_accuracy",
        "definition",
        "policy",
    }
    assert {item.type for each in read.rule_results for item in each.evidence or ()} == {
        "span",
        "pattern",
        "toolCall",
        "citation",
        "count",
    }


def test_passed_is_what_a_verdict_that_passed_says_too() -> None:
    schema = json.loads(json.dumps(evaluation_schema()))
    clean = told([quiet(DETECTORS["stub"])])
    bare = {key: value for key, value in clean.items() if key != "verdict"}
    for right in (clean, bare, {**bare, "verdict": None}, {**bare, "passed": False}):
        assert faults(right, schema) == []
        assert EvaluationResponse.model_validate(right).passed is right["passed"]
    lie = {**clean, "passed": False}
    assert faults(lie, schema) != []
    with pytest.raises(ValidationError):
        EvaluationResponse.model_validate(lie)


def test_a_line_that_is_no_case_is_as_published(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cases.jsonl").write_text('{"output": "x"}\nno case\n')
    main(["evaluate", str(tmp_path / "cases.jsonl")])
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [line.get("line") for line in lines] == [None, 2]
    assert main(["schema", "evaluation"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert [faults(line, schema) for line in lines] == [[], []]
    assert faults({"line": 0, "error": "x"}, schema) != []
    assert faults({"line": 2}, schema) != []


def _first(document: Document) -> Document:
    result: Document = document["rule_results"][0]
    return result


@pytest.mark.parametrize(
    "lie",
    [
        lambda document: document.pop("score"),
        lambda document: document.update(eval_type="everything"),
        lambda document: document.update(rules_evaluated=-1),
        lambda document: document["verdict"].update(passed=True),
        lambda document: document["verdict"].pop("by"),
        lambda document: document.update(passed=True),
        lambda document: _first(document).pop("message"),
        lambda document: _first(document)["uncertainty"].pop("ppv"),
        lambda document: _first(document)["uncertainty"].update(fired=False),
        lambda document: _first(document)["uncertainty"].update(basis="faith"),
        lambda document: _first(document)["evidence"][0].update(start=-1),
        lambda document: _first(document)["evidence"][0].update(type="rumour"),
        lambda document: _first(document)["evidence"][1].pop("count"),
        lambda document: _first(document).update(kind="opinion"),
        lambda document: document["coverage"]["questions"][0].update(status="maybe"),
        lambda document: document["provenance"].pop("rulesetHash"),
    ],
)
def test_the_models_and_the_schema_refuse_the_same(lie: Lie) -> None:
    document = evaluation()
    lie(document)
    assert faults(document, json.loads(json.dumps(evaluation_schema()))) != []
    with pytest.raises(ValidationError):
        EvaluationResponse.model_validate(document)


def test_unknown_keys_pass_everywhere() -> None:
    document = evaluation()

    def add(value: Any) -> Any:
        if isinstance(value, dict):
            return {**{key: add(member) for key, member in value.items()}, "added later": 1}
        return [add(member) for member in value] if isinstance(value, list) else value

    # Three objects have keys that are data: categories by bundle, classes by name, inputs by need.
    grown = copy.deepcopy(
        add({key: member for key, member in document.items() if key not in ("categories", "coverage")})
    )
    grown["verdict"]["risk"]["perClass"].pop("added later")
    assert faults(grown, json.loads(json.dumps(evaluation_schema()))) == []
    assert EvaluationResponse.model_validate(grown).id == "1"


def test_a_line_is_sorted_and_holds_half_a_surrogate_pair() -> None:
    assert encode({"b": "\u00e9", "a": 1}) == b'{"a":1,"b":"\xc3\xa9"}\n'
    assert encode({"b": "\ud83d\u00e9", "a": 1}) == b'{"a":1,"b":"\\ud83d\\u00e9"}\n'


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf")])
def test_what_is_no_finite_number_is_refused_by_the_name_of_its_rule(number: float) -> None:
    claim = quiet(LENGTH).claim
    for spoilt in (
        replace(claim, score=number),
        replace(claim, value=Value("length", "chars", number)),
        replace(claim, evidence=(Count("length", "chars", number),)),
        replace(claim, evidence=(Count("length", "chars", 1, number, ThresholdSource.CONFIG),)),
    ):
        with pytest.raises(NotFiniteError, match="min_output_length came to"):
            told([replace(quiet(LENGTH), claim=spoilt)])
