"""What a recording does not say is unknown: no zero, and a bound where part of it is known."""

from __future__ import annotations

from typing import Any

import pytest

from kpis.formulas.recorded.evaluate import metrics
from kpis.formulas.recorded.stated import at_least, is_bound, ratio_at_least
from kpis.recorded_metrics import load
from kpis.terms.metric import Metric
from kpis.terms.trace import Outcome, Provenance, RequestStatus, Thread, ThreadKind, Tokens, ToolOp, UsageScope
from tests.kpis.recorded.runs import PLACEHOLDER, call, compaction, parts, request, run

SILENT = Tokens(out_total=10)
NOTHING = Tokens()
UNPRICED: dict[str, Any] = {"model": "nobody"}


def of(*recorded: Any) -> dict[str, Metric]:
    """The metrics of all runs together."""
    whole = parts(recorded[0])
    for each in recorded[1:]:
        whole += parts(each)
    return metrics(whole)


def stands(metric: Metric) -> str:
    """``known``, ``bound`` or ``unknown``; what has no value says why."""
    if metric.value is None:
        assert metric.undefined
        assert load()[metric.id].undefined != "never: a complete recording without any has none"
        return "unknown"
    return "bound" if is_bound(metric) else "known"


CACHE = ("cache_breaks", "cache_break_tokens", "cache_rewritten_tokens", "cache_break_cost_usd")


def test_breaks_are_unknown_where_no_two_requests_can_be_compared() -> None:
    found = of(run([request(0, fresh=5_000), request(1, tokens=SILENT), request(2, fresh=9_000)]))
    assert {name: stands(found[name]) for name in CACHE} == dict.fromkeys(CACHE, "unknown")
    assert found["cache_breaks"].undefined == "2 of 2 requests cannot be held against the one before them"


def test_breaks_are_a_bound_where_only_some_can_be_compared() -> None:
    requests = [request(0, write=50_000), request(1, write=50_000), request(2, tokens=SILENT)]
    found = of(run(requests))
    assert {name: stands(found[name]) for name in CACHE} == dict.fromkeys(CACHE, "bound")
    assert found["cache_breaks"].value == found["cache_breaks"].low == 1
    assert dict(found["cache_breaks"].detail) == {"unexplained": 1}, "causes and nothing else"
    whole = of(run([request(0, write=50_000)]), run([request(0, read=9)]))
    assert (whole["cache_breaks"].value, stands(whole["cache_breaks"])) == (0, "known"), "there is no second request"


def test_a_row_for_a_whole_run_hides_breaks_and_is_a_row_of_the_hit_ratio() -> None:
    whole = request(9, read=60, fresh=40, scope=UsageScope.RUN)
    found = of(run([whole]))
    assert stands(found["cache_breaks"]) == "unknown"
    assert found["cache_hit_ratio"].value == 0.6


def test_a_hit_ratio_of_some_requests_is_none_of_all() -> None:
    found = of(run([request(0, read=30, fresh=70), request(1, tokens=SILENT)]))["cache_hit_ratio"]
    assert (found.value, found.numerator, found.denominator) == (None, 30, 100)
    assert found.undefined == "1 of 2 requests do not say what they read from cache"


def test_the_cost_of_breaks_and_compactions_needs_a_price_for_each() -> None:
    requests = [request(0, write=60_000, **UNPRICED), request(1, write=100, **UNPRICED)]
    found = of(run(requests, events=[compaction(5, pre_tokens=60_000, summary_bytes=400)]))
    assert found["cache_breaks"].value == 1
    assert found["cache_break_cost_usd"].undefined == "1 of 1 breaks are of a model without a price"
    assert found["compaction_cost_usd"].undefined == "1 of 1 compactions are of a model without a price"
    priced = of(run([request(0, write=60_000), request(1, write=100)], events=[compaction(5, pre_tokens=60_000)]))
    assert {stands(priced[name]) for name in ("cache_break_cost_usd", "compaction_cost_usd")} == {"bound"}
    none = of(run([request(0, write=10)]))
    assert [(none[name].value, stands(none[name])) for name in ("cache_break_cost_usd", "compaction_cost_usd")] == [
        (0, "known"),
        (0, "known"),
    ]


def test_a_compaction_without_any_size_costs_what_nobody_knows() -> None:
    requests = [request(0, tokens=NOTHING), request(1, tokens=NOTHING)]
    found = of(run(requests, events=[compaction(5)]))
    assert stands(found["compaction_call_tokens"]) == stands(found["compaction_cost_usd"]) == "unknown"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("fresh_tokens", {"fresh_in": 3}),
        ("cache_read_tokens", {"cache_read": 3}),
        ("cache_write_tokens", {"cache_write_1h": 3}),
        ("reasoning_tokens", {"out_reasoning": 3}),
    ],
)
def test_a_share_that_nobody_splits_is_unobserved(name: str, said: dict[str, Any]) -> None:
    told, silent = request(0, tokens=Tokens(**said)), request(1, tokens=NOTHING)
    assert stands(of(run([silent]))[name]) == "unknown"
    part, whole = of(run([told, silent]))[name], of(run([told]))[name]
    assert (part.value, stands(part)) == (3, "bound")
    assert (whole.value, stands(whole)) == (3, "known")


