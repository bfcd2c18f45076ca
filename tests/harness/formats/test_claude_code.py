"""The Claude Code reader against authored sessions, one for each way in which such files are miscounted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness.formats.claude_code import ClaudeCode
from harness.formats.limits import FormatError, Limits
from harness.formats.session_data import session_data
from harness.formats.trace_build import totals
from kpis.terms.trace import (
    EventKind,
    IssueCode,
    Outcome,
    Provenance,
    RequestStatus,
    ThreadKind,
    ToolOp,
    UserKind,
)

from .reading import CASES, answer, case, codes, line, prompt, read


def test_the_recorded_session_has_the_totals_that_others_found(cases: Path) -> None:
    expected = json.loads((cases / "transcripts" / "expected.json").read_bytes())["claude-code/session.jsonl"]
    trace = read((cases / "transcripts" / "claude-code" / "session.jsonl").read_bytes())
    found = totals(trace)
    for part in ("requests", "tool_calls", "fresh_in", "cache_read", "cache_write", "out"):
        assert found[part] == expected[part], part
    assert trace.recording.lines == expected["lines"]
    assert found["basis"] == "reported"


def test_a_session_without_ids_and_usages_has_unknown_tokens(cases: Path) -> None:
    trace = read((cases / "replay" / "cdb-session.jsonl").read_bytes())
    found = totals(trace)
    assert (found["requests"], found["tool_calls"]) == (3, 5)
    assert [found[part] for part in ("fresh_in", "cache_read", "cache_write", "out")] == [None] * 4
    assert "W_NO_USAGE" in codes(trace)


def test_lines_of_one_response_are_one_request_with_the_last_output() -> None:
    trace = case("streamed")
    first, second = trace.requests
    assert (first.n_lines, first.tokens.out_total, first.stop_reason) == (3, 160, "tool_use")
    assert (first.tokens.cache_write_5m, first.tokens.cache_write_1h, first.tokens.cache_write_other) == (40, 60, 0)
    assert first.tokens.prompt == 153
    # Where the split by time to live is not recorded, it is unknown and the whole is "other".
    assert (second.tokens.cache_write_5m, second.tokens.cache_write_other) == (None, 20)
    assert totals(trace)["out"] == 172
    assert trace.issues == ()


def test_the_largest_output_is_taken_where_the_file_is_out_of_order() -> None:
    trace = read(prompt("u", None, "go") + answer("a", "u", "m", out=90) + answer("b", "a", "m", out=4))
    assert trace.requests[0].tokens.out_total == 90
    assert "W_REEMIT" in codes(trace)


def test_times_origin_and_calls_of_a_streamed_session() -> None:
    trace = case("streamed")
    assert (trace.recording.source_version, trace.recording.session_id) == ("9.0.1", "s1")
    assert trace.recording.t_end is not None
    assert trace.recording.t_start is not None
    assert trace.recording.t_end - trace.recording.t_start == 6_000
    (call,) = trace.calls
    assert (call.name, call.op, call.outcome) == ("Read", ToolOp.READ, Outcome.OK)
    assert call.arg_bytes == len('{"file_path": "desk/fares.py"}')  # the raw bytes, space included
    assert call.t_start is not None
    assert call.t_end is not None
    assert call.t_end - call.t_start == 1_000


def test_without_request_ids_the_message_id_merges() -> None:
    trace = case("no-request-id")
    (request,) = trace.requests
    assert (request.request_id, request.n_lines, request.tokens.out_total) == ("msg_bdrk_1", 2, 17)
    assert codes(trace) == {"W_NO_REQUEST_ID"}


def test_a_client_that_logged_placeholders_is_told_from_a_terse_model() -> None:
    trace = case("placeholder")
    # The second answer alone could be a true count; the file as a whole shows that this client never wrote one.
    assert [each.tokens.provenance_of("out_total") for each in trace.requests] == [Provenance.PLACEHOLDER] * 2
    assert totals(trace)["placeholder_outputs"] == 2
    assert codes(trace) == {"W_PLACEHOLDER_OUTPUT"}


def test_a_response_cut_off_is_a_placeholder_on_its_own() -> None:
    long = {"type": "text", "text": "a long answer " * 40}
    message = {"id": "m2", "content": [long], "stop_reason": None, "usage": {"input_tokens": 1, "output_tokens": 8}}
    data = (
        prompt("u", None, "go") + answer("a", "u", "m1") + line("assistant", "b", "a", requestId="r", message=message)
    )
    first, second = read(data).requests
    assert first.tokens.provenance_of("out_total") is Provenance.OBSERVED
    assert second.tokens.provenance_of("out_total") is Provenance.PLACEHOLDER
    assert second.tokens.cache_read is None


def test_sub_agents_are_threads_and_their_cost_counts() -> None:
    trace = case("sidechain")
    threads = {thread.thread_id: thread for thread in trace.threads}
    assert [thread.kind for thread in trace.threads] == [ThreadKind.MAIN, ThreadKind.SUBAGENT, ThreadKind.SUBAGENT]
    assert (threads["agent-f00d"].parent_thread_id, threads["agent-f00d"].spawned_by) == ("main", "t1")
    assert [request.thread_id for request in trace.requests] == ["main", "main", "agent-f00d", "sidechain-1"]
    assert totals(trace)["fresh_in"] == 1_121
    assert [turn.user_kind for turn in trace.turns] == [UserKind.HUMAN, UserKind.TOOL, UserKind.TOOL]


def test_both_sides_of_a_rewind_cost_and_one_is_the_conversation() -> None:
    trace = case("rewind")
    assert totals(trace)["fresh_in"] == 51
    assert [request.in_conversation for request in trace.requests] == [True, False, True]
    assert [turn.in_conversation for turn in trace.turns] == [True, False, True]
    assert [(event.kind, event.line) for event in trace.events] == [(EventKind.REWIND, 3)]
    assert [node.step for node in trace.nodes if node.in_conversation] == [0, 1, 1, None]


def test_going_back_to_the_first_prompt_abandons_all_before() -> None:
    data = prompt("u", None, "one") + answer("a", "u", "m1") + prompt("v", None, "two") + answer("b", "v", "m2")
    assert [request.in_conversation for request in read(data).requests] == [False, True]


def test_a_resumed_copy_with_another_session_id_goes_on() -> None:
    first = prompt("u", None, "one") + answer("a", "u", "m1")
    second = prompt("v", None, "two").replace(b'"s1"', b'"s2"') + answer("b", "v", "m2").replace(b'"s1"', b'"s2"')
    trace = read(first + second)
    assert [request.in_conversation for request in trace.requests] == [True, True]
    assert [event.kind for event in trace.events] == [EventKind.RESUME]


def test_a_parent_outside_the_file_does_not_drop_the_history() -> None:
    trace = read(
        prompt("u", None, "one") + answer("a", "u", "m1") + prompt("v", "gone", "two") + answer("b", "v", "m2")
    )
    assert [request.in_conversation for request in trace.requests] == [True, True]
    assert codes(trace) == {"W_PHANTOM_PARENT"}


def test_a_ring_of_parents_ends() -> None:
    trace = read(prompt("u", "a", "one") + answer("a", "u", "m1"))
    assert [request.in_conversation for request in trace.requests] == [True]


def test_a_compaction_is_an_event_and_the_conversation_reaches_across_it() -> None:
    trace = case("compaction")
    (event,) = trace.events
    assert (event.kind, event.trigger, event.pre_tokens, event.post_tokens) == (
        EventKind.COMPACTION,
        "auto",
        156_000,
        36_550,
    )
    assert event.summary_bytes == len("Summary: the ledger was read.")
    assert all(request.in_conversation for request in trace.requests)
    assert [turn.user_kind for turn in trace.turns] == [UserKind.HUMAN, UserKind.COMPACT_SUMMARY]


def test_parallel_results_belong_to_the_conversation_in_the_order_sent() -> None:
    trace = case("parallel")
    assert not [event for event in trace.events if event.kind is EventKind.REWIND]
    # Both calls are of one response, so both stand before both results, although a result streamed in between.
    assert [(node.role, node.step) for node in trace.nodes] == [
        ("user", 0),
        ("assistant", 1),
        ("assistant", 1),
        ("tool", 1),
        ("tool", 1),
        ("assistant", None),
    ]
    assert trace.nodes[4].bytes == len("190\nEUR")


def test_every_outcome_of_a_call() -> None:
    trace = case("outcomes")
    assert {call.call_id: call.outcome for call in trace.calls} == {
        "t1": Outcome.OK,
        "t2": Outcome.TIMEOUT,
        "t3": Outcome.DENIED,
        "t4": Outcome.ERROR,
        "t5": Outcome.UNANSWERED,
        "t9": Outcome.ORPHAN,
    }
    assert totals(trace)["tool_calls"] == 5
    assert {"W_ORPHAN_RESULT", "W_UNANSWERED_CALL"} <= codes(trace)


def test_an_error_line_without_usage_is_an_event_and_no_request() -> None:
    trace = case("outcomes")
    assert [request.request_id for request in trace.requests] == ["m1"]
    assert [event.kind for event in trace.events] == [EventKind.ABORT, EventKind.ERROR, EventKind.RETRY]


def test_an_interrupted_response_is_aborted() -> None:
    data = (
        prompt("u", None, "go") + answer("a", "u", "m", stop=None) + prompt("v", "a", "[Request interrupted by user]")
    )
    trace = read(data)
    assert trace.requests[0].status is RequestStatus.ABORTED
    assert len(trace.turns) == 1


def test_a_hostile_session_is_read_and_nothing_of_it_survives() -> None:
    trace = case("hostile")
    shown = repr(trace)
    for trace_of_it in ("\\x1b", "\\x07", "\\n", "redword", "secretword", "markup", "owned", "\\ud800"):
        assert trace_of_it not in shown, trace_of_it
    first, second = trace.requests
    assert (first.tokens.fresh_in, first.tokens.cache_read, first.tokens.out_total) == (None, None, 3)
    assert (second.tokens.fresh_in, second.tokens.out_total) == (4, None)
    assert trace.recording.bad_lines == 2
    assert dict(trace.recording.unknown_kinds) == {"brand-new-kind": 2, "system/brand_new_notice": 1}
    assert {"E_BAD_LINE", "E_BAD_NUMBER", "W_UNKNOWN_KIND", "W_SCHEMA_DRIFT", "W_REPEATED_LINE"} <= codes(trace)


def test_unknown_kinds_without_end_are_named_up_to_a_bound() -> None:
    data = b"".join(line(f"kind-{n}", f"k{n}", None) for n in range(500))
    kinds = read(data).recording.unknown_kinds
    assert len(kinds) == 33
    assert kinds["(others)"] == 468


def test_a_torn_last_line_is_an_issue_and_a_bad_one_inside_is_another() -> None:
    data = prompt("u", None, "go") + b'{"type": "assist\n' + answer("a", "u", "m")
    trace = read(data[:-20])
    assert codes(trace) == {"E_TORN_LINE", "E_BAD_LINE"}
    assert {issue.code: issue.line for issue in trace.issues}[IssueCode.E_TORN_LINE] == 3
    assert trace.recording.bad_lines == 2
    assert trace.requests == ()


def test_a_complete_last_line_needs_no_line_feed() -> None:
    data = (prompt("u", None, "go") + answer("a", "u", "m")).rstrip(b"\n")
    trace = read(data)
    assert (len(trace.requests), trace.issues) == (1, ())


def test_byte_order_mark_carriage_returns_blank_lines_and_padding_are_no_content() -> None:
    data = prompt("u", None, "go") + answer("a", "u", "m")
    dressed = b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n\r\n") + b"\0" * 64
    trace = read(dressed)
    assert (len(trace.requests), len(trace.turns)) == (1, 1)
    assert codes(trace) == {"E_TORN_LINE"}


def test_a_file_of_one_line_feed_holds_nothing() -> None:
    trace = read(b"\n")
    assert (trace.requests, trace.turns, trace.threads, trace.issues) == ((), (), (), ())


def test_a_line_that_nests_too_deep_is_refused_with_its_number() -> None:
    deep = b'{"type":"user","x":' + b"[" * 65 + b"]" * 65 + b"}\n"
    with pytest.raises(FormatError, match="Line 2 nests deeper than 64"):
        read(prompt("u", None, "go") + deep)


def test_brackets_inside_strings_are_no_nesting() -> None:
    assert len(read(prompt("u", None, '[{"' * 500)).turns) == 1


def test_an_image_line_is_read_and_a_line_over_the_limit_is_left_out() -> None:
    data = prompt("u", None, "x" * 5_000) + answer("a", "u", "m")
    assert len(read(data).turns) == 1
    limited = read(data, Limits(max_line=4_000))
    assert "E_LONG_LINE" in codes(limited)
    assert len(limited.requests) == 1


def test_more_bytes_than_allowed_are_refused() -> None:
    with pytest.raises(FormatError, match="larger than 10 bytes"):
        read(prompt("u", None, "go"), Limits(max_bytes=10))


def test_repeating_a_file_changes_no_total() -> None:
    for path in sorted(CASES.glob("*.jsonl")):
        if path.stem == "hostile":  # its lines without ids cannot be known again
            continue
        data = path.read_bytes()
        assert totals(read(data + data)) == totals(read(data)), path.stem


def test_the_words_of_a_prompt_are_kept_and_of_nothing_else() -> None:
    data = session_data(
        read(prompt("u", None, "Cancel\nmy order now") + answer("a", "u", "m") + prompt("v", "a", "on"))
    )
    messages = [message for turn in data["turns"] for message in turn["messages"]]
    assert [(each["role"], len(each.get("words", "").split())) for each in messages] == [
        ("user", 3),
        ("assistant", 0),
        ("user", 0),
    ]


def test_two_sessions_in_one_file_add_up() -> None:
    one, two = (CASES / "streamed.jsonl").read_bytes(), (CASES / "rewind.jsonl").read_bytes()
    two = (
        two.replace(b'"uuid":"', b'"uuid":"z')
        .replace(b'"parentUuid":"', b'"parentUuid":"z')
        .replace(b'"id":"m', b'"id":"z')
    )
    both, alone = totals(read(one + two)), [totals(read(one)), totals(read(two))]
    for part in ("requests", "tool_calls", "turns", "fresh_in", "cache_read", "cache_write", "out"):
        assert both[part] == sum(each[part] for each in alone), part  # type: ignore[misc]


def test_the_key_decides_the_pseudonyms() -> None:
    from io import BytesIO

    data = (CASES / "streamed.jsonl").read_bytes()
    heads = [
        [item.head for item in ClaudeCode(key).read(BytesIO(data), Limits()) if hasattr(item, "head")]
        for key in (b"one", b"one", b"two")
    ]
    assert heads[0] == heads[1]
    assert heads[0] != heads[2]
