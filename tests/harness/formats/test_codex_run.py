"""Codex rollouts: the counters that mislead, the copies, and what is read of calls, turns and events."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from harness.formats.codex_run import CodexRun
from harness.formats.limits import Limits
from harness.formats.run_build import build_run
from harness.formats.run_format import Source
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import (
    EventKind,
    Outcome,
    Provenance,
    RequestStatus,
    ThreadKind,
    TimeBasis,
    ToolCall,
    ToolOp,
    UserKind,
)

MAIN = "0199aaaa-0000-7000-8000-000000000001"
CHILD = "0199aaaa-0000-7000-8000-000000000002"
OTHER = "0199aaaa-0000-7000-8000-000000000003"
GRAND = "0199aaaa-0000-7000-8000-000000000004"


class Rollout:
    """A rollout that is written line by line; each line is a second after the one before."""

    def __init__(self, thread: str | None = MAIN, minute: int = 0, **meta: Any) -> None:
        self.lines: list[bytes] = []
        self.seconds = 60 * minute
        self.total = [0, 0, 0, 0, 0]
        if thread is not None:
            self.meta(thread, **meta)

    def line(self, kind: str, **payload: Any) -> Rollout:
        self.seconds += 1
        stamp = f"2026-01-05T10:{self.seconds // 60:02}:{self.seconds % 60:02}.000Z"
        self.lines.append(json.dumps({"timestamp": stamp, "type": kind, "payload": payload}).encode() + b"\n")
        return self

    def meta(self, thread: str, **meta: Any) -> Rollout:
        given = {"id": thread, "timestamp": "2026-01-05T10:00:00.000Z", "cwd": "/home/someone/desk", **meta}
        return self.line("session_meta", **{"cli_version": "0.77.0", "source": "cli", **given})

    def ask(self, text: str) -> Rollout:
        return self.item("message", role="user", content=[{"type": "input_text", "text": text}])

    def say(self, text: str) -> Rollout:
        return self.item("message", role="assistant", content=[{"type": "output_text", "text": text}])

    def item(self, kind: str, **fields: Any) -> Rollout:
        return self.line("response_item", type=kind, **fields)

    def event(self, kind: str, **fields: Any) -> Rollout:
        return self.line("event_msg", type=kind, **fields)

    def call(self, call_id: str, command: str = "ls") -> Rollout:
        arguments = json.dumps({"command": ["bash", "-lc", command]})
        return self.item("function_call", name="shell", arguments=arguments, call_id=call_id)

    def result(self, call_id: str, output: Any) -> Rollout:
        return self.item("function_call_output", call_id=call_id, output=output)

    def counter(self, total: list[int], last: list[int], **more: int) -> Rollout:
        """The counter as it stands; lists are input, cached, output, reasoning, total."""
        return self.event(
            "token_count",
            info={
                "total_token_usage": counts(total) | more,
                "last_token_usage": counts(last) | more,
                "model_context_window": 272_000,
            },
            rate_limits=None,
        )

    def answer(self, given: int, cached: int = 0, out: int = 10, reasoning: int = 0) -> Rollout:
        """A new answer's counter."""
        last = [given, cached, out, reasoning, given + out]
        self.total = [a + b for a, b in zip(self.total, last, strict=True)]
        self.last = last
        return self.counter(self.total, last)

    def again(self) -> Rollout:
        """The newest counter, shown again."""
        return self.counter(self.total, self.last)

    def copy_of(self, parent: Rollout) -> Rollout:
        """The lines of ``parent``, written again now: a fork."""
        for line in parent.lines:
            told = json.loads(line)
            self.line(told["type"], **told["payload"])
        self.total = list(parent.total)
        return self

    @property
    def data(self) -> bytes:
        return b"".join(self.lines)


def counts(five: list[int]) -> dict[str, int]:
    names = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens")
    return dict(zip(names, five, strict=True))


def read(*files: bytes | Rollout, names: tuple[str, ...] = (), limits: Limits | None = None) -> RecordedRun:
    held = [file.data if isinstance(file, Rollout) else file for file in files]
    named = names or tuple(f"f{at}.jsonl" for at in range(len(held)))
    sources = [Source(name, io.BytesIO(data), len(data)) for name, data in zip(named, held, strict=True)]
    return build_run("r", "codex", CodexRun().read(sources, limits or Limits()))


def totals(run: RecordedRun) -> dict[str, int]:
    """Requests and tokens that are no copies."""
    kept = [request for request in run.requests if not request.copied]
    parts = ("fresh_in", "cache_read", "out_total", "out_reasoning")
    return {"requests": len(kept)} | {
        part: sum(getattr(request.tokens, part) or 0 for request in kept) for part in parts
    }