MIDDLE = ("exposed_main_mean", "exposed_main_median", "exposed_main_p95")


def test_prompts_that_are_known_in_part_have_a_sum_and_a_peak_from_below_and_no_middle() -> None:
    found = of(run([request(0, read=5_000), request(1, tokens=SILENT), request(2, read=9_000)]))
    assert (found["exposed_main_tokens"].low, found["exposed_main_peak"].low) == (14_000, 9_000)
    assert {stands(found[name]) for name in MIDDLE} == {"unknown"}
    assert found["exposed_main_median"].undefined == "1 of 3 main requests do not say their whole prompt"
    assert (found["exposed_other_tokens"].value, stands(found["exposed_other_tokens"])) == (0, "known")
    silent = of(run([request(0, tokens=SILENT)]))
    assert stands(silent["exposed_main_tokens"]) == stands(silent["exposed_main_peak"]) == "unknown"


def test_a_prompt_that_is_a_placeholder_is_not_known() -> None:
    stub = Tokens(fresh_in=4, cache_read=0, out_total=1, provenance={"fresh_in": Provenance.PLACEHOLDER})
    found = of(run([request(0, read=100), request(1, tokens=stub)]))
    assert (found["exposed_main_tokens"].low, stands(found["exposed_main_median"])) == (104, "unknown")


def test_a_gap_of_a_sub_agent_leaves_the_main_prompts_known() -> None:
    threads = (Thread("main", ThreadKind.MAIN), Thread("side", ThreadKind.SUBAGENT, "main"))
    found = of(run([request(0, read=10), request(1, tokens=NOTHING, thread_id="side")], threads=threads))
    assert (found["exposed_main_tokens"].value, stands(found["exposed_main_tokens"])) == (10, "known")
    assert stands(found["exposed_other_tokens"]) == "unknown"


def test_the_conversation_that_is_not_described_is_the_main_one() -> None:
    threads = (Thread("side", ThreadKind.SUBAGENT, "main"),)
    recorded = run([request(0, read=10_000), request(1, read=700, thread_id="side")], threads=threads)
    found = of(recorded)
    assert [found[f"exposed_{kind}_tokens"].value for kind in ("main", "other")] == [10_000, 700]
    assert not list(parts(recorded).trust.reasons()), "main is among the threads of the run"


def test_one_parent_that_is_not_there_is_one() -> None:
    threads = (Thread("main", ThreadKind.MAIN), Thread("side", ThreadKind.SUBAGENT, "gone"))
    (said,) = parts(run([request(0)], threads=threads)).trust.reasons()
    assert said == "1 thread names a parent that is not among the files."


REPEATS = ("tool_loops", "tool_loop_warnings", "looped_step_ratio", "duplicate_calls", "duplicate_call_ratio")


def reads(*args: str | None, **more: Any) -> dict[str, Metric]:
    calls = [call(n, n, args=each, **more) for n, each in enumerate(args)]
    return of(run([request(n) for n in range(len(calls))], calls))


def test_without_arguments_there_is_no_saying_what_repeats() -> None:
    found = reads(*[None] * 8)
    assert {name: stands(found[name]) for name in REPEATS} == dict.fromkeys(REPEATS, "unknown")
    assert found["tool_loops"].undefined == "8 of 8 calls have no recorded arguments"
    known = reads(*["a"] * 8)
    assert {name: stands(known[name]) for name in REPEATS} == dict.fromkeys(REPEATS, "known")
    assert (known["tool_loops"].value, known["duplicate_calls"].value) == (1, 7)


def test_a_call_without_arguments_may_be_one_repeat_more() -> None:
    found = reads("a", "b", None, "a")
    assert (found["duplicate_calls"].low, found["duplicate_calls"].high) == (1, 2)
    assert (found["duplicate_call_ratio"].low, found["duplicate_call_ratio"].high) == (0.25, 0.5)
    assert (found["tool_loops"].value, stands(found["tool_loops"])) == (0, "bound")
    written = of(run([request(0)], [call(0, 0), call(1, 0, ToolOp.WRITE, args=None)]))
    assert stands(written["duplicate_calls"]) == "known", "a write is never work done twice"


