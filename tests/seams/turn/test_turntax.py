"""The replay of authored traces: its four arms, and what it shows of the engine and of the context."""

from __future__ import annotations

import json
from dataclasses import astuple, replace
from pathlib import Path

import pytest

from harness.formats.limits import Limits
from harness.formats.toolcalls import read_tool_calls
from seams.contract.syscall import Counters, Result, ToolCall, Verdict
from seams.contract.turntax import Arm, Replay
from seams.contract.verdict import Status, VerdictKind
from seams.engines.airline import POISON, AirlineEngine
from seams.syscall.admission import BareGate
from seams.turn.turntax import TurnTaxReplay, classify, offer

AUTHORED = Path(__file__).parents[2] / "cases" / "syscall"
HINTS = {"readOnlyHint": "true", "idempotentHint": "true"}


def replays(file: Path) -> tuple[list[str | None], dict[Arm, Replay]]:
    trace = read_tool_calls(file.read_bytes(), file.name, Limits())
    calls = [ToolCall(call["tool"], call["args"].encode(), call["meta"]) for call in trace["calls"]]
    seam = TurnTaxReplay()
    return [call["class"] for call in trace["calls"]], {arm: seam.replay(calls, trace["world"], arm) for arm in Arm}


def kernel(replay: Replay) -> tuple[int, ...]:
    """Submits, hits, engine calls, denies, transforms, quarantines."""
    return astuple(replay.counters)[:6]


def check_books(arms: dict[Arm, Replay]) -> None:
    for arm, replay in arms.items():
        assert replay.arm is arm
        assert replay.mismatches() == ()
    served = arms[Arm.ON].counters.vdso_hits
    saved = {arm: sum(arms[arm].totals()[name] for name in ("grammar", "pure", "dedup", "static")) for arm in Arm}
    assert saved[Arm.ON] - saved[Arm.OFF] == served
    assert saved[Arm.OFF] == arms[Arm.OFF].totals()["grammar"]


def test_an_authored_trace_in_the_default_world() -> None:
    _, arms = replays(AUTHORED / "library.json")
    check_books(arms)
    on = arms[Arm.ON]
    assert [each.value for each in on.classes] == ["pass", "dedup", "pure", "static", "deny", "pass", "pass", "pass"]
    assert (kernel(on), on.redactions) == ((8, 3, 4, 1, 1, 0), 1)
    assert kernel(arms[Arm.OFF]) == (8, 0, 7, 1, 1, 0)
    # What the off arm read before its write is stranded; what it read after is still good.
    assert [each.value for each in arms[Arm.SHARED_CACHE].classes][:2] == ["dedup", "dedup"]
    assert arms[Arm.BASELINE].counters.engine_calls == 8


def test_an_authored_trace_in_the_airline_world() -> None:
    expected, arms = replays(AUTHORED / "desk-airline.json")
    check_books(arms)
    assert [each.value for each in arms[Arm.ON].classes] == expected
    on, baseline = arms[Arm.ON], arms[Arm.BASELINE]
    assert [body is not None for body in on.returned] == [True, True, True, False, False, False, False]
    assert all(body is not None for body in baseline.returned)
    assert (POISON.encode() in (on.returned[0] or b""), POISON.encode() in on.context[0]) == (True, False)
    assert baseline.context == baseline.returned


def test_a_replay_leaves_the_calls_and_the_next_replay_alone() -> None:
    call = ToolCall("convert_currency", b'{"from":"USD","to":"EUR","amount":1}', HINTS)
    seam = offer("mock")
    assert seam is not None
    first, second = (seam.replay([call], "airline", Arm.ON) for _ in range(2))
    assert first == second
    assert (call.seq, call.args) == (0, b'{"from":"USD","to":"EUR","amount":1}')
    assert [offer(engine) for engine in ("none", "noop", "remote")] == [None, None, None]


def test_unmediated_tools_really_run() -> None:
    calls = [ToolCall("delete_account"), ToolCall("fetch_policy", b'{"topic":"refund"}'), ToolCall("nothing")]
    told = TurnTaxReplay().replay(calls, "airline", Arm.BASELINE)
    assert told.counters.engine_calls == 3
    assert b"deleted" in told.context[0]
    assert POISON.encode() in told.context[1]
    assert told.mismatches() == ()
    assert told.totals() == dict.fromkeys(told.totals(), 0)


def test_books_that_do_not_balance_are_told() -> None:
    told = TurnTaxReplay().replay([ToolCall("launch")], "default", Arm.ON)
    cooked = replace(told, counters=Counters(submits=1, engine_calls=1))
    assert any(line.startswith("denies") for line in cooked.mismatches())
    assert any("submits" in line for line in replace(told, classes=()).mismatches())


