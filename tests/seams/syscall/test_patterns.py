"""Patterns of a policy: what they match, what is refused, and that a hostile one costs no more than a plain one."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.syscall import ToolCall
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.monitor import Monitor
from seams.syscall.patterns import LONGEST, PatternError, glob_matcher, regex_finder
from seams.syscall.policy import Policy, PolicyError, parse_policy

RULE = '[[predicates]]\ntool = "save"\narg = "body"\n'


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("b+", "abbb", True),
        ("^b", "ab", False),
        ("(?i)secret", "a SeCrEt", True),
        ("a.c", "a\nc", False),
        ("a.c", "a\ud800c", True),
        ("\u00e9", "caf\u00e9", True),
        (r"\bkey\b", "monkeys", False),
        ("a\0b", "a\0b", True),
        ("a{3}", "aa", False),
    ],
)
def test_an_expression_is_found_anywhere(pattern: str, text: str, found: bool) -> None:
    assert regex_finder(pattern)(text) == found


@pytest.mark.parametrize(
    "pattern", ["(", "(?=a)", r"(a)\1", "[z-a]", "a{9999}", "((a{100}){100}){100}", "\ud800", "a" * (LONGEST + 1)]
)
def test_what_is_no_expression_is_refused_in_words(pattern: str) -> None:
    with pytest.raises(PatternError, match=r"does not compile|the most"):
        regex_finder(pattern)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*x", "(a?){50}a{50}$", "(x+x+)+y", "(a|a)*b"])
def test_a_hostile_expression_ends(pattern: str) -> None:
    """Each of them takes an engine that backtracks longer than the suite may last."""
    find = regex_finder(pattern)
    assert not find("a" * 200_000 + "!") or pattern == "(a|a)*b"


@pytest.mark.parametrize("glob", ["*a" * 400 + "*b", "*" * 900 + "b", "?" * 500 + "*b", "*[a-c]" * 100 + "b"])
def test_a_hostile_glob_ends(glob: str) -> None:
    assert not glob_matcher((glob,))("a" * 200_000)


@given(st.text("ab*?/", max_size=12), st.text("ab/", max_size=12))
def test_a_glob_says_what_its_plain_reading_says(glob: str, text: str) -> None:
    def plain(glob: str, text: str) -> bool:
        if not glob:
            return not text
        if glob[0] == "*":
            return plain(glob[1:], text) or (bool(text) and plain(glob, text[1:]))
        return bool(text) and glob[0] in ("?", text[0]) and plain(glob[1:], text[1:])

    assert glob_matcher((glob,))(text) == plain(glob, text)


def test_one_of_several_globs_is_enough_and_none_is_none() -> None:
    assert glob_matcher(("x*", "*y"))("ay")
    assert not glob_matcher(())("")


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ('deny_regex = "(?=a)"', "deny_regex does not compile"),
        ("deny_regex = 7", "needs deny_regex as a string"),
        ('deny_regex = ""', "an empty one is found everywhere"),
        (f'deny_regex = "{"a" * 1001}"', "deny_regex has a pattern of 1,001 characters"),
        (f'allow_globs = ["{"a" * 1001}"]', "allow_globs has a pattern of 1,001 characters"),
    ],
)
def test_a_policy_with_such_a_pattern_does_not_load(rule: str, said: str) -> None:
    with pytest.raises(PolicyError, match=said) as raised:
        parse_policy(RULE + rule, "p.toml")
    assert str(raised.value).startswith("p.toml: the predicate on save.body")


def test_without_the_extra_an_expression_does_not_load_and_all_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    with pytest.raises(PolicyError, match=r"p.toml: the predicate on save.body.*google-re2.*loopladder\[policy\]"):
        parse_policy(RULE + 'deny_regex = "x"', "p.toml")
    policy = parse_policy(RULE + 'allow_globs = ["notes/*"]', "p.toml")
    judged = Monitor(policy).adjudicate(ToolCall("save", b'{"body":"x"}'))
    assert judged.reason == ReasonCode.POLICY_BLOCK


def test_an_expression_of_a_file_refuses_what_it_finds() -> None:
    text = 'allow = ["save"]\n' + RULE + 'deny_regex = "(?i)api[_-]key"\nreason = "SECRET_EXFIL"'
    monitor = Monitor(parse_policy(text, "p.toml"))
    kinds = [
        monitor.adjudicate(ToolCall("save", json.dumps({"body": body}).encode()))
        for body in ("the API-key is", "plain", {"deep": ["x", "api_key"]})
    ]
    assert [(each.kind, each.reason) for each in kinds] == [
        (VerdictKind.DENY, ReasonCode.SECRET_EXFIL),
        (VerdictKind.ALLOW, ReasonCode.NONE),
        (VerdictKind.DENY, ReasonCode.SECRET_EXFIL),
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"allow": ["a"], "allow": ["b"]}',
        '{"deny": {"x": "POLICY_BLOCK", "x": "SECRET_EXFIL"}}',
        '{"predicates": [{"tool": "x", "arg": "y", "max_bytes": 1, "max_bytes": 2}]}',
        'allow = ["a"]\nallow = ["b"]',
    ],
)
def test_a_key_that_stands_there_twice_is_no_policy(text: str) -> None:
    with pytest.raises(PolicyError, match="is not a policy"):
        parse_policy(text, "p")


@pytest.mark.parametrize("name", ["p.toml", "p.json"])
@pytest.mark.parametrize("where", ["policy", "predicate"])
@pytest.mark.parametrize("key", ["Allow", "allow ", "denied", "redacts", "", "__class__", "reasons", "allow_glob"])
def test_an_unknown_key_is_refused_wherever_it_stands(name: str, where: str, key: str) -> None:
    rule = {"tool": "x", "arg": "y", "max_bytes": 1}
    loaded = {key: [], "predicates": [rule]} if where == "policy" else {"predicates": [{**rule, key: 1}]}
    if name.endswith(".json"):
        text = json.dumps(loaded)
    else:
        import tomli_w

        text = tomli_w.dumps(loaded)
    with pytest.raises(PolicyError, match=f"{name}: .* has no key"):
        parse_policy(text, name)


@pytest.mark.parametrize("text", ["{" * 100_000, "a = " + "[" * 100_000, '{"allow": null}', '{"deny": []}', "\x00"])
def test_hostile_text_is_no_policy(text: str) -> None:
    with pytest.raises(PolicyError, match=r"^p: |^p is not"):
        parse_policy(text, "p")


def test_a_large_policy_loads() -> None:
    tools = [f"tool_{number}" for number in range(50_000)]
    policy = parse_policy(json.dumps({"allow": tools}), "p.json")
    assert len(policy.allow) == 50_000
    assert Monitor(policy).adjudicate(ToolCall("tool_9")).kind == VerdictKind.ALLOW
    assert policy != Policy()