def test_equal_calls_without_results_may_be_a_loop() -> None:
    calls = [call(n, n, result="x" if n < 4 else None) for n in range(8)]
    found = of(run([request(n) for n in range(8)], calls))
    assert (found["tool_loops"].value, stands(found["tool_loops"])) == (0, "bound")
    assert stands(found["tool_loop_warnings"]) == "unknown", "four rounds are known, and four more may be of them"
    assert found["tool_loop_warnings"].detail["seen"] == 1
    different = of(run([request(n) for n in range(8)], [call(n, n, args=f"a{n}", result=None) for n in range(8)]))
    assert (different["tool_loops"].value, stands(different["tool_loops"])) == (0, "known")


def test_waste_is_unknown_where_what_failed_does_not_say_its_tokens() -> None:
    lost: dict[str, Any] = {"status": RequestStatus.ERROR}
    silent = of(run([request(0, tokens=NOTHING, **lost), request(1, out=10)]))
    assert (stands(silent["wasted_tokens"]), stands(silent["wasted_token_ratio"])) == ("unknown", "unknown")
    stub = Tokens(fresh_in=5, cache_read=0, out_total=1, provenance=PLACEHOLDER)
    part = of(run([request(0, tokens=stub, **lost)]))["wasted_tokens"]
    assert (part.value, stands(part)) == (6, "bound")
    other = of(run([request(0, out=10, **lost), request(1, tokens=stub)]))
    assert (stands(other["wasted_tokens"]), other["wasted_token_ratio"].high) == ("known", 10 / 16)
    nothing = of(run([request(0, tokens=stub)]))
    assert (nothing["wasted_tokens"].value, stands(nothing["wasted_tokens"])) == (0, "known"), "no request failed"


def test_a_bill_of_requests_without_usage_is_unknown() -> None:
    found = of(run([request(0, tokens=NOTHING, status=RequestStatus.ERROR)]))
    assert found["cost_computed_usd"].undefined == "no request says its tokens"


def test_tokens_of_an_unread_sub_agent_that_says_none_are_unknown() -> None:
    threads = (Thread("main", ThreadKind.MAIN), Thread("side", ThreadKind.SUBAGENT, "main", spawned_by="c0"))
    spawn = call(0, 0, ToolOp.SPAWN)
    silent = of(run([request(0), request(1, tokens=NOTHING, thread_id="side")], [spawn], threads=threads))
    assert silent["subagents_unread"].value == 1
    assert stands(silent["subagent_unread_tokens"]) == "unknown"
    part = request(2, read=40, thread_id="side")
    some = of(run([request(0), request(1, tokens=NOTHING, thread_id="side"), part], [spawn], threads=threads))
    assert (some["subagent_unread_tokens"].value, stands(some["subagent_unread_tokens"])) == (40, "bound")
    coarse = request(3, read=70, out=7, thread_id="side", scope=UsageScope.THREAD)
    told = of(run([request(0), request(1, tokens=NOTHING, thread_id="side"), coarse], [spawn], threads=threads))
    assert (told["subagent_unread_tokens"].value, stands(told["subagent_unread_tokens"])) == (77, "known")


def test_reads_that_do_not_say_of_what_hide_what_is_read_again() -> None:
    requests = [request(0, read=90_000), request(1, read=20_000)]
    events = [compaction(5)]
    known = [call(0, 0, target="f"), call(1, 1, target="f", outcome=Outcome.OK)]
    assert of(run(requests, known, events=events))["demand_page_miss_rate"].value == 1
    blind = of(run(requests, [call(0, 0), call(1, 1)], events=events))
    names = ("demand_page_miss_rate", "reread_after_fold_1", "reread_regret_1")
    assert {stands(blind[name]) for name in names} == {"unknown"}
    part = of(run(requests, [call(0, 0, target="f"), call(1, 1, target="f"), call(2, 1)], events=events))
    assert {stands(part[name]) for name in names} == {"bound"}


def test_output_a_call_counts_what_stands_for_the_whole_run() -> None:
    whole = request(9, out=60, scope=UsageScope.RUN)
    assert of(run([whole], [call(0, 0), call(1, 0)]))["output_per_call"].value == 30
    assert stands(of(run([request(0, tokens=NOTHING)], [call(0, 0)]))["output_per_call"]) == "unknown"


def test_a_bound_is_told_from_a_value_and_from_nothing() -> None:
    assert stands(at_least("exposed_tokens", 3, 0, "gaps")) == "known"
    assert stands(at_least("exposed_tokens", 3, 1, "gaps", every=1)) == "bound"
    assert stands(at_least("exposed_tokens", 0, 1, "gaps", every=2)) == "bound"
    assert stands(at_least("exposed_tokens", 0, 2, "gaps", every=2)) == "unknown"
    assert ratio_at_least("looped_step_ratio", 1, 4, "none", 1, "gaps").low == 0.25
    assert ratio_at_least("looped_step_ratio", 0, 0, "none", 1, "gaps", every=1).undefined == "none"