def test_an_engine_call_that_no_gate_accounts_for_is_told() -> None:
    told = TurnTaxReplay().replay([ToolCall("get_x")], "default", Arm.ON)
    assert told.mismatches() == ()
    for lost in ("admitted", "engine_calls"):
        counters = replace(told.counters, **{lost: 0})
        assert any(line.startswith("engine_calls") for line in replace(told, counters=counters).mismatches())
    assert any("engine_calls" in line for line in replace(told, returned=(None,)).mismatches())
    failed = replace(told.counters, admitted=0, engine_errors=1)
    assert replace(told, counters=failed).mismatches() == ()


def test_a_gate_that_breaks_down_ends_the_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: object) -> Verdict:
        raise ZeroDivisionError

    monkeypatch.setattr(BareGate, "admit", breaks)
    with pytest.raises(ZeroDivisionError):
        TurnTaxReplay().replay([ToolCall("get_x")], "default", Arm.ON)


ALLOW = Verdict(VerdictKind.ALLOW)


@pytest.mark.parametrize(
    ("meta", "verdict", "expected"),
    [
        ({"admit": "quarantined", "tier": "2"}, Verdict(VerdictKind.ALLOW, by="vdso"), "quarantine"),
        ({"verdict": "deny"}, Verdict(VerdictKind.DENY), "deny"),
        ({"verdict": "deny", "admit": "denied"}, ALLOW, "pass"),
        ({"tier": "1"}, Verdict(VerdictKind.ALLOW, by="vdso"), "pure"),
        ({"tier": "2"}, Verdict(VerdictKind.ALLOW, by="vdso"), "dedup"),
        ({"tier": "3"}, Verdict(VerdictKind.ALLOW, by="vdso"), "static"),
        ({}, Verdict(VerdictKind.ALLOW, by="vdso"), "pure"),
        ({}, Verdict(VerdictKind.TRANSFORM, by="grammar"), "grammar"),
        ({}, Verdict(VerdictKind.TRANSFORM, by="monitor"), "pass"),
        ({}, ALLOW, "pass"),
    ],
)
def test_the_first_rule_that_fits(meta: dict[str, str], verdict: Verdict, expected: str) -> None:
    assert classify(Result(Status.OK, b"", meta), verdict).value == expected


@pytest.mark.parametrize(
    ("tool", "args", "answer"),
    [
        ("calculate", {"a": 75, "b": 25}, {"sum": 100}),
        (
            "convert_currency",
            {"from_currency": "USD", "to_currency": "EUR", "amount": 240},
            {"amount": 240, "converted": 220.8, "from_currency": "USD", "rate": 0.92, "to_currency": "EUR"},
        ),
        (
            "convert_currency",
            {"from_currency": "CHF", "to_currency": "EUR", "amount": 0.125},
            {"amount": 0.125, "converted": 0.13, "from_currency": "CHF", "rate": 1, "to_currency": "EUR"},
        ),
        (
            "book_flight",
            {"user_id": "u", "flight_id": "f"},
            {"booked": True, "confirmation": "CONF-7788", "flight_id": "f", "user_id": "u"},
        ),
    ],
)
def test_the_airline_tools(tool: str, args: dict[str, object], answer: dict[str, object]) -> None:
    result = AirlineEngine().complete(ToolCall(tool, json.dumps(args).encode()))
    assert (result.status, json.loads(result.payload)) == (Status.OK, answer)
    assert result.meta["output_tokens"] == str(len(result.payload) // 4)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("calculate", b'{"a":1}'),
        ("convert_currency", b'{"from":"USD","to":"EUR","amount":1}'),
        ("convert_currency", b'{"from_currency":"USD","to_currency":"EUR","amount":"1"}'),
        ("get_user_details", b'{"user_id":7}'),
        ("search_direct_flight", b'{"origin":"SFO"}'),
        ("book_flight", b"{}"),
        ("list_all_airports", b"{}"),
    ],
)
def test_what_an_airline_tool_refuses(tool: str, args: bytes) -> None:
    result = AirlineEngine().complete(ToolCall(tool, args))
    assert result.status == Status.ERROR
    assert "error" in json.loads(result.payload)


def test_an_empty_text_is_a_text() -> None:
    result = AirlineEngine().complete(ToolCall("get_user_details", b'{"user_id":""}'))
    assert (result.status, json.loads(result.payload)["user_id"]) == (Status.OK, "")


def test_nobody_of_the_airline_world_has_a_name() -> None:
    result = AirlineEngine().complete(ToolCall("get_user_details", b'{"user_id":"u"}'))
    assert json.loads(result.payload)["name"] == "account holder"


def test_only_the_refund_document_is_poisoned() -> None:
    engine = AirlineEngine()
    for topic, poisoned in (("refunds", True), ("baggage", False)):
        result = engine.complete(ToolCall("fetch_policy", json.dumps({"topic": topic}).encode()))
        assert (POISON.encode() in result.payload) is poisoned
    assert engine.completed == 2
