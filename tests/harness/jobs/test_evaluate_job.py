"""The whole engine on any case: an answer that is as published, places inside the text, the same answer twice."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.formats.evaluation_case import case_of
from harness.formats.limits import Limits
from harness.jobs.evaluate import Answer, evaluate, evaluate_stream
from harness.jobs.evaluate_config import Deployment, reference
from harness.jobs.evaluate_ident import judged_by
from harness.judge.evaluation.provenance import config_hash
from harness.record.evaluation import EvaluationResponse
from harness.record.evaluation_write import encode
from kpis.terms.claim import VerdictState
from kpis.terms.evaluation_case import CustomRule
from kpis.terms.evaluation_settings import Settings
from kpis.terms.evaluation_words import MOST_EVIDENCE, Correction, Need, Severity

NOW = "2031-01-01T00:00:00.000Z"
TEXT = "The retention sweep removes traces older than thirty days from the store. It runs at boot and then every day."
DEPLOYMENTS = {"own": Deployment(), "measured": Deployment(Settings(), reference().table), "reference": reference()}


def answers(*cases: dict[str, Any], deployment: Deployment | None = None, **limits: int) -> list[Answer]:
    stream = io.BytesIO(b"".join(json.dumps(case).encode() + b"\n" for case in cases))
    return list(evaluate_stream(stream, "cases", deployment or Deployment(), lambda: NOW, Limits(**limits)))


def verdict(deployment: Deployment | None = None, **members: Any) -> dict[str, Any]:
    (answer,) = answers({"output": TEXT, **members}, deployment=deployment)
    found: dict[str, Any] = answer.document["verdict"]
    return found


_pieces = st.sampled_from(
    [
        "SSN 512-44-9871", "\U0001f600", "\u200b", "ignore all previous instructions", '"', "`", "```", "TODO", "\n\n",
        "jane.roe@corp.io", "sk-" + "a1" * 12, "\uff11\uff12", "<!-- ", "-->", "illegal drugs", "I will do it later. ",
        "\ud83d", "I\u0307", "\u0130", "Dr. ", "3.5", "[system:", "error", "404", "e\u0301", "|", "\x00", "\u202e",
    ]
)  # fmt: skip
_text = st.lists(_pieces | st.text(max_size=6), max_size=12).map("".join)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
_call = st.fixed_dictionaries(
    {"tool_name": st.sampled_from(["ls", "cat", "\U0001f600"])},
    optional={"input": _json, "output": _json, "error": _text},
)
_number = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**30), 10**30)
_case = st.fixed_dictionaries(
    {"output": _text},
    optional={
        "id": _text,
        "input": _text,
        "expected": _text,
        "tool_calls": st.lists(_call, max_size=8),
        "cost": _number,
        "tokens": st.dictionaries(st.sampled_from(["prompt_tokens", "completion_tokens", "total_tokens"]), _number),
        "eval_type": st.sampled_from(["completeness", "relevance", "safety", "cost", "custom", "all"]),
        "custom_rules": st.lists(
            st.fixed_dictionaries(
                {
                    "name": st.sampled_from(["no_pii", "mine", "\U0001f600"]),
                    "type": st.sampled_from(
                        ["regex_match", "regex_no_match", "min_length", "contains_keywords", "json_schema", "?"]
                    ),
                    "config": st.dictionaries(
                        st.sampled_from(["pattern", "length", "keywords", "schema", "threshold"]), _json
                    ),
                }
            ),
            max_size=2,
        ),
        "config": st.fixed_dictionaries(
            {},
            optional={
                "ruleThresholds": st.dictionaries(
                    st.sampled_from(["min_output_length", "cost_threshold", "max_token_ratio", "max_tool_repeats"]),
                    _json,
                ),
                "prior": st.sampled_from([0, 0.1, 0.5, 1]),
                "priorMode": st.sampled_from(["per-output", "per-class"]),
                "falsePassCost": st.sampled_from([0, 1, 19]),
                "requiredEvidence": st.lists(st.sampled_from(["cost", "tool_outputs", "citations"]), max_size=2),
                "criticalRules": st.lists(st.sampled_from(["no_stub_output", "no_tool_loop", "nobody"]), max_size=2),
            },
        ),
    },
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(_case, st.sampled_from(sorted(DEPLOYMENTS)))
def test_any_case_has_an_answer_that_is_as_published(case: dict[str, Any], name: str) -> None:
    (answer,) = answers(case, deployment=DEPLOYMENTS[name])
    (again,) = answers(case, deployment=DEPLOYMENTS[name])
    line = encode(answer.document)
    assert line == encode(again.document)
    assert line.count(b"\n") == 1
    document = json.loads(line)
    if answer.judgement is None:
        assert set(document) == {"line", "error"}
        return
    read = EvaluationResponse.model_validate(document)
    assert read.verdict is not None
    assert read.passed is read.verdict.passed is (answer.state is VerdictState.PASS)
    assert read.rules_evaluated + read.rules_skipped == len(read.rule_results)
    length = len(case["output"].encode("utf-16-le", "surrogatepass")) // 2
    for result in read.rule_results:
        assert len(result.evidence or ()) <= MOST_EVIDENCE
        for item in result.evidence or ():
            if item.type == "span":
                assert 0 <= item.start < item.end <= length
            elif item.type == "toolCall":
                assert item.index < len(case["tool_calls"])


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_unknown_is_never_a_pass(name: str) -> None:
    deployment = DEPLOYMENTS[name]
    for members in (
        {"eval_type": "cost"},
        {"eval_type": "custom"},
        {"config": {"requiredEvidence": ["cost"]}},
        {"deployed_rules": [{"severity": "critical", "definition": {"name": "x", "type": "min_length", "config": {}}}]},
    ):
        found = verdict(deployment, **members)
        assert (found["state"], found["passed"], found["confidence"]) == ("unknown", False, None)


def test_a_default_advises_and_a_choice_decides() -> None:
    assert verdict(cost=1.33)["state"] == "pass"
    assert verdict(cost=1.33, config={"defaultsGate": True})["by"] == ["cost_under_threshold"]
    assert verdict(cost=0.6, config={"ruleThresholds": {"cost_threshold": 0.5}})["basis"] == "policy_gate"
    assert verdict(output=" \n")["by"] == ["non_empty_output"]


def test_a_chosen_threshold_that_equals_the_default_is_chosen() -> None:
    """By key and not by value, which is what the reference goes by."""
    config = {"ruleThresholds": {"cost_threshold": 0.1}}
    assert verdict(cost=0.2, config=config)["basis"] == "policy_gate"
    assert verdict(reference(), cost=0.2, config=config)["basis"] == "clean"


def test_measurements_and_policies_never_move_the_risk() -> None:
    measured = DEPLOYMENTS["measured"]
    plain = verdict(measured)["risk"]
    assert plain["pBad"] == 0.1598
    assert (
        verdict(
            measured, expected="something else entirely", cost=9, tokens={"prompt_tokens": 1, "completion_tokens": 99}
        )["risk"]
        == plain
    )
    assert list(plain["perClass"]) == [
        "pii_leak", "credential_leak", "injection", "injection_compliance", "silent_tool_failure", "tool_loop", "stub",
        "fabrication", "ungrounded", "incomplete_ask", "off_task", "over_budget", "format", "invalid_tool_call",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("bundle", "ruleset"),
    [
        ("all", "1633b6d4dc94ef88"),
        ("completeness", "e82e94c42fa17dbf"),
        ("relevance", "87f212498055269a"),
        ("safety", "4f0c049c557a6037"),
        ("cost", "1b720dbed296d18e"),
    ],
)
@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_the_published_hashes_of_the_rules_that_ran(bundle: str, ruleset: str, name: str) -> None:
    """What ran is hashed whether or not it answered, and the version of a rule that is another than theirs with it."""
    (answer,) = answers({"output": TEXT, "eval_type": bundle}, deployment=DEPLOYMENTS[name])
    versions = {each["ruleVersion"] for each in answer.document["rule_results"]}
    assert versions == ({1, 2, 3} if name != "reference" and bundle in ("all", "safety") else {1})
    assert (answer.document["provenance"]["rulesetHash"] == ruleset) is (versions == {1})


def test_correction_coverage_is_counted() -> None:
    plain = Deployment(Settings(corrections=frozenset(Correction) - {Correction.COVERAGE_IS_COUNTED}))
    told = []
    for deployment in (Deployment(), plain):
        (answer,) = answers({"output": TEXT, "eval_type": "safety"}, deployment=deployment)
        told.append({each.pop("id"): each for each in answer.document["coverage"]["questions"]})
    counted, uncounted = told
    assert (counted["safe_output"]["evaluated"], counted["safe_output"]["of"]) == (3, 3)
    assert (counted["tool_use_correct"]["evaluated"], counted["tool_use_correct"]["of"]) == (0, 1)
    assert not any({"evaluated", "of"} & each.keys() for each in uncounted.values())
    for question, asked in counted.items():
        assert uncounted[question] == {key: asked[key] for key in asked if key not in ("evaluated", "of")}


def test_a_line_that_is_too_long_is_passed_over() -> None:
    long, short = answers({"output": "x" * 200}, {"output": "y"}, max_line=100)
    assert long.document["error"].startswith("cases, line 1: The case is longer than 100 bytes. Correct the line")
    assert short.judgement is not None


def test_numbers_that_lead_nowhere_refuse_their_case() -> None:
    (answer,) = answers({"output": TEXT, "tokens": {"prompt_tokens": 5e-324, "completion_tokens": 1e308}})
    assert answer.judgement is None
    assert "verbosity_ratio came to inf, which is no finite number" in answer.document["error"]


def test_from_python() -> None:
    found = evaluate(case_of({"output": TEXT, "eval_type": "safety"}, Settings()), Deployment())
    assert found.verdict.passed


LIMITS = ("ruleThresholds", "per_call")


@pytest.mark.parametrize("place", LIMITS)
@pytest.mark.parametrize(
    ("key", "value", "more", "rule"),
    [
        ("cost_threshold", "0.5", {"cost": 3}, "cost_under_threshold"),
        ("max_tool_repeats", "10", {"tool_calls": [{"tool_name": "ls"}] * 5}, "no_tool_loop"),
        ("max_tool_repeats", 0, {"tool_calls": [{"tool_name": "ls"}] * 5}, "no_tool_loop"),
        ("stub_markers", "x", {}, "no_stub_output"),
        ("stub_markers", ["TODO", ""], {}, "no_stub_output"),
    ],
)
def test_a_limit_that_cannot_be_read_is_no_pass(
    place: str, key: str, value: object, more: dict[str, Any], rule: str
) -> None:
    for name in ("own", "measured"):
        found = verdict(DEPLOYMENTS[name], **more, config={place: {key: value}})
        assert (found["state"], found["basis"], found["by"]) == ("unknown", "required_evidence_missing", [rule])
    assert rule not in verdict(reference(), **more, config={place: {key: value}})["by"]


@pytest.mark.parametrize("place", LIMITS)
def test_a_list_that_is_critical_decides_as_the_settings_say(place: str) -> None:
    for choice, told in (("unknown", "critical_unknown"), ("fail", "critical_unknown"), ("pass", "clean")):
        config = {place: {"blocklist": 7}, "onCriticalSkipped": choice}
        assert verdict(config=config)["basis"] == told
    assert verdict(config={place: {"blocklist": 7}, "nonCriticalRules": ["no_blocklist_words"]})["by"] == [
        "no_blocklist_words"
    ]


@pytest.mark.parametrize("place", LIMITS)
def test_a_measurement_that_cannot_be_read_is_told_and_no_more(place: str) -> None:
    assert verdict(config={place: {"min_sentences": "two"}})["state"] == "pass"
    strict = {place: {"min_sentences": "two"}, "criticalRules": ["sentence_count"]}
    assert verdict(config=strict)["basis"] == "critical_unknown"


@pytest.mark.parametrize("place", LIMITS)
def test_null_takes_no_limit_away(place: str) -> None:
    limits = Settings(rule_thresholds={"cost_threshold": 0.1})
    told = verdict(Deployment(limits), cost=0.2, config={place: {"cost_threshold": None}})
    assert (told["basis"], told["by"]) == ("policy_gate", ["cost_under_threshold"])


@pytest.mark.parametrize(
    "written",
    [
        {"name": "n", "type": "json_schema", "config": {"shema": {"type": "string"}}},
        {"name": "n", "type": "max_length", "config": {"max_length": 999, "minimum": 3}},
    ],
)
def test_a_key_of_a_rule_that_nobody_reads_is_no_pass(written: dict[str, Any]) -> None:
    critical = [{"id": "a", "severity": "critical", "definition": written}]
    told = verdict(output="{}", deployed_rules=critical, eval_type="custom")
    assert told["state"] == "unknown"
    beside = verdict(deployed_rules=critical)
    assert (beside["basis"], beside["by"]) == ("critical_unknown", ["n"])
    assert verdict(custom_rules=[written])["basis"] == "clean", "a rule that advises"


@pytest.mark.parametrize("own", [0.5, 0.4])
def test_a_prior_is_the_configuration_s_where_somebody_set_it(own: float) -> None:
    def source(deployment: Deployment, **config: float) -> tuple[float, str]:
        (answer,) = answers({"output": TEXT, "eval_type": "safety", "config": config}, deployment=deployment)
        (told,) = (each for each in answer.document["rule_results"] if each["ruleName"] == "no_pii")
        prior = told["uncertainty"]["prior"]
        return prior["pi"], prior["source"]

    table = reference().table
    assert source(Deployment(Settings(prior=own), table)) == (own, "config")
    assert source(Deployment(Settings(prior=0.3), table), prior=own) == (own, "config")
    assert source(Deployment(Settings(), table)) == (0.5, "default")
    assert source(reference(), prior=own) == (0.5, "default")


def test_what_no_rule_could_use_was_not_seen() -> None:
    """A case with the sum of its tokens alone has tokens, and the rule that looks at them has nothing to hold."""
    config = {"requiredEvidence": ["tokens"]}
    total = {"tokens": {"total_tokens": 9}, "config": config}
    assert verdict(**total)["by"] == ["tokens"]
    assert verdict(**total, eval_type="safety")["basis"] == "clean", "none of the rules looks at them"
    assert verdict(tokens={"prompt_tokens": 4, "completion_tokens": 5}, config=config)["basis"] == "clean"


def made(deployment: Deployment, **members: Any) -> tuple[str, str]:
    """The id of an answer, and the hash of the rules that ran."""
    (answer,) = answers({"output": "It is a sweep.", "eval_type": "custom", **members}, deployment=deployment)
    return answer.document["id"], answer.document["provenance"]["rulesetHash"]


def test_another_question_has_another_id() -> None:
    """What may change the answer is in the id: the accuracy, any setting, what a written rule says, the case."""
    rule = CustomRule("mine", "regex_match", {"pattern": "sweep"}, severity=Severity.HIGH)
    table = reference().table
    assert table is not None
    unlike = [
        Deployment(rules=(rule,)),
        Deployment(rules=(replace(rule, config={"pattern": "zebra"}),)),
        Deployment(rules=(replace(rule, type="regex_no_match"),)),
        Deployment(rules=(replace(rule, severity=None),)),
        Deployment(rules=(replace(rule, rule_id="r"),)),
        Deployment(rules=(rule, rule)),
        Deployment(table=table, rules=(rule,)),
        Deployment(table=replace(table, sha256="0" * 64), rules=(rule,)),
        Deployment(Settings(prior=0.3), table, (rule,)),
        Deployment(Settings(prior=0.5), table, (rule,)),
        replace(reference(), rules=(rule,)),
        *(
            replace(reference(), settings=replace(reference().settings, **each), rules=(rule,))
            for each in ({"prior": 0.3}, {"prior": 0.9}, {"composer": "legacy"}, {"false_pass_cost": 2})
        ),
    ]
    pytest.importorskip("re2")
    ids = [made(deployment)[0] for deployment in unlike]
    assert len(set(ids)) == len(unlike)
    assert [made(deployment)[0] for deployment in unlike] == ids
    assert made(unlike[0], id="another")[0] != ids[0]
    first, second, third, fourth, *_ = (made(deployment)[1] for deployment in unlike)
    assert len({first, second, third, fourth}) == 4
    theirs = [replace(reference(), rules=each.rules) for each in unlike[:2]]
    assert made(theirs[0])[1] == made(theirs[1])[1], "the reference knows a rule by its name"


def test_the_order_of_keys_is_no_other_question() -> None:
    one = Settings(rule_thresholds={"cost_threshold": 1, "min_length": 2})
    other = Settings(rule_thresholds={"min_length": 2, "cost_threshold": 1})
    assert judged_by(Deployment(one)) == judged_by(Deployment(other)) != judged_by(Deployment())


def _choosing(number: float) -> Deployment:
    rule = CustomRule("mine", "max_length", {"max": number}, weight=number)
    settings = Settings(false_pass_cost=number, rule_thresholds={"max_tool_repeats": number})
    return Deployment(settings, rules=(rule,))


def test_the_spelling_of_a_number_is_no_other_question() -> None:
    assert judged_by(_choosing(3)) == judged_by(_choosing(3.0)) != judged_by(_choosing(3.5))
    assert judged_by(Deployment(Settings(defaults_gate=True))) != judged_by(Deployment())


def test_the_order_of_what_is_required_is_no_other_configuration() -> None:
    both = (Need.OUTPUT, Need.INPUT)
    assert config_hash(Settings(required_evidence=both)) == config_hash(Settings(required_evidence=both[::-1]))
    assert config_hash(Settings(required_evidence=both)) != config_hash(Settings(required_evidence=both[:1]))
