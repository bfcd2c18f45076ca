"""All metrics of authored runs: their values, and that what a recording does not say has a reason and no number."""

from __future__ import annotations

import json
import random

import pytest

from kpis.formulas.context.evaluate import evaluate
from kpis.formulas.context.evaluate_buckets import bucket_ids
from kpis.formulas.context.made import Metrics
from kpis.formulas.context.prices import Profile, Tier
from kpis.formulas.context.result import SCHEMA, result_record
from kpis.recorded_metrics import CATALOG, load, read_rows
from kpis.terms.context_run import ContextRun
from kpis.terms.quantity import Basis
from tests.kpis.context.lines import action, end, fold, header, node, read, recall, request, usage, verdict

SYSTEM, FIRST, SECOND = node("sys", 50, "system"), node("u0", 40), node("a0", 60, "assistant")
CHECKPOINT = node("cp", 30, "checkpoint", checkpoint_id="cp1")
PRICES = Profile("flat", "2026-09-28", (Tier(1.0, 0.1, 4.0, 1.25),))

FOLDED = (
    header(requires_recall=True, boundary_seq=5),
    request(1, [SYSTEM, FIRST], usage=usage(90, 0)),
    action(2, "read", "f"),
    request(3, [SYSTEM, FIRST, SECOND], usage=usage(60, 90)),
    fold(4, 150, 80, checkpoint_id="cp1", aux_request_ids=["q5"]),
    request(5, None, purpose="compaction", usage=usage(150, 0, 20), request_id="q5"),
    request(6, [SYSTEM, CHECKPOINT], usage=usage(30, 50)),
    action(7, "read", "f"),
    recall(8, ["cp1"], 35),
    action(9, "test", "t"),
    request(10, [SYSTEM, CHECKPOINT, node("u1", 20)], usage=usage(20, 80)),
    verdict(11, "recall-contains"),
    verdict(12, "tests-pass", critical=True),
    end(13, score=0.8, turns=4, wall_s=2.5),
)


@pytest.fixture
def made() -> Metrics:
    return evaluate(read(*FOLDED), PRICES, assumed_hit=0.5)


def values(metrics: Metrics, *ids: str) -> list[float | None]:
    return [metrics[each].value for each in ids]


def why(metrics: Metrics, each: str) -> str:
    assert metrics[each].value is None
    return metrics[each].undefined or ""


def test_every_row_of_the_registry_is_answered(made: Metrics) -> None:
    rows = read_rows({"context.toml": (CATALOG / "context.toml").read_text(encoding="utf-8")})
    assert set(made) == set(rows)
    assert set(evaluate(read(end(1)))) == set(rows)
    assert set(rows) <= set(load())


def test_a_value_or_a_reason_and_never_both(made: Metrics) -> None:
    for metrics in (made, evaluate(read()), evaluate(read(end(1)))):
        for each in metrics.values():
            assert (each.value is None) == bool(each.undefined), each.id


def test_prefixes_and_folds(made: Metrics) -> None:
    """Pairs: (sys u0 | sys u0 a0), (sys u0 a0 | sys cp) across the fold, (sys cp | sys cp u1)."""
    assert made["shared_prefix_nodes"].value == pytest.approx(5 / 3)
    assert values(made, "shared_prefix_tokens", "invalidated_suffix_tokens") == [90 + 50 + 80, 100]
    assert values(made, "invalidated_suffix_tokens_fold_pairs", "reclaimed_tokens", "folds") == [100, 70, 1]
    assert made["pma_all_pairs"].value == pytest.approx(100 / 70)
    assert made["pma_all_pairs"].basis is Basis.FORMULA
    assert made["reclaimed_tokens"].basis is Basis.COUNT


def test_a_change_of_history_that_no_fold_made_is_in_one_pma_alone() -> None:
    edited = request(2, [node("sys, edited", 50, "system"), FIRST])
    metrics = evaluate(read(request(1, [SYSTEM, FIRST]), edited, fold(3, 90, 40), request(4, [edited["nodes"][0]])))
    assert metrics["pma_all_pairs"].value == pytest.approx((90 + 40) / 50)
    assert metrics["pma_fold_pairs_only"].value == pytest.approx(40 / 50)


