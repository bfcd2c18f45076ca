"""Rules that somebody wrote."""

from __future__ import annotations

import sys
from dataclasses import replace

import pytest

from kpis.rules import custom_regex
from kpis.rules.custom import TYPES
from kpis.rules.custom_regex import RegexError, finder, nested
from kpis.rules.run import findings
from kpis.terms.claim import ClaimState
from kpis.terms.evaluation import Case
from kpis.terms.evaluation_case import CustomRule
from kpis.terms.evaluation_words import Bundle, Mechanism, Need, RuleKind, Severity, SkipClass
from tests.kpis.rules.asking import custom

QUIET, FIRED = ClaimState.QUIET, ClaimState.FIRED


EACH: list[tuple[str, str, dict[str, object], ClaimState, float]] = [
    ("order 42", "regex_match", {"pattern": r"\d+"}, QUIET, 1.0),
    ("order", "regex_match", {"pattern": r"\d+"}, FIRED, 0.0),
    ("ORDER", "regex_match", {"pattern": "(?i)order"}, QUIET, 1.0),
    ("order 42", "regex_no_match", {"pattern": r"\d+"}, FIRED, 0.0),
    ("abcd", "min_length", {"min_length": 4}, QUIET, 1.0),
    ("abc", "min_length", {"length": 4}, FIRED, 0.75),
    ("\U0001f600\U0001f600", "min_length", {"min": 4}, FIRED, 0.5),
    ("abcd", "max_length", {"max_length": 4}, QUIET, 1.0),
    ("abcdefgh", "max_length", {"max": 4}, FIRED, 0.5),
    ("Red and blue", "contains_keywords", {"keywords": ["red", "BLUE"]}, QUIET, 1.0),
    ("Red", "contains_keywords", {"keywords": ["red", "blue"]}, FIRED, 0.5),
    ("Red", "contains_keywords", {"keywords": ["red", "blue"], "threshold": 0.5}, QUIET, 0.5),
    ("Red", "excludes_keywords", {"keywords": ["blue"]}, QUIET, 1.0),
    ("Red", "excludes_keywords", {"keywords": ["blue", "RED"]}, FIRED, 0.0),
    ('{"a": 1}', "json_schema", {}, QUIET, 1.0),
    ("\U0001f600\U0001f600", "max_length", {"max": 2}, QUIET, 1.0),
    ("a gua\u200brantee", "excludes_keywords", {"keywords": ["guarantee"]}, FIRED, 0.0),
    ("money back\nguarantee", "excludes_keywords", {"keywords": ["back guarantee"]}, FIRED, 0.0),
    ("money back\nguarantee", "contains_keywords", {"keywords": ["back  guarantee"]}, QUIET, 1.0),
    ("\u0130STANBUL", "excludes_keywords", {"keywords": ["istanbul"]}, FIRED, 0.0),
    ("1e400", "json_schema", {"schema": {"type": "number"}}, QUIET, 1.0),
    ("1e400", "json_schema", {"schema": {"type": "integer", "maximum": 5}}, FIRED, 0.0),
    ("9" * 400, "json_schema", {"schema": {"type": "integer", "minimum": 5}}, QUIET, 1.0),
    ("true", "json_schema", {"schema": {"type": ["number", "integer"]}}, FIRED, 0.0),
    ('"x@y"', "json_schema", {"schema": {"format": "date"}}, QUIET, 1.0),
    ('{"a": NaN}', "json_schema", {}, FIRED, 0.0),
    ("no json", "json_schema", {"schema": {"type": "object"}}, FIRED, 0.0),
    ('{"a": 1}', "json_schema", {"schema": {"required": ["b"]}}, FIRED, 0.0),
    ('{"a": 1}', "json_schema", {"schema": {"required": ["a"]}}, QUIET, 1.0),
]


@pytest.mark.parametrize(("output", "kind", "config", "state", "score"), EACH)
def test_each_type(output: str, kind: str, config: dict[str, object], state: ClaimState, score: float) -> None:
    found = custom(output, kind, config).claim
    assert (found.state, found.score, found.evidence) == (state, score, ())