def codes(run: RecordedRun) -> set[str]:
    return {issue.code.value for issue in run.issues}


def messages(run: RecordedRun, code: str) -> list[str]:
    return [issue.message for issue in run.issues if issue.code.value == code]


def two_answers() -> Rollout:
    return Rollout().ask("go").answer(1_000, 600).answer(1_500, 1_000, out=20, reasoning=5)


# Counters


def test_cached_is_inside_input_and_reasoning_inside_output() -> None:
    run = read(two_answers())
    tokens = run.requests[1].tokens
    assert (tokens.fresh_in, tokens.cache_read, tokens.prompt) == (500, 1_000, 1_500)
    assert (tokens.out_total, tokens.out_reasoning, tokens.out_visible) == (20, 5, 15)
    assert tokens.cache_write is None
    assert tokens.provenance_of("fresh_in") is Provenance.DERIVED
    assert tokens.provenance_of("cache_read") is Provenance.OBSERVED
    assert not run.issues


def test_cache_writes_are_inside_input_too() -> None:
    wide = Rollout().ask("go").counter([100, 40, 5, 0, 105], [100, 40, 5, 0, 105], cache_write_input_tokens=25)
    tokens = read(wide).requests[0].tokens
    assert (tokens.fresh_in, tokens.cache_read, tokens.cache_write_other, tokens.prompt) == (35, 40, 25, 100)


def test_a_counter_without_information_counts_nothing() -> None:
    run = read(two_answers().event("token_count", info=None, rate_limits={"primary": None}))
    assert totals(run)["requests"] == 2
    assert not run.issues


def test_a_counter_shown_again_counts_once() -> None:
    rollout = two_answers().again().again()
    run = read(rollout)
    assert totals(run) == totals(read(two_answers()))
    assert run.requests[1].n_lines == 3
    assert messages(run, "W_REEMIT") == [
        "Counters shown again without a new answer: 2, of which 0 are older than the newest."
        " Every line added up would be 5,570 tokens; 2,530 is what the answers used."
    ]


def test_a_counter_that_jumps_back_counts_once() -> None:
    rollout = two_answers()
    older, last = list(rollout.total), list(rollout.last)
    rollout.answer(2_000).counter(older, last)
    run = read(rollout)
    assert totals(run)["requests"] == 3
    assert "of which 1 are older" in messages(run, "W_REEMIT")[0]


def test_a_counter_that_begins_anew_loses_nothing() -> None:
    rollout = two_answers()
    rollout.total = [0] * 5
    run = read(rollout.answer(1_700, 1_000).answer(1_900))
    assert totals(run)["requests"] == 4
    assert totals(run)["fresh_in"] == 400 + 500 + 700 + 1_900
    assert messages(run, "W_COUNTER_RESET")[0].startswith("Running totals that do not follow from the one before: 1.")


def test_totals_that_hold_reasoning_twice_change_nothing() -> None:
    old = Rollout().ask("go").counter([100, 40, 30, 20, 150], [100, 40, 30, 20, 150])
    run = read(old)
    assert run.requests[0].tokens.out_total == 30
    assert "W_USAGE_MEANING" in codes(run)


def test_an_estimate_of_the_window_is_no_answer() -> None:
    run = read(two_answers().counter([0, 0, 0, 0, 272_000], [0, 0, 0, 0, 9_000]))
    assert totals(run)["requests"] == 2


def test_totals_without_the_last_answer_are_told_apart_by_difference() -> None:
    rollout = Rollout().ask("go")
    for total in ([100, 0, 5, 0, 105], [250, 90, 9, 0, 259]):
        rollout.event("token_count", info={"total_token_usage": counts(total), "last_token_usage": None})
    run = read(rollout)
    assert [request.tokens.prompt for request in run.requests] == [100, 150]
    assert run.requests[1].tokens.provenance_of("cache_read") is Provenance.DERIVED


