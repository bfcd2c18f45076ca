"""Runs recorded for their context as recorded runs: what the trace says of them, in whatever files they lie."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given

from harness.formats.context_run import ContextRuns
from harness.formats.run_formats import NAMES, detect_run
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import EventKind, Outcome, Provenance, RequestStatus, ThreadKind, TimeBasis, ToolOp
from tests.harness.formats.run_reading import check_reader, codes, damaged, read_bytes, read_files, sums
from tests.kpis.context.lines import (
    HEADER,
    action,
    end,
    fold,
    header,
    node,
    recall,
    request,
    text_of,
    usage,
    verdict,
)

START = 1_772_440_000.0
READER = ContextRuns()

EVENTS: tuple[dict[str, Any], ...] = (
    request(1, [node("a", 40)], usage=usage(30, 10), t_start=START, t_end=START + 2),
    {**action(2, "read", "x", request_id="q1", target="src/a.py"), "t_start": START + 2, "t_end": START + 3.5},
    fold(3, 90, 40, checkpoint_id="cp", replaced=["a"]),
    request(4, [node("c", 20, "checkpoint", checkpoint_id="cp")], usage=usage(20, 0), t_start=START + 4),
    {**recall(5, ["cp"]), "request_id": "q4"},
    verdict(6),
    end(7, score=0.5, turns=2, wall_s=9.5),
)


def read(*events: dict[str, Any]) -> RecordedRun:
    return read_bytes(READER, text_of(*events), "run.jsonl")


def whole(**other: Any) -> bytes:
    return text_of(header(**other), *EVENTS)


def test_it_is_known_by_its_header_and_by_no_other_reader() -> None:
    assert "context" in NAMES
    for name in ("run.jsonl", "whatever"):
        found = detect_run(whole(), name)
        assert found is not None
        assert found.name == "context"
    assert READER.sniff(b'{"type": "run"}\n', "run.jsonl") == 0
    assert READER.sniff(text_of(*EVENTS), "run.jsonl") == 0


def test_the_run_is_named_and_dated_by_what_stands_first() -> None:
    found = READER.origin(whole(run_id="case-7"), "x.jsonl")
    assert (found.run, found.started) == ("case-7", round(START * 1000))
    assert READER.origin(whole(run_id="a name with blanks"), "x.jsonl").run.startswith("id-")
    assert READER.origin(b"{", "x.jsonl") == READER.origin(b"", "x.jsonl")


def test_who_wrote_the_summaries_may_be_left_out() -> None:
    told = {key: value for key, value in HEADER.items() if key != "semantic_mode"}
    run = read(told, *EVENTS)
    assert codes(run) == []
    assert (run.contexts[0].header.semantic_mode, len(run.requests)) == (None, 2)


def test_what_a_recall_brought_back_is_as_large_as_its_tokens() -> None:
    run = read(HEADER, *EVENTS, {**recall(8, ["cp"], None), "request_id": "q4"})
    assert [call.result_bytes for call in run.calls if call.op is ToolOp.RECALL] == [40, None]
    assert [call.result_bytes for call in run.calls if call.op is ToolOp.READ] == [None]


def test_requests_calls_folds_and_facts() -> None:
    run = read(header(model="m-1", provider="p", window_tokens=900), *EVENTS)
    assert codes(run) == []
    assert sums(run) == {
        "fresh_in": 50, "cache_read": 10, "cache_write": 0, "out_total": 10, "out_visible": 0, "out_reasoning": 0,
        "unattributed": 0, "requests": 2, "calls": 2,
    }  # fmt: skip
    first = run.requests[0]
    assert (first.model, first.provider, first.context_window) == ("m-1", "p", 900)
    assert (first.t_first, first.duration_ms, first.line) == (round(START * 1000), 2000, 2)
    call, recalled = run.calls
    assert (call.request_id, call.op, call.outcome, call.target) == (
        first.request_id,
        ToolOp.READ,
        Outcome.OK,
        "src/a.py",
    )
    assert (call.duration_ms, call.time_basis, call.mutates) == (1500, TimeBasis.MEASURED, False)
    assert call.environment_before == call.environment_after is not None
    assert recalled.op is ToolOp.RECALL
    (event,) = run.events
    assert (event.kind, event.trigger, event.implicit) == (EventKind.COMPACTION, "leaf", False)
    assert (event.pre_tokens, event.post_tokens, event.line) == (90, 40, 4)
    (facts,) = run.facts
    assert (facts.case_id, facts.arm, facts.replicate) == ("case", "fold", 0)
    assert (facts.success, facts.score, facts.outcome, facts.turns, facts.duration_ms) == (
        True,
        0.5,
        "finished",
        2,
        9500,
    )
    (context,) = run.contexts
    assert (len(context.requests), context.places[3]) == (2, ("run.jsonl", 4))


def test_every_family_is_an_operation_and_what_it_changes_is_said_where_it_is_known() -> None:
    families = ("read", "search", "test", "edit", "build", "recall", "delegate", "other")
    run = read(HEADER, *(action(at, family) for at, family in enumerate(families)), end(9))
    assert [(call.op.value, call.mutates) for call in run.calls] == [
        ("read", False),
        ("search", False),
        ("test", None),
        ("write", True),
        ("exec", True),
        ("recall", False),
        ("spawn", None),
        ("other", None),
    ]


def test_what_was_asked_beside_the_conversation_is_a_thread_of_its_own() -> None:
    asked = [request(at, [], purpose=name) for at, name in enumerate(("main", "compaction", "subagent", "other"))]
    run = read(HEADER, *asked, request(5, [], session="t"), end(6))
    assert {thread.thread_id: thread.kind for thread in run.threads} == {
        "r1:s": ThreadKind.MAIN,
        "r1:t": ThreadKind.MAIN,
        "r1:s:summariser": ThreadKind.SUMMARISER,
        "r1:s:subagent": ThreadKind.SUBAGENT,
        "r1:s:side_model": ThreadKind.SIDE_MODEL,
    }
    assert {thread.parent_thread_id for thread in run.threads if thread.kind is not ThreadKind.MAIN} == {"r1:s"}


def test_a_fold_belongs_to_the_session_whose_prompt_it_replaced() -> None:
    ones = [request(1, [node("a", 1)]), request(2, [node("b", 1)], session="t")]
    run = read(HEADER, *ones, fold(3, 9, 4, replaced=["a"]), fold(4, 9, 4), end(5))
    assert [event.thread_id for event in run.events] == ["r1:s", "r1:t"]


def test_a_fold_that_failed_compacted_nothing_and_a_guess_says_that_it_is_one() -> None:
    run = read(HEADER, fold(1, 9, None, ok=False), fold(2, 9, 4, mode="implicit"), end(3))
    assert [(event.trigger, event.implicit) for event in run.events] == [("implicit", True)]
    assert len(run.contexts[0].folds) == 2


def test_missing_fields_are_unknown_and_never_zero() -> None:
    bare = {"type": "request", "seq": 1, "request_id": "q", "session": "s", "purpose": "main", "ok": False}
    act = {key: value for key, value in action(2).items() if not key.startswith("env")}
    run = read(HEADER, bare, act)
    (one,) = run.requests
    tokens = one.tokens
    assert (tokens.fresh_in, tokens.cache_read, tokens.cache_write, tokens.out_total, tokens.unattributed) == (
        None,
    ) * 5
    assert (one.status, one.t_first, one.model, one.duration_ms) == (RequestStatus.ERROR, None, None, None)
    (call,) = run.calls
    assert (call.environment_before, call.t_start, call.arg_bytes, call.target) == (None,) * 4
    (facts,) = run.facts
    assert (facts.success, facts.score, facts.outcome, facts.duration_ms) == (None,) * 4
    assert codes(run) == ["W_UNSETTLED"]


def test_a_prompt_that_its_provider_does_not_split_is_one_number() -> None:
    run = read(
        HEADER,
        request(1, [node("a", 70)], usage={"output": 5}),
        request(2, [node("a", 70)], prompt_tokens=100, usage={"output": 5, "cache_read": 60}),
        request(3, None, usage={"output": 5, "total": 45}),
        request(4, None, usage={"output": 5}),
        end(5),
    )
    found = [(each.tokens.fresh_in, each.tokens.unattributed) for each in run.requests]
    assert found == [(None, 70), (None, 40), (None, 40), (None, None)]
    assert run.requests[0].tokens.provenance_of("unattributed") is Provenance.DERIVED
    guess = read(header(tokenizer={"id": "t", "basis": "estimated"}), request(1, [node("a", 7)]), end(2))
    assert guess.requests[0].tokens.provenance_of("unattributed") is Provenance.MODELLED


def test_times_that_count_from_a_beginning_of_their_own_are_none() -> None:
    run = read(HEADER, request(1, [], t_start=0.0, t_end=2.5), request(2, [], t_start=START * 1000), end(3))
    assert [(each.t_first, each.t_last) for each in run.requests] == [(None, None), (round(START * 1000), None)]


def test_a_hard_check_that_failed_is_no_success_and_a_broken_transport_is_neither() -> None:
    said = [
        read(HEADER, verdict(1), verdict(2, passed=False), end(3)),
        read(HEADER, verdict(1, passed=None), end(2)),
        read(HEADER, verdict(1), end(2, outcome="transport-failed")),
    ]
    assert [run.facts[0].success for run in said] == [False, None, None]


def test_an_unknown_field_and_a_bad_line_are_told_and_the_rest_is_read() -> None:
    run = read_bytes(
        READER,
        whole() + b"garbage\n" + text_of(header(run_id="r2"), {**action(1), "colour": 1}, {"type": "fold"}, end(2)),
    )
    assert codes(run) == ["E_BAD_LINE", "E_BAD_LINE", "W_PHANTOM_PARENT", "W_SCHEMA_DRIFT"]
    assert len(run.calls) == 3
    (file,) = run.recordings
    assert (file.lines, file.bad_lines) == (13, 2)


def test_a_line_too_deep_takes_nothing_else_away() -> None:
    run = read_bytes(READER, whole() + b'{"type": "fold", "x": ' + b"[" * 200 + b"]" * 200 + b"}\n")
    assert codes(run) == ["E_BAD_LINE"]
    assert len(run.requests) == 2


def test_what_follows_a_header_that_is_not_sound_is_not_the_run_before() -> None:
    bad = {**header(run_id="r2"), "replicate": -1}
    run = read(HEADER, *EVENTS, bad, *EVENTS, header(run_id="r3"), *EVENTS)
    assert [context.header.run_id for context in run.contexts] == ["r1", "r3"]
    assert sums(run)["requests"] == 4
    assert codes(run) == ["E_BAD_LINE"] * (1 + len(EVENTS))


def test_events_after_a_lost_header_are_not_the_run_before() -> None:
    run = read_bytes(READER, whole() + b'{"type": "run", "run_id\n' + text_of(*EVENTS, action(40)))
    assert sums(run)["requests"] == 2
    assert len(run.calls) == 2
    late = read(HEADER, *EVENTS, verdict(9, passed=False))
    assert late.facts[0].success is False, "a check may be told after the end"


def test_two_runs_in_one_file_have_threads_and_facts_of_their_own() -> None:
    run = read_bytes(READER, whole() + whole(run_id="r2", case_id="other", arm="none", replicate=3))
    assert codes(run) == []
    assert [thread.thread_id for thread in run.threads] == ["r1", "r2"]
    assert [(facts.case_id, facts.arm, facts.replicate) for facts in run.facts] == [
        ("case", "fold", 0),
        ("other", "none", 3),
    ]
    assert len({request.request_id for request in run.requests}) == 4
    assert len({call.call_id for call in run.calls}) == 4
    assert [each.request_id for each in run.calls] == [
        run.requests[0].request_id, run.requests[1].request_id, run.requests[2].request_id, run.requests[3].request_id,
    ]  # fmt: skip


def test_two_runs_of_one_id_are_two_runs_where_they_say_different_things() -> None:
    run = read_bytes(READER, whole() + whole(arm="none"))
    assert [context.header.arm for context in run.contexts] == ["fold", "none"]
    assert codes(run) == ["W_SCHEMA_DRIFT"]
    again = read(HEADER, request(1, [], usage=usage(1, 0)), end(2), HEADER, request(1, [], usage=usage(2, 0)), end(2))
    assert sums(again)["fresh_in"] == 3
    assert len(again.facts) == 2


def test_a_run_that_stands_twice_counts_once_and_one_that_goes_on_elsewhere_is_one() -> None:
    twice = read_files(READER, {"a": whole(), "b": whole() + text_of(action(9))})
    assert codes(twice) == ["W_PHANTOM_PARENT", "W_REPEATED_LINE"], "the added action names no request"
    assert sums(twice)["calls"] == 3
    assert len(twice.contexts) == len(twice.facts) == 1
    parts = read_files(READER, {"a": text_of(HEADER, *EVENTS[:3]), "b": text_of(HEADER, *EVENTS[3:])})
    assert sums(parts) == sums(read(HEADER, *EVENTS))
    assert parts.contexts[0].end is not None


def test_neither_the_order_of_files_nor_their_names_change_what_is_counted() -> None:
    data = [whole(), whole(run_id="r2"), whole() + text_of(action(9)), whole(arm="none")]
    found = {
        json.dumps([sums(run), sorted(each.request_id for each in run.requests), len(run.contexts)])
        for order in permutations(range(4))
        for run in [read_files(READER, {f"{name}.jsonl": data[at] for name, at in enumerate(order)})]
    }
    assert len(found) == 1
    files = {"a": data[0], "b": data[1]}
    assert read_files(READER, files) == read_files(READER, dict(reversed(files.items())))


def test_a_request_keeps_its_id_wherever_its_run_is_shown() -> None:
    alone, among = read_bytes(READER, whole(), "x"), read_bytes(READER, whole(run_id="r0") + whole(), "y")
    ids = [request.request_id for request in alone.requests]
    assert ids == [request.request_id for request in among.requests[2:]]
    assert not any("#" in each for each in ids)


def test_names_and_ids_are_kept_as_names_and_ids() -> None:
    run = read(header(run_id="two words", arm="fold: \x1b[31m", model="m\n1"), *EVENTS)
    told = run.contexts[0].header
    assert (told.arm, told.model) == ("fold:__[31m".replace("[", "_"), "m_1")
    assert told.run_id.startswith("id-")
    assert run.threads[0].thread_id == told.run_id


def test_a_file_without_a_header_is_a_recording_that_says_nothing() -> None:
    run = read_files(READER, {"a": text_of(*EVENTS), "b": whole()})
    assert codes(run) == ["E_UNREADABLE"]
    assert (len(run.recordings), sums(run)["requests"]) == (2, 2)


@given(damaged(whole() + whole(run_id="r2")))
def test_damaged_files_are_read_as_far_as_they_go(data: bytes) -> None:
    check_reader(READER, data)


@pytest.mark.parametrize("number", ["1e308", "99999999999999999999999999", "-1", "1" * 400])
@pytest.mark.parametrize("field", ["wall_s", "tokens_before", "input_uncached", "replicate", "t_start", "score"])
def test_impossible_numbers_are_no_counts(field: str, number: str) -> None:
    data = whole().replace(f'"{field}": '.encode(), f'"{field}": {number}, "was": '.encode())
    assert data != whole()
    check_reader(READER, data)
