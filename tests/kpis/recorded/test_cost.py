"""Money: by tier, with bounds, and no total where a price is missing."""

from __future__ import annotations

import pytest

from kpis.formulas.recorded.evaluate import metrics
from kpis.terms.trace import ModelUsage, RunFacts, Tokens
from tests.kpis.recorded.runs import MINUTE, TABLE, parts, request, run

MILLION = 1_000_000


def test_every_tier_has_its_price() -> None:
    tokens = Tokens(MILLION, MILLION, MILLION, MILLION, 0, out_total=MILLION)
    found = metrics(parts(run([request(0, tokens=tokens)])))["cost_computed_usd"]
    assert found.value == pytest.approx(3 + 0.3 + 3.75 + 6 + 15)
    assert dict(found.detail) == pytest.approx({"fresh": 3, "cache_read": 0.3, "cache_write": 9.75, "output": 15})
    assert (found.low, found.high) == (None, None)


def test_a_write_of_unknown_lifetime_leaves_bounds() -> None:
    tokens = Tokens(0, 0, cache_write_other=MILLION, out_total=0)
    found = metrics(parts(run([request(0, tokens=tokens)])))["cost_computed_usd"]
    assert (found.value, found.low, found.high) == (3.75, 3.75, 6)


def test_a_prompt_given_as_one_number_leaves_bounds() -> None:
    tokens = Tokens(unattributed=MILLION, out_total=0)
    found = metrics(parts(run([request(0, tokens=tokens)])))["cost_computed_usd"]
    assert (found.low, found.high) == (pytest.approx(0.3), 6)


def test_the_long_price_is_paid_above_the_threshold_by_every_token() -> None:
    at = metrics(parts(run([request(0, fresh=1_000, out=10, model="tiered")])))["cost_computed_usd"]
    above = metrics(parts(run([request(0, fresh=1_001, out=10, model="tiered")])))["cost_computed_usd"]
    assert at.value == pytest.approx(1_000e-6 + 100e-6)
    assert above.value == pytest.approx(2_002e-6 + 150e-6)


def test_one_model_without_a_price_leaves_no_total() -> None:
    requests = [request(0, fresh=MILLION), request(1, fresh=1, model="nobody-5"), request(2, fresh=1, model=None)]
    found = metrics(parts(run(requests)))["cost_computed_usd"]
    assert found.value is None
    assert found.undefined == "2 of 3 requests have no price: (no model named), nobody-5"
    assert dict(found.detail)["priced_part"] == 3


def test_a_price_missing_in_one_run_leaves_many_runs_without_a_total() -> None:
    priced, unpriced = parts(run([request(0, fresh=9)])), parts(run([request(0, fresh=9, model="nobody")]))
    assert metrics(priced)["cost_computed_usd"].value is not None
    assert metrics(priced + unpriced)["cost_computed_usd"].value is None


def test_tokens_that_are_not_recorded_make_it_a_lower_bound() -> None:
    found = metrics(parts(run([request(0, tokens=Tokens(MILLION, 0))])))["cost_computed_usd"]
    assert (found.value, found.low, found.high) == (3, 3, None)


def test_a_cache_of_the_client_costs_nothing() -> None:
    found = metrics(parts(run([request(0, fresh=MILLION), request(1, fresh=MILLION, local_cache=True)])))
    assert found["cost_computed_usd"].value == 3


def test_reported_and_computed_stand_side_by_side_with_their_gap() -> None:
    """A side model that is on no line of the log is what the gap shows."""
    hidden = ModelUsage("side", Tokens(fresh_in=276_477, cache_read=0, out_total=0), cost_usd=0.3)
    recorded = run([request(0, fresh=MILLION)], facts=[RunFacts(cost_usd=3.5, by_model=(hidden,))])
    found = metrics(parts(recorded))
    assert found["cost_reported_usd"].value == 3.5
    assert found["cost_computed_usd"].value == 3
    assert found["cost_gap_usd"].value == pytest.approx(0.5)
    assert found["cost_reported_usd"].basis.value == "reported"


def test_costs_of_single_requests_add_up_to_a_report_only_if_all_have_one() -> None:
    whole = metrics(parts(run([request(0, cost_usd=0.1), request(1, cost_usd=0.2)])))
    assert whole["cost_reported_usd"].value == pytest.approx(0.3)
    partial = metrics(parts(run([request(0, cost_usd=0.1), request(1)])))
    assert partial["cost_reported_usd"].value is None


def test_a_gap_is_of_the_runs_that_have_both() -> None:
    both = parts(run([request(0, fresh=MILLION)], facts=[RunFacts(cost_usd=4)]))
    silent = parts(run([request(0, fresh=MILLION)]))
    found = metrics(both + silent)
    assert found["cost_gap_usd"].value == 1
    assert found["cost_computed_usd"].value == 6
    assert "1 of 2 runs report no cost." in found["cost_reported_usd"].notes


def test_a_broken_cache_costs_what_it_wrote_above_a_read() -> None:
    requests = [request(0, write=MILLION, at=0), request(1, write=MILLION, at=9 * MINUTE)]
    found = metrics(parts(run(requests)))
    assert found["cache_break_cost_usd"].value == pytest.approx(3.75 - 0.3)


def test_money_is_exact_in_any_order() -> None:
    runs = [parts(run([request(0, fresh=n, read=7 * n, out=13 * n)])) for n in range(1, 200)]
    forward, backward = runs[0], runs[-1]
    for one in runs[1:]:
        forward = forward + one
    for one in runs[-2::-1]:
        backward = backward + one
    assert forward == backward
    n = sum(range(1, 200))
    assert forward.cost.low == n * (3_000_000 + 7 * 300_000 + 13 * 15_000_000)
    assert TABLE.find("small") is not None