def test_the_last_answer_without_totals_counts_where_it_changes() -> None:
    rollout = Rollout().ask("go")
    for given in (100, 100, 120, 100):
        last = counts([given, 0, 5, 0, given + 5])
        rollout.event("token_count", info={"total_token_usage": None, "last_token_usage": last})
    assert [request.tokens.prompt for request in read(rollout).requests] == [100, 120, 100]


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ([100, 400, 5, 0, 105], "W_TOTAL_MISMATCH"),
        ([100, 0, 5, 9, 105], "W_TOTAL_MISMATCH"),
        ([-3, 0, 5, 0, 2], "E_BAD_NUMBER"),
        ([1 << 60, 0, 5, 0, 5], "E_BAD_NUMBER"),
    ],
)
def test_numbers_that_cannot_be_are_unknown(last: list[int], code: str) -> None:
    run = read(Rollout().ask("go").counter(last, last))
    tokens = run.requests[0].tokens
    assert None in (tokens.fresh_in, tokens.out_visible)
    assert code in codes(run)


def test_a_number_of_another_type_is_unknown_and_the_rest_is_kept() -> None:
    rollout = two_answers()
    rollout.lines[-1] = rollout.lines[-1].replace(b'"cached_input_tokens": 1000', b'"cached_input_tokens": "many"')
    run = read(rollout)
    assert run.requests[1].tokens.unattributed == 1_500
    assert run.requests[1].tokens.prompt is None
    assert "W_SCHEMA_DRIFT" in codes(run)


# Copies


def test_a_fork_repeats_its_parent() -> None:
    parent = two_answers()
    fork = Rollout(CHILD, minute=5, forked_from_id=MAIN).copy_of(parent).ask("on").answer(2_000, 1_500)
    parent.ask("other").answer(1_800)
    run = read(parent, fork)
    assert totals(run)["requests"] == 4
    thread = next(thread for thread in run.threads if thread.thread_id == CHILD)
    assert (thread.kind, thread.parent_thread_id, thread.copied_prefix) == (ThreadKind.FORK, MAIN, 2)
    assert [turn.index for turn in run.turns if turn.thread_id == CHILD] == [1]
    assert [request.index for request in run.requests if request.thread_id == CHILD] == [2]
    assert messages(run, "W_COPIED_HISTORY")[0].startswith("Counters at the beginning that are the parent's")


def test_a_fork_that_did_nothing_counts_nothing() -> None:
    parent = two_answers()
    run = read(parent, Rollout(CHILD, minute=5, forked_from_id=MAIN).copy_of(parent))
    assert totals(run) == totals(read(parent))
    assert "W_MIRRORED_THREAD" not in codes(run)


def test_a_fork_of_a_fork() -> None:
    parent = two_answers()
    fork = Rollout(CHILD, minute=5, forked_from_id=MAIN).copy_of(parent).ask("on").answer(2_000)
    nested = Rollout(GRAND, minute=9, forked_from_id=CHILD).copy_of(fork).ask("further").answer(2_500)
    run = read(nested, fork, parent)
    assert totals(run)["requests"] == 4
    assert {thread.thread_id: thread.copied_prefix for thread in run.threads} == {MAIN: 0, CHILD: 2, GRAND: 3}


def test_a_fork_that_repeats_only_the_end_of_its_parent() -> None:
    parent = two_answers().answer(1_800)
    fork = Rollout(CHILD, minute=5, forked_from_id=MAIN).counter(parent.total, parent.last)
    fork.total = list(parent.total)
    run = read(parent, fork.ask("on").answer(2_000))
    assert totals(run)["requests"] == 4


def test_calls_of_a_fork_are_not_counted_again() -> None:
    parent = Rollout().ask("go").call("c1").answer(1_000).result("c1", "x")
    fork = Rollout(CHILD, minute=5, forked_from_id=MAIN).copy_of(parent).ask("on").call("c2").answer(2_000)
    run = read(parent, fork)
    assert [(call.call_id, call.thread_id) for call in run.calls] == [("c1", MAIN), ("c2", CHILD)]


def test_a_fork_without_its_parent_is_an_upper_bound() -> None:
    fork = Rollout(CHILD, forked_from_id=MAIN).copy_of(two_answers()).answer(2_000)
    run = read(fork)
    assert totals(run)["requests"] == 3
    assert "upper bound" in messages(run, "W_COPIED_HISTORY")[0]


def test_forks_of_a_session_that_is_not_there_share_their_beginning() -> None:
    parent = two_answers()
    forks = [
        Rollout(thread, minute=5, forked_from_id=MAIN).copy_of(parent).ask("on").answer(given)
        for thread, given in ((CHILD, 2_000), (OTHER, 2_100))
    ]
    assert totals(read(*forks))["requests"] == 4


def test_a_sub_agent_without_its_parent_is_a_lower_bound() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": MAIN, "depth": 1}}}
    run = read(Rollout(CHILD, source=source).ask("look").answer(500))
    assert (run.threads[0].kind, run.threads[0].parent_thread_id) == (ThreadKind.SUBAGENT, MAIN)
    assert "lower bound" in messages(run, "W_PHANTOM_PARENT")[0]


