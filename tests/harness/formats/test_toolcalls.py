"""Frozen tool-call traces: the raw bytes are kept and hashed, and a wrong shape is named by its call."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from harness.formats.limits import FormatError, Limits
from harness.formats.toolcalls import read_tool_calls, sniff, trace_hash


def read(text: str) -> dict[str, object]:
    """The trace in ``text``."""
    return read_tool_calls(text.encode(), "trace.json", Limits())


@pytest.mark.parametrize(
    ("name", "identity", "world", "calls"),
    [("tau2-smoke", "9f1701415fb4a360", "default", 12), ("turntax-airline", "71c788f2c57aeb10", "airline", 14)],
)
def test_the_known_traces_have_their_known_identity(
    cases: Path, name: str, identity: str, world: str, calls: int
) -> None:
    found = read_tool_calls((cases / "replay" / f"{name}.json").read_bytes(), f"{name}.json", Limits())
    assert (found["hash"], found["world"], len(found["calls"])) == (identity, world, calls)


def test_arguments_are_the_bytes_of_the_file() -> None:
    found = read('{"slice_id": "s", "calls": [{"tool": "t", "args":  { "b" : 2,"a":1.50 } , "meta": {"k": "v"}}]}')
    assert found["calls"] == [{"tool": "t", "args": '{ "b" : 2,"a":1.50 }', "meta": {"k": "v"}, "class": None}]
    expected = hashlib.sha256(b"s" + b't\0{ "b" : 2,"a":1.50 }\0k=v;').hexdigest()[:16]
    assert found["hash"] == expected


def test_one_space_more_is_another_trace_and_a_class_is_not() -> None:
    plain = read('{"slice_id": "s", "calls": [{"tool": "t", "args": {"a":1}}]}')
    spaced = read('{"slice_id": "s", "calls": [{"tool": "t", "args": {"a": 1}}]}')
    noted = read('{"slice_id": "s", "calls": [{"tool": "t", "args": {"a":1}, "class": "pass"}]}')
    assert plain["hash"] != spaced["hash"]
    assert plain["hash"] == noted["hash"]
    assert (plain["world"], noted["world"]) == ("default", "airline")


def test_absent_arguments_are_empty_in_the_hash_and_an_object_in_the_call() -> None:
    found = read('{"calls": [{"tool": "t"}]}')
    assert found["calls"] == [{"tool": "t", "args": "{}", "meta": {}, "class": None}]
    assert found["hash"] == trace_hash("", [("t", b"", {})])


def test_meta_is_hashed_in_the_order_of_its_keys() -> None:
    one, two = {"b": "2", "a": "1"}, {"a": "1", "b": "2"}
    assert trace_hash("s", [("t", b"{}", one)]) == trace_hash("s", [("t", b"{}", two)])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no tool-call trace"),
        ("[]", "no tool-call trace"),
        ('{"slice_id": "s"}', "no tool-call trace"),
        ('{"calls": {}}', "no tool-call trace"),
        ('{"calls": [', "no tool-call trace"),
        ('{"calls": []}', "holds no call"),
        ('{"calls": [{"tool": "t"}, 7]}', "call 1 cannot be used"),
        ('{"calls": [{"tool": "t"}, {"args": {}}]}', "call 1 cannot be used"),
        ('{"calls": [{"tool": ["t"]}]}', "call 0 cannot be used"),
        ('{"calls": [{"tool": ""}]}', "call 0 names no tool"),
        ('{"calls": [{"tool": "t", "meta": {"k": 1}}]}', "call 0 cannot be used"),
        ('{"calls": [{"tool": "t", "class": 5}]}', "call 0 cannot be used"),
        ('{"calls": [{"tool": "t", "args": ' + "[" * 70 + "]" * 70 + "}]}", "nests deeper than 64"),
    ],
)
def test_a_wrong_shape_is_one_sentence_that_names_file_and_call(text: str, told: str) -> None:
    with pytest.raises(FormatError) as refused:
        read(text)
    assert told in str(refused.value)
    assert str(refused.value).startswith("trace.json")


def test_an_unknown_class_is_refused_by_its_line_and_does_not_choose_the_world() -> None:
    text = '{"slice_id": "s",\n "calls": [\n  {"tool": "t"},\n  {"tool": "t"},\n  {"tool": "t", "class": "purr"}]}'
    with pytest.raises(FormatError) as refused:
        read(text)
    assert str(refused.value).startswith("trace.json, line 5: call 2 has the unknown class 'purr'; it is one of ")
    for known in ("grammar", "pure", "dedup", "static", "quarantine", "deny", "pass"):
        assert known in str(refused.value)
        assert read(text.replace("purr", known))["world"] == "airline"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"slice_id": "s", "slice_id": "r", "calls": [{"tool": "t"}]}', "trace.json has the key slice_id twice"),
        ('{"calls": [{"tool": "u"}], "calls": [{"tool": "t"}]}', "trace.json has the key calls twice"),
        ('{"calls": [{"tool": "t"},\n{"tool": "u", "to\\u006fl": "t"}]}', "line 2: call 1 has the key tool twice"),
        ('{"calls": [{"tool": "t", "args": {}, "args": {"a": 1}}]}', "line 1: call 0 has the key args twice"),
    ],
)
def test_a_key_that_stands_twice_is_refused(text: str, told: str) -> None:
    with pytest.raises(FormatError) as refused:
        read(text)
    assert told in str(refused.value)


def test_arguments_may_repeat_a_key_of_their_own_and_hold_any_number() -> None:
    args = '{"tool": 1, "tool": 2, "n": ' + "9" * 5000 + "}"
    assert read('{"calls": [{"tool": "t", "args": ' + args + "}]}")["calls"][0]["args"] == args  # type: ignore[index]


def test_what_is_not_utf8_and_what_is_too_large_is_refused() -> None:
    with pytest.raises(FormatError, match="byte 22 is not"):
        read_tool_calls(b'{"calls": [{"tool": "t\xff"}]}', "trace.json", Limits())
    with pytest.raises(FormatError, match="larger than 5 bytes"):
        read_tool_calls(b'{"calls": []}', "trace.json", Limits(max_bytes=5))


def test_an_escape_sequence_in_a_name_never_reaches_a_message() -> None:
    with pytest.raises(FormatError) as refused:
        read_tool_calls(b"[]", "tr\x1b[31mace.json", Limits())
    assert str(refused.value).isprintable()


def test_a_trace_is_known_by_its_keys() -> None:
    assert sniff(b'\xef\xbb\xbf {"calls": [{"tool": "t"}], "slice_id": "s"}', "x.json") == 0.9
    assert sniff(b'{"calls": [{"tool": "t"}]}', "x") == 0.6
    assert sniff(b'[{"tool": "t"}]', "x.json") == 0.0