def test_exposure_and_frozen_load(made: Metrics) -> None:
    assert values(made, "prompt_tokens_total", "prompt_tokens_mean", "prompt_tokens_median") == [420, 105, 95]
    assert values(made, "prompt_tokens_peak", "prompt_tokens_p95") == [150, pytest.approx(142.5)]
    assert values(made, "frozen_tokens_mean", "frozen_tokens_peak") == [15, 30]
    assert made["frozen_share"].value == pytest.approx(60 / 420)


def test_auxiliary_recall_and_regret(made: Metrics) -> None:
    assert values(made, "auxiliary_calls", "auxiliary_input_tokens", "auxiliary_output_tokens") == [1, 150, 20]
    assert made["auxiliary_calls"].detail == {"summary": 1, "rationale": 0}
    assert values(made, "recall_calls", "search_calls", "recall_returned_tokens", "recalled_checkpoints") == [
        1,
        0,
        35,
        1,
    ]
    assert values(made, "context_regret_1", "context_regret_3", "recalled_of_fold_3") == [0, 0.5, 35]


def test_cost(made: Metrics) -> None:
    additions = 150 + 20 + 35
    assert values(made, "cost_rho_1", "cost_rho_0") == [420 + additions, 420 - 220 + additions]
    assert made["cost_rho_0_2"].value == pytest.approx(200 + 44 + additions)
    assert made["cost_rho_1"].basis is Basis.MODEL


def test_duplicate_work_is_judged_against_the_whole_run(made: Metrics) -> None:
    """After the boundary: a read that repeats the one before the fold, a recall, a test."""
    assert values(made, "dwr_total", "dwr_read") == [pytest.approx(1 / 3), pytest.approx(1 / 3)]
    assert values(made, "dwr_own_read", "dwr_own_test") == [1, 0]
    parts = [made[f"dwr_{name}"].value or 0 for name in ("read", "search", "test", "recall", "delegate", "other")]
    assert sum(parts) == pytest.approx(made["dwr_total"].value)


def test_signals_triggers_and_outcome(made: Metrics) -> None:
    assert values(made, "raf_1", "taf_1", "taf_3", "saf_5") == [1, 0, 1, 0]
    assert made["saf_5"].detail == {"censored": 1}
    assert values(made, "recall_trigger_rate", "recall_success_given_trigger", "gratuitous_recalls") == [1, 1, 0]
    assert values(made, "success", "score", "model_turns", "wall_clock_ms") == [1, 0.8, 4, 2500]
    assert made["trajectory_efficiency"].value == pytest.approx(0.8 / 5)


def test_correctness_from_checks(made: Metrics) -> None:
    assert values(made, "critical_violation_rate", "critical_violations", "hard_constraint_violations") == [0, 0, 0]
    assert made["cross_session_recalls"].value == 0
    assert "no forbidden path" in why(made, "wrong_destructive_edits")
    assert "nothing was presented" in why(made, "authority_loss_rate")


def test_provider_counters_and_costs(made: Metrics) -> None:
    assert values(made, "provider_uncached_tokens", "provider_cache_read_tokens") == [350, 220]
    assert values(made, "cache_hit_ratio_normal", "cache_hit_ratio_after_recall") == [pytest.approx(90 / 240), 0.8]
    assert made["cache_hit_ratio_after_leaf"].value == pytest.approx(50 / 80)
    assert made["provider_uncached_tokens"].basis is Basis.REPORTED
    assert values(made, "unrealised_cache_tokens") == [0]
    assert made["realised_cost_usd"].value == pytest.approx((350 + 22 + 40 * 4) / 1e6)
    assert made["modelled_cost_usd"].value == pytest.approx((200 + 110 + 11 + 20 * 4) / 1e6)
    assert made["effective_rho"].value == pytest.approx(0.375 * 0.1 + 0.625)


def test_buckets_are_the_prompts(made: Metrics) -> None:
    assert sum(made[each].value or 0 for each in bucket_ids()) == made["prompt_tokens_total"].value
    assert values(made, "attributed_system_tokens", "attributed_raw_user_tokens") == [200, 100]
    assert made["attributed_unattributed_envelope_tokens"].value == 60  # the leaf checkpoint, whose text is not kept


def test_no_fold_and_no_request_print_no_zero() -> None:
    """A run without folds: the ratios that look at folds have no value, whatever the rest is."""
    metrics = evaluate(read(request(1, [SYSTEM]), action(2), end(3)))
    assert metrics["reclaimed_tokens"].value == 0
    looking = [each for each in metrics if each.startswith(("pma", "context_regret", "raf", "saf", "taf"))]
    assert len(looking) == 2 + 3 + 9
    assert {metrics[each].value for each in looking} == {None}
    assert why(metrics, "shared_prefix_tokens") == "no request has another one before it"
    empty = evaluate(read(end(1)))
    assert {empty[f"prompt_tokens_{part}"].value for part in ("mean", "median", "p95", "peak")} == {None}
    assert empty["prompt_tokens_total"].value == 0


