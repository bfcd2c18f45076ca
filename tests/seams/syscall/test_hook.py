"""A line in, a line out: the decision as a process would exchange it."""

from __future__ import annotations

import json

import pytest

from seams.contract.syscall import Verdict
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
    "text",
    [b"", b"{", b"[]", b"{}", b'{"tool":1}', b'{"tool":"x","meta":[1]}', b'{"tool":"x","meta":{"a":1}}', b"\xff"],
)
def test_what_is_no_call_is_refused(text: bytes) -> None:
    with pytest.raises(HookInputError, match="standard input"):
        read_call(text)


def test_the_seam_offers_the_in_process_decision() -> None:
    decider = offer("none")
    assert decider is not None
    assert decider.decide(read_call(b'{"tool":"get_x"}')).by == "monitor"
    assert offer("mock") is None
