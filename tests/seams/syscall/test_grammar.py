"""Repairs of misrouted calls, and the ladder of checks behind them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seams.contract.syscall import ToolCall
from seams.contract.verdict import ReasonCode, VerdictKind
from seams.syscall.grammar import Grammar, GrammarRung, Param, offer
from seams.syscall.preflight import PreflightRung
from seams.syscall.worlds import AIRLINE

NAME = Grammar.from_schema({"properties": {"name": {"type": "string"}}, "required": ["name"]})


def submitted(tool: str, args: bytes) -> ToolCall:
    return ToolCall(tool, args, seq=1)


def test_a_schema_becomes_a_signature_in_alphabetical_order() -> None:
    schema = {"properties": {"b": {"type": "number"}, "a": {}}, "required": ["b"]}
    assert Grammar.from_schema(schema) == Grammar((Param("a", "", False), Param("b", "number", True)))


@pytest.mark.parametrize(
    ("args", "repaired"),
    [
        (
            b'{"from":"USD","to":"EUR","amount":240}',
            b'{"amount":240,"from_currency":"USD","to_currency":"EUR"}',
        ),
        (
            b'{"source":"USD","to_currency":"GBP","amount":1,"note":"x"}',
            b'{"amount":1,"from_currency":"USD","note":"x","to_currency":"GBP"}',
        ),
        (
            b'{"_positional":["USD","EUR",3],"dropped":1}',
            b'{"amount":3,"from_currency":"USD","to_currency":"EUR"}',
        ),
    ],
)
def test_a_repair_makes_the_call_complete(args: bytes, repaired: bytes) -> None:
    rung = GrammarRung(AIRLINE.grammars)
    verdict = rung.adjudicate(submitted("convert_currency", args))
    assert (verdict.kind, verdict.reason, verdict.new_args) == (VerdictKind.TRANSFORM, ReasonCode.MISROUTE, repaired)
    assert (rung.repairs, rung.denies) == (1, 0)
    assert rung.adjudicate(submitted("convert_currency", repaired)).kind == VerdictKind.DEFER


@pytest.mark.parametrize(
    "args",
    [
        b'{"from":"USD","amount":1}',
        b'{"from":"USD","_positional":["EUR"]}',
        b'{"_positional":"USD"}',
        b"{}",
        b"",
        b"[1]",
        b"{oops",
    ],
)
def test_half_a_repair_is_refused(args: bytes) -> None:
    rung = GrammarRung(AIRLINE.grammars)
    verdict = rung.adjudicate(submitted("convert_currency", args))
    assert (verdict.kind, verdict.reason) == (VerdictKind.DENY, ReasonCode.MISROUTE)
    assert (rung.repairs, rung.denies) == (0, 1)


def test_a_complete_call_is_left_alone() -> None:
    rung = GrammarRung({"create_user": NAME})
    for args in (b'{"name":"ada"}', b'{"named:name":"ada"}', b'{"name":null,"x":1}'):
        assert rung.adjudicate(submitted("create_user", args)).kind == VerdictKind.DEFER
    assert rung.adjudicate(submitted("unknown", b"{}")).kind == VerdictKind.DEFER
    assert (rung.repairs, rung.denies, rung.tools) == (0, 0, frozenset({"create_user"}))


def test_a_synonym_never_overwrites_its_parameter() -> None:
    args = b'{"from":"USD","from_currency":"CHF","to":"EUR","amount":1}'
    new = GrammarRung(AIRLINE.grammars).adjudicate(submitted("convert_currency", args)).new_args
    assert new is not None
    assert json.loads(new) == {"from": "USD", "from_currency": "CHF", "to_currency": "EUR", "amount": 1}


def test_a_call_that_is_only_decided_is_not_counted() -> None:
    rung, ladder = GrammarRung({"create_user": NAME}), PreflightRung({})
    rung.adjudicate(ToolCall("create_user", b'{"_positional":["ada"]}'))
    rung.adjudicate(ToolCall("create_user", b"{}"))
    ladder.adjudicate(ToolCall("x", b"{oops"))
    assert (rung.repairs, rung.denies, ladder.total, ladder.caught) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("kind", "fits", "fails"),
    [
        ("string", ['"a"'], ["1", "null"]),
        ("number", ["1", "1.5"], ['"1"', "true"]),
        ("boolean", ["true"], ["1"]),
        ("object", ["{}"], ["[]"]),
        ("array", ["[]"], ["{}"]),
        ("", ["1", "null", '"a"'], []),
        ("currency", ["1", "null"], []),
    ],
)
def test_types_of_the_ladder(kind: str, fits: list[str], fails: list[str]) -> None:
    ladder = PreflightRung({"t": {"x": kind}})
    for value in fits:
        assert ladder.adjudicate(submitted("t", f'{{"x":{value}}}'.encode())).kind == VerdictKind.DEFER
    for value in fails:
        verdict = ladder.adjudicate(submitted("t", f'{{"x":{value}}}'.encode()))
        assert (verdict.kind, verdict.meta) == (VerdictKind.DENY, {"rung_passed": "0", "rung_failed": "1"})
    assert (ladder.total, ladder.caught) == (len(fits) + len(fails), len(fails))


@pytest.mark.parametrize("args", [b"{name: ada, ", b"[1]", b'"x"', b"NaN", b'{"x":NaN}', b"\xff", b"[" * 100_000])
def test_what_is_no_object_is_caught_at_once(args: bytes) -> None:
    verdict = PreflightRung({}).adjudicate(submitted("t", args))
    assert (verdict.reason, verdict.meta) == (ReasonCode.MALFORMED, {"rung_passed": "-1", "rung_failed": "0"})


def test_no_arguments_are_an_empty_object() -> None:
    assert PreflightRung({}).adjudicate(submitted("t", b"")).kind == VerdictKind.DEFER
    assert PreflightRung({"t": {"x": ""}}).adjudicate(submitted("t", b"")).kind == VerdictKind.DENY


def test_the_recorded_malformed_calls(cases: Path) -> None:
    told = json.loads((cases / "replay" / "malformed.json").read_text())["calls"]
    assert len(told) == 4
    for case in told:
        args = case["raw_args"].encode() if "raw_args" in case else json.dumps(case["args"]).encode()
        call = submitted(case["tool"], args)
        required = case.get("schema", {}).get("required")
        schema = case.get("grammar_schema")
        verdict = PreflightRung({case["tool"]: required} if required else {}).adjudicate(call)
        if schema is not None:
            assert verdict.kind == VerdictKind.DEFER
            verdict = GrammarRung({case["tool"]: Grammar.from_schema(schema)}).adjudicate(call)
        kind, reason = case["expect"].split()[0].partition("@")[0].split(":")
        assert (VerdictKind(verdict.kind).name, ReasonCode(verdict.reason).name) == (kind, reason)
        if "@rung" in case["expect"]:
            assert verdict.meta["rung_failed"] == case["expect"][-1]


def test_the_room_offers_its_rung_without_an_engine() -> None:
    rung = offer("none")
    assert rung is not None
    assert rung.tools == {"convert_currency"}
    assert offer("mock") is None