@pytest.mark.parametrize(
    ("events", "ids", "reason"),
    [
        ([request(1, None), request(2, [SYSTEM])], ["shared_prefix_nodes", "pma_all_pairs"], ""),
        ([request(1, [node("a", None)]), request(2, [SYSTEM])], ["shared_prefix_tokens", "cost_rho_1"], "no price"),
        ([request(1, [SYSTEM], envelope_tokens=None)], ["prompt_tokens_total", "cost_rho_0"], "prompt of a request"),
        ([fold(1, None, 5)], ["reclaimed_tokens", "pma_all_pairs", "context_regret_1"], "before and after a fold"),
        ([recall(1, ["x"], None)], ["recall_returned_tokens", "cost_rho_1"], ""),
        ([fold(1, 9, 5), recall(2, ["x"])], ["recalled_of_fold_1"], "no checkpoint id"),
        ([request(1, [], purpose="compaction")], ["auxiliary_input_tokens", "cost_rho_1"], "reported no usage"),
        ([action(1), action(2, env=None)], ["dwr_total", "dwr_read"], "environment"),
        ([recall(1, ["x"], 5, cross_session=None)], ["cross_session_recalls"], "left its session"),
        ([verdict(1, passed=None, critical=True)], ["success", "critical_violations"], "could not be run"),
        ([end(1)], ["recall_trigger_rate", "score", "model_turns", "wall_clock_ms"], "does not say"),
        ([end(1)], ["break_even_rho"], "two arms"),
        ([request(1, [SYSTEM])], ["provider_output_tokens"], "does not say"),
        ([request(1, [SYSTEM], usage=usage(5, None))], ["cache_hit_ratio_normal"], "no cache counters"),
    ],
)
def test_what_is_not_recorded_has_a_reason(events, ids: list[str], reason: str) -> None:
    metrics = evaluate(read(*events), PRICES)
    for each in ids:
        assert reason in why(metrics, each), each


def test_bounds_stand_where_the_environment_is_unknown() -> None:
    metric = evaluate(read(action(1), action(2, env=None)))["dwr_total"]
    assert (metric.value, metric.low, metric.high, metric.detail) == (None, 0, 0.5, {"unknown_environment": 1})


def test_a_run_that_asks_no_model_and_did_is_an_error_and_no_cost() -> None:
    metrics = evaluate(read(header(semantic_mode="none"), request(1, [], purpose="compaction", usage=usage(9, 0))))
    assert "one of both is wrong" in why(metrics, "auxiliary_calls")
    assert "one of both is wrong" in why(metrics, "cost_rho_1")


def test_more_shared_than_sent_is_an_error_and_no_cost() -> None:
    low = request(2, [SYSTEM, FIRST], prompt_tokens=10)
    metrics = evaluate(read(request(1, [SYSTEM, FIRST], prompt_tokens=10), low))
    assert "do not fit" in why(metrics, "cost_rho_0")
    assert "request q1" in why(metrics, "attributed_system_tokens")


def test_the_first_reason_is_told_and_each_is_told_alone() -> None:
    """What makes a cost unknown is named, whichever of its parts it is."""
    unpriced = read(request(1, [SYSTEM]), recall(2, ["x"], None))
    assert why(evaluate(unpriced), "cost_rho_0") == "the size of a recall is not recorded"
    assert why(evaluate(read(end(1))), "cost_rho_0") == "there is no answered main request"
    half = read(request(1, [SYSTEM]), request(2, [], purpose="compaction", usage=usage(9, 0, None)))
    assert "reported no usage" in why(evaluate(half), "cost_rho_0")
    blind = read(request(1, None, prompt_tokens=5), request(2, [SYSTEM]))
    assert "nodes of a request" in why(evaluate(blind), "cost_rho_0")


def test_auxiliary_input_is_all_input_and_cached_parts_may_be_unreported() -> None:
    summary = request(1, [], purpose="compaction", usage=usage(100, 30, 5, 7))
    plain = request(2, [], purpose="rationale", usage=usage(10, None, 5, None))
    metrics = evaluate(read(summary, plain))
    assert values(metrics, "auxiliary_input_tokens", "auxiliary_output_tokens") == [147, 10]
    assert metrics["auxiliary_calls"].detail == {"summary": 1, "rationale": 1}


