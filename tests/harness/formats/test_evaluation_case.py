"""The lines of cases: what is read, what is refused and in which words, and that nothing of either ever crashes."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.case_lines import bounded_lines
from harness.formats.evaluation_case import CASE_KEYS, case_of, read_case
from harness.formats.limits import FormatError, Limits
from kpis.rules import thresholds as threshold_rules
from kpis.terms.evaluation_case import ABSENT, Case, TokenCounts
from kpis.terms.evaluation_settings import PROFILES, THRESHOLD_LISTS, THRESHOLD_NUMBERS, Settings
from kpis.terms.evaluation_words import Bundle, Need, Severity

REFERENCE = Settings(corrections=frozenset())


def read(**members: Any) -> Case:
    return case_of({"output": "x", **members}, Settings())


def test_a_case_with_everything() -> None:
    case = read(
        id="c1",
        input="why",
        expected="so",
        tool_calls=[
            {"tool_name": "ls", "output": None, "error": "no", "latency_ms": 3},
            {"tool_name": "cat", "input": 1},
        ],
        cost=0.5,
        tokens={"prompt_tokens": 0, "total_tokens": 9},
        eval_type="safety",
        custom_rules=[{"name": "mine", "type": "regex_match", "config": {"pattern": "x"}, "weight": 2}],
        deployed_rules=[{"id": "r1", "severity": "high", "definition": {"name": "yours", "type": "min_length"}}],
        metadata={"run": 1},
    )
    assert (case.id, case.input, case.expected, case.cost) == ("c1", "why", "so", 0.5)
    assert case.tool_calls is not None
    assert (case.tool_calls[0].input, case.tool_calls[0].output, case.tool_calls[1].output) == (ABSENT, None, ABSENT)
    assert case.tokens == TokenCounts(0, None, 9)
    assert (case.eval_type, case.named_type) == (Bundle.SAFETY, True)
    yours, mine = case.custom_rules
    assert (yours.name, yours.rule_id, yours.severity, yours.bundle) == ("yours", "r1", Severity.HIGH, Bundle.CUSTOM)
    assert (mine.name, mine.rule_id, mine.severity, mine.weight) == ("mine", None, None, 2)
    assert case.extra == {"metadata": {"run": 1}}


def test_what_was_not_sent() -> None:
    case = read()
    assert (case.tool_calls, case.cost, case.tokens, case.eval_type, case.named_type) == (None, None, None, None, False)
    assert read(tool_calls=[]).tool_calls == ()
    assert (read(eval_type="all").eval_type, read(eval_type="all").named_type) == (None, True)
    assert read(id=7).id == "7"
    assert isinstance(read(cost=10**300).cost, float)
    assert read(tool_calls=None, cost=None, input=None, config=None) == case


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"", "is no JSON"),
        (b"{", "is no JSON"),
        (b"[]", "The case is a list, and has to be an object"),
        (b'{"output": "x"} {}', "is no JSON"),
        (b'{"output": "\xff"}', "is no UTF-8"),
        (b'{"output": NaN}', "NaN is no number"),
        (b'{"output": 1e999, "cost": 1e999}', "The case.output is a number, and has to be a text"),
        (b'{"output": "x", "cost": 1e999}', "The case.cost is no finite number"),
        (b'{"output": "x", "cost": 1' + b"0" * 400 + b"}", "The case.cost is no finite number"),
        (
            b'{"output": "x", "cost": 1' + b"0" * 5000 + b"}",
            "The case holds a whole number of more digits than are read",
        ),
        (b'{"output": ' + b"[" * 70 + b"]" * 70 + b"}", "nests deeper than 64 levels"),
    ],
)
def test_lines_that_are_no_case(line: bytes, said: str) -> None:
    with pytest.raises(FormatError, match=said.replace("(", r"\(")):
        read_case(line, Settings())


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"output": None}, "The case has no output"),
        ({"output": 3}, "The case.output is a number, and has to be a text"),
        ({"input": ["x"]}, "The case.input is a list"),
        ({"tool_calls": {}}, "The case.tool_calls is an object, and has to be a list"),
        ({"tool_calls": ["ls"]}, r"tool_calls\[0\] is a text, and has to be an object"),
        ({"tool_calls": [{}]}, r"tool_calls\[0\] has no tool_name"),
        ({"cost": True}, "The case.cost is a truth value"),
        ({"cost": "1"}, "The case.cost is a text, and has to be a number"),
        ({"tokens": {"prompt_tokens": "9"}}, "The case.tokens.prompt_tokens is a text"),
        ({"eval_type": "safty"}, r"'safty' \(did you mean safety\?\), and has to be one of completeness, "),
        ({"custom_rules": [{"name": "x"}]}, r"custom_rules\[0\] has no type"),
        ({"custom_rules": [{"name": "x", "type": "y", "weight": -1}]}, "weight is -1, and has to be 0 or more"),
        ({"deployed_rules": [{"id": "r"}]}, r"deployed_rules\[0\] has no definition"),
        ({"deployed_rules": [{"severity": "bad", "definition": {"name": "x", "type": "y"}}]}, "severity is 'bad'"),
        ({"config": []}, "The case.config is a list"),
        ({"config": {"requiredEvidense": []}}, r"unknown key requiredEvidense \(did you mean requiredEvidence\?\)"),
        ({"config": {"requiredEvidence": ["costs"]}}, r"requiredEvidence\[0\] is 'costs' \(did you mean cost\?\)"),
        ({"config": {"requiredEvidence": [1]}}, r"requiredEvidence\[0\] is a number"),
        ({"config": {"onCriticalSkipped": "ignore"}}, "has to be one of unknown, fail, pass"),
        ({"config": {"falsePassCost": -1}}, "falsePassCost is -1, and has to be 0 or more"),
        ({"config": {"prior": 1.5}}, "prior is 1.5, and has to lie between 0 and 1"),
        ({"config": {"defaultsGate": "yes"}}, "defaultsGate is a text, and has to be true or false"),
        ({"config": {"ruleThresholds": 3}}, "ruleThresholds is a number, and has to be an object"),
        (
            {"config": {"ruleThresholds": {"blocklist": [1, {"b": float("inf")}]}}},
            r"ruleThresholds.blocklist\[1\].b is no finite number",
        ),
        ({"config": {"per_call": {"min_length": 10**400}}}, "per_call.min_length is no finite number"),
        ({"config": {"ruleThresholds": {"cost_treshold": 1}}}, r"key cost_treshold \(did you mean cost_threshold\?\)"),
        ({"config": {"per_call": {"minSentences": 1}}}, r"key minSentences \(did you mean min_sentences\?\)"),
        ({"custom_rules": [{"name": "x", "type": "y", "wieght": 1}]}, r"key wieght \(did you mean weight\?\)"),
        (
            {"deployed_rules": [{"serverity": "high", "definition": {"name": "x", "type": "y"}}]},
            r"deployed_rules\[0\] has the unknown key serverity \(did you mean severity\?\)",
        ),
        (
            {"deployed_rules": [{"definition": {"name": "x", "type": "y", "cofig": {}}}]},
            r"deployed_rules\[0\].definition has the unknown key cofig \(did you mean config\?\)",
        ),
        ({"config": {"profile": "desktop"}}, "has to be one of server"),
        ({"config": {"mode": "reference"}}, "config.mode is out of place: mode stands in the file of --config only"),
        ({"config": {"accuracy": "loopladder"}}, "accuracy stands in the file of --config only"),
        ({"config": {"deployed_rules": []}}, "deployed_rules stands beside config"),
        ({"config": {"custom_rules": []}}, "custom_rules stands beside config"),
        ({"config": {"composer": "legacy"}}, "only recomputes verdicts of the reference"),
    ],
)
def test_members_that_cannot_be_used(members: dict[str, Any], said: str) -> None:
    with pytest.raises(FormatError, match=said):
        read(**members)


def test_a_case_chooses_on_top_of_its_deployment() -> None:
    base = replace(REFERENCE, prior=0.2, rule_thresholds={"a": 1, "b": 2}, per_call={"c": 3})
    config = {"ruleThresholds": {"b": 5}, "per_call": {"d": 4}, "requiredEvidence": ["cost", "input", "cost"]}
    made = case_of({"output": "", "config": {**config, "composer": "legacy", "criticalRules": 7}}, base).settings
    assert (made.prior, made.rule_thresholds, made.per_call) == (0.2, {"a": 1, "b": 5}, {"c": 3, "d": 4})
    assert made.required_evidence == (Need.COST, Need.INPUT)
    assert (made.composer, made.critical_rules) == ("legacy", 7), "whoever knows the rules checks the lists"
    server = read(config={"profile": "server", "ruleThresholds": {"min_sentences": 4}}).settings.rule_thresholds
    assert (server["topic_consistency"], server["min_sentences"]) == (0.33, 4)


@pytest.mark.parametrize("key", ["ruleThresholds", "per_call"])
def test_a_threshold_of_null_takes_none_away(key: str) -> None:
    limits = {"cost_threshold": 0.1}
    case = {"output": "", "config": {key: {"cost_threshold": None, "min_sentences": 4}}}
    for base, taken in ((Settings(), {}), (REFERENCE, {"cost_threshold": None})):
        made = case_of(case, replace(base, rule_thresholds=limits, per_call=limits)).settings
        found = made.rule_thresholds if key == "ruleThresholds" else made.per_call
        assert found == {**limits, **taken, "min_sentences": 4}


def test_every_threshold_that_a_rule_looks_for_is_known() -> None:
    """By the sources of the rules: a new key there is a new key here."""
    asked: set[str] = set()
    for path in Path(threshold_rules.__file__).parent.glob("*.py"):
        for arguments in re.findall(
            r"(?<!def )\b(?:threshold|chosen|texts)\(([^()]*)\)", path.read_text(encoding="utf-8")
        ):
            asked.update(re.findall(r'"(\w+)"', arguments))
    assert asked == {*THRESHOLD_NUMBERS, *THRESHOLD_LISTS}
    assert PROFILES["server"].keys() <= asked


def test_in_the_mode_of_the_reference_unknown_keys_are_passed_over_as_it_does() -> None:
    members = {
        "custom_rules": [{"name": "x", "type": "y", "made_by": "z"}],
        "deployed_rules": [{"made_by": "z", "definition": {"name": "x", "type": "y", "made_by": "z"}}],
        "config": {"ruleThresholds": {"of_theirs": "x"}},
    }
    case = case_of({"output": "x", **members}, REFERENCE)
    assert len(case.custom_rules) == 2
    assert case.settings.rule_thresholds == {"of_theirs": "x"}
    for key, value in members.items():
        with pytest.raises(FormatError, match="has the unknown key"):
            read(**{key: value})


@pytest.mark.parametrize(
    ("members", "notes"),
    [
        ({"toolCalls": []}, ("The key toolCalls is not read (did you mean tool_calls?).",)),
        ({"costUsd": 1}, ("The key costUsd is not read (did you mean cost?).",)),
        ({"costUsd": 1, "cost": 2}, ()),
        ({"metadata": {}, "run": 3, "toolCalls" * 9: []}, ()),
        ({"a\u001btool_calls": 1}, ("The key a\\x1btool_calls is not read (did you mean tool_calls?).",)),
        (dict.fromkeys([*map(str, range(20)), "costs"]), ()),
    ],
)
def test_a_key_that_is_close_to_a_known_one_is_asked_back(members: dict[str, Any], notes: tuple[str, ...]) -> None:
    case = read(**members)
    assert case.extra == {key: value for key, value in members.items() if key != "cost"}
    assert case.notes == notes


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
_KEYS = st.sampled_from([*CASE_KEYS, "z"])


@given(st.dictionaries(_KEYS, _values, max_size=6))
def test_any_value_is_a_case_or_refused(members: dict[str, Any]) -> None:
    try:
        case = read_case(json.dumps(members).encode(), Settings())
    except FormatError as error:
        assert str(error)
    else:
        assert case.output == members["output"]


@given(st.binary(max_size=40))
def test_any_bytes_are_a_case_or_refused(body: bytes) -> None:
    with pytest.raises(FormatError):
        read_case(b"[" + body, Settings())


def test_lines_of_any_length_one_at_a_time() -> None:
    text = b'\xef\xbb\xbf{"a":1}\n\n  \r\n' + b"x" * 50 + b"\n" + b"y" * 9 + b"\n" + b"z" * 10 + b"\nlast"
    found = list(bounded_lines(io.BytesIO(text), Limits(max_line=10)))
    assert [(line.number, line.body) for line in found] == [
        (1, b'{"a":1}'),
        (4, None),
        (5, b"y" * 9),
        (6, b"z" * 10),
        (7, b"last"),
    ]
    assert found[-1].read == len(text)
    assert list(bounded_lines(io.BytesIO(b""), Limits())) == []


def test_a_line_longer_than_what_is_skipped_at_once() -> None:
    text = b"x" * (3 << 20) + b"\nshort"
    assert [line.body for line in bounded_lines(io.BytesIO(text), Limits(max_line=10))] == [None, b"short"]
    assert [line.body for line in bounded_lines(io.BytesIO(b"x" * 50), Limits(max_line=10))] == [None]


CALL = {"tool_name": "a"}


@pytest.mark.parametrize(
    ("members", "notes"),
    [
        (
            {"tokens": {"promt_tokens": 5, "total_tokens": 9}},
            ["The key tokens.promt_tokens is not read (did you mean prompt_tokens?)."],
        ),
        ({"tokens": {"prompt_tokens": 5, "cached": 9}}, []),
        (
            {"tool_calls": [CALL, {**CALL, "arguments": {"i": 0}}, {**CALL, "arguments": {"i": 1}}]},
            ["The key tool_calls[1].arguments is not read (did you mean input?)."],
        ),
        ({"tool_calls": [{**CALL, "input": 1, "arguments": 2, "id": "c1", "type": "function"}]}, []),
        ({"tool_calls": [{**CALL, "outpt": 1}]}, ["The key tool_calls[0].outpt is not read (did you mean output?)."]),
        (
            {"tool_calls": [{**CALL, "is_error": False}, {**CALL, "is_error": True}]},
            ["The key tool_calls[1].is_error is not read: what a call failed with stands in its error."],
        ),
        ({"tool_calls": [{**CALL, "is_error": True, "error": "gone"}]}, []),
        (
            {"inputt": 1, "tool_calls": [{**CALL, "result": 1}]},
            [
                "The key inputt is not read (did you mean input?).",
                "The key tool_calls[0].result is not read (did you mean output?).",
            ],
        ),
    ],
)
def test_keys_one_level_down_are_asked_about_as_well(members: dict[str, Any], notes: list[str]) -> None:
    assert list(read(**members).notes) == notes


def test_no_more_than_some_keys_of_calls_are_asked_about() -> None:
    calls = [{**CALL, f"outpu{at}": 1} for at in range(500)]
    assert len(read(tool_calls=calls).notes) == 20
