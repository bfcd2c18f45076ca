"""Inspect's logs: one test a trap, and the figures of the recorded cases."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.formats.archive import MOST_MEMBERS
from harness.formats.inspect_run import InspectRun
from harness.formats.inspect_scores import score_of
from harness.formats.inspect_usage import InspectUsage
from harness.formats.limits import Limits
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import (
    EventKind,
    Outcome,
    Provenance,
    RequestStatus,
    ThreadKind,
    TimeBasis,
    Tokens,
    ToolCall,
    ToolOp,
    UsageScope,
)

from .run_reading import almost, check_reader, codes, damaged, read_bytes, read_files, read_json, read_path, sums

INSPECT = InspectRun()
MODEL = "openai/model-a"


def usage(fresh: int, out: int, **more: int) -> dict[str, int]:
    counted = {"input_tokens": fresh, "output_tokens": out, **more}
    return {"total_tokens": sum(v for k, v in counted.items() if k != "reasoning_tokens"), **counted}


def model(at: int, spent: dict[str, int] | None, *, asks: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    calls = [{"id": each, "function": "bash", "arguments": {"cmd": f"ls {each}"}} for each in asks]
    message = {"role": "assistant", "content": "Onward.", **({"tool_calls": calls} if calls else {})}
    output: dict[str, Any] = {"model": "model-a", "choices": [{"message": message, "stop_reason": "stop"}]}
    if spent is not None:
        output["usage"] = spent
    told = {"event": "model", "uuid": f"uuid-of-event-{at:08}", "model": MODEL, "output": output}
    stamps = {"timestamp": f"2026-05-01T10:00:{at:02}+00:00", "completed": f"2026-05-01T10:00:{at:02}.500+00:00"}
    return {**told, **stamps, "working_time": 0.25, **more}


def tool(identifier: str, **more: Any) -> dict[str, Any]:
    told = {"event": "tool", "id": identifier, "function": "bash", "arguments": {"cmd": f"ls {identifier}"}}
    stamps = {"timestamp": "2026-05-01T10:00:30Z", "completed": "2026-05-01T10:00:34Z"}
    return {**told, "result": "a.py\n", **stamps, "working_time": 1.5, **more}


def sample(*events: dict[str, Any], identifier: Any = "desk-1", epoch: int = 1, **more: Any) -> dict[str, Any]:
    return {"id": identifier, "epoch": epoch, "input": "Tidy.", "target": "x", "events": list(events), **more}


def log(*samples: dict[str, Any], version: str = "0.3.230", total: int | None = None, **more: Any) -> dict[str, Any]:
    about = {
        "eval_id": "eval-1",
        "run_id": "run-1",
        "created": "2026-05-01T09:59:00+00:00",
        "task": "tidying",
        "dataset": {"name": "desk"},
        "model": MODEL,
        "packages": {"inspect_ai": version},
    }
    stats: dict[str, Any] = {"started_at": "2026-05-01T10:00:00Z", "completed_at": "2026-05-01T10:01:00Z"}
    if total is not None:
        stats["model_usage"] = {MODEL: {"input_tokens": total, "output_tokens": 0, "total_tokens": total}}
    return {
        "version": 2,
        "status": "success",
        "eval": about,
        "plan": {},
        "stats": stats,
        "samples": list(samples),
        **more,
    }


def name_of(one: dict[str, Any]) -> str:
    return f"samples/{one['id']}_epoch_{one['epoch']}.json"


def archived(told: dict[str, Any], *more: tuple[str, Any], header: bool = True, samples: bool = True) -> bytes:
    """The log as an archive, with ``more`` members behind."""
    held = {key: value for key, value in told.items() if key != "samples"}
    pieces: list[tuple[str, Any]] = [("_journal/start.json", {key: held[key] for key in ("version", "eval", "plan")})]
    if samples:
        pieces.extend((name_of(each), each) for each in told["samples"])
    if header:
        pieces.append(("header.json", held))
    blob = io.BytesIO()
    with zipfile.ZipFile(blob, "w", zipfile.ZIP_DEFLATED) as made:
        for name, value in (*pieces, *more):
            made.writestr(name, value if isinstance(value, (bytes, str)) else json.dumps(value))
    return blob.getvalue()


WORK = sample(
    {"event": "span_begin", "id": "s1", "type": "solvers", "name": "solvers", "span_id": "s1"},
    model(1, usage(100, 20, input_tokens_cache_read=60, input_tokens_cache_write=5), asks=("call_a",), span_id="s1"),
    tool("call_a", span_id="s1"),
    model(2, usage(10, 8, input_tokens_cache_read=160, reasoning_tokens=3), span_id="s1", retries=2),
    scores={"match": {"value": "C"}},
    total_time=12.5,
)
WHOLE = log(WORK, total=363)


def tokens_of(spent: dict[str, int], version: str, name: str = MODEL, raw: Any = None) -> tuple[Tokens, list[str]]:
    reading = InspectUsage("log.json", version)
    tokens = reading.tokens(spent, name, 1, raw)
    return tokens, [f"{each.severity.value}:{each.code.value}" for each in reading.issues()]


def test_both_ways_of_storing_a_log_read_alike() -> None:
    plain, packed = read_json(INSPECT, WHOLE), read_bytes(INSPECT, archived(WHOLE), "run.json")
    assert sums(plain) == sums(packed)
    assert (plain.requests, plain.calls, plain.facts) == (packed.requests, packed.calls, packed.facts)
    assert sums(plain) == {
        "fresh_in": 110, "cache_read": 220, "cache_write": 5, "out_total": 28, "out_visible": 5, "out_reasoning": 3,
        "unattributed": 0, "requests": 2, "calls": 1,
    }  # fmt: skip
    assert codes(plain) == []
    (recording,) = packed.recordings
    assert (recording.source_version, recording.session_id, recording.project) == ("0.3.230", "eval-1", "tidying")
    assert recording.lines == 4


def test_what_a_log_is_known_by() -> None:
    packed = archived(WHOLE)
    assert INSPECT.sniff(packed, "x.eval") >= 0.95
    assert INSPECT.sniff(packed[:40], "x.zip") >= 0.95
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as made:
        made.writestr("session.jsonl", "{}")
    assert INSPECT.sniff(other.getvalue(), "x.zip") == 0
    assert INSPECT.sniff(json.dumps(WHOLE).encode(), "x.json") >= 0.95
    assert INSPECT.sniff(b'{"eval": "status task"}', "x.json") == 0
    for data in (packed, json.dumps(WHOLE).encode()):
        assert INSPECT.origin(data, "a/x.eval").started == 1_777_629_540_000
        assert INSPECT.origin(data, "a/x.eval").run != INSPECT.origin(data, "b/x.eval").run


def test_a_log_that_hides_its_time_is_named_after_it() -> None:
    named = INSPECT.origin(b"PK\x03\x04", "logs/2026-05-01T11-59-00+02-00_tidying_x.eval")
    assert named.started == 1_777_629_540_000
    assert INSPECT.origin(b"PK\x03\x04", "logs/tidying.eval").started is None


def test_a_request_has_its_times_its_tries_and_its_own_id() -> None:
    first, second = read_json(INSPECT, WHOLE).requests
    assert (first.request_id, first.duration_ms, first.attempts) == ("uuid-of-event-00000001", 250, None)
    assert (second.attempts, second.t_last) == (3, 1_777_629_602_500)
    assert (first.model, first.provider, first.stop_reason, first.visible_chars) == (MODEL, "openai", "stop", 7)


def test_ids_that_a_server_counts_are_not_believed() -> None:
    def old(at: int, identifier: str) -> dict[str, Any]:
        made = model(at, usage(5, 1), call={"response": {"id": identifier}})
        del made["uuid"]
        return made

    long = "chatcmpl-Azqyjk0VwgoTOoz6VIe63"
    run = read_json(INSPECT, log(sample(old(1, "chatcmpl-368"), old(2, "chatcmpl-368"), old(3, long))))
    assert len({each.request_id for each in run.requests}) == 3
    assert [each.request_id for each in run.requests if "#" not in each.request_id] == [long]


def test_an_event_that_is_met_twice_is_one_request() -> None:
    run = read_json(INSPECT, log(sample(model(1, usage(5, 1)), model(1, usage(5, 1)))))
    assert ([each.n_lines for each in run.requests], sums(run)["fresh_in"]) == ([2], 5)
    again = read_files(INSPECT, {"a.eval": archived(WHOLE), "b.json": json.dumps(WHOLE).encode()})
    once = sums(read_json(INSPECT, WHOLE))
    assert (sums(again), len(again.calls)) == (once, 2)


def test_answers_of_inspects_own_cache_are_not_paid() -> None:
    run = read_json(INSPECT, log(sample(model(1, usage(5, 1)), model(2, usage(5, 1), cache="read")), total=6))
    assert [each.local_cache for each in run.requests] == [False, True]
    assert codes(run) == []


def test_cached_tokens_stand_beside_the_input_since_0_3_184() -> None:
    tokens, said = tokens_of(usage(100, 20, input_tokens_cache_read=60), "0.3.184")
    assert (tokens.fresh_in, tokens.cache_read, tokens.prompt, said) == (100, 60, 160, [])
    assert tokens.provenance_of("fresh_in") is Provenance.OBSERVED


def test_cached_tokens_stood_inside_the_input_before_0_3_184() -> None:
    spent = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120, "input_tokens_cache_read": 60}
    tokens, said = tokens_of(spent, "0.3.183")
    assert (tokens.fresh_in, tokens.cache_read, tokens.prompt, said) == (40, 60, 100, [])
    assert tokens.provenance_of("fresh_in") is Provenance.DERIVED


def test_anthropics_stood_beside_it_in_every_version() -> None:
    spent = usage(100, 20, input_tokens_cache_read=60, input_tokens_cache_write=7)
    tokens, said = tokens_of(spent, "0.3.58.dev16+g6a87748b", "anthropic/model-b")
    assert (tokens.fresh_in, tokens.cache_read, tokens.cache_write_other, said) == (100, 60, 7, [])


def test_googles_changed_with_0_3_208() -> None:
    inside = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120, "input_tokens_cache_read": 60}
    assert tokens_of(inside, "0.3.207", "google/model-c")[0].fresh_in == 40
    beside = usage(40, 20, input_tokens_cache_read=60)
    assert tokens_of(beside, "0.3.208", "google/model-c") == tokens_of(beside, "0.3.230", "google/model-c")
    assert tokens_of(beside, "0.3.208", "google/model-c")[0].fresh_in == 40
    tokens, said = tokens_of(
        {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120}, "0.3.207", "google/model-c"
    )
    assert (tokens.fresh_in, tokens.unattributed, said) == (None, 100, ["note:W_USAGE_MEANING"])


def test_a_total_is_believed_before_a_version() -> None:
    spent = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120, "input_tokens_cache_read": 60}
    tokens, said = tokens_of(spent, "0.3.230")
    assert (tokens.fresh_in, said) == (40, ["note:W_USAGE_MEANING"])
    tokens, said = tokens_of(usage(100, 20, input_tokens_cache_read=60), "0.3.58")
    assert (tokens.fresh_in, said) == (100, ["note:W_USAGE_MEANING"])


def test_where_neither_version_nor_total_tells_it_is_said() -> None:
    spent = {"input_tokens": 100, "output_tokens": 20, "input_tokens_cache_read": 60}
    assert tokens_of(spent, "unknown") == (tokens_of(spent, "0.3.230")[0], ["warning:W_USAGE_MEANING"])
    assert tokens_of({**spent, "total_tokens": 120}, "unknown")[0].fresh_in == 40
    ambiguous = {**spent, "reasoning_tokens": 60, "total_tokens": 240, "output_tokens": 80}
    assert tokens_of(ambiguous, "unknown")[1] == ["warning:W_USAGE_MEANING"]


def test_thoughts_beside_the_output_are_added_where_the_total_shows_it() -> None:
    spent = {"input_tokens": 100, "output_tokens": 20, "reasoning_tokens": 50, "total_tokens": 170}
    tokens, said = tokens_of({**spent, "input_tokens_cache_read": 0}, "0.3.210")
    assert (tokens.out_total, tokens.out_visible, tokens.out_reasoning) == (70, 20, 50)
    assert said == ["note:W_USAGE_MEANING"]
    tokens, said = tokens_of({**spent, "total_tokens": 0}, "0.3.210")
    assert (tokens.out_total, tokens.out_reasoning) == (20, None)
    assert "warning:W_USAGE_MEANING" in said


def test_a_total_without_room_for_cached_tokens_says_there_were_none() -> None:
    spent = {"input_tokens": 64, "output_tokens": 2, "total_tokens": 66}
    tokens, said = tokens_of(spent, "0.3.230")
    assert (tokens.fresh_in, tokens.cache_read, tokens.provenance_of("cache_read"), said) == (
        64,
        0,
        Provenance.DERIVED,
        [],
    )
    assert tokens.cache_write is None
    old, said = tokens_of(spent, "0.3.100")
    assert (old.fresh_in, old.cache_read, old.unattributed, said) == (None, None, 64, ["note:W_USAGE_MEANING"])
    raw = {"prompt_tokens": 64, "prompt_tokens_details": {"cached_tokens": 16}}
    shown, said = tokens_of(spent, "0.3.100", raw=raw)
    assert (shown.fresh_in, shown.cache_read, said) == (48, 16, [])


def test_more_cached_tokens_than_input_are_not_subtracted() -> None:
    tokens, said = tokens_of({"input_tokens": 10, "output_tokens": 1, "input_tokens_cache_read": 60}, "0.3.58")
    assert (tokens.fresh_in, tokens.cache_read, said) == (10, 60, ["warning:W_USAGE_MEANING"])


def test_a_total_that_its_parts_do_not_make() -> None:
    tokens, said = tokens_of({**usage(10, 5, input_tokens_cache_read=0), "total_tokens": 100}, "0.3.230")
    assert (tokens.unattributed, said) == (85, ["warning:W_TOTAL_MISMATCH"])
    assert tokens_of({**usage(10, 5, input_tokens_cache_read=0), "total_tokens": 3}, "0.3.230")[1] == said


def test_a_tool_call_has_its_own_clock_and_its_request() -> None:
    (call,) = read_json(INSPECT, WHOLE).calls
    assert (call.duration_ms, call.time_basis, call.t_end) == (1_500, TimeBasis.MEASURED, 1_777_629_634_000)
    assert (call.request_id, call.op, call.outcome) == ("uuid-of-event-00000001", ToolOp.LIST, Outcome.OK)


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        ("parsing", Outcome.ERROR),
        ("timeout", Outcome.TIMEOUT),
        ("unicode_decode", Outcome.ERROR),
        ("permission", Outcome.ERROR),
        ("file_not_found", Outcome.ERROR),
        ("is_a_directory", Outcome.ERROR),
        ("limit", Outcome.ERROR),
        ("approval", Outcome.DENIED),
        ("cancelled", Outcome.INTERRUPTED),
        ("unknown", Outcome.ERROR),
        ("output_limit", Outcome.ERROR),
    ],
)
def test_errors_of_tools(kind: str, outcome: Outcome) -> None:
    failed = tool("call_a", error={"type": kind, "message": "It did not work."}, result="")
    (call,) = read_json(INSPECT, log(sample(model(1, usage(1, 1), asks=("call_a",)), failed))).calls
    assert (call.error_class, call.outcome, call.result_bytes) == (kind, outcome, len("It did not work."))
    assert call.truncated == (True if kind == "output_limit" else None)


def test_a_tool_that_is_still_running_has_no_answer() -> None:
    waiting = tool("call_a", pending=True)
    del waiting["completed"]
    run = read_json(INSPECT, log(sample(model(1, usage(1, 1), asks=("call_a",)), waiting)))
    assert (run.calls[0].outcome, codes(run)) == (Outcome.UNANSWERED, ["W_UNANSWERED_CALL"])


def test_calls_that_no_event_tells_of_are_in_the_messages() -> None:
    asked = {"role": "assistant", "tool_calls": [{"id": "call_b", "function": "bash", "arguments": {"cmd": "ls b"}}]}
    said = {"role": "tool", "tool_call_id": "call_b", "function": "bash", "content": "b"}
    events = (model(1, usage(1, 1), asks=("call_a", "call_b", "call_c")), tool("call_a"))
    run = read_json(INSPECT, log(sample(*events, messages=[asked, said])))
    assert [(each.call_id, each.outcome) for each in run.calls] == [
        ("call_a", Outcome.OK),
        ("call_b", Outcome.OK),
        ("call_c", Outcome.UNANSWERED),
    ]
    assert {each.request_id for each in run.calls} == {"uuid-of-event-00000001"}


def test_a_log_without_events_has_a_row_of_usage_a_model() -> None:
    spent = {MODEL: usage(70, 7, input_tokens_cache_read=30), "anthropic/model-b": {**usage(5, 1), "total_cost": 0.5}}
    asked = {"role": "assistant", "tool_calls": [{"id": "t1", "function": "bash", "arguments": {"cmd": "cat a.py"}}]}
    answered = {"role": "tool", "tool_call_id": "t1", "content": "text"}
    run = read_json(INSPECT, log(sample(model_usage=spent, messages=[asked, answered]), total=107))
    assert [(each.scope, each.model, each.cost_usd) for each in run.requests] == [
        (UsageScope.THREAD, MODEL, None),
        (UsageScope.THREAD, "anthropic/model-b", 0.5),
    ]
    assert (sums(run)["fresh_in"], sums(run)["cache_read"], sums(run)["out_total"]) == (75, 30, 8)
    assert (run.calls[0].target, run.calls[0].outcome, codes(run)) == ("a.py", Outcome.OK, [])


def test_a_log_that_counts_only_itself_has_one_row_a_model() -> None:
    (request,) = read_json(INSPECT, log(sample(), total=40)).requests
    assert (request.scope, request.tokens.fresh_in, request.tokens.cache_read) == (UsageScope.RUN, 40, 0)


def test_totals_of_the_log_are_facts_and_are_held_against_its_samples() -> None:
    run = read_json(INSPECT, log(WORK, total=400))
    whole = next(each for each in run.facts if each.by_model)
    assert (whole.by_model[0].tokens.fresh_in, whole.outcome, whole.duration_ms) == (400, "success", 60_000)
    assert codes(run) == ["W_TOTAL_MISMATCH"]
    assert "400 tokens of openai/model-a, its samples 363" in run.issues[0].message


def test_every_sample_and_epoch_is_a_thread_with_its_verdict() -> None:
    told = log(
        sample(model(1, usage(1, 1)), epoch=1, scores={"m": {"value": "C"}}, total_time=2),
        sample(model(2, usage(1, 1)), epoch=2, scores={"m": {"value": "I"}}, error={"message": "broke"}),
        sample(model(3, usage(1, 1)), identifier=7, scores={"m": {"value": 0.25}}, limit={"type": "token", "limit": 9}),
        sample(model(4, usage(1, 1)), identifier="a name", limit="time"),
    )
    run = read_json(INSPECT, told)
    assert {each.thread_id for each in run.threads} == {each.thread_id for each in run.requests}
    found = {(each.case_id, each.replicate): each for each in run.facts if each.case_id is not None}
    assert len(found) == len(run.threads) == 4
    passed, broke, part = found["desk-1", 1], found["desk-1", 2], found["7", 1]
    assert (passed.score, passed.success, passed.outcome, passed.duration_ms) == (1.0, True, None, 2_000)
    assert (broke.score, broke.success, broke.outcome) == (0.0, False, "error")
    assert (part.score, part.success, part.outcome) == (0.25, None, "limit:token")
    assert {each.outcome for each in found.values()} == {None, "error", "limit:token", "limit:time"}
    assert "a name" not in repr(run)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["C"], (1.0, True)),
        (["CORRECT"], (1.0, True)),
        (["I"], (0.0, False)),
        (["P"], (0.5, False)),
        (["N"], (0.0, False)),
        ([True], (1.0, True)),
        ([3.5], (3.5, None)),
        (["C", 1], (1.0, True)),
        (["C", "I"], (None, False)),
        (["C", {"a": 1}], (None, None)),
        (["fine"], (None, None)),
        ([float("nan")], (None, None)),
        ([], (None, None)),
    ],
)
def test_scores(values: list[Any], expected: tuple[float | None, bool | None]) -> None:
    assert score_of({"scores": {str(at): {"value": value} for at, value in enumerate(values)}}) == expected


def test_a_sub_agent_and_the_scorers_are_threads_of_their_own() -> None:
    spans = [
        {"event": "span_begin", "id": "main", "type": "agent", "name": "react"},
        {"event": "span_begin", "id": "t", "parent_id": "main", "type": "tool", "name": "searcher"},
        {"event": "span_begin", "id": "sub", "parent_id": "t", "type": "agent", "name": "searcher"},
        {"event": "span_begin", "id": "sc", "type": "scorers", "name": "scorers"},
        {"event": "span_begin", "id": "sc1", "parent_id": "sc", "type": "scorer", "name": "graded"},
    ]
    events = [
        model(1, usage(10, 1), asks=("call_a",), span_id="main"),
        tool("call_a", span_id="t", function="searcher", agent_span_id="sub"),
        model(2, usage(20, 1), span_id="sub"),
        model(3, usage(30, 1), span_id="sc1"),
    ]
    run = read_json(INSPECT, log(sample(*spans, *events)))
    main, sub, scorers = sorted(run.threads, key=lambda each: len(each.thread_id))
    assert [each.kind for each in (main, sub, scorers)] == [
        ThreadKind.MAIN,
        ThreadKind.SUBAGENT,
        ThreadKind.SIDE_MODEL,
    ]
    assert (sub.spawned_by, sub.parent_thread_id, sub.agent) == ("call_a", main.thread_id, "searcher")
    assert run.calls[0].spawned_thread == sub.thread_id
    spent = {each.thread_id: each.tokens.fresh_in for each in run.requests}
    assert spent == {main.thread_id: 10, sub.thread_id: 20, scorers.thread_id: 30}


def test_old_logs_keep_a_sub_agents_events_inside_its_call_and_mark_scorers_by_steps() -> None:
    inner = tool("call_a", function="searcher", events=[model(2, usage(20, 1)), tool("call_b")])
    step = {"event": "step", "type": "scorer", "name": "graded"}
    scored = [{**step, "action": "begin"}, model(3, usage(30, 1)), {**step, "action": "end"}, model(4, usage(40, 1))]
    run = read_json(INSPECT, log(sample(model(1, usage(10, 1), asks=("call_a",)), inner, *scored)))
    kinds = {each.thread_id: each.kind for each in run.threads}
    assert [(each.tokens.fresh_in, kinds[each.thread_id]) for each in run.requests] == [
        (10, ThreadKind.MAIN),
        (40, ThreadKind.MAIN),
        (20, ThreadKind.SUBAGENT),
        (30, ThreadKind.SIDE_MODEL),
    ]
    assert len(run.calls) == 2


def test_compactions_limits_and_refusals() -> None:
    t = {"timestamp": "2026-05-01T10:00:40Z"}
    events = [
        {"event": "compaction", "type": "summary", "tokens_before": 9_000, "tokens_after": 700, **t},
        {"event": "approval", "decision": "reject", **t},
        {"event": "approval", "decision": "approve", **t},
        {"event": "sample_limit", "type": "token", **t},
        {"event": "brand_new", **t},
    ]
    run = read_json(INSPECT, log(sample(model(1, usage(1, 1)), *events)))
    compaction = next(each for each in run.events if each.kind is EventKind.COMPACTION)
    assert (compaction.pre_tokens, compaction.post_tokens, compaction.detail) == (9_000, 700, "summary")
    assert sorted(each.kind.value for each in run.events) == ["abort", "compaction", "permission", "permission"]
    assert next(each for each in run.facts if each.case_id).denied == 1
    assert (run.recordings[0].unknown_kinds, codes(run)) == ({"brand_new": 1}, ["W_UNKNOWN_KIND"])


def test_an_attempt_that_failed_was_paid_and_led_nowhere() -> None:
    failed = {"message": "broke", "events": [model(1, usage(50, 5), asks=("call_z",))]}
    run = read_json(INSPECT, log(sample(model(2, usage(10, 1)), error_retries=[failed])))
    assert [(each.tokens.fresh_in, each.in_conversation) for each in run.requests] == [(10, True), (50, False)]
    assert [each.kind for each in run.events] == [EventKind.RETRY]
    assert [each.in_conversation for each in run.calls] == [False]


def test_calls_of_a_model_that_failed_or_were_stopped() -> None:
    events = [model(1, None, error="Cancelled by operator"), model(2, None, error="overloaded"), model(3, None)]
    run = read_json(INSPECT, log(sample(*events)))
    assert [each.status for each in run.requests] == [RequestStatus.ABORTED, RequestStatus.ERROR, RequestStatus.OK]
    assert (codes(run), "1 row of usage" in run.issues[0].message) == (["W_NO_USAGE"], True)


def test_a_log_that_is_still_written_has_no_header() -> None:
    run = read_bytes(INSPECT, archived(WHOLE, header=False), "running.eval")
    assert sums(run)["fresh_in"] == 110
    assert codes(run) == ["W_UNSETTLED"]
    assert [each.outcome for each in run.facts if each.case_id is None] == ["started"]


def test_of_two_members_with_one_name_the_last_counts() -> None:
    newer = sample(model(9, usage(7, 7)))
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = archived(log(WORK), (name_of(newer), newer))
    assert [each.request_id for each in read_bytes(INSPECT, data, "a.eval").requests] == ["uuid-of-event-00000009"]


def test_a_sample_that_cannot_be_read_leaves_its_summary() -> None:
    lost = sample(model(1, usage(5, 5)), identifier="lost")
    summary = {"id": "lost", "epoch": 1, "scores": {"m": {"value": "C"}}, "model_usage": {MODEL: usage(5, 5)}}
    known = {"id": "desk-1", "epoch": 1, "model_usage": {MODEL: usage(1, 1)}}
    data = archived(log(WORK, total=999), (name_of(lost), b"{broken"), ("summaries.json", [summary, known]))
    run = read_bytes(INSPECT, data, "a.eval")
    assert codes(run) == ["E_ARCHIVE", "E_LIMIT"]
    assert [(each.scope, each.tokens.fresh_in) for each in run.requests if each.thread_id == "lost:1"] == [
        (UsageScope.THREAD, 5)
    ]
    assert {each.case_id: each.success for each in run.facts if each.case_id} == {"desk-1": True, "lost": True}


def test_what_is_wrong_with_every_sample_is_said_once() -> None:
    broken = [(f"samples/{at}_epoch_1.json", b"{broken") for at in range(20)]
    assert codes(read_bytes(INSPECT, archived(log(WORK), *broken), "a.eval")) == ["E_ARCHIVE", "E_LIMIT"]


def test_a_sample_packed_with_zstandard_that_cannot_be_read() -> None:
    data = bytearray(archived(log(WORK), ("summaries.json", [{"id": "desk-1", "epoch": 1, "scores": {}}])))
    name = name_of(WORK).encode()
    local, listed = data.index(name) - 30, data.rindex(name) - 46
    data[local + 8 : local + 10] = data[listed + 10 : listed + 12] = (93).to_bytes(2, "little")
    run = read_bytes(INSPECT, bytes(data), "a.eval")
    assert (codes(run), run.requests) == (["E_ARCHIVE", "E_LIMIT"], ())
    assert {each.case_id for each in run.facts} == {"desk-1", None}


def test_a_long_sample_that_is_stored_in_chunks() -> None:
    shell = {key: value for key, value in WORK.items() if key != "events"}
    parts = {0: WORK["events"][:2], 10: WORK["events"][3:], 2: WORK["events"][2:3]}
    pieces = [(f"samples/desk-1_epoch_1/events/{at}.json", part) for at, part in parts.items()]
    others = [("samples/desk-1_epoch_1/messages/0.json", []), ("samples/desk-1_epoch_1/skeleton.json", {})]
    data = archived(WHOLE, ("samples/desk-1_epoch_1/sample.json", shell), *pieces, *others, samples=False)
    run = read_bytes(INSPECT, data, "run.json")
    whole = read_json(INSPECT, WHOLE)
    assert (run.requests, run.calls, run.facts, codes(run)) == (whole.requests, whole.calls, whole.facts, [])


def test_an_archive_that_is_no_log_and_one_with_too_many_members() -> None:
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as made:
        made.writestr("a.json", "{}")
    assert codes(read_bytes(INSPECT, other.getvalue(), "a.eval")) == ["E_UNREADABLE"]
    with zipfile.ZipFile(other, "w") as made:
        for at in range(MOST_MEMBERS + 1):
            made.writestr(f"samples/{at}_epoch_1.json", "")
    assert codes(read_bytes(INSPECT, other.getvalue(), "a.eval")) == ["E_UNREADABLE"]


def test_a_member_over_the_limit_is_left_out() -> None:
    large = sample(model(1, usage(5, 5)), identifier="large", padding="x" * 40_000)
    run = read_files(INSPECT, {"a.eval": archived(log(WORK, large))}, Limits(max_bytes=30_000))
    assert (codes(run), sums(run)["requests"]) == (["E_ARCHIVE"], 2)


def test_no_words_are_kept() -> None:
    said = model(1, usage(1, 1), asks=("call_a",))
    said["output"]["choices"][0]["message"]["content"] = "marmalade"
    run = read_json(INSPECT, log(sample(said, tool("call_a", result="frobnicate"), input="gooseberry")))
    for word in ("marmalade", "frobnicate", "gooseberry", "Tidy"):
        assert word not in repr(run)


@given(damaged(archived(WHOLE)))
def test_damaged_archives(data: bytes) -> None:
    check_reader(INSPECT, data, "a.eval")


@given(damaged(json.dumps(WHOLE).encode()))
def test_damaged_json(data: bytes) -> None:
    check_reader(INSPECT, data)


WORDS = (
    "event model tool span_begin step subtask id parent_id span_id type output usage input_tokens output_tokens choices"
    " message tool_calls function arguments events role assistant error result scorer agent uuid messages scores value"
)


@given(st.lists(almost(*WORDS.split()), max_size=5), almost(*WORDS.split()))
def test_logs_that_almost_fit(events: list[Any], other: Any) -> None:
    for told in (log(sample(*events)), log(other), {**log(), "eval": other, "stats": other}):
        check_reader(INSPECT, json.dumps(told).encode())
        check_reader(INSPECT, archived({**told, "samples": [sample(*events)]}, ("summaries.json", other)), "a.eval")


def tool_errors(run: RecordedRun) -> list[str | None]:
    return [each.error_class for each in run.calls]


def recorded(cases: Path, name: str) -> RecordedRun:
    return read_path(INSPECT, cases / "transcripts" / "inspect" / name)


def test_recorded_archive(cases: Path) -> None:
    run = recorded(cases, "a.eval")
    found = sums(run)
    assert (found["requests"], found["fresh_in"], found["cache_read"], found["out_total"]) == (10, 620, 0, 20)
    assert (len(run.threads), codes(run)) == (10, [])
    assert {each.score for each in run.facts} == {None}


def test_recorded_sample(cases: Path) -> None:
    run = recorded(cases, "sample.json")
    found = sums(run)
    assert (found["requests"], found["unattributed"], found["out_total"]) == (1, 66, 3)
    assert [each.success for each in run.facts if each.case_id] == [True]
    assert codes(run) == ["W_USAGE_MEANING"]


def test_recorded_tool_errors(cases: Path) -> None:
    run = recorded(cases, "tool-errors.json")
    calls: tuple[ToolCall, ...] = run.calls
    assert tool_errors(run) == [
        "parsing", "timeout", "parsing", "unicode_decode", "permission", "file_not_found", "is_a_directory", "limit",
        "approval", "unknown", "output_limit",
    ]  # fmt: skip
    assert [each.outcome for each in calls].count(Outcome.ERROR) == 9
    assert (calls[1].outcome, calls[8].outcome, calls[10].truncated) == (Outcome.TIMEOUT, Outcome.DENIED, True)
    assert codes(run) == ["W_ORPHAN_RESULT", "W_USAGE_MEANING"]