def test_a_failed_request_is_on_the_bill_only_where_the_provider_counted_it() -> None:
    answered = request(1, [SYSTEM], usage=usage(5, 0))
    free = request(2, [SYSTEM], ok=False)
    billed = request(3, [SYSTEM], ok=False, usage=usage(7, 0))
    assert evaluate(read(answered, free))["provider_uncached_tokens"].value == 5
    assert evaluate(read(answered, free, billed))["provider_uncached_tokens"].value == 12
    silent = request(4, [SYSTEM])
    assert evaluate(read(answered, silent))["provider_uncached_tokens"].value is None


def test_a_checkpoint_without_price_leaves_the_load_unknown_and_not_the_rest() -> None:
    bare = {**CHECKPOINT, "tokens": None}
    metrics = evaluate(read(request(1, [SYSTEM, bare], prompt_tokens=90)))
    for each in ("frozen_tokens_mean", "frozen_tokens_peak", "frozen_share"):
        assert "no price" in why(metrics, each)
    assert metrics["prompt_tokens_total"].value == 90
    unknown = evaluate(read(request(1, [node("u", None), CHECKPOINT])))
    assert (unknown["frozen_tokens_peak"].value, why(unknown, "frozen_share")) == (
        30,
        "the prompt of a request is not recorded",
    )
    assert "nodes of a request" in why(evaluate(read(request(1, None, prompt_tokens=9))), "frozen_tokens_mean")


def test_sub_agents_and_failed_requests_are_no_pairs() -> None:
    other = request(2, [node("x", 7)], purpose="subagent", session="sub")
    failed = request(3, [node("y", 7)], ok=False)
    metrics = evaluate(read(request(1, [SYSTEM]), other, failed, request(4, [SYSTEM, FIRST])))
    assert metrics["shared_prefix_tokens"].detail == {"pairs": 1}
    assert values(metrics, "invalidated_suffix_tokens", "prompt_tokens_total") == [0, 140]
    assert metrics["availability"].value == 0.75


def test_a_fold_belongs_to_the_session_whose_nodes_it_replaced() -> None:
    sessions = header(sessions=["s", "t"])
    rows = [
        request(1, [SYSTEM, FIRST]),
        request(2, [node("o", 9)], session="t"),
        fold(3, 90, 50, replaced=["u0"]),
        request(4, [SYSTEM]),
        request(5, [node("p", 9)], session="t"),
    ]
    metrics = evaluate(read(sessions, *rows))
    assert values(metrics, "invalidated_suffix_tokens", "invalidated_suffix_tokens_fold_pairs") == [49, 40]


def test_tokens_of_a_rule_of_thumb_are_a_model_and_the_providers_are_reported() -> None:
    for basis, expected in (("estimated", Basis.MODEL), ("provider", Basis.REPORTED)):
        run = read(header(tokenizer={"id": "t", "basis": basis}), request(1, [SYSTEM]), request(2, [SYSTEM]))
        metrics = evaluate(run)
        assert {metrics[each].basis for each in ("shared_prefix_tokens", "prompt_tokens_mean")} == {expected}


def anchor(seq: int, name: str, lifecycle: str = "active", ok: bool | None = True) -> dict:
    return {
        "type": "anchor",
        "seq": seq,
        "anchor_id": name,
        "kind": "constraint",
        "authority": "normative",
        "lifecycle": lifecycle,
        "provenance_ok": ok,
    }


def state(seq: int, key: str, op: str, value, by=None) -> dict:
    return {"type": "state", "seq": seq, "key": key, "op": op, "value": value, "superseded_by": by}


def shown(seq: int, anchors: list[str] | None = None, **shown_values) -> dict:
    told = [{"key": key, "value": value} for key, value in shown_values.items()]
    return {"type": "presented", "seq": seq, "at": "final", "anchors": anchors, "values": told}


def test_anchors_are_expected_as_of_when_something_is_presented() -> None:
    rows = (anchor(1, "a"), anchor(2, "b"), shown(3, ["a"]), anchor(4, "b", "retired"), shown(5, ["a"]))
    metric = evaluate(read(*rows))["authority_loss_rate"]
    assert (metric.numerator, metric.denominator) == (1, 3)


