"""Wrong numbers that users of other tools have reported in public, and shapes of files that are known to break readers.

Each row names the tests that would fail if the same fault were here. Where no reader's own test says it whole, it is
said below, on files on a disk through the command's own job.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.jobs.replay import Asked, replay
from harness.record.replay import Replayed
from kpis.formulas.recorded.evaluate import metrics
from kpis.formulas.recorded.trust import Trust
from kpis.prices import shipped_prices
from tests.harness.formats.test_codex_run import CHILD, MAIN, Rollout
from tests.harness.jobs.session_files import Session, busy, put, subagent


class Row(NamedTuple):
    """What it is about, and the tests that stand for it: module::function, below ``tests``."""

    about: str
    tests: tuple[str, ...]


HERE = "harness/formats/test_public_reports"
CLAUDE = "harness/formats/test_claude_run"
CODEX = "harness/formats/test_codex_run"
OTEL = "harness/formats/test_otel_run"
LANGFUSE = "harness/formats/test_langfuse_run"
JOBS = "harness/jobs/test_replay"
RULES = "kpis/recorded/test"

REPORTS = {
    1: Row("the first copy of a growing output", (f"{CLAUDE}::test_the_output_grows_over_the_lines_of_a_response",)),
    2: Row("an early snapshot of it", (f"{CLAUDE}::test_the_largest_output_is_taken_where_the_file_is_out_of_order",)),
    3: Row("text and call counted apart", (f"{CLAUDE}::test_a_response_without_request_id_is_merged_by_message_id",)),
    4: Row(
        "writes for an hour at the price of five minutes",
        (
            f"{HERE}::test_writes_that_live_for_an_hour_cost_their_own_price",
            "kpis/test_prices::test_writes_of_claude_models_cost_what_their_lifetime_says",
        ),
    ),
    5: Row("counters shown again", (f"{CODEX}::test_a_counter_shown_again_counts_once",)),
    6: Row("agents that each repeat their parent", (f"{HERE}::test_many_agents_that_each_repeat_their_parent",)),
    7: Row("forks repeat their parent", (f"{CODEX}::test_a_fork_repeats_its_parent",)),
    8: Row("forks of forks", (f"{CODEX}::test_a_fork_of_a_fork",)),
    9: Row(
        "a repeat written over seconds; reasoning twice in a total",
        (
            f"{HERE}::test_a_repeat_that_took_minutes_to_write",
            f"{CODEX}::test_totals_that_hold_reasoning_twice_change_nothing",
        ),
    ),
    10: Row("a day that a later fork makes dearer", (f"{HERE}::test_a_fork_adds_nothing_to_the_day_of_its_parent",)),
    11: Row("a month of many forks", (f"{HERE}::test_a_month_of_forks_costs_what_was_asked_in_it",)),
    12: Row(
        "outputs that were never written", (f"{HERE}::test_outputs_that_were_never_written_are_said_to_be_missing",)
    ),
    13: Row("an answer without its end", (f"{HERE}::test_one_answer_without_its_end_makes_the_total_a_bound",)),
    14: Row("rows for responses", (f"{CLAUDE}::test_a_response_on_three_lines_of_equal_usage_is_one_request",)),
    15: Row("cached added to a total that holds it", (f"{LANGFUSE}::test_a_total_can_show_that_cached_is_inside",)),
    16: Row(
        "cached counted twice, then an input of zero",
        (
            f"{LANGFUSE}::test_a_total_that_was_only_added_up_leaves_a_doubt",
            f"{LANGFUSE}::test_an_input_that_stopped_at_zero_is_a_lower_bound",
        ),
    ),
    17: Row("input and cached side by side", (f"{CODEX}::test_cached_is_inside_input_and_reasoning_inside_output",)),
    18: Row("a root agent and its calls", (f"{OTEL}::test_a_root_agent_repeats_its_model_calls",)),
    19: Row("cached charged as output", (f"{HERE}::test_what_was_cached_is_charged_as_cached",)),
    20: Row(
        "a word for input that changed its meaning",
        (
            "harness/formats/test_inspect_run::test_googles_changed_with_0_3_208",
            "harness/formats/test_inspect_run::test_cached_tokens_stood_inside_the_input_before_0_3_184",
        ),
    ),
    21: Row(
        "calls of the summariser",
        ("harness/formats/test_openhands_run::test_calls_of_the_condenser_stand_in_the_totals_alone",),
    ),
    22: Row("reads from cache as a peak", (f"{HERE}::test_reads_from_cache_are_a_sum_and_no_peak",)),
    23: Row("output before a compaction", (f"{HERE}::test_what_was_written_before_a_compaction_counts",)),
    24: Row(
        "trajectories of agents left out",
        (
            f"{HERE}::test_what_sub_agents_spend_is_in_the_sum",
            "harness/formats/test_atif_run::test_embedded_sub_agents_belong_to_the_call_that_started_them",
        ),
    ),
    25: Row("a viewer that drops what was cached", (f"{HERE}::test_a_prompt_holds_what_was_cached",)),
    26: Row(
        "loops by the name of a tool",
        (
            f"{RULES}_loops::test_one_tool_called_five_times_differently_is_no_loop",
            f"{RULES}_loops::test_equal_calls_with_other_results_are_polling",
            f"{RULES}_loops::test_a_tool_that_waits_is_polling_whatever_it_says",
            f"{RULES}_loops::test_three_rounds_warn_and_five_are_a_loop",
        ),
    ),
    27: Row(
        "history before a resumption",
        (
            f"{CLAUDE}::test_two_session_ids_in_one_file_are_one_conversation",
            f"{JOBS}_runs::test_a_resumed_session_copies_its_history_and_it_counts_once",
        ),
    ),
}

SHAPES = {
    1: Row(
        "one id on three lines, alike", (f"{CLAUDE}::test_a_response_on_three_lines_of_equal_usage_is_one_request",)
    ),
    2: Row("one id, growing", (f"{CLAUDE}::test_the_output_grows_over_the_lines_of_a_response",)),
    3: Row("no request id", (f"{CLAUDE}::test_a_response_without_request_id_is_merged_by_message_id",)),
    4: Row("placeholders", (f"{CLAUDE}::test_placeholder_output_is_kept_and_marked",)),
    5: Row("rows of the client's own", (f"{CLAUDE}::test_error_rows_of_the_client_are_events_and_no_requests",)),
    6: Row("a file of one line feed", (f"{CLAUDE}::test_a_file_of_one_line_feed_holds_nothing",)),
    7: Row("byte order mark, CRLF", (f"{JOBS}_runs::test_totals_do_not_depend_on_how_a_session_lies_on_the_disk",)),
    8: Row("a torn last line", (f"{JOBS}_read::test_a_line_that_is_still_being_written",)),
    9: Row("NUL bytes at the end", (f"{JOBS}_runs::test_a_file_that_ends_in_nul_bytes",)),
    10: Row("a picture on one line", (f"{CLAUDE}::test_an_image_of_20_mb_on_one_line_is_read",)),
    11: Row("a compaction", (f"{CLAUDE}::test_a_compaction_knows_the_prompts_around_it_and_its_summary",)),
    12: Row("one without a line", (f"{CLAUDE}::test_a_compaction_that_no_line_tells_is_inferred_from_the_prompt",)),
    13: Row("agents in both layouts", (f"{JOBS}_group::test_a_sub_agent_is_with_its_session",)),
    14: Row("agents inside", (f"{CLAUDE}::test_a_sidechain_inside_the_main_file_is_linked_by_its_prompt",)),
    15: Row("a resumed copy", (f"{JOBS}_runs::test_a_resumed_session_copies_its_history_and_it_counts_once",)),
    16: Row("a rewind", (f"{CLAUDE}::test_both_branches_of_a_rewind_are_billed_and_one_is_the_conversation",)),
    17: Row("calls and results alone", (f"{CLAUDE}::test_orphans_and_unanswered_calls_are_neither_errors_nor_lost",)),
    18: Row("results that are errors", (f"{CLAUDE}::test_what_became_of_a_failed_call",)),
    19: Row(
        "counters: none, again, anew, back",
        (
            f"{CODEX}::test_a_counter_without_information_counts_nothing",
            f"{CODEX}::test_a_counter_shown_again_counts_once",
            f"{CODEX}::test_a_counter_that_begins_anew_loses_nothing",
            f"{CODEX}::test_a_counter_that_jumps_back_counts_once",
        ),
    ),
    20: Row("a fork with new times", (f"{HERE}::test_a_repeat_that_took_minutes_to_write",)),
    21: Row("a mirrored review", (f"{CODEX}::test_a_review_that_its_parent_mirrors_counts_once",)),
    22: Row("bare items", (f"{CODEX}::test_bare_items_of_an_old_build",)),
    23: Row(
        "messages rewritten and taken back",
        (
            "harness/formats/test_gemini_run::test_a_row_with_a_known_id_replaces_the_message",
            "harness/formats/test_gemini_run::test_a_checkpoint_with_new_messages_is_a_compaction",
            "harness/formats/test_gemini_run::test_what_is_taken_back_was_paid",
        ),
    ),
    24: Row(
        "a response on action and observation",
        ("harness/formats/test_openhands_run::test_one_response_on_action_and_observation_counts_once",),
    ),
    25: Row(
        "spans: inside one another, and twice",
        (
            f"{OTEL}::test_a_wrapper_and_its_call_both_carry_usage",
            f"{OTEL}::test_a_span_delivered_twice_counts_once",
        ),
    ),
    26: Row(
        "a continuation",
        ("harness/formats/test_atif_run::test_a_continuation_is_the_same_run_and_only_its_totals_count",),
    ),
    27: Row(
        "kinds, models, numbers and times",
        (
            f"{CLAUDE}::test_unknown_kinds_are_counted_and_left_out",
            f"{RULES}_cost::test_one_model_without_a_price_leaves_no_total",
            f"{OTEL}::test_an_impossible_count_is_unknown",
            f"{CLAUDE}::test_times_in_every_notation",
        ),
    ),
}


@pytest.mark.parametrize("table", [REPORTS, SHAPES])
def test_every_row_names_tests_that_are_there(table: dict[int, Row]) -> None:
    assert list(table) == list(range(1, 28))
    assert len({row.about for row in table.values()}) == 27
    for row in table.values():
        for named in row.tests:
            module, _, function = named.partition("::")
            assert callable(getattr(importlib.import_module(f"tests.{module.replace('/', '.')}"), function, None)), (
                named
            )


def read(folder: Path, by: str | None = None) -> Replayed:
    return replay([str(folder)], Asked(shipped_prices(), by=by), processes=1)


def value(result: Replayed, name: str) -> float | int | None:
    return metrics(result.parts)[name].value


def hours(session: Session) -> bytes:
    """The file of ``session``, its writes living for an hour."""
    body = session.data
    for write in (16_000, 4_600, 80, 21_000, 4_000):
        short = f'"ephemeral_5m_input_tokens": {write}, "ephemeral_1h_input_tokens": 0'
        body = body.replace(
            short.encode(), f'"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": {write}'.encode()
        )
    return body


def test_writes_that_live_for_an_hour_cost_their_own_price(tmp_path: Path) -> None:
    put(tmp_path / "five" / "a.jsonl", busy().data)
    put(tmp_path / "sixty" / "a.jsonl", hours(busy()))
    five, sixty = (value(read(tmp_path / name), "cost_computed_usd") for name in ("five", "sixty"))
    assert five is not None
    assert sixty is not None
    writes = 45_680 * 3e-6  # dollars a token that is neither read from nor written to a cache
    assert sixty - five == pytest.approx(writes * (2 - 1.25))


def parent() -> Rollout:
    """A rollout of three answers."""
    return Rollout().ask("go").answer(1_000, 600).answer(1_500, 1_000).answer(2_000, 1_400)


def test_many_agents_that_each_repeat_their_parent(tmp_path: Path) -> None:
    put(tmp_path / "rollout-0.jsonl", parent().data)
    alone = value(read(tmp_path), "exposed_tokens")
    for at in range(1, 41):
        agent = f"0199aaaa-0000-7000-8000-{at + 100:012}"
        source = {"subagent": {"thread_spawn": {"parent_thread_id": MAIN, "depth": 1}}}
        child = Rollout(agent, minute=at % 50, source=source).copy_of(parent()).ask("work").answer(2_100 + at, 900)
        put(tmp_path / f"rollout-{at}.jsonl", child.data)
    result = read(tmp_path)
    assert value(result, "exposed_tokens") == alone + sum(2_100 + at for at in range(1, 41))
    assert value(result, "recorded_requests") == 3 + 40


def test_a_repeat_that_took_minutes_to_write(tmp_path: Path) -> None:
    put(tmp_path / "rollout-0.jsonl", parent().data)
    fork = Rollout(CHILD, minute=5, forked_from_id=MAIN)
    for line in parent().lines:
        fork.seconds += 40
        fork.copy_of(_of(line))
    fork.total = parent().total
    put(tmp_path / "rollout-1.jsonl", fork.ask("on").answer(3_000, 2_000).data)
    assert value(read(tmp_path), "exposed_tokens") == 4_500 + 3_000


def _of(line: bytes) -> Rollout:
    held = Rollout(None)
    held.lines = [line]
    return held


def days(result: Replayed) -> dict[str, int]:
    assert result.carried is not None
    return {day: row.initial + row.carried for day, row in result.carried.rows.items()}


def test_a_fork_adds_nothing_to_the_day_of_its_parent(tmp_path: Path) -> None:
    put(tmp_path / "rollout-0.jsonl", parent().data)
    before = days(read(tmp_path, "day"))
    fork = Rollout(CHILD, minute=5, forked_from_id=MAIN).copy_of(parent()).ask("on").answer(3_000, 2_000)
    put(tmp_path / "rollout-1.jsonl", fork.data.replace(b"2026-01-05T", b"2026-01-06T"))
    assert before == {"2026-01-05": 4_500}
    assert days(read(tmp_path, "day")) == {"2026-01-05": 4_500, "2026-01-06": 3_000}


def test_a_month_of_forks_costs_what_was_asked_in_it(tmp_path: Path) -> None:
    asked = {}
    put(tmp_path / "rollout-00.jsonl", parent().data)
    held = parent()
    for at in range(1, 21):
        forked = MAIN if at == 1 else f"0199aaaa-0000-7000-8000-{at + 199:012}"
        fork = Rollout(f"0199aaaa-0000-7000-8000-{at + 200:012}", minute=0, forked_from_id=forked).copy_of(held)
        held = fork.ask("on").answer(3_000 + at, 2_000)
        asked[f"2026-02-{at:02}"] = 3_000 + at
        put(tmp_path / f"rollout-{at:02}.jsonl", fork.data.replace(b"2026-01-05T", f"2026-02-{at:02}T".encode()))
    assert days(read(tmp_path, "day")) == {"2026-01-05": 4_500, **asked}


def test_outputs_that_were_never_written_are_said_to_be_missing(tmp_path: Path) -> None:
    session = Session().ask()
    for at in range(5):
        session.answer(f"msg_{at}", out=2, stop=None, text="A long answer. " * 300, read=200)
    session.save(tmp_path)
    result = read(tmp_path)
    output = metrics(result.parts)["output_tokens"]
    assert (output.value, output.low) == (10, 10), "a bound"
    assert result.parts.trust.level is Trust.NOT_RECORDED
    assert metrics(result.parts)["output_observed_ratio"].value == 0


def test_one_answer_without_its_end_makes_the_total_a_bound(tmp_path: Path) -> None:
    session = Session().ask().answer("msg_1", out=1_200, text="A long answer. " * 300)
    session.answer("msg_2", out=400, stop=None, text="A long answer. " * 300).save(tmp_path)
    result = read(tmp_path)
    assert metrics(result.parts)["output_tokens"].low == 1_600
    assert result.parts.trust.level is Trust.LOWER_BOUND


def test_what_was_cached_is_charged_as_cached(tmp_path: Path) -> None:
    attributes = {"input_tokens": "1000", "cache_read.input_tokens": "900", "output_tokens": "10"}
    told = "".join(
        f'{{"key": "gen_ai.usage.{key}", "value": {{"intValue": "{count}"}}}}, ' for key, count in attributes.items()
    )
    model = '{"key": "gen_ai.request.model", "value": {"stringValue": "claude-sonnet-4-5"}}'
    span = (
        '{"traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "b7ad6b7169203331", "name": "chat", '
        f'"startTimeUnixNano": "1", "endTimeUnixNano": "2", "attributes": [{told}{model}]}}'
    )
    put(tmp_path / "spans.json", f'{{"resourceSpans": [{{"scopeSpans": [{{"spans": [{span}]}}]}}]}}')
    cost = metrics(read(tmp_path).parts)["cost_computed_usd"]
    assert cost.value == pytest.approx(100 * 3e-6 + 900 * 0.3e-6 + 10 * 15e-6)


def test_reads_from_cache_are_a_sum_and_no_peak(tmp_path: Path) -> None:
    session = Session().ask()
    for at in range(1, 6):
        session.answer(f"msg_{at}", read=1_000 * at)
    session.save(tmp_path)
    assert value(read(tmp_path), "cache_read_tokens") == 15_000


def test_what_was_written_before_a_compaction_counts(tmp_path: Path) -> None:
    session = Session().ask().answer("msg_1", out=5_000, text="A long answer. " * 300, read=9_000).fold(9_010)
    session.answer("msg_2", out=7, read=500).save(tmp_path)
    assert value(read(tmp_path), "output_tokens") == 5_007
    assert value(read(tmp_path), "exposed_tokens") == 9_520


def test_what_sub_agents_spend_is_in_the_sum(tmp_path: Path) -> None:
    busy().save(tmp_path)
    alone = value(read(tmp_path), "exposed_tokens")
    for at in range(3):
        subagent("s-1", f"a{at}", minute=at).save(tmp_path / "s-1" / "subagents", f"agent-a{at}.jsonl")
    result = read(tmp_path)
    assert value(result, "exposed_other_tokens") == 3 * 2_010
    assert value(result, "exposed_tokens") == alone + 3 * 2_010
    assert value(result, "exposed_main_tokens") == alone


def test_a_prompt_holds_what_was_cached(tmp_path: Path) -> None:
    Session().ask().answer("msg_1", fresh=300, write=2_200, read=180_000).save(tmp_path)
    result = read(tmp_path)
    assert value(result, "exposed_tokens") == 182_500
    assert value(result, "fresh_tokens") == 300
