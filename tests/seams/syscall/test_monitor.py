"""The monitor: what a policy says of one call, item by item."""

from __future__ import annotations

import json
from typing import Any

import pytest

from seams.contract.syscall import ToolCall, Verdict
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.decide import offer
from seams.syscall.monitor import Monitor
from seams.syscall.patterns import PatternError
from seams.syscall.policy import Policy, Predicate
from seams.syscall.worlds import AIRLINE, DEFAULT

GUARDED = Policy(allow_prefixes=("",), protected=(".git/", "policy.toml"))


def judged(policy: Policy, tool: str, **args: Any) -> Verdict:
    return Monitor(policy).adjudicate(ToolCall(tool, json.dumps(args).encode()))


@pytest.mark.parametrize(
    ("tool", "kind", "reason"),
    [
        ("book_reservation", "ALLOW", "NONE"),
        ("read_anything", "ALLOW", "NONE"),
        ("calculus", "ALLOW", "NONE"),
        ("Get_user", "DENY", "DEFAULT_DENY"),
        ("", "DENY", "DEFAULT_DENY"),
        ("shell_rm_rf", "DENY", "POLICY_BLOCK"),
        ("exfiltrate", "DENY", "SECRET_EXFIL"),
    ],
)
def test_the_default_policy(tool: str, kind: str, reason: str) -> None:
    verdict = judged(DEFAULT.policy, tool)
    assert (verdict.kind, verdict.reason, verdict.by) == (VerdictKind[kind], ReasonCode[reason], "monitor")


def test_the_airline_policy_allows_its_list_alone() -> None:
    assert judged(AIRLINE.policy, "book_flight").kind == VerdictKind.ALLOW
    assert judged(AIRLINE.policy, "list_all_airports").reason == ReasonCode.DEFAULT_DENY
    assert judged(AIRLINE.policy, "delete_account").reason == ReasonCode.POLICY_BLOCK


def test_an_explicit_deny_comes_before_everything() -> None:
    policy = Policy(allow=frozenset({"write_file"}), deny={"write_file": ReasonCode.LEASE_HELD}, protected=("etc",))
    assert judged(policy, "write_file", path="/etc").reason == ReasonCode.LEASE_HELD


@pytest.mark.parametrize(
    ("tool", "args", "refused"),
    [
        ("write_file", {"path": "a/.git/config"}, True),
        ("WriteFile", {"filePath": "a/.git//hooks"}, True),
        ("edit", {"target": "a\\.git\\config"}, True),
        ("create_note", {"dir": "a/./b/../.git/x"}, True),
        ("patch", {"file": ["ok", "conf/policy.toml"]}, True),
        ("patch", {"file": "conf/x/../policy.toml"}, True),
        ("write_file", {"path": "a/config"}, False),
        ("write_file", {"body": ".git/config"}, False),
        ("read_file", {"path": ".git/config"}, False),
        ("bash", {"command": "echo x > .git/config"}, True),
        ("Bash", {"command": "sed -i s/a/b/ conf/policy.toml"}, True),
        ("shell", {"cmd": "rm -rf .git/"}, True),
        ("bash", {"command": "cat .git/config"}, False),
        ("bash", {"command": ["rm", "-rf", ".git"]}, True),
        ("bash", {"command": ["cat", ".git/config"]}, False),
        ("bash", {"command": {"argv": ["touch", "conf/policy.toml"]}}, True),
        ("bash", {"argv": ["rm", "-rf", ".git"]}, True),
        ("bash", {"cwd": ".git", "command": "rm -rf ."}, True),
        ("bash", {"command": "rm -rf .git && ls"}, True),
        ("bash", {"command": "rm -rf .gitignore"}, False),
        ("bash", {"command": "rsync -a x/ .git/"}, True),
        ("bash", {"command": "git config --file .git/config a b"}, True),
        ("bash", {"command": "/usr/bin/git -C . config -f .git/config a b"}, True),
        ("bash", {"command": "perl -pi -e s/a/b/ policy.toml"}, True),
        ("bash", {"command": 'python3.12 -c \'open("policy.toml","w")\''}, True),
        ("bash", {"command": "find .git/ -delete"}, True),
        ("bash", {"command": "ls git/ .git/"}, False),
        ("write_file", {"named:path": "a/.git/config"}, True),
        ("write_file", {"PATH": "a/.git/config"}, True),
        ("write_file", {"path": "a/.git"}, True),
        ("write_file", {"path": {"is": [".git/config"]}}, True),
        ("bash", {"command": "echo x > notes"}, False),
    ],
)
def test_a_write_into_what_governs_the_agent(tool: str, args: dict[str, Any], refused: bool) -> None:
    verdict = judged(GUARDED, tool, **args)
    expected = (VerdictKind.DENY, ReasonCode.SELF_MODIFY) if refused else (VerdictKind.ALLOW, ReasonCode.NONE)
    assert (verdict.kind, verdict.reason) == expected


