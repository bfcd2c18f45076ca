"""A number can be explained by the lines that it was counted from."""

from __future__ import annotations

import pytest
from hypothesis import given

from kpis.formulas.recorded.evaluate import metrics
from kpis.formulas.recorded.evidence import EXPLAINED, evidence
from kpis.terms.recorded import RecordedRun
from kpis.terms.trace import Outcome, ToolOp
from tests.kpis.recorded.runs import TABLE, call, compaction, parts, recorded_runs, request, run

COUNTED = (
    "cache_breaks",
    "compactions",
    "implicit_compactions",
    "duplicate_calls",
    "tool_errors",
    "tool_denials",
    "tool_timeouts",
    "tool_interrupts",
    "tool_unanswered",
    "tool_orphans",
    "request_failures",
    "subagents",
)


@given(recorded_runs())
def test_there_are_as_many_lines_as_the_number_says(recorded: RecordedRun) -> None:
    found = metrics(parts(recorded))
    for name in COUNTED:
        number = found[name].high if name == "duplicate_calls" and found[name].high is not None else found[name].value
        assert len(list(evidence(recorded, name, TABLE))) == number, name
    loops = len(list(evidence(recorded, "tool_loops")))
    assert loops == (found["tool_loops"].value or 0) + (found["tool_loop_warnings"].value or 0)


@given(recorded_runs())
def test_every_line_is_a_sentence(recorded: RecordedRun) -> None:
    for name in EXPLAINED:
        for file, line, said in evidence(recorded, name, TABLE):
            assert file in (None, "a.jsonl")
            assert line is None or line > 0
            assert said.endswith(".")
            assert "\n" not in said


def test_a_number_that_is_a_plain_sum_has_no_lines() -> None:
    assert not list(evidence(run([request(0, read=3)]), "cache_read_tokens"))


def test_a_break_names_its_line_its_size_and_its_cause() -> None:
    recorded = run([request(0, write=50_000, at=0), request(1, write=50_500, at=396_000)])
    assert list(evidence(recorded, "cache_breaks")) == [
        (
            "a.jsonl",
            11,
            "50,000 tokens of the prefix were not read from cache, 6.6 min after the request before: pause.",
        )
    ]
    ((_, _, priced),) = evidence(recorded, "cache_break_cost_usd", TABLE)
    assert priced.endswith("pause; $0.1725 above a read.")


def test_a_merged_answer_names_its_line() -> None:
    ((file, line, said),) = evidence(run([request(0, n_lines=4)]), "line_sum_tokens")
    assert (file, line) == ("a.jsonl", 1)
    assert said.startswith("4 lines are one answer")


@pytest.mark.parametrize("name", ["duplicate_calls", "tool_errors", "reread_after_fold_1", "demand_page_miss_rate"])
def test_what_a_call_was_about_is_named_where_names_are_asked_for(name: str) -> None:
    requests = [request(0, read=900), request(1, read=100)]
    calls = [
        call(0, 0, target="/secret/f"),
        call(1, 1, target="/secret/f"),
        call(2, 1, ToolOp.EXEC, "e", target="/secret/f", outcome=Outcome.ERROR),
    ]
    recorded = run(requests, calls, events=[compaction(5)])
    plain = [said for _, _, said in evidence(recorded, name)]
    named = [said for _, _, said in evidence(recorded, name, names=True)]
    assert plain
    assert not any("secret" in said for said in plain)
    assert all("secret" in said for said in named)


def test_a_model_without_a_price_is_named_once() -> None:
    requests = [request(n, fresh=5, model="nobody") for n in range(3)] + [request(9, fresh=5)]
    said = [sentence for _, _, sentence in evidence(run(requests), "cost_computed_usd", TABLE)]
    assert said == ["There is no price for nobody.", "$0.0000, prices of small as of 2026-01-31."]
