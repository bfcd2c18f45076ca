"""Compactions, what they took away, and what was fetched again."""

from __future__ import annotations

import pytest

from kpis.formulas.recorded.evaluate import metrics
from kpis.terms.trace import Outcome, Thread, ThreadKind, ToolOp
from tests.kpis.recorded.runs import call, compaction, parts, request, run

AROUND = [request(0, read=150_963), request(1, read=16_545, write=20_934)]


def test_what_a_compaction_reclaims_is_read_from_the_prompts_around_it() -> None:
    found = metrics(parts(run(AROUND, events=[compaction(5, pre_tokens=156_000)])))
    assert found["reclaimed_tokens_across_steps"].value == 113_484
    assert found["compactions"].value == 1
    assert found["implicit_compactions"].value == 0


def test_a_fold_that_grows_the_prompt_reclaims_nothing_and_not_less() -> None:
    found = metrics(parts(run([request(0, read=100), request(1, read=300)], events=[compaction(5)])))
    assert found["reclaimed_tokens_across_steps"].value == 0
    assert dict(found["compactions"].detail)["grown"] == 1


def test_a_fold_at_the_end_has_no_other_side() -> None:
    found = metrics(parts(run([request(0, read=100)], events=[compaction(5)])))
    assert found["reclaimed_tokens_across_steps"].value is None
    assert found["compactions"].value == 1


def test_a_fall_without_a_line_is_a_guess_and_stands_apart() -> None:
    found = metrics(parts(run([request(0, read=1_000), request(1, read=499)])))
    assert found["compactions"].value == 0
    assert found["reclaimed_tokens_across_steps"].value == 0
    assert found["implicit_compactions"].value == 1
    assert found["implicit_reclaimed_tokens"].value == 501
    assert metrics(parts(run([request(0, read=1_000), request(1, read=500)])))["implicit_compactions"].value == 0


def test_a_boundary_is_placed_by_its_time_where_it_stands_in_another_file() -> None:
    event = compaction(1, file="b.jsonl", t=30_000)
    found = metrics(parts(run(AROUND, events=[event])))
    assert found["reclaimed_tokens_across_steps"].value == 113_484


def test_a_boundary_that_a_copy_repeats_counts_once() -> None:
    event = compaction(5, t=30_000, pre_tokens=156_000)
    again = compaction(5, t=30_000, pre_tokens=156_000, file="copy.jsonl")
    assert metrics(parts(run(AROUND, events=[event, again])))["compactions"].value == 1


def test_a_boundary_in_copied_history_is_the_other_runs() -> None:
    requests = [request(0, read=150_000, copied=True), request(1, read=30_000, copied=True), request(2, read=31_000)]
    assert metrics(parts(run(requests, events=[compaction(5)])))["compactions"].value == 0


def test_the_summarising_call_is_modelled_from_below() -> None:
    """Three prompts of 157,000 tokens read at $0.30 a million, 67,200 bytes of summaries written at $15: $0.39."""
    requests = [request(n, read=157_000 if n % 2 == 0 else 40_000) for n in range(6)]
    events = [compaction(10 * n + 5, pre_tokens=157_000, summary_bytes=22_400) for n in (0, 2, 4)]
    found = metrics(parts(run(requests, events=events)))
    assert dict(found["compaction_call_tokens"].detail) == {
        "input": 471_000,
        "output": 16_800,
        "calls": 3,
        "unsized": 0,
    }
    assert found["compaction_cost_usd"].value == pytest.approx(0.3933)
    assert found["compaction_call_tokens"].basis.value == "model"


def test_a_logged_summary_is_not_modelled_besides() -> None:
    threads = (Thread("main", ThreadKind.MAIN), Thread("sum", ThreadKind.SUMMARISER, "main"))
    requests = [*AROUND, request(2, read=150_000, out=900, thread_id="sum")]
    found = metrics(
        parts(run(requests, events=[compaction(5, pre_tokens=150_000, summary_bytes=4_000)], threads=threads))
    )
    assert found["compaction_call_tokens"].value is None
    assert (found["compaction_cost_usd"].value, found["compaction_cost_usd"].undefined) == (
        None,
        "the summarising calls are in the log and counted there",
    )


BEFORE = [call(0, 0, args="f1", target="f"), call(1, 0, args="g1", target="g")]


def after(*calls: object) -> dict[str, object]:
    found = metrics(parts(run(AROUND, [*BEFORE, *calls], events=[compaction(5)])))  # type: ignore[list-item]
    return {name: metric.value for name, metric in found.items()}


def test_a_re_read_is_known_by_its_target_and_not_by_its_arguments() -> None:
    found = after(call(2, 1, args="f2", target="f", result_bytes=4_000))
    assert found["reread_after_fold_1"] == 1
    assert found["reread_regret_1"] == pytest.approx(1_000 / 113_484)
    assert found["duplicate_calls"] == 0


def test_a_window_ends_after_k_calls() -> None:
    others = [call(n, 1, ToolOp.EXEC, args=f"e{n}") for n in range(2, 5)]
    found = after(*others, call(9, 1, args="f2", target="f"))
    assert [found[f"reread_after_fold_{k}"] for k in (1, 3, 5, 10)] == [0, 0, 1, 1]
    assert [found[f"read_after_fold_{k}"] for k in (1, 3, 5, 10)] == [0, 0, 1, 1]
    assert found["search_after_fold_10"] == 0


def test_what_was_not_there_before_is_no_re_read_but_a_read() -> None:
    found = after(call(2, 1, args="h", target="h"))
    assert found["reread_after_fold_1"] == 0
    assert found["read_after_fold_1"] == 1


def test_a_read_that_failed_brought_nothing_back() -> None:
    assert after(call(2, 1, target="f", outcome=Outcome.ERROR))["reread_after_fold_1"] == 0


def test_a_target_is_missed_once_and_then_there() -> None:
    found = after(
        call(2, 1, args="f2", target="f"), call(3, 1, args="f3", target="f"), call(4, 1, args="g2", target="g")
    )
    assert found["demand_page_miss_rate"] == pytest.approx(2 / 3)


def test_without_a_fold_nothing_is_a_signal() -> None:
    found = metrics(parts(run(AROUND, BEFORE)))
    for name in ("reread_regret_1", "reread_after_fold_1", "read_after_fold_1", "demand_page_miss_rate"):
        assert found[name].value is None
        assert found[name].undefined


def test_a_fold_with_nothing_after_it_is_not_eligible() -> None:
    found = metrics(parts(run(AROUND, BEFORE, events=[compaction(5)])))
    assert found["read_after_fold_1"].value is None
    assert dict(found["read_after_fold_1"].detail) == {"folds": 1, "fewer_calls": 1}
