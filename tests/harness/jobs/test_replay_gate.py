"""Recorded runs against their record: worse by one fails, what cannot be held against anything never passes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.jobs.replay import Asked, replay
from harness.jobs.replay_accept import accepted
from harness.jobs.replay_gate import Gated, gate
from harness.record.replay import Replayed
from harness.record.replay_baseline import BOUND, Recorded, ReplayBaseline, encode
from kpis.formulas.recorded.evaluate import metrics
from kpis.prices import shipped_prices
from kpis.recorded_metrics import load
from kpis.terms.claim import VerdictState
from kpis.terms.comparison import State
from kpis.terms.kpi import Direction
from kpis.terms.metric import Combine, MetricKind
from tests.harness.jobs.session_files import Session, busy, placeholder, put, trajectory


@pytest.fixture
def result(tmp_path: Path) -> Replayed:
    busy().save(tmp_path)
    return replay([str(tmp_path)], Asked(shipped_prices()), processes=1)


def state(found: Gated, name: str) -> State:
    return next(row.comparison.state for row in found.rows if row.metric_id == name)


def moved(baseline: ReplayBaseline, **values: float | None) -> ReplayBaseline:
    """``baseline`` as if it had been recorded with other values."""
    changed = {
        name: Recorded(value, None if value is not None else "it was not told") for name, value in values.items()
    }
    return replace(baseline, metrics={**baseline.metrics, **changed})


def test_what_was_accepted_passes(result: Replayed) -> None:
    found = gate(result, accepted(result, None).baseline)
    assert found.verdict.state is VerdictState.PASS
    assert {row.comparison.state for row in found.rows} <= {State.OK, State.UNCHANGED, State.NEW}
    compared = {row.metric_id for row in found.rows if row.comparison.state is State.OK}
    assert {"exposed_tokens", "cache_hit_ratio", "cost_computed_usd", "tool_error_ratio", "cache_breaks"} <= compared


def test_without_a_record_nothing_passes(result: Replayed) -> None:
    found = gate(result, None)
    assert found.verdict.state is VerdictState.UNKNOWN
    assert {row.comparison.state for row in found.rows} == {State.NO_BASELINE}


@pytest.mark.parametrize(("name", "better"), [("exposed_tokens", 1), ("cache_breaks", 1), ("cache_hit_ratio", -0.001)])
def test_worse_by_the_smallest_step_fails(name: str, better: float, result: Replayed) -> None:
    baseline = accepted(result, None).baseline
    now = baseline.metrics[name].value
    assert now is not None
    worse = gate(result, moved(baseline, **{name: now - better}))
    assert state(worse, name) is State.REGRESSED
    assert worse.verdict.state is VerdictState.FAIL
    assert worse.verdict.by == (name,)
    improved = gate(result, moved(baseline, **{name: now + better}))
    assert (state(improved, name), improved.verdict.state) == (State.IMPROVED, VerdictState.PASS)


def test_what_only_tells_has_no_row(result: Replayed) -> None:
    rows = {row.metric_id: load()[row.metric_id] for row in gate(result, None).rows}
    assert all(row.direction is not Direction.NEUTRAL for row in rows.values())
    assert {row.kind for row in rows.values()} <= {MetricKind.GATE, MetricKind.KPI}
    assert "recorded_requests" not in rows


def test_a_metric_that_went_leaves_it_open(result: Replayed) -> None:
    found = gate(result, moved(accepted(result, None).baseline, exposed_tokens_of_old=7.0))
    assert state(found, "exposed_tokens_of_old") is State.REMOVED
    assert found.verdict.state is VerdictState.UNKNOWN


def test_what_is_undefined_now_leaves_it_open(tmp_path: Path) -> None:
    put(tmp_path / "one.traj", trajectory())
    result = replay([str(tmp_path)], Asked(shipped_prices()), processes=1)
    baseline = accepted(result, None).baseline
    assert baseline.metrics["cache_hit_ratio"].value is None
    assert state(gate(result, baseline), "cache_hit_ratio") is State.UNCHANGED, "undefined then, undefined now"
    found = gate(result, moved(baseline, cache_hit_ratio=0.5))
    assert state(found, "cache_hit_ratio") is State.VOID
    assert found.verdict.state is VerdictState.UNKNOWN


def test_what_was_undefined_and_is_known_now_is_new(result: Replayed) -> None:
    found = gate(result, moved(accepted(result, None).baseline, cache_hit_ratio=None))
    assert state(found, "cache_hit_ratio") is State.NEW
    assert found.verdict.state is VerdictState.PASS


def test_a_bound_is_held_against_nothing_and_stands_on_record_as_one(tmp_path: Path) -> None:
    placeholder().save(tmp_path)
    result = replay([str(tmp_path)], Asked(shipped_prices()), processes=1)
    baseline = accepted(result, None).baseline
    assert baseline.metrics["output_tokens"] == Recorded(None, BOUND)
    assert state(gate(result, baseline), "output_tokens") is State.UNCHANGED, "a bound then, a bound now"
    assert metrics(result.parts)["output_tokens"].low is not None
    found = gate(result, moved(baseline, output_tokens=1e9))
    assert state(found, "output_tokens") is State.INCONCLUSIVE
    assert found.verdict.state is VerdictState.UNKNOWN


def test_sums_of_another_number_of_runs_compare_with_nothing(result: Replayed, tmp_path: Path) -> None:
    baseline = accepted(result, None).baseline
    Session("s-5", minute=700).ask().answer("msg_5", fresh=9).save(tmp_path)
    more = replay([str(tmp_path)], Asked(shipped_prices()), processes=1)
    states = {row.metric_id: row.comparison.state for row in gate(more, baseline).rows}
    for name, found in states.items():
        summed = load()[name].combine is not Combine.RATIO_OF_SUMS
        assert found is State.NO_BASELINE if summed and name in baseline.metrics else found is not State.NO_BASELINE
    assert states["cache_hit_ratio"] in (State.OK, State.REGRESSED, State.IMPROVED)


def test_accepting_is_stable_to_the_byte(result: Replayed) -> None:
    first = accepted(result, None)
    again = accepted(result, first.baseline)
    assert encode(again.baseline) == encode(first.baseline)
    assert again.refused == ()


def test_the_worse_is_accepted_by_name_and_reason_only(result: Replayed) -> None:
    good = moved(accepted(result, None).baseline, exposed_tokens=5, cache_breaks=0, output_tokens=9e9)
    refused = accepted(result, good)
    assert refused.refused == ("exposed_tokens", "cache_breaks")
    assert refused.baseline.metrics["exposed_tokens"].value == 5
    assert refused.baseline.metrics["output_tokens"].value == 1_200, "what is better moves"
    named = accepted(result, good, ["exposed_tokens"], "a longer task")
    assert named.refused == ("cache_breaks",)
    assert named.baseline.metrics["exposed_tokens"] == Recorded(131_310, None, "a longer task")
    kept = accepted(result, named.baseline)
    assert kept.baseline.metrics["exposed_tokens"].why == "a longer task"


def test_a_value_that_is_lost_is_worse(tmp_path: Path) -> None:
    put(tmp_path / "one.traj", trajectory())
    result = replay([str(tmp_path)], Asked(shipped_prices()), processes=1)
    before = moved(accepted(result, None).baseline, cache_hit_ratio=0.5)
    assert accepted(result, before).refused == ("cache_hit_ratio",)


def test_a_record_of_another_number_of_runs_is_begun_anew(result: Replayed) -> None:
    old = moved(ReplayBaseline(7, {}), exposed_tokens=1)
    done = accepted(result, old)
    assert (done.refused, done.baseline.runs) == ((), 1)
