"""Tokens: each answer once, parts disjoint, gaps shown as gaps."""

from __future__ import annotations

import pytest

from kpis.formulas.recorded.evaluate import metrics
from kpis.formulas.recorded.trust import Trust
from kpis.terms.trace import ModelUsage, RequestStatus, RunFacts, Thread, ThreadKind, Tokens, UsageScope
from tests.kpis.recorded.runs import PLACEHOLDER, parts, request, run


def test_the_sum_over_lines_stands_beside_the_right_one() -> None:
    """One answer in two lines, another in one: adding lines gives 1.9 times the tokens, as in a real session."""
    requests = [request(0, read=900, out=100, n_lines=2), request(1, read=90, out=10, n_lines=1)]
    found = metrics(parts(run(requests)))
    assert found["exposed_tokens"].value == 990
    assert found["output_tokens"].value == 110
    assert found["line_sum_tokens"].value == 2_100
    assert found["line_sum_ratio"].value == pytest.approx(1.909, abs=0.001)
    assert dict(found["recorded_requests"].detail)["lines"] == 3


def test_prompts_of_one_kind_of_thread_are_described_by_type_7() -> None:
    prompts = [request(n, read=100 * (n + 1)) for n in range(4)]
    other = request(9, read=7_000, thread_id="side")
    threads = (Thread("main", ThreadKind.MAIN), Thread("side", ThreadKind.SUBAGENT, "main"))
    found = metrics(parts(run([*prompts, other], threads=threads)))
    assert [found[f"exposed_main_{what}"].value for what in ("tokens", "mean", "median", "p95", "peak")] == [
        1_000,
        250,
        250,
        385,
        400,
    ]
    assert found["exposed_other_peak"].value == 7_000
    assert found["exposed_tokens"].value == 8_000


def test_no_request_is_no_prompt_and_no_zero() -> None:
    found = metrics(parts(run([])))
    assert found["exposed_tokens"].value == 0
    for what in ("mean", "median", "p95", "peak"):
        assert found[f"exposed_main_{what}"].value is None
        assert found[f"exposed_main_{what}"].undefined


def test_what_another_file_counts_and_what_a_client_cached_is_not_counted() -> None:
    requests = [
        request(0, read=10, out=1),
        request(1, read=20, out=2, copied=True),
        request(2, read=40, out=4, local_cache=True),
        request(3, read=80, out=8, status=RequestStatus.SYNTHETIC),
    ]
    found = metrics(parts(run(requests)))
    assert found["recorded_requests"].value == 1
    assert found["exposed_tokens"].value == 10
    assert found["output_tokens"].value == 1
    assert dict(found["recorded_requests"].detail) == {"synthetic": 1, "local_cache": 1, "lines": 1, "coarse": 0}


def test_a_placeholder_makes_the_output_a_lower_bound() -> None:
    held = Tokens(fresh_in=1, cache_read=1, out_total=4, provenance=PLACEHOLDER)
    found = metrics(parts(run([request(0, tokens=held), request(1, read=1, out=100)])))["output_tokens"]
    assert (found.value, found.low, found.high) == (104, 104, None)
    assert "1 requests" in found.notes[0]


def test_the_recordings_own_total_is_the_upper_bound_and_never_added() -> None:
    held = Tokens(fresh_in=1, cache_read=1, out_total=4, provenance=PLACEHOLDER)
    own = ModelUsage("small", Tokens(fresh_in=10, cache_read=1, out_total=4_962))
    found = metrics(parts(run([request(0, tokens=held)], facts=[RunFacts(by_model=(own,))])))
    assert (found["output_tokens"].low, found["output_tokens"].high) == (4, 4_962)
    assert found["unlogged_tokens"].value == (11 - 2) + (4_962 - 4)
    assert found["exposed_tokens"].value == 2


def test_usage_that_is_nowhere_is_undefined() -> None:
    found = metrics(parts(run([request(0, tokens=Tokens()), request(1, tokens=Tokens())])))
    assert found["output_tokens"].value is None
    assert found["output_tokens"].undefined == "no request says its output"
    assert found["exposed_main_peak"].value is None


def test_a_prompt_given_as_one_number_is_a_prompt() -> None:
    found = metrics(parts(run([request(0, tokens=Tokens(unattributed=500, out_total=5))])))
    assert found["exposed_tokens"].value == 500
    assert found["exposed_main_peak"].value == 500
    assert not found["exposed_tokens"].notes


def test_an_unattributed_total_without_an_output_is_no_prompt() -> None:
    found = metrics(parts(run([request(0, tokens=Tokens(unattributed=500))])))
    assert found["exposed_tokens"].value is None
    assert found["exposed_tokens"].undefined == "no request says its prompt"
    assert dict(found["exposed_tokens"].detail) == {"gaps": 1}


def test_a_row_for_a_whole_thread_adds_to_totals_and_is_no_prompt() -> None:
    whole = request(0, read=70_000, out=900, scope=UsageScope.RUN)
    found = metrics(parts(run([whole])))
    assert not found["exposed_tokens"].notes
    assert found["exposed_tokens"].value == 70_000
    assert found["output_tokens"].value == 900
    assert found["recorded_requests"].value == 0
    assert found["exposed_main_peak"].value is None


def test_requests_that_a_row_for_the_whole_run_counts_leave_no_gap() -> None:
    """Some agents log every request without usage and one total; the total is the run's, and no lower bound."""
    whole = request(9, tokens=Tokens(unattributed=122_612, out_total=1_369), scope=UsageScope.RUN)
    silent = [request(n, tokens=Tokens()) for n in range(12)]
    recorded = parts(run([*silent, whole]))
    found = metrics(recorded)
    assert found["recorded_requests"].value == 12
    assert (found["exposed_tokens"].value, found["exposed_tokens"].notes) == (122_612, ())
    assert (found["output_tokens"].value, found["output_tokens"].notes) == (1_369, ())
    assert found["output_observed_ratio"].value == 1
    assert recorded.trust.level is Trust.OK
    assert (recorded.cost.requests, recorded.cost.incomplete) == (1, 0)


def test_a_row_for_one_thread_says_nothing_of_another() -> None:
    whole = request(9, read=5, out=5, scope=UsageScope.THREAD)
    silent = [request(0, tokens=Tokens()), request(1, tokens=Tokens(), thread_id="side")]
    found = metrics(parts(run([*silent, whole])))
    assert dict(found["output_tokens"].detail) == {"gaps": 1}


def test_what_of_an_undivided_prompt_was_fresh_is_not_known() -> None:
    found = metrics(parts(run([request(0, tokens=Tokens(unattributed=500, out_total=5)), request(1, fresh=7, read=9)])))
    assert (found["fresh_tokens"].value, dict(found["fresh_tokens"].detail)) == (7, {"gaps": 1})
    assert (found["cache_read_tokens"].value, dict(found["cache_read_tokens"].detail)) == (9, {"gaps": 1})
