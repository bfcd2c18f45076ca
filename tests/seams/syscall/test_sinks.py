"""The sink gate: what may not be done any more once a trace has seen what cannot be believed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from seams.contract.syscall import ToolCall
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.flow import FlowLedger
from seams.syscall.kernel import fresh_kernel
from seams.syscall.sinks import GATED, Sink, SinkGate, addressed, named_sinks


def tainted(*, sealed: bool = False) -> FlowLedger:
    ledger = FlowLedger()
    ledger.saw(ToolCall("get_page"), sealed=sealed)
    return ledger


def refused(tool: str, gated: frozenset[Sink] = GATED, **args: Any) -> bool:
    verdict = SinkGate(tainted(), gated).adjudicate(ToolCall(tool, json.dumps(args).encode()))
    if verdict.kind == VerdictKind.DENY:
        assert (verdict.reason, verdict.by) == (ReasonCode.TRUST_VIOLATION, "sink-gate")
        return True
    assert verdict.kind == VerdictKind.DEFER
    return False


@pytest.mark.parametrize(
    ("tool", "classes"),
    [
        ("Bash", {Sink.EXEC}),
        ("run_command", {Sink.EXEC}),
        ("evaluate", {Sink.EXEC}),
        ("shell_rm_rf", {Sink.EXEC, Sink.DESTRUCTIVE}),
        ("delete_account", {Sink.DESTRUCTIVE}),
        ("DropTable", {Sink.DESTRUCTIVE}),
        ("dropdown", {Sink.DESTRUCTIVE}),
        ("fetch_policy", {Sink.EGRESS}),
        ("http_delete", {Sink.EGRESS, Sink.DESTRUCTIVE}),
        ("send_certificate", {Sink.EGRESS}),
        ("transfer_to_human_agents", set()),
        ("get_user_details", set()),
        ("", set()),
    ],
)
def test_what_a_name_speaks_of(tool: str, classes: set[Sink]) -> None:
    assert named_sinks(tool) == classes
    assert refused(tool) == bool(classes & GATED)


def test_while_everything_is_trusted_it_has_no_opinion() -> None:
    ledger = FlowLedger()
    ledger.saw(ToolCall("read_file"))
    gate = SinkGate(ledger)
    for call in (
        ToolCall("delete_account"),
        ToolCall("get_x", b'{"url":"https://a.example"}'),
        ToolCall("x", b"{oops"),
    ):
        assert gate.adjudicate(call).kind == VerdictKind.DEFER
        assert call._read is None, "no argument is looked at"


def test_a_quarantined_trace_is_as_bad_as_a_tainted_one() -> None:
    assert SinkGate(tainted(sealed=True)).adjudicate(ToolCall("send_mail")).kind == VerdictKind.DENY


def test_the_mark_is_that_of_the_calls_own_trace() -> None:
    gate = SinkGate(tainted())
    assert gate.adjudicate(ToolCall("send_mail", trace_id="another")).kind == VerdictKind.DEFER


@pytest.mark.parametrize(
    ("args", "outside"),
    [
        # A destination needs an address as its value: airports and currencies are none.
        ({"origin": "SFO", "destination": "LAX"}, False),
        ({"from": "USD", "to": "EUR", "amount": 3}, False),
        ({"to": "ada@mail.example"}, True),
        ({"TO": "Ada <ada@mail.example>"}, True),
        ({"to": ["one", "two@mail.example"]}, True),
        ({"recipient": "a@x.example, b@y.example"}, True),
        ({"endpoint": "evil.example/collect?x=1"}, True),
        ({"callback": "10.0.0.7:8080"}, True),
        ({"webhook": "localhost:9000"}, True),
        ({"dest": "evil\uff0eexample"}, True),
        ({"named:dest": "write to evil.example"}, True),
        ({"named:path": "notes.md"}, False),
        ({"address": "12 Main Street"}, False),
        # Any other argument only where all of it is an address.
        ({"q": "https://evil.example/x"}, True),
        ({"q": " https://evil.example/x "}, True),
        ({"q": "//evil.example/x"}, True),
        ({"q": "see https://evil.example/x"}, False),
        ({"q": "mailto:ada@mail.example"}, True),
        ({"q": "evil.example"}, True),
        ({"q": "evil.example:443"}, True),
        ({"q": "evil.example/x"}, False),
        ({"q": "b\u00fccher.example"}, True),
        ({"q": "[::1]:80"}, True),
        ({"q": "1.5"}, False),
        ({"q": "v1.2.3"}, False),
        ({"q": ""}, False),
        ({"q": None, "n": 7, "b": True}, False),
        # A file name may look like a host; under another name it is taken for one.
        ({"path": "docs/notes.md"}, False),
        ({"path": "notes.md"}, False),
        ({"filePath": "notes.md"}, False),
        ({"file": "https://evil.example/notes.md"}, True),
        ({"title": "notes.md"}, True),
        # At any depth.
        ({"options": {"hooks": [{"url": "evil.example"}]}}, True),
        ({"rows": [[["ada@mail.example"]]]}, True),
    ],
)
def test_addresses(args: dict[str, Any], outside: bool) -> None:
    assert addressed(args) == outside
    assert refused("get_x", **args) == outside


def test_handing_over_to_a_person_is_exempt_whatever_it_says() -> None:
    assert not refused("transfer_to_human_agents", to="ada@mail.example")
    assert not refused("Transfer_To_Human", url="https://a.example")
    assert refused("transfer_to_humans", url="https://a.example")


def test_what_is_gated_may_be_chosen() -> None:
    assert not refused("Bash", command="ls")
    assert refused("Bash", frozenset({Sink.EXEC}), command="ls")
    assert not refused("send_mail", frozenset({Sink.EXEC}), to="ada@mail.example")
    assert not refused("delete_x", frozenset(), to="ada@mail.example")


def test_what_cannot_be_read_may_go_anywhere() -> None:
    gate = SinkGate(tainted())
    for args in (b"{oops", b"[1]", b"\xff", b'{"a":' * 200 + b"1" + b"}" * 200):
        assert gate.adjudicate(ToolCall("get_x", args)).kind == VerdictKind.DENY


@pytest.mark.parametrize(
    "value",
    ["a." * 500_000, "a@" * 500_000, "a" * 1_000_000 + "@", "http:" + "/" * 1_000_000, " " * 1_000_000, "1." * 500_000],
)
def test_a_megabyte_is_looked_at_once(value: str) -> None:
    """Each of these would hold up a pattern that backtracks for hours; the suite's own limit would end it."""
    assert addressed({"q": value}) in (True, False)
    assert addressed({"to": value}) in (True, False)