def test_a_cost_of_ones_own() -> None:
    for key in ("max_cost", "max_usd"):
        assert custom("x", "cost_threshold", {key: 0.5}, cost=0.5).claim.state is QUIET
        assert custom("x", "cost_threshold", {key: 0.5}, cost=0.6).claim.state is FIRED
    skip = custom("x", "cost_threshold", {"max_usd": 0.5}).claim.skip
    assert skip is not None
    assert skip.skip_class is SkipClass.NOT_APPLICABLE


BROKEN: list[tuple[str, dict[str, object]]] = [
    ("regex_match", {}),
    ("regex_match", {"pattern": 5}),
    ("regex_match", {"pattern": "("}),
    ("regex_match", {"pattern": "a" * 1001}),
    ("regex_no_match", {"pattern": "(?=a)b"}),
    ("regex_match", {"pattern": "(a{1000}){1000}"}),
    ("regex_match", {"pattern": "\ud800"}),
    ("min_length", {}),
    ("min_length", {"min_length": "4"}),
    ("min_length", {"min_length": 0}),
    ("max_length", {"max_length": -1}),
    ("max_length", {"max_length": True}),
    ("contains_keywords", {}),
    ("contains_keywords", {"keywords": []}),
    ("contains_keywords", {"keywords": ["a", 1]}),
    ("contains_keywords", {"keywords": ["a"], "threshold": "1"}),
    ("json_schema", {"schema": {"typ": "object"}}),
    ("json_schema", {"schema": {"properties": {"a": {"minLenght": 3}}}}),
    ("excludes_keywords", {"keywords": "a"}),
    ("json_schema", {"schema": {"type": "thing"}}),
    ("cost_threshold", {"max_usd": "1"}),
    ("telepathy", {}),
]


@pytest.mark.parametrize(("kind", "config"), BROKEN)
def test_a_broken_config_is_no_answer(kind: str, config: dict[str, object]) -> None:
    found = custom("aaa", kind, config, cost=1).claim
    assert found.skip is not None
    assert (found.skip.skip_class, found.score) == (SkipClass.CONFIG_INVALID, 0.0)


EMPTY: list[tuple[str, dict[str, object], str]] = [
    ("regex_match", {"pattern": ""}, "the pattern is empty"),
    ("regex_no_match", {"pattern": "(?i)"}, "the pattern is empty"),
    ("contains_keywords", {"keywords": ["a", ""]}, "entry 2 of keywords is empty"),
    ("excludes_keywords", {"keywords": [""]}, "entry 1 of keywords is empty"),
    ("excludes_keywords", {"keywords": ["b", " \t"]}, "entry 2 of keywords is empty, or nothing in it can be seen"),
    ("excludes_keywords", {"keywords": ["\u200b"]}, "entry 1 of keywords is empty, or nothing in it can be seen"),
    ("contains_keywords", {"keywords": ["a"], "threshold": 0}, "above 0, and 1 at most"),
    ("contains_keywords", {"keywords": ["a"], "threshold": -1}, "above 0, and 1 at most"),
    ("contains_keywords", {"keywords": ["a"], "threshold": 1.5}, "above 0, and 1 at most"),
]


@pytest.mark.parametrize(("kind", "config", "said"), EMPTY)
def test_correction_asks_for_something(kind: str, config: dict[str, object], said: str) -> None:
    skip = custom("aaa", kind, config).claim.skip
    assert skip is not None
    assert skip.skip_class is SkipClass.CONFIG_INVALID
    assert said in skip.reason
    assert custom("aaa", kind, config, reference=True).claim.skip is None