GLOB = Predicate("save", "path", allow_globs=("notes/*", "*.txt"))
REGEX = Predicate("save", "body", deny_regex="(?i)secret", reason=ReasonCode.SECRET_EXFIL)
SHORT = Predicate("save", "body", max_bytes=8)
RESTRICTED = Policy(allow=frozenset({"save"}), predicates=(GLOB, REGEX, SHORT))


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"path": "notes/a/b"}, "NONE"),
        ({"path": "a.txt"}, "NONE"),
        ({"path": "notes/../etc/passwd"}, "POLICY_BLOCK"),
        ({"path": ["notes/a"]}, "POLICY_BLOCK"),
        ({"path": "notes"}, "POLICY_BLOCK"),
        ({}, "NONE"),
        ({"body": "a SECRET"}, "SECRET_EXFIL"),
        ({"body": {"x": "secret"}}, "SECRET_EXFIL"),
        ({"body": "12345678"}, "NONE"),
        ({"body": "éééé"}, "NONE"),
        ({"body": "ééééé"}, "POLICY_BLOCK"),
        ({"body": [1, 2, 3, 4]}, "POLICY_BLOCK"),
    ],
)
def test_predicates_restrict(args: dict[str, Any], reason: str) -> None:
    assert judged(RESTRICTED, "save", **args).reason == ReasonCode[reason]


@pytest.mark.parametrize(
    ("args", "reason"),
    [
        ({"named:path": "etc/passwd"}, "POLICY_BLOCK"),
        ({"named:path": "notes/a"}, "NONE"),
        ({"path": "notes/a", "named:path": "etc/passwd"}, "POLICY_BLOCK"),
        ({"named:path": "notes/a", "path": "etc/passwd"}, "POLICY_BLOCK"),
        ({"named:body": "a secret"}, "SECRET_EXFIL"),
        ({"path": "notes\\..\\..\\etc\\passwd"}, "POLICY_BLOCK"),
        ({"path": "notes/..\\..\\etc/passwd"}, "POLICY_BLOCK"),
        ({"path": "notes\\a"}, "NONE"),
    ],
)
def test_another_spelling_of_an_argument_is_the_same_argument(args: dict[str, Any], reason: str) -> None:
    assert judged(RESTRICTED, "save", **args).reason == ReasonCode[reason]


def test_a_glob_may_be_written_with_backslashes() -> None:
    policy = Policy(allow=frozenset({"save"}), predicates=(Predicate("save", "path", allow_globs=("C:\\data\\*",)),))
    for path, kind in (("C:\\data\\a", "ALLOW"), ("C:/data/a", "ALLOW"), ("C:\\data\\..\\a", "DENY")):
        assert VerdictKind(judged(policy, "save", path=path).kind).name == kind


def test_where_rules_overlap_the_one_that_refuses_wins() -> None:
    policy = Policy(
        allow=frozenset({"get_keys", "save"}),
        allow_prefixes=("get_",),
        deny={"get_keys": ReasonCode.SECRET_EXFIL, "get_private_notes": ReasonCode.POLICY_BLOCK},
        predicates=(
            Predicate("save", "to", allow_globs=("notes/*",), reason=ReasonCode.TRUST_VIOLATION),
            Predicate("save", "to", deny_regex="secret", reason=ReasonCode.SECRET_EXFIL),
            Predicate("get_pages", "n", max_bytes=1),
        ),
    )
    assert judged(policy, "get_keys").reason == ReasonCode.SECRET_EXFIL, "allowed and denied"
    assert judged(policy, "get_private_notes").reason == ReasonCode.POLICY_BLOCK, "denied under an allowed prefix"
    assert judged(policy, "get_private_notes_2").kind == VerdictKind.ALLOW, "a deny is an exact name"
    assert judged(policy, "get_pages", n=10).reason == ReasonCode.POLICY_BLOCK, "a predicate over an allowed prefix"
    both, first, second = (judged(policy, "save", to=to) for to in ("secret", "public", "notes/secret"))
    assert (both.reason, first.reason) == (ReasonCode.TRUST_VIOLATION, ReasonCode.TRUST_VIOLATION), "the first one's"
    assert second.reason == ReasonCode.SECRET_EXFIL, "and the second has to hold as well"
    assert judged(policy, "save", to="notes/a").kind == VerdictKind.ALLOW


