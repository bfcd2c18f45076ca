"""The project's own trace format: writing and reading are inverse, the page says all of it, and what is bad is told."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats.own_run import OwnRun
from harness.formats.own_schema import HEADER, KINDS, PARTS, SCHEMA, fields_of
from harness.formats.own_write import encode_trace
from harness.formats.run_build import build_run
from kpis.prices import shipped_prices
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import (
    Event,
    EventKind,
    ModelUsage,
    Outcome,
    Provenance,
    Recording,
    Request,
    RunFacts,
    Thread,
    ThreadKind,
    Tokens,
    ToolCall,
    ToolOp,
    Turn,
    UserKind,
)
from tests.conftest import REPO

from .run_reading import almost, check_reader, codes, damaged, lines, read_bytes, read_files, sums

OWN = OwnRun()
PAGE = REPO / "docs" / "trace-format.md"
HEAD = {"schema": SCHEMA, "run_id": "r1"}


def write(run: RecordedRun) -> bytes:
    return b"".join(encode_trace(run))


def placed(run: RecordedRun) -> RecordedRun:
    """``run`` without what belongs to one reading of it: places, recordings and issues."""
    return RecordedRun(
        run.run_id, "loopladder", (),
        threads=run.threads, turns=run.turns,
        requests=tuple(replace(each, file=None, line=None) for each in run.requests),
        calls=tuple(replace(each, file=None, line=None) for each in run.calls),
        events=tuple(replace(each, file=None, line=None) for each in run.events),
        facts=tuple(replace(each, file=None) for each in run.facts),
    )  # fmt: skip


def described(run: RecordedRun) -> RecordedRun:
    """``run`` with every conversation of it described: one that no line is about is a main one."""
    used = {each.thread_id for each in (*run.turns, *run.requests, *run.calls, *run.events)}
    more = [Thread(name, ThreadKind.MAIN) for name in used - {each.thread_id for each in run.threads}]
    rest = (*run.turns, *run.requests, *run.calls, *run.events, *run.facts)
    return build_run(run.run_id, run.source_format, [*run.recordings, *run.threads, *more, *rest])


WORD = st.text("abcdefgh.-_/", min_size=1, max_size=12)
THREAD = st.sampled_from(("main", "a", "b#1"))
COUNT = st.none() | st.integers(0, 1 << 53)
MS = st.none() | st.integers(1, 1 << 42)
USD = st.none() | st.floats(0, 1e6)
FLAG = st.none() | st.booleans()
TOKENS = st.builds(
    Tokens,
    *[COUNT] * 9,
    st.dictionaries(st.sampled_from(fields_of(Tokens)[:-1]), st.sampled_from(Provenance), max_size=3),
)
REQUEST = st.builds(
    Request, WORD, THREAD, st.integers(0, 9), st.integers(0, 9), TOKENS,
    model=st.none() | WORD, n_lines=st.integers(1, 5), t_first=MS, t_last=MS, in_conversation=st.booleans(),
    provider=st.none() | WORD, visible_chars=COUNT, cost_usd=USD, duration_ms=MS, attempts=COUNT,
    local_cache=st.booleans(), copied=st.booleans(),
)  # fmt: skip
CALL = st.builds(
    ToolCall, WORD, st.none() | WORD, THREAD, st.integers(0, 9), st.none() | WORD, st.sampled_from(ToolOp),
    st.sampled_from(Outcome), COUNT, st.none() | WORD, COUNT, st.none() | WORD, MS, MS, st.booleans(), COUNT,
    duration_ms=MS, target=st.none() | st.text(st.characters(exclude_categories=("Cs",)), max_size=30),
    exit_code=st.none() | st.integers(-9, 255),
    mutates=FLAG, polling=FLAG, truncated=FLAG, environment_before=st.none() | WORD,
    spawned_thread=st.none() | THREAD, copied=st.booleans(),
)  # fmt: skip
EVENT = st.builds(
    Event, st.sampled_from(EventKind), THREAD, MS, st.none() | WORD, COUNT, COUNT, COUNT,
    implicit=st.booleans(), duration_ms=MS, detail=st.none() | WORD,
)  # fmt: skip
USAGE = st.builds(ModelUsage, WORD, TOKENS, COUNT, USD)
FACTS = st.builds(
    RunFacts, st.lists(USAGE, max_size=2).map(tuple), USD, MS, MS, COUNT, COUNT, st.none() | WORD, FLAG,
    st.none() | st.floats(-5, 5), COUNT, st.none() | WORD, st.none() | WORD, st.none() | st.integers(0, 9),
)  # fmt: skip


TURN = st.builds(Turn, THREAD, st.integers(0, 9), st.sampled_from(UserKind), MS, MS, st.booleans())
OTHER = st.builds(
    Thread, st.sampled_from(("a", "b#1")), st.sampled_from(ThreadKind), st.just("main"), st.none() | WORD,
    st.integers(0, 3), st.none() | WORD,
)  # fmt: skip


@st.composite
def runs(draw: st.DrawFn) -> RecordedRun:
    stream: list[Any] = [Recording("x", t_start=draw(MS)), Thread("main", ThreadKind.MAIN)]
    stream += draw(st.lists(OTHER, max_size=2, unique_by=lambda each: each.thread_id))
    stream += draw(st.lists(TURN, max_size=4, unique_by=lambda each: (each.thread_id, each.index)))
    stream += draw(st.lists(REQUEST, max_size=5, unique_by=lambda each: each.request_id))
    stream += draw(st.lists(CALL, max_size=5, unique_by=lambda each: each.call_id))
    stream += draw(st.lists(EVENT, max_size=3, unique_by=repr))
    stream += draw(st.lists(FACTS, max_size=2, unique_by=repr))
    return build_run(draw(WORD), "loopladder", stream)


@given(runs())
@settings(max_examples=300)
def test_what_is_written_is_read_back(run: RecordedRun) -> None:
    data = write(run)
    back = read_bytes(OWN, data)
    run = described(run)
    assert placed(replace(back, run_id=run.run_id)) == placed(run)
    assert (set(codes(back)) - {"W_USAGE_MEANING"}, back.recordings[0].bad_lines) == (set(), 0)
    assert (OWN.sniff(data, "x"), OWN.origin(data, "x").run) == (1.0, run.run_id)
    assert write(replace(back, run_id=run.run_id, recordings=run.recordings)) == write(run)


def test_half_a_surrogate_pair_is_written_as_something_that_can_be_read() -> None:
    call = ToolCall("c", None, "main", 0, "Read", ToolOp.READ, Outcome.OK, target="a\ud800b")
    (back,) = read_bytes(OWN, write(build_run("r", "x", [call]))).calls
    assert back.target == "a?b"


REQUEST_LINE = {"type": "request", "request_id": "m1", "tokens": {"fresh_in": 4, "cache_read": 0, "out_total": 2}}


def test_what_a_line_may_leave_out() -> None:
    told = ({"type": "request"}, {"type": "request"}, {"type": "tool_call", "name": "Read"}, {"type": "turn"})
    run = read_bytes(OWN, lines(HEAD, *told))
    assert [(each.request_id, each.thread_id, each.index) for each in run.requests] == [
        ("main#0", "main", 0),
        ("main#1", "main", 1),
    ]
    assert run.requests[0].tokens == Tokens()
    (call,) = run.calls
    assert (call.op, call.mutates, call.polling, call.outcome) == (ToolOp.READ, False, False, Outcome.UNANSWERED)
    assert codes(run) == []


def test_null_says_that_nobody_knows_and_silence_asks_the_name() -> None:
    told = {"type": "tool_call", "name": "Read", "mutates": None, "polling": None}
    (call,) = read_bytes(OWN, lines(HEAD, told)).calls
    assert (call.mutates, call.polling) == (None, None)


@pytest.mark.parametrize(
    "line",
    [
        {"type": "request", "tokens": {"fresh_in": "4"}},
        {"type": "request", "tokens": {"fresh_in": -1}},
        {"type": "request", "tokens": {"fresh_in": 1 << 60}},
        {"type": "request", "tokens": {"fresh_in": 1.5}},
        {"type": "request", "tokens": [4]},
        {"type": "request", "tokens": {"provenance": {"fresh_in": "guessed"}}},
        {"type": "request", "status": "fine"},
        {"type": "request", "index": "first"},
        {"type": "request", "copied": 1},
        {"type": "tool_call", "op": "juggle"},
        {"type": "tool_call", "outcome": None},
        {"type": "event"},
        {"type": "event", "kind": 3},
        {"type": "thread", "kind": []},
        {"type": "facts", "by_model": [3]},
        {"type": "facts", "by_model": "model-a"},
        {"type": "facts", "cost_usd": -1},
    ],
)
def test_types_are_strict(line: dict[str, Any]) -> None:
    run = read_bytes(OWN, lines(HEAD, line, REQUEST_LINE))
    assert (run.recordings[0].bad_lines, codes(run)) == (1, ["E_BAD_LINE"])
    assert [each.request_id for each in run.requests] == ["m1"]
    assert run.issues[0].line == 2


def test_unknown_keys_are_counted_and_an_unknown_type_is_a_bad_line() -> None:
    told = {**REQUEST_LINE, "mood": 1, "tokens": {"fresh_in": 4, "warm_in": 1}}
    run = read_bytes(OWN, lines({**HEAD, "mood": 2}, told, {"type": "dream"}, {"kind": "x"}))
    assert run.recordings[0].unknown_kinds == {
        "header.mood": 1, "request.mood": 1, "request.tokens.warm_in": 1,
    }  # fmt: skip
    assert (run.requests[0].tokens.fresh_in, codes(run)) == (4, ["E_BAD_LINE", "W_UNKNOWN_KIND"])
    assert run.recordings[0].bad_lines == 2


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"type": "requests"}, "its type is none of thread, turn, request, tool_call, event, facts"),
        ({"type": "request", "tokens": {"fresh_in": "5"}}, "tokens.fresh_in must be int"),
        ({"type": "request", "tokens": {"fresh_in": -5}}, "fresh_in is no possible number"),
        ({"type": "request", "status": "secret words"}, "status is none of its words"),
        ({"type": "event"}, "kind is missing"),
    ],
)
def test_the_first_bad_line_is_told_with_its_reason_and_no_word_of_it(line: dict[str, Any], why: str) -> None:
    (issue,) = read_bytes(OWN, lines(HEAD, line, REQUEST_LINE)).issues
    said = "Line 2 is nothing that this format writes and was left out. Line 2: "
    assert issue.message == f"{said}{why}."


def test_more_reasoning_than_output_is_told() -> None:
    doubtful = {**REQUEST_LINE, "tokens": {"fresh_in": 4, "out_total": 5, "out_reasoning": 6}}
    assert codes(read_bytes(OWN, lines(HEAD, doubtful))) == ["W_USAGE_MEANING"]
    doubtful["tokens"]["out_reasoning"] = 5
    assert codes(read_bytes(OWN, lines(HEAD, doubtful))) == []


def test_a_parent_that_is_not_among_the_files_is_told() -> None:
    ghost = read_bytes(OWN, lines({**HEAD, "parent": "ghost"}, REQUEST_LINE))
    assert codes(ghost) == ["W_PHANTOM_PARENT"]
    assert [each.parent_thread_id for each in ghost.threads] == ["ghost:main"], "which trust tells"
    itself = read_bytes(OWN, lines({**HEAD, "parent": "r1"}, REQUEST_LINE))
    assert (codes(itself), itself.threads[0].parent_thread_id) == (["W_PHANTOM_PARENT"], None)
    both = read_files(OWN, {"a": lines({**HEAD, "run_id": "r2", "parent": "r1"}, REQUEST_LINE), "b": lines(HEAD)})
    assert codes(both) == []


def test_nul_bytes_in_the_middle_are_no_end_of_the_file() -> None:
    (issue,) = read_bytes(OWN, lines(HEAD) + b"\0" * 40 + b"\n" + lines(REQUEST_LINE)).issues
    assert issue.message == "Line 2 is nothing but NUL bytes, as after a crash, and was left out."
    (issue,) = read_bytes(OWN, lines(HEAD, REQUEST_LINE) + b"\0" * 40 + b"\n").issues
    assert issue.message.startswith("The file ends in NUL bytes")


def test_a_request_that_stands_twice_counts_once() -> None:
    once = lines(HEAD, REQUEST_LINE, {"type": "tool_call", "call_id": "c1", "request_id": "m1"})
    for twice in (read_bytes(OWN, once + once), read_files(OWN, {"a": once, "b": once})):
        assert sums(twice) == sums(read_bytes(OWN, once))
        assert ([each.copied for each in twice.requests], codes(twice)) == ([False, True], ["W_REPEATED_LINE"])


@given(runs(), st.integers(0, 20))
def test_a_run_in_two_files_is_the_same_run(run: RecordedRun, at: int) -> None:
    head, *rest = encode_trace(run)
    parts = {"a": head + b"".join(rest[:at]), "b": head + b"".join(rest[at:])}
    assert sums(read_files(OWN, parts)) == sums(read_bytes(OWN, write(run)))
    turned = read_files(OWN, dict(reversed(parts.items())))
    assert turned == read_files(OWN, parts)


def test_two_runs_in_one_file_keep_their_threads_apart() -> None:
    one, other = lines(HEAD, {"type": "request"}), lines({**HEAD, "run_id": "r2"}, {"type": "request"})
    run = read_bytes(OWN, one + other)
    assert [(each.thread_id, each.index, each.copied) for each in run.requests] == [
        ("main", 0, False),
        ("r2:main", 0, False),
    ]


READ = {"type": "tool_call", "name": "Read", "arg_digest": "a"}
CHILD = {**HEAD, "run_id": "r2", "parent": "r1"}


def asked(run: RecordedRun) -> list[tuple[str, str, int, bool]]:
    return [(each.thread_id, each.call_id, each.index, each.copied) for each in run.calls]


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a"), ("one/z", "other/y")])
@pytest.mark.parametrize("named", [{}, {"thread_id": "main"}])
def test_a_run_with_a_parent_has_a_main_thread_of_its_own(names: tuple[str, str], named: dict[str, str]) -> None:
    told = {**READ, **named}
    files = {
        names[0]: lines(HEAD, told, told, {"type": "request"}),
        names[1]: lines(CHILD, told, {"type": "request"}, {"type": "turn"}, {"type": "event", "kind": "abort"}),
    }
    run = read_files(OWN, files)
    assert asked(run) == [
        ("main", "main#call-0", 0, False),
        ("main", "main#call-1", 1, False),
        ("r2:main", "r2:main#call-0", 0, False),
    ]
    assert [(each.thread_id, each.copied) for each in run.requests] == [("main", False), ("r2:main", False)]
    assert [run.turns[0].thread_id, run.events[0].thread_id] == ["r2:main", "r2:main"]
    assert codes(run) == []


def test_a_run_has_the_parent_that_any_of_its_files_names() -> None:
    head = {**HEAD, "run_id": "r3"}
    about = {"type": "thread", "kind": "subagent", "parent_thread_id": "main"}
    run = read_files(
        OWN,
        {
            "a": lines(head, READ),
            "b": lines(CHILD, READ),
            "c": lines({**head, "parent": "r2"}, about),
            "d": lines(HEAD),
        },
    )
    assert [each.thread_id for each in run.calls] == ["r2:main", "r3:main"]
    threads = [(each.thread_id, each.parent_thread_id) for each in run.threads]
    assert threads == [("r2:main", None), ("r3:main", "r2:main")]


def test_a_run_behind_one_without_an_id_has_its_own_threads() -> None:
    run = read_bytes(OWN, lines({"schema": SCHEMA}, READ, CHILD, READ, {**HEAD, "run_id": "r3"}, READ))
    assert [each.thread_id for each in run.calls] == ["main", "r2:main", "r3:main"]


def test_runs_that_are_each_others_parents_keep_their_threads_apart() -> None:
    run = read_files(OWN, {"a": lines({**HEAD, "parent": "r2"}, READ), "b": lines(CHILD, READ)})
    assert {each.thread_id for each in run.calls} == {"r1:main", "r2:main"}
    (own,) = read_bytes(OWN, lines({**HEAD, "parent": "r1"}, READ)).calls
    assert own.thread_id == "main"


def test_a_run_with_a_parent_and_without_an_id_is_called_after_its_content() -> None:
    head = {"schema": SCHEMA, "parent": "r1"}
    data = lines(head, READ, READ), lines(head, READ, {**READ, "outcome": "error"})
    one = read_files(OWN, dict(zip("ab", data, strict=True)))
    other = read_files(OWN, dict(zip("dc", data, strict=True)))
    assert [each.thread_id for each in one.calls] == [each.thread_id for each in other.calls]
    assert (len({each.thread_id for each in one.calls}), any(each.copied for each in one.calls)) == (2, False)
    assert [each.line for each in one.calls] == [2, 3, 2, 3]


def test_a_thread_that_is_named_is_one_in_all_files_of_a_lineage() -> None:
    parent = lines(HEAD, {"type": "thread"}, {**READ, "spawned_thread": "s"})
    about = {"type": "thread", "thread_id": "s", "kind": "subagent", "parent_thread_id": "main"}
    run = read_files(OWN, {"a": parent, "b": lines(CHILD, {**READ, "thread_id": "s"}, {**about, "thread_id": "main"})})
    assert {each.thread_id for each in run.calls} == {"main", "s"}
    assert run.calls[0].spawned_thread == "s"
    threads = [(each.thread_id, each.parent_thread_id) for each in run.threads]
    assert threads == [("main", None), ("s", None), ("r2:main", "main")]


def test_a_conversation_that_no_line_describes_is_a_main_one() -> None:
    about = {"type": "thread", "thread_id": "s", "kind": "subagent", "parent_thread_id": "main"}
    run = read_bytes(OWN, lines(HEAD, READ, about, {**READ, "thread_id": "s"}))
    assert [(each.thread_id, each.kind.value) for each in run.threads] == [("main", "main"), ("s", "subagent")]
    assert read_bytes(OWN, lines(HEAD)).threads == (), "what nothing is of is no conversation"


def test_what_only_shares_an_id_that_was_made_up_is_no_copy() -> None:
    failed = {**READ, "outcome": "error"}
    parts = {"a": lines(HEAD, READ, failed), "b": lines(HEAD, READ, READ, READ)}
    run = read_files(OWN, parts)
    assert [(each.outcome.value, each.index, each.copied) for each in run.calls] == [
        ("unanswered", 0, False), ("error", 1, False), ("unanswered", 2, True), ("unanswered", 3, False),
        ("unanswered", 4, False),
    ]  # fmt: skip
    assert len({each.call_id for each in run.calls if not each.copied}) == 4


def test_a_file_goes_on_where_an_earlier_one_of_its_run_ended() -> None:
    told = [{**READ, "call_id": f"c{at}"} for at in range(4)]
    run = read_files(OWN, {"b": lines(HEAD, *told[2:]), "a": lines(HEAD, *told[:2])})
    assert [(each.call_id, each.index) for each in run.calls] == [("c0", 0), ("c1", 1), ("c2", 2), ("c3", 3)]


def test_a_file_without_a_header_or_with_a_later_one_is_read() -> None:
    assert codes(read_bytes(OWN, lines(REQUEST_LINE))) == ["W_SCHEMA_DRIFT"]
    later = {**HEAD, "schema": "loopladder.trace/7"}
    assert OWN.sniff(lines(later), "x") == 1.0
    assert codes(read_bytes(OWN, lines(later, REQUEST_LINE))) == ["W_SCHEMA_DRIFT"]
    assert OWN.sniff(lines({"schema": "other.trace/1"}), "x") == 0


def test_files_are_told_apart_by_the_run_in_their_header() -> None:
    data = lines({**HEAD, "parent": "r0", "started": 1_767_225_600_000})
    origin = OWN.origin(data, "any/name.jsonl")
    assert (origin.run, origin.parent, origin.started) == ("r1", "r0", 1_767_225_600_000)
    assert OWN.origin(lines({"schema": SCHEMA}), "a").run != OWN.origin(lines({"schema": SCHEMA}), "b").run


def test_words_of_a_writer_are_made_safe() -> None:
    told = {"type": "request", "request_id": "two words\n", "model": "m\x1b[31m", "thread_id": "t t"}
    (request,) = read_bytes(OWN, lines(HEAD, told)).requests
    assert re.fullmatch(r"id-[0-9a-f]{24}", request.request_id)
    assert (request.model, request.thread_id[:3]) == ("m__31m", "id-")


def test_lines_torn_long_deep_and_padded() -> None:
    deep = b'{"type":' * 100 + b"1" + b"}" * 100 + b"\n"
    data = lines(HEAD, REQUEST_LINE) + deep + b"garbage\r\n\r\n" + lines(REQUEST_LINE)[:30]
    run = read_bytes(OWN, data)
    assert (sums(run)["fresh_in"], codes(run)) == (4, ["E_BAD_LINE", "E_TORN_LINE"])
    assert codes(read_bytes(OWN, lines(HEAD, REQUEST_LINE) + b"\0" * 64)) == ["E_TORN_LINE"]
    assert codes(read_bytes(OWN, b"\xef\xbb\xbf" + lines(HEAD, REQUEST_LINE))) == []


def shown() -> bytes:
    """The file that the page shows."""
    found = re.search(r"```json\n# file: run\.jsonl\n(.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1].encode()


def test_the_file_on_the_page_is_read_without_an_issue() -> None:
    run = read_bytes(OWN, shown(), "run.jsonl")
    assert (codes(run), run.recordings[0].unknown_kinds) == ([], {})
    assert sums(run) == {
        "fresh_in": 1270, "cache_read": 2010, "cache_write": 1800, "out_total": 184, "out_visible": 0,
        "out_reasoning": 0, "unattributed": 0, "requests": 2, "calls": 1,
    }  # fmt: skip
    assert (run.facts[0].success, run.calls[0].mutates, run.recordings[0].source_version) == (True, False, "desk 1.4")
    assert OWN.origin(shown(), "run.jsonl").run == "desk-0007"


def rows(section: str) -> list[str]:
    """The keys of the tables of one section of the page, a blank line between two tables being no end."""
    text = PAGE.read_text("utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)`", text, re.MULTILINE)


@pytest.mark.parametrize("kind", KINDS)
def test_the_page_names_every_field(kind: str) -> None:
    inside = PARTS["tokens"] if kind == "request" else ()
    assert rows(kind) == [*fields_of(KINDS[kind]), *inside]


def test_the_page_names_the_header_and_every_word() -> None:
    assert rows("Header") == list(HEADER)
    text = PAGE.read_text("utf-8")
    for words in (EventKind, Outcome, Provenance, ThreadKind, ToolOp, UserKind):
        for word in words:
            assert f"`{word.value}`" in text, word


@given(damaged(shown()))
def test_damaged_files(data: bytes) -> None:
    check_reader(OWN, data)


WORDS = sorted({*KINDS, *(name for term in KINDS.values() for name in fields_of(term)), "type", "schema", "main", "ok"})


@given(
    st.lists(st.dictionaries(st.sampled_from(WORDS), almost(*WORDS), max_size=9), max_size=5), st.sampled_from([*KINDS])
)
def test_lines_that_almost_fit(told: list[dict[str, Any]], kind: str) -> None:
    check_reader(OWN, lines(HEAD, *told))
    check_reader(OWN, lines(*({**each, "type": kind} for each in told)))
    check_reader(OWN, json.dumps(told).encode())


def test_a_model_with_a_variant_in_brackets_has_its_price() -> None:
    (request,) = read_bytes(OWN, lines(HEAD, {**REQUEST_LINE, "model": "claude-sonnet-4-5[1m]"})).requests
    row = shipped_prices().find(request.model)
    assert row is not None
    assert row.name == "claude-sonnet-4-5"