@pytest.mark.parametrize(
    ("output", "kind", "config"),
    [
        ("\U0001f600\U0001f600", "min_length", {"min": 4}),
        ("a gua\u200brantee", "excludes_keywords", {"keywords": ["guarantee"]}),
        ("\u0130STANBUL", "excludes_keywords", {"keywords": ["istanbul"]}),
    ],
)
def test_corrections_of_written_rules(output: str, kind: str, config: dict[str, object]) -> None:
    assert custom(output, kind, config, reference=True).claim.state is QUIET
    assert custom(output, kind, config).claim.state is FIRED


def test_an_output_with_a_key_twice_has_no_shape() -> None:
    output, integer = '[{"a": "x", "a": 1}]', {"items": {"properties": {"a": {"type": "integer"}}}}
    found = custom(output, "json_schema", {"schema": integer}).claim
    assert (found.state, found.note) == (FIRED, "The output has a key twice in one object")
    assert custom(output, "json_schema", {}).claim.state is QUIET, "it is JSON, and no shape was asked"
    assert custom(output, "json_schema", {"schema": integer}, reference=True).claim.state is QUIET


@pytest.mark.parametrize(
    ("words", "said"),
    [(["a"], "1 forbidden keyword is there"), (["a", "b"], "2 forbidden keywords are there")],
)
def test_keywords_are_counted_in_words(words: list[str], said: str) -> None:
    assert custom("a b", "excludes_keywords", {"keywords": words}).claim.note == said


def test_only_what_was_held_against_a_schema_is_of_its_shape() -> None:
    assert custom("[1]", "json_schema", {}).claim.note == "The output is JSON"
    assert custom("[1]", "json_schema", {"schema": True}).claim.note == "The output is JSON of that shape"


def test_what_needs_too_much_work_is_stopped() -> None:
    rungs = {f"r{n}": {"allOf": [{"$ref": f"#/$defs/r{n + 1}"}] * 9} for n in range(9)}
    schema = {"$ref": "#/$defs/r0", "$defs": {**rungs, "r9": True}}
    for broad in (schema, {"$ref": "#"}):
        skip = custom("1", "json_schema", {"schema": broad}).claim.skip
        assert skip is not None
        assert skip.skip_class is SkipClass.DEFEATED


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        ("regex_match", {"pattern": "[ab]*a[ab]{500}c"}),
        ("regex_no_match", {"pattern": "[ab]*a[ab]{500}c"}),
        ("excludes_keywords", {"keywords": [f"word number {number}" for number in range(2000)]}),
        ("contains_keywords", {"keywords": [f"word number {number}" for number in range(2000)]}),
    ],
)
def test_a_text_too_long_for_what_is_looked_for_is_not_looked_through(kind: str, config: dict[str, object]) -> None:
    skip = custom("ab" * (1 << 19), kind, config).claim.skip
    assert skip is not None
    assert skip.skip_class is SkipClass.DEFEATED
    assert custom("ab" * (1 << 9), kind, config).claim.skip is None
    assert custom("ab" * (1 << 19), "regex_match", {"pattern": "(?i)(secret|password|token)s?"}).claim.skip is None


def test_the_reference_asks_only_whether_it_is_json() -> None:
    assert custom("1", "json_schema", {"schema": {"type": "string"}}, reference=True).claim.state is QUIET


def test_a_repetition_of_a_repetition_is_matched_and_the_reference_refuses_it() -> None:
    assert custom("a" * 100_000 + "!", "regex_match", {"pattern": "(a+)+$"}).claim.state is FIRED
    skip = custom("a", "regex_match", {"pattern": "(a+)+$"}, reference=True).claim.skip
    assert skip is not None
    assert skip.skip_class is SkipClass.CONFIG_INVALID


@pytest.mark.parametrize(
    ("pattern", "is_nested"),
    [
        ("(a+)+", True),
        ("(?:a*b){2,}", True),
        ("((a?)b)*", True),
        ("a+" * 26, True),
        ("a+b*c?", False),
        ("(a+)(b+)", False),
        ("(?i)(ab)+", False),
        (r"(\(a\+)+", False),
        ("([+*])+", False),
        ("a{2}", False),
        ("{a}+", False),
    ],
)
def test_what_is_nested(pattern: str, is_nested: bool) -> None:
    assert nested(pattern) is is_nested