def test_two_children_that_share_a_counter_count_both() -> None:
    parent = two_answers()
    source = {"subagent": {"thread_spawn": {"parent_thread_id": MAIN, "depth": 1}}}
    children = [Rollout(thread, minute=5, source=source).ask("look").answer(500) for thread in (CHILD, OTHER)]
    run = read(parent, *children)
    assert totals(run)["requests"] == 4
    assert len({request.request_id for request in run.requests}) == 4


def reviewed() -> tuple[Rollout, Rollout]:
    """A session with a review in it, and the review's own file."""
    parent = two_answers()
    before, last = list(parent.total), list(parent.last)
    review = Rollout(CHILD, minute=2, source={"subagent": "review"}).ask("review this")
    parent.event("entered_review_mode", target={"type": "uncommittedChanges"})
    parent.total = [0] * 5
    for given in (700, 900):
        parent.answer(given)
        review.answer(given).call(f"r{given}").result(f"r{given}", "x")
    parent.event("exited_review_mode", review_output=None).counter(before, last)
    parent.total = before
    return parent.ask("thanks").answer(1_600), review


def test_a_review_that_its_parent_mirrors_counts_once() -> None:
    parent, review = reviewed()
    run = read(parent, review)
    assert totals(run) == totals(read(parent))
    assert totals(run)["requests"] == 5
    child = [request for request in run.requests if request.thread_id == CHILD]
    assert [request.copied for request in child] == [True, True]
    assert {call.request_id for call in run.calls} <= {request.request_id for request in child}
    assert next(thread.kind for thread in run.threads if thread.thread_id == CHILD) is ThreadKind.REVIEW
    assert "W_MIRRORED_THREAD" in codes(run)
    assert [event.detail for event in run.events if event.kind is EventKind.REVIEW] == ["entered", "left"]
    assert not [event for event in run.events if event.kind is EventKind.COMPACTION]


def test_a_review_read_by_itself_has_the_ids_that_its_parent_gives_it() -> None:
    parent, review = reviewed()
    assert {request.request_id for request in read(review).requests} < {
        request.request_id for request in read(parent).requests
    }


def test_a_mirrored_sub_agent_that_names_its_parent_counts_once() -> None:
    parent = two_answers()
    parent.total = [0] * 5
    parent.answer(300).answer(400)
    child = Rollout(CHILD, minute=1, source={"subagent": {"other": "helper"}}, parent_thread_id=MAIN).ask("x")
    run = read(parent, child.answer(300).answer(400))
    assert totals(run) == totals(read(parent))
    assert "W_MIRRORED_THREAD" in codes(run)


# Files


def test_the_order_of_files_changes_nothing() -> None:
    parent, review = reviewed()
    fork = Rollout(OTHER, minute=9, forked_from_id=MAIN).copy_of(parent).ask("on").answer(2_000)
    files = {"a": parent.data, "b": review.data, "c": fork.data}
    runs = [read(*(files[name] for name in names), names=names) for names in itertools.permutations(files)]
    assert all(run == runs[0] for run in runs[1:])
    assert totals(runs[0])["requests"] == 6


def test_a_repeated_file_changes_nothing() -> None:
    rollout = two_answers().call("c1").result("c1", "x").again()
    once, twice = read(rollout), read(rollout, rollout)
    assert totals(twice) == totals(once)
    assert len(twice.recordings) == 2
    assert [turn.index for turn in twice.turns] == [0]
    assert len(twice.calls) == 1
    assert "W_REPEATED_LINE" in codes(twice)


def test_an_earlier_copy_of_a_file_changes_nothing() -> None:
    rollout = two_answers()
    earlier = rollout.data
    rollout.ask("on").answer(2_000)
    for files in ((earlier, rollout.data), (rollout.data, earlier)):
        assert totals(read(*files)) == totals(read(rollout))


def test_a_file_cut_in_two_changes_nothing() -> None:
    rollout = two_answers().call("c1").result("c1", "x").again().ask("on").answer(2_000)
    whole = read(rollout)
    for at in range(1, len(rollout.lines)):
        halves = [b"".join(rollout.lines[:at]), b"".join(rollout.lines[at:])]
        for order in (halves, halves[::-1]):
            run = read(*order)
            assert totals(run) == totals(whole), at
            assert (len(run.turns), len(run.calls), len(run.threads)) == (2, 1, 1)