def test_stale_wrong_and_unknown_values() -> None:
    rows = (
        state(1, "timeout", "set", 30),
        state(2, "timeout", "supersede", 30, 60),
        state(3, "mode", "set", "new"),
        shown(4, timeout=30, mode="odd"),
        shown(5, timeout=60),
    )
    metric = evaluate(read(*rows))["state_stale_rate"]
    assert (metric.numerator, metric.denominator, metric.detail) == (1, 3, {"wrong": 1, "unknown_key": 0})
    metric = evaluate(read(*rows, shown(6, nobody=1)))["state_stale_rate"]
    assert (metric.value, metric.low, metric.high) == (None, 0.25, 0.5)


def test_a_null_is_a_value_that_can_be_wrong() -> None:
    metric = evaluate(read(state(1, "k", "set", 1), shown(2, k=None)))["state_stale_rate"]
    assert (metric.value, metric.detail["wrong"]) == (0, 1)


def test_two_active_values_are_ambiguous_and_neither_is_stale() -> None:
    metrics = evaluate(read(state(1, "k", "set", 1), state(2, "k", "set", 2), shown(3, k=1)))
    assert values(metrics, "state_ambiguity_rate", "state_stale_rate") == [1, 0]


def test_provenance_that_was_not_checked_is_no_pass() -> None:
    checked = evaluate(read(anchor(1, "a"), anchor(2, "b", ok=False), anchor(3, "c"), anchor(4, "d")))
    assert values(checked, "provenance_coverage", "unrecoverable_provenance") == [0.75, 1]
    open_ended = evaluate(read(anchor(1, "a"), anchor(2, "b", ok=None)))["provenance_coverage"]
    assert (open_ended.value, open_ended.low, open_ended.high) == (None, 0.5, 1)


def test_a_violation_is_known_although_another_check_is_not() -> None:
    metrics = evaluate(read(verdict(1, passed=False, critical=True), verdict(2, passed=None, critical=True)))
    assert values(metrics, "critical_violation_rate", "critical_violations") == [1, None]
    assert (metrics["critical_violations"].low, metrics["critical_violations"].high) == (1, 2)
    assert metrics["success"].value == 0


def test_what_does_not_apply_is_no_success() -> None:
    spared = verdict(1, "anchor-active", passed=None, applicable=False)
    assert "no hard check" in why(evaluate(read(spared)), "success")


def test_a_failed_transport_is_no_wrong_answer() -> None:
    lost = evaluate(read(verdict(1, passed=False), end(2, outcome="transport-failed")))
    assert "transport" in why(lost, "success")


def test_a_hit_ratio_says_whether_the_run_had_the_cache_to_itself() -> None:
    rows = (request(1, [SYSTEM], usage=usage(1, 1)), end(2))
    assert evaluate(read(header(concurrency=1), *rows))["cache_hit_ratio_normal"].notes == ()
    for header_row in (header(concurrency=4), header()):
        assert "shared" in evaluate(read(header_row, *rows))["cache_hit_ratio_normal"].notes[0]


def test_a_recall_is_appropriate_only_where_a_check_says_so() -> None:
    needed = header(requires_recall=True)
    metrics = evaluate(read(needed, recall(1, ["cp"]), verdict(2)))
    assert "no check" in why(metrics, "recall_trigger_rate")
    assert metrics["recall_success_given_trigger"].value == 1
    silent = evaluate(read(needed, verdict(2, passed=False)))
    assert silent["recall_trigger_rate"].value == 0
    assert silent["recall_success_given_trigger"].denominator == 0


def test_the_order_of_lines_does_not_matter(made: Metrics) -> None:
    head, *rest = FOLDED
    random.Random(7).shuffle(rest)
    assert evaluate(read(head, *rest), PRICES, assumed_hit=0.5) == made


def test_the_record_is_closed_json_and_the_same_twice(made: Metrics) -> None:
    run: ContextRun = read(*FOLDED)
    record = result_record(run, made, load())
    text = json.dumps(record, sort_keys=True, allow_nan=False)
    assert text == json.dumps(result_record(read(*FOLDED), made, load()), sort_keys=True)
    assert (record["schema"], record["outcome"], record["issues"]) == (SCHEMA, "finished", [])
    assert set(record["metrics"]) == {"correctness", "behaviour", "context", "provider"}
    for metrics in record["metrics"].values():
        for each in metrics.values():
            assert (each["value"] is None) == (each["reason"] is not None)
            assert each["basis"] in {basis.value for basis in Basis}