def test_without_the_engine_a_pattern_is_refused_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    custom_regex.finder.cache_clear()
    try:
        with pytest.raises(RegexError, match="pip install"):
            finder("abc")
        skip = custom("abc", "regex_match", {"pattern": "abc"}).claim.skip
        assert skip is not None
        assert skip.skip_class is SkipClass.CONFIG_INVALID
    finally:
        custom_regex.finder.cache_clear()


@pytest.mark.parametrize(
    ("severity", "critical"),
    [(None, False), (Severity.LOW, False), (Severity.MEDIUM, False), (Severity.HIGH, True), (Severity.CRITICAL, True)],
)
def test_the_severity_of_a_deployed_rule_says_whether_it_decides(severity: Severity | None, critical: bool) -> None:
    rule = CustomRule("no_pii", "min_length", {"min": 1}, rule_id="r1", severity=severity)
    found = findings(Case("x", eval_type=Bundle.CUSTOM, custom_rules=(rule,)))[0]
    assert (found.critical, found.critical_by_config, found.rule.rule_id) == (critical, False, "r1")


def test_what_a_rule_of_ones_own_declares() -> None:
    for kind, (_, mechanism, need) in TYPES.items():
        facts = custom("x", kind, {}).rule
        patterned = "regex" in kind or "keywords" in kind
        assert (facts.kind, facts.classes, facts.question, facts.version) == (RuleKind.POLICY, (), None, 1)
        assert mechanism is facts.mechanism is (Mechanism.PATTERN if patterned else Mechanism.FORMULA)
        assert facts.needs == (need,)
        assert need is (Need.COST if kind == "cost_threshold" else Need.OUTPUT)


def test_a_rule_of_another_bundle_runs_in_it_after_ours() -> None:
    rule = CustomRule("theirs", "min_length", {"min": 1}, bundle=Bundle.COST)
    case = Case("x", custom_rules=(rule,))
    names = [found.rule.name for found in findings(case)]
    assert names.index("theirs") == names.index("no_tool_loop") + 1
    assert "theirs" not in {
        found.rule.name for found in findings(Case("x", eval_type=Bundle.CUSTOM, custom_rules=(rule,)))
    }


@pytest.mark.parametrize(
    ("kind", "config", "key"),
    [
        ("json_schema", {"shema": {"type": "string"}}, "shema"),
        ("regex_no_match", {"pattern": "A", "flags": "i"}, "flags"),
        ("contains_keywords", {"keywords": ["a"], "treshold": 0.1}, "treshold"),
        ("max_length", {"max": 9, "k" * 99: 1}, "k" * 40),
    ],
)
def test_correction_config_key_is_known(kind: str, config: dict[str, object], key: str) -> None:
    """What the key was to say is not done, so that a quiet rule would say nothing."""
    pytest.importorskip("re2")
    found = custom("{}", kind, config).claim
    assert found.skip is not None
    assert found.skip.skip_class is SkipClass.CONFIG_INVALID
    assert f"theirs has the unknown key '{key}' in its config; {kind} reads " in found.skip.reason
    assert custom("{}", kind, config, reference=True).claim.skip is None


def test_what_a_rule_says_has_a_digest() -> None:
    """Of type and config in any order of keys; the name, the weight and the severity stand in the hash beside it."""
    rule = CustomRule("a", "regex_match", {"pattern": "x", "b": [1, {"d": 1, "c": 2}]})
    assert rule.digest == CustomRule("b", "regex_match", {"b": [1, {"c": 2, "d": 1}], "pattern": "x"}, 2.0).digest
    for other in (
        replace(rule, type="regex_no_match"),
        replace(rule, config={"pattern": "y", "b": [1, {"d": 1, "c": 2}]}),
        replace(rule, config={}),
    ):
        assert other.digest != rule.digest