def test_a_pattern_that_cannot_be_matched_is_found_before_the_first_call() -> None:
    for each in (Predicate("x", "y", deny_regex="(?=a)"), Predicate("x", "y", allow_globs=("a" * 1_001,))):
        with pytest.raises(PatternError):
            Monitor(Policy(predicates=(each,)))


@pytest.mark.parametrize(
    "command",
    [
        "cat .git/x " + "sed " * 250_000,
        ".git/ sed -" + "a" * 1_000_000,
        ".git/ sed" + " -a" * 300_000,
        "a/../" * 200_000 + ".git/",
    ],
)
def test_a_megabyte_of_command_is_read_once(command: str) -> None:
    """A pattern that backtracks would take hours over each; the suite's own limit would end it."""
    assert judged(GUARDED, "bash", command=command).kind == VerdictKind.ALLOW


def test_an_in_place_edit_is_found_in_its_own_command_alone() -> None:
    for command, refused in (
        ("ls; sed -n -i s/a/b/ .git/config", True),
        ("sed s/a/b/ .git/config | grep -i x", False),
        ("sed -n p .git/config", False),
        ("used -i .git/config", False),
    ):
        assert (judged(GUARDED, "bash", command=command).reason == ReasonCode.SELF_MODIFY) == refused, command


def test_predicates_never_allow() -> None:
    assert judged(Policy(predicates=(GLOB,)), "save", path="notes/a").reason == ReasonCode.DEFAULT_DENY


def test_what_cannot_be_read_is_not_admitted_where_it_would_have_to_be() -> None:
    call = ToolCall("save", b"{path")
    assert Monitor(RESTRICTED).adjudicate(call).reason == ReasonCode.MALFORMED
    redacting = Policy(allow=frozenset({"save"}), redact=frozenset({"path"}))
    assert Monitor(redacting).adjudicate(call).reason == ReasonCode.MALFORMED


@pytest.mark.parametrize(
    ("args", "clean"),
    [
        (b'{"q": 1, "password": "x"}', b'{"password":"[REDACTED]","q":1}'),
        (b'{"p\\u0061ssword": {"deep": 1}}', b'{"password":"[REDACTED]"}'),
        (b'{"in": [{"token": 1}]}', b'{"in":[{"token":"[REDACTED]"}]}'),
    ],
)
def test_redaction_rewrites(args: bytes, clean: bytes) -> None:
    verdict = Monitor(DEFAULT.policy).adjudicate(ToolCall("get_x", args))
    assert (verdict.kind, verdict.reason, verdict.by) == (VerdictKind.TRANSFORM, ReasonCode.NONE, "monitor")
    assert verdict.new_args == clean
    assert Monitor(DEFAULT.policy).adjudicate(ToolCall("get_x", clean)).kind == VerdictKind.ALLOW


def test_a_value_that_names_a_secret_is_no_secret() -> None:
    assert judged(DEFAULT.policy, "get_x", q="password").kind == VerdictKind.ALLOW


def test_redaction_admits_nothing() -> None:
    assert judged(DEFAULT.policy, "launch", password="x").reason == ReasonCode.DEFAULT_DENY


def test_invented_names_do_not_grow_the_monitor_without_bound() -> None:
    monitor = Monitor(DEFAULT.policy)
    for index in range(5_000):
        assert monitor.adjudicate(ToolCall(f"get_{index}")).kind == VerdictKind.ALLOW
    assert len(monitor._plans) == 4_096


def test_the_seam_decides_in_each_world_and_moves_nothing() -> None:
    decider = offer("none")
    assert decider is not None
    call = ToolCall("convert_currency", b'{"from":"USD","to":"EUR","amount":240}')
    assert decider.decide(call).reason == ReasonCode.DEFAULT_DENY
    airline = decider.in_world("airline")
    verdict = airline.decide(call)
    assert (verdict.kind, verdict.by, call.seq) == (VerdictKind.TRANSFORM, "grammar", 0)
    grammar, preflight, sinks, monitor = airline.chain.rungs
    assert [rung.rank for rung in (grammar, preflight, sinks, monitor)] == [5, 10, 30, 100]
    assert (grammar.repairs, preflight.total) == (0, 0)  # type: ignore[attr-defined]
    assert len(sinks.ledger) == 0  # type: ignore[attr-defined]
    assert airline.decide(ToolCall("fetch_policy")).kind == VerdictKind.ALLOW, "an untouched ledger refuses nothing"
    assert [offer(engine) for engine in ("noop", "mock", "remote")] == [None, None, None]