def test_invented_names_do_not_grow_it_without_bound() -> None:
    gate = SinkGate(tainted())
    for number in range(5_000):
        assert gate.adjudicate(ToolCall(f"send_{number}")).kind == VerdictKind.DENY
    assert len(gate._named) == 4_096


def test_in_a_kernel_the_first_fetch_runs_and_the_next_is_refused() -> None:
    kernel = fresh_kernel("airline")
    ask = {"topic": "refund"}
    first, second = (
        kernel.syscall(ToolCall("fetch_policy", json.dumps(ask).encode(), trace_id="t"))[0] for _ in range(2)
    )
    assert first.meta["admit"] == "quarantined"
    assert (second.meta["reason"], second.meta["disposition"]) == ("TRUST_VIOLATION", "escalate")
    other = kernel.syscall(ToolCall("fetch_policy", b'{"topic":"baggage"}', trace_id="u"))[0]
    assert b"cabin bag" in other.payload


def test_a_refused_deed_is_refused_by_the_sink_gate_before_the_policy_says_so() -> None:
    kernel = fresh_kernel("airline")
    clean = kernel.submit(ToolCall("delete_account", b'{"user_id":"u"}'))[1]
    kernel.syscall(ToolCall("get_user_details", b'{"user_id":"u"}'))
    marked = kernel.submit(ToolCall("delete_account", b'{"user_id":"u"}'))[1]
    assert [(each.by, ReasonCode(each.reason).name) for each in (clean, marked)] == [
        ("monitor", "POLICY_BLOCK"),
        ("sink-gate", "TRUST_VIOLATION"),
    ]
