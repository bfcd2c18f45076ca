"""Policies as files: what loads, and that what is half understood does not."""

from __future__ import annotations

import json

import pytest

from seams.contract.syscall import ToolCall
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.monitor import Monitor
from seams.syscall.policy import Policy, PolicyError, Predicate, parse_policy

TOML = """
allow = ["save_note"]
allow_prefixes = ["get_"]
redact = ["pin"]
protected = [".git/"]

[deny]
wipe = "SECRET_EXFIL"

[[predicates]]
tool = "save_note"
arg = "path"
allow_globs = ["notes/*"]
reason = "TRUST_VIOLATION"
"""


def test_toml_and_json_say_the_same() -> None:
    expected = Policy(
        allow=frozenset({"save_note"}),
        allow_prefixes=("get_",),
        deny={"wipe": ReasonCode.SECRET_EXFIL},
        redact=frozenset({"pin"}),
        protected=(".git/",),
        predicates=(Predicate("save_note", "path", ("notes/*",), reason=ReasonCode.TRUST_VIOLATION),),
    )
    assert parse_policy(TOML, "p.toml") == expected
    text = {
        "allow": ["save_note"],
        "allow_prefixes": ["get_"],
        "redact": ["pin"],
        "protected": [".git/"],
        "deny": {"wipe": "SECRET_EXFIL"},
        "predicates": [{"tool": "save_note", "arg": "path", "allow_globs": ["notes/*"], "reason": "TRUST_VIOLATION"}],
    }
    assert parse_policy(json.dumps(text), "p.json") == expected
    assert parse_policy("  " + json.dumps(text), "p") == expected


def test_an_empty_policy_refuses_everything() -> None:
    verdict = Monitor(parse_policy("", "p.toml")).adjudicate(ToolCall("get_time"))
    assert (verdict.kind, verdict.reason) == (VerdictKind.DENY, ReasonCode.DEFAULT_DENY)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("allow = [", "is not a policy"),
        ("[1]", "no key '1'"),
        ('permit = ["x"]', "no key 'permit'"),
        ('allow = "x"', "allow must be a list"),
        ("allow = [1]", "list of strings"),
        ('allow_prefixes = [""]', "not empty"),
        ('protected = [""]', "not empty"),
        ('deny = ["x"]', "deny must be a table"),
        ('deny = {x = "NOT_A_REASON"}', "no reason 'NOT_A_REASON'"),
        ("deny = {x = 2}", "no reason 2"),
        ('deny = {x = "NONE"}', "NONE is no reason"),
        ('predicates = ["x"]', "must be a table"),
        ('predicates = [{tool = "x", max_bytes = 1}]', "needs tool and arg"),
        ('predicates = [{tool = "x", arg = "y"}]', "restricts nothing"),
        ('predicates = [{tool = "x", arg = "y", max_bytes = true}]', "max_bytes"),
        ('predicates = [{tool = "x", arg = "y", deny_regex = "("}]', "does not compile"),
        ('predicates = [{tool = "x", arg = "y", max_bytes = 1, reason = "WHY"}]', "no reason 'WHY'"),
        ('predicates = [{tool = "x", arg = "y", glob = "z"}]', "no key 'glob'"),
    ],
)
def test_what_is_no_policy_does_not_load(text: str, said: str) -> None:
    with pytest.raises(PolicyError, match=said) as raised:
        parse_policy(text, "p.toml")
    assert str(raised.value).startswith("p.toml")