def test_rubbish_at_the_end_changes_nothing_and_is_told() -> None:
    rollout = two_answers()
    for rubbish in (b"{", b"\0\0\0", b'["x"]\n', b'{"type": "event_msg"', b"\xff\xfe\n", b'{"a": NaN1}\n'):
        run = read(rollout.data + rubbish)
        assert totals(run) == totals(read(rollout)), rubbish
        assert codes(run) & {"E_TORN_LINE", "E_BAD_LINE"}, rubbish


def test_a_byte_order_mark_and_carriage_returns() -> None:
    run = read(b"\xef\xbb\xbf" + two_answers().data.replace(b"\n", b"\r\n"))
    assert totals(run) == totals(read(two_answers()))
    assert not run.issues


def test_long_and_deep_lines_are_left_out() -> None:
    rollout = two_answers()
    deep = b'{"type":"event_msg","payload":{"type":["' + b"\\ud800" + b'"],"a":' + b"[" * 90 + b"]" * 90 + b"}}\n"
    deepest = b'{"type":"event_msg","payload":{"a":' + b"[" * 5_000 + b"]" * 5_000 + b"}}\n"
    long = b'{"type":"event_msg","payload":{"type":"' + b"x" * 30_000 + b'"}}\n'
    run = read(rollout.data + deep + deepest + long, limits=Limits(max_line=20_000))
    assert totals(run) == totals(read(rollout))
    assert {"E_BAD_LINE", "E_LONG_LINE"} <= codes(run)
    assert run.recordings[0].bad_lines == 3


def test_an_unknown_kind_is_named_and_counted() -> None:
    run = read(two_answers().event("brand_new").item("shiny").line("novel"))
    assert run.recordings[0].unknown_kinds == {"event_msg/brand_new": 1, "response_item/shiny": 1, "novel": 1}
    assert len(messages(run, "W_UNKNOWN_KIND")) == 3


def test_what_the_recording_says_of_itself() -> None:
    rollout = Rollout(git={"branch": "main", "commit_hash": "00"}).ask("go").answer(10)
    recording = read(rollout).recordings[0]
    assert (recording.source_version, recording.session_id) == ("0.77.0", MAIN)
    assert (recording.project, recording.branch) == ("desk", "main")
    assert (recording.lines, recording.bytes) == (3, len(rollout.data))
    assert recording.t_start is not None
    assert recording.t_end == recording.t_start + 2_000


# Old builds


def bare() -> list[dict[str, Any]]:
    return [
        {"id": MAIN, "timestamp": "2025-07-01T10:00:00.000Z", "instructions": None, "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "go"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "id": "fc_1", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"output":"x","metadata":{"exit_code":0}}'},
        {"record_type": "state"},
        {"type": "message", "id": None, "role": "assistant", "content": [{"type": "output_text", "text": "done"}]},
    ]


def bare_bytes() -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in bare())


def test_bare_items_of_an_old_build() -> None:
    run = read(bare_bytes())
    assert run.recordings[0].session_id == MAIN
    assert [(request.tokens.prompt, request.visible_chars) for request in run.requests] == [(None, 18), (None, 4)]
    assert [(call.request_id, call.exit_code) for call in run.calls] == [(run.requests[0].request_id, 0)]
    assert len(run.turns) == 1
    assert codes(run) == {"W_NO_USAGE"}


def test_a_repeated_file_of_an_old_build() -> None:
    assert len(read(bare_bytes(), bare_bytes()).requests) == 2


def test_without_a_turn_context_the_model_is_unknown() -> None:
    assert {request.model for request in read(two_answers()).requests} == {None}


# Answers, calls and turns


def test_the_model_is_the_turn_contexts() -> None:
    rollout = Rollout().line("turn_context", model="m-1").ask("a").answer(10)
    rollout.line("turn_context", model="m-2").ask("b").answer(20)
    assert [request.model for request in read(rollout).requests] == ["m-1", "m-2"]


def test_a_call_before_its_counter_belongs_to_it() -> None:
    rollout = Rollout().ask("go").item("reasoning", summary=[]).call("c1").answer(10).result("c1", "x")
    rollout.call("c2").answer(20).result("c2", "x").say("done").answer(30)
    run = read(rollout)
    assert [call.request_id for call in run.calls] == [request.request_id for request in run.requests[:2]]
    assert run.requests[2].visible_chars == 4


def test_a_call_behind_its_counter_belongs_to_it() -> None:
    rollout = Rollout().ask("go").answer(10).call("c1").result("c1", "x").answer(20).call("c2").result("c2", "x")
    run = read(rollout)
    assert [call.request_id for call in run.calls] == [request.request_id for request in run.requests]


