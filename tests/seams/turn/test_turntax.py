"""The replay of authored traces: its three arms, the engine that it is handed, and what it shows of the context."""

from __future__ import annotations

import json
from dataclasses import astuple
from pathlib import Path

import pytest

from harness.formats.limits import Limits
from harness.formats.toolcalls import read_tool_calls
from harness.probes.turn._books import mismatches, totals
from seams.contract.syscall import Result, ToolCall, Verdict
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
        assert mismatches(replay, replay.counters.engine_calls) == ()
    served = arms[Arm.ON].counters.vdso_hits
    saved = {arm: sum(totals(arms[arm])[name] for name in ("grammar", "pure", "dedup", "static")) for arm in Arm}
    assert saved[Arm.ON] - saved[Arm.OFF] == served
    assert saved[Arm.OFF] == totals(arms[Arm.OFF])["grammar"]


def test_an_authored_trace_in_the_default_world() -> None:
    _, arms = replays(AUTHORED / "library.json")
    check_books(arms)
    on = arms[Arm.ON]
    assert [each.value for each in on.classes] == ["pass", "dedup", "pure", "static", "deny", "pass", "pass", "pass"]
    assert (kernel(on), on.redactions) == ((8, 3, 4, 1, 1, 0), 1)
    assert kernel(arms[Arm.OFF]) == (8, 0, 7, 1, 1, 0)
    # What the off arm read before its write is stranded; what it read after is still good.
    assert [each.value for each in arms[Arm.SHARED_CACHE].classes][:2] == ["dedup", "dedup"]


def test_an_authored_trace_in_the_airline_world() -> None:
    expected, arms = replays(AUTHORED / "desk-airline.json")
    check_books(arms)
    assert [each.value for each in arms[Arm.ON].classes] == expected
    assert POISON.encode() not in b"".join(arms[Arm.ON].context)


class Noting:
    """An engine that notes the tools which it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def complete(self, call: ToolCall) -> Result:
        self.asked.append(call.tool)
        return Result(Status.OK, b"{}", {"input_tokens": "3"})


def test_an_engine_that_is_brought_along_gets_what_is_let_through() -> None:
    calls = [
        ToolCall("get_x", b"{}", HINTS),
        ToolCall("get_x", b"{}", HINTS),
        ToolCall("launch"),
        ToolCall("get_y", meta={"readOnlyHint": "true"}),
    ]
    seen = {}
    for arm in Arm:
        engine = Noting()
        told = TurnTaxReplay().replay(calls, "default", arm, engine)
        seen[arm] = (engine.asked, told.input_tokens)
    assert seen[Arm.ON] == (["get_x", "get_y"], 6)
    assert seen[Arm.OFF] == (["get_x", "get_x", "get_y"], 9)
    assert seen[Arm.SHARED_CACHE] == (["get_x", "get_x", "get_y", "get_y"], 3)


def test_a_replay_leaves_the_calls_and_the_next_replay_alone() -> None:
    call = ToolCall("convert_currency", b'{"from":"USD","to":"EUR","amount":1}', HINTS)
    seam = offer("mock")
    assert seam is not None
    first, second = (seam.replay([call], "airline", Arm.ON) for _ in range(2))
    assert first == second
    assert (call.seq, call.args) == (0, b'{"from":"USD","to":"EUR","amount":1}')
    assert [offer(engine) for engine in ("none", "noop", "remote")] == [None, None, None]


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
