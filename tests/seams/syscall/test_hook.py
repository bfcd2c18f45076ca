"""A line in, a line out: the decision as a process would exchange it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.syscall import ToolCall, Verdict
from seams.syscall.hook import HookInputError, chain_for, decide_line, offer, read_call, verdict_line
from seams.syscall.policy import Policy


def asked(world: str = "default", **call: object) -> dict[str, str]:
    answer: dict[str, str] = json.loads(decide_line(chain_for(world), json.dumps(call).encode()))
    return answer


def test_one_call_one_verdict() -> None:
    assert asked(tool="get_x", args={"a": 1}) == {"kind": "ALLOW", "reason": "NONE", "by": "monitor"}
    assert asked(tool="launch") == {"kind": "DENY", "reason": "DEFAULT_DENY", "by": "monitor"}
    assert asked(tool="get_x", args=[1]) == {"kind": "DENY", "reason": "MALFORMED", "by": "preflight"}
    assert asked("airline", tool="delete_account")["reason"] == "POLICY_BLOCK"
    assert asked("airline", tool="convert_currency", args={"from": "A", "to": "B", "amount": 1}) == {
        "kind": "TRANSFORM",
        "reason": "MISROUTE",
        "by": "grammar",
    }


def test_a_policy_stands_in_for_the_worlds_own() -> None:
    chain = chain_for("default", Policy(allow=frozenset({"launch"})))
    assert json.loads(decide_line(chain, b'{"tool":"launch"}'))["kind"] == "ALLOW"
    assert json.loads(decide_line(chain, b'{"tool":"get_x"}'))["kind"] == "DENY"


def test_what_nobody_named_is_printed_as_a_number() -> None:
    assert json.loads(verdict_line(Verdict(2_000, 3_000, "x"))) == {
        "kind": "KIND_2000",
        "reason": "REASON_3000",
        "by": "x",
    }


@pytest.mark.parametrize(
    "args",
    [
        b'{"a":1,"a":2}',
        b'{"a": {"b" :1, "b":2}}',
        b'{ "user_id" : "u", "n":1.0, "x":":" }',
        b"[1,\t2]",
        b'"a, b}"',
        b"null",
        b"{}",
        '{"\u00e9":"\U0001f511"}'.encode(),
        b'{"\xed\xa0\x80":1}',
        b'{"a":NaN}',
    ],
)
@pytest.mark.parametrize("world", ["default", "airline"])
def test_a_decision_on_a_line_is_about_the_same_bytes_as_one_in_process(args: bytes, world: str) -> None:
    text = b' { "meta":{} ,"args": %s , "tool" :"get_user_details"}\n' % args
    assert read_call(text).args == args
    in_process = chain_for(world).fold(ToolCall("get_user_details", args))
    assert decide_line(chain_for(world), text) == verdict_line(in_process)


def test_a_key_that_stands_twice_is_malformed_in_the_arguments_and_no_call_beside_them() -> None:
    told = json.loads(decide_line(chain_for("default"), b'{"tool":"get_x","args":{"a":1,"a":1}}'))
    assert told == {"kind": "DENY", "reason": "MALFORMED", "by": "preflight"}
    for text in (b'{"tool":"a","tool":"get_x"}', b'{"tool":"get_x","meta":{"destructive":"true","destructive":""}}'):
        with pytest.raises(HookInputError, match="stands there twice"):
            read_call(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON, st.booleans(), st.sampled_from([None, 2, "\t"]))
def test_any_arguments_keep_their_bytes(value: object, ascii_only: bool, indent: int | str | None) -> None:
    args = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode("utf-8", "surrogatepass")
    assert read_call(b'{"tool": "t", "args":' + args + b"}").args == args


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"[]",
        b"{}",
        b"1",
        b"nul",
        b'{"tool":1}',
        b'{"tool":"x","meta":[1]}',
        b'{"tool":"x","meta":{"a":1}}',
        b"\xff",
        b'{"tool":"x",}',
        b'{"tool":"x"}}',
        b'{"tool":"x"',
        b'{"tool" "x"}',
        b'{tool:"x"}',
        b'{"tool":"x" "args":1}',
        b'{"tool":"x","args":}',
        b"{,}",
        b'{"tool":"x","args":' + b"[" * 100_000,
    ],
)
def test_what_is_no_call_is_refused(text: bytes) -> None:
    with pytest.raises(HookInputError, match="standard input"):
        read_call(text)


def test_the_seam_offers_the_in_process_decision() -> None:
    decider = offer("none")
    assert decider is not None
    assert decider.decide(read_call(b'{"tool":"get_x"}')).by == "monitor"
    assert offer("mock") is None