def test_an_answer_that_was_cut_off_has_unknown_tokens() -> None:
    rollout = Rollout().ask("go").call("c1").answer(10).result("c1", "x")
    run = read(rollout.item("reasoning", summary=[]).event("turn_aborted", reason="interrupted").ask("on").answer(20))
    assert [request.status for request in run.requests] == [
        RequestStatus.OK,
        RequestStatus.ABORTED,
        RequestStatus.OK,
    ]
    assert run.requests[1].tokens.prompt is None
    assert [event.kind for event in run.events] == [EventKind.ABORT]
    assert "1 cut off" in messages(run, "W_NO_USAGE")[0]


def only_call(rollout: Rollout) -> ToolCall:
    (call,) = read(rollout.answer(10)).calls
    return call


@pytest.mark.parametrize(
    ("output", "code", "milliseconds", "outcome", "word"),
    [
        (json.dumps({"output": "x", "metadata": {"exit_code": 0, "duration_seconds": 1.5}}), 0, 1_500, "ok", None),
        (json.dumps({"output": "x", "metadata": {"exit_code": 2, "duration_seconds": 0}}), 2, 0, "error", "exit"),
        ("Exit code: 0\nWall time: 0.3 seconds\nOutput:\nx", 0, 300, "ok", None),
        ("Exit code: 1\nWall time: 2 seconds\nTotal output lines: 900\nOutput:\n\nx", 1, 2_000, "error", "exit"),
        ("Exit code: 124\nWall time: 10 seconds\nOutput:\ncommand timed out", 124, 10_000, "timeout", "timeout"),
        ("Chunk ID: a1\nWall time: 0.5 seconds\nProcess exited with code 3\nOutput:\nx", 3, 500, "error", "exit"),
        ("Chunk ID: a1\nWall time: 0.5 seconds\nProcess running with session ID 7\nOutput:\nx", None, 500, "ok", None),
        ("failed in sandbox X with execution error: denied, exit code: 2, stdout: ", 2, None, "error", "exit"),
        ("aborted by user after 3.2s", None, None, "interrupted", "aborted"),
        ("exec command rejected by user", None, None, "denied", "rejected"),
        ("apply_patch verification failed: no such line", None, None, "error", "patch"),
        ("unsupported call: shelll", None, None, "error", "unknown_tool"),
        ({"content": "no", "success": False}, None, None, "error", "tool"),
        ([{"type": "input_text", "text": "Exit code: 1\nWall time: 1 seconds\nOutput:\n"}], 1, 1_000, "error", "exit"),
        ("the words Exit code: 1 in a text", None, None, "ok", None),
    ],
)
def test_results(output: Any, code: int | None, milliseconds: int | None, outcome: str, word: str | None) -> None:
    call = only_call(Rollout().ask("go").call("c1").result("c1", output))
    assert (call.exit_code, call.duration_ms, call.outcome.value) == (code, milliseconds, outcome)
    assert call.error_class == word
    assert (call.time_basis is TimeBasis.MEASURED) == (milliseconds is not None)


def test_a_result_is_what_was_printed_not_how_long_it_took() -> None:
    headed = [
        json.dumps({"output": "x", "metadata": {"exit_code": 0, "duration_seconds": seconds}}) for seconds in (1, 2)
    ]
    rollout = Rollout().ask("go")
    for at, output in enumerate((*headed, "Exit code: 0\nWall time: 3 seconds\nOutput:\nx")):
        rollout.call(f"c{at}").result(f"c{at}", output)
    run = read(rollout.answer(10))
    assert len({call.result_digest for call in run.calls}) == 1
    assert len({call.arg_digest for call in run.calls}) == 1


def test_the_event_of_a_command_measures_it() -> None:
    rollout = Rollout().ask("go").call("c1")
    rollout.event("exec_command_end", call_id="c1", exit_code=1, duration={"secs": 2, "nanos": 500_000_000})
    call = only_call(rollout.result("c1", "plain words"))
    assert (call.duration_ms, call.time_basis, call.exit_code) == (2_500, TimeBasis.MEASURED, 1)
    assert (call.outcome, call.error_class) == (Outcome.ERROR, "exit")


def test_kinds_of_calls() -> None:
    patch = "*** Begin Patch\n*** Update File: desk/plan.py\n@@\n*** End Patch"
    rollout = Rollout().ask("go")
    rollout.item("custom_tool_call", name="apply_patch", input=patch, call_id="c1", status="completed")
    rollout.item("custom_tool_call_output", call_id="c1", output='{"output":"ok","metadata":{"exit_code":0}}')
    rollout.item("local_shell_call", call_id="c2", status="completed", action={"type": "exec", "command": ["ls", "d"]})
    rollout.result("c2", "Exit code: 0\nOutput:\nx")
    rollout.item("web_search_call", status="completed", action={"type": "search", "query": "desks"})
    rollout.call("c4", f"apply_patch <<'EOF'\n{patch}\nEOF").result("c4", "Exit code: 0\nOutput:\n")
    rollout.item("function_call", name="exec_command", arguments='{"cmd":"cat a.txt"}', call_id="c5")
    run = read(rollout.answer(10))
    assert [call.op for call in run.calls] == [ToolOp.WRITE, ToolOp.LIST, ToolOp.WEB, ToolOp.WRITE, ToolOp.READ]
    assert [call.target for call in run.calls] == ["desk/plan.py", "d", "desks", "desk/plan.py", "a.txt"]
    assert [call.outcome for call in run.calls] == [Outcome.OK] * 4 + [Outcome.UNANSWERED]
    assert codes(run) == {"W_UNANSWERED_CALL"}


def test_a_result_without_its_call_is_an_orphan() -> None:
    run = read(two_answers().result("c9", "x"))
    assert [(call.outcome, call.request_id) for call in run.calls] == [(Outcome.ORPHAN, None)]
    assert "W_ORPHAN_RESULT" in codes(run)


def test_a_snapshot_is_a_version_of_the_environment() -> None:
    rollout = Rollout().ask("go").item("ghost_snapshot", ghost_commit={"id": "aa11"}).call("c1").result("c1", "x")
    rollout.answer(10).ask("on").item("ghost_snapshot", ghost_commit={"id": "bb22"}).call("c2").result("c2", "x")
    run = read(rollout.answer(20))
    first, second = run.calls
    assert first.environment_before == first.environment_after
    assert second.environment_before == second.environment_after != first.environment_after
    assert [event.kind for event in run.events] == [EventKind.SNAPSHOT] * 2


def test_turns_are_the_users_messages() -> None:
    rollout = Rollout().ask("<environment_context>\n</environment_context>").ask("go").answer(10)
    rollout.event("user_message", message="go").event("agent_message", message="hm").ask("on").answer(20)
    run = read(rollout)
    assert [(turn.index, turn.user_kind) for turn in run.turns] == [(0, UserKind.HUMAN), (1, UserKind.HUMAN)]
    assert [request.turn for request in run.requests] == [0, 1]


def test_turns_that_were_rolled_back_are_no_part_of_the_conversation_but_were_paid_for() -> None:
    rollout = Rollout().ask("a").answer(10).ask("b").answer(20).event("thread_rolled_back", num_turns=1)
    run = read(rollout.ask("c").answer(30))
    assert [request.in_conversation for request in run.requests] == [True, False, True]
    assert [turn.in_conversation for turn in run.turns] == [True, False, True]
    assert totals(run)["fresh_in"] == 60


def test_a_compaction_is_written_twice_and_is_one() -> None:
    rollout = Rollout().ask("go").answer(200_000).line("compacted", message="short", replacement_history=None)
    run = read(rollout.event("context_compacted").answer(20_000))
    (event,) = run.events
    assert (event.kind, event.implicit) == (EventKind.COMPACTION, False)
    assert (event.pre_tokens, event.post_tokens, event.summary_bytes) == (200_000, 20_000, 5)


def test_a_compaction_that_no_line_tells_of() -> None:
    (event,) = read(Rollout().ask("go").answer(200_000).answer(90_000).answer(80_000)).events
    assert (event.kind, event.implicit) == (EventKind.COMPACTION, True)
    assert (event.pre_tokens, event.post_tokens) == (200_000, 90_000)


def test_a_call_that_starts_an_agent_names_it() -> None:
    parent = Rollout().ask("go").item("function_call", name="spawn_agent", arguments="{}", call_id="c1").answer(10)
    parent.result("c1", json.dumps({"agent_id": CHILD}))
    source = {"subagent": {"thread_spawn": {"parent_thread_id": MAIN, "depth": 1}}}
    run = read(parent, Rollout(CHILD, minute=2, source=source, agent_role="worker").ask("look").answer(5))
    assert run.calls[0].spawned_thread == CHILD
    child = run.threads[1]
    assert (child.spawned_by, child.agent) == ("c1", "worker")
    assert run.turns[1].user_kind is UserKind.TOOL


def test_no_text_is_kept() -> None:
    secret = "plover-tangerine-9"
    rollout = Rollout().ask(secret).item("reasoning", summary=[{"text": secret}]).call("c1", f"echo {secret}")
    rollout.result("c1", secret).say(secret).answer(10).line("compacted", message=secret)
    assert secret not in repr(read(rollout))


# Which run, which format


def test_the_origin_of_each_kind_of_session() -> None:
    origin = CodexRun().origin
    assert origin(two_answers().data, "x").run == MAIN
    assert origin(Rollout(CHILD, forked_from_id=MAIN).data, "x").parent == MAIN
    assert origin(Rollout(CHILD, parent_thread_id=MAIN).data, "x").parent == MAIN
    assert origin(Rollout(CHILD, session_id=MAIN).data, "x").parent == MAIN
    assert origin(Rollout(CHILD, session_id=CHILD).data, "x").parent is None
    nested = {"subagent": {"thread_spawn": {"parent_thread_id": MAIN, "depth": 1}}}
    assert origin(Rollout(CHILD, source=nested).data, "x").parent == MAIN
    assert origin(bare_bytes(), "x").run == MAIN
    assert origin(b"", f"2026/01/05/rollout-2026-01-05T10-00-00-{MAIN}.jsonl").run == MAIN
    assert origin(two_answers().data, "a").started == 1_767_607_200_000


def test_the_origin_of_a_session_whose_instructions_are_longer_than_the_head() -> None:
    meta = {"id": CHILD, "forked_from_id": MAIN, "timestamp": "2026-01-05T10:00:00Z", "base_instructions": "x" * 9_000}
    line = {"timestamp": "2026-01-05T10:00:01Z", "type": "session_meta", "payload": meta}
    head = json.dumps(line, separators=(",", ":")).encode()[:4_096]
    assert CodexRun().sniff(head, "a.jsonl") >= 0.9
    origin = CodexRun().origin(head, "a.jsonl")
    assert (origin.run, origin.parent, origin.started) == (CHILD, MAIN, 1_767_607_200_000)


@pytest.mark.parametrize(
    "line",
    [
        {"type": "user", "sessionId": "s", "message": {"role": "user", "content": "x"}},
        {"id": "chatcmpl-1", "timestamp": "2026-01-05", "model": "m", "usage": {"prompt_tokens": 1}},
        {"turn": 0, "role": "user", "text": "x"},
        {"type": "message", "role": "user", "content": "x"},
        {"type": "event", "payload": 3},
    ],
)
def test_lines_of_other_formats_are_not_taken(line: dict[str, Any]) -> None:
    assert CodexRun().sniff(3 * (json.dumps(line).encode() + b"\n"), "rollout-x.jsonl") < 0.5


def test_rollouts_are_recognised() -> None:
    assert CodexRun().sniff(two_answers().data, "x.jsonl") >= 0.9
    assert CodexRun().sniff(bare_bytes(), "x.jsonl") >= 0.8


def test_the_real_rollout(cases: Path) -> None:
    file = cases / "transcripts" / "codex" / "rollout.jsonl"
    right = json.loads((cases / "transcripts" / "expected.json").read_text())["codex/rollout.jsonl"]
    run = read(file.read_bytes(), names=("rollout.jsonl",))
    prompt = sum(request.tokens.prompt or 0 for request in run.requests)
    got = totals(run)
    assert prompt == right["prompt"]
    assert got == {
        "requests": right["requests"],
        "fresh_in": right["fresh_in"],
        "cache_read": right["cache_read"],
        "out_total": right["out"],
        "out_reasoning": right["out_reasoning"],
    }
    assert prompt + got["out_total"] == right["total"]
    assert run.recordings[0].lines == right["lines"]
    assert {request.model for request in run.requests} == {None}
    assert (len(run.calls), len(run.turns), run.issues) == (400, 63, ())
    assert sum(call.outcome is Outcome.ERROR for call in run.calls) == 38


def test_a_line_of_an_unknown_kind_that_holds_a_counter_is_a_fault() -> None:
    assert codes(read(two_answers().event("dream"))) - codes(read(two_answers())) == {"W_UNKNOWN_KIND"}
    info = {"total_token_usage": counts([30, 0, 3, 0, 33]), "last_token_usage": None}
    strange = read(two_answers().event("token_counts", info=info))
    assert codes(strange) - codes(read(two_answers())) == {"W_UNKNOWN_KIND", "E_BAD_LINE"}
