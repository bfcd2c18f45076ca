"""Runs add up: in any order, split or whole, and every metric says what it is."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.recorded.carried import BY
from kpis.formulas.recorded.evaluate import RunParts, evaluate, metrics, total_of
from kpis.formulas.recorded.parts import total
from kpis.formulas.recorded.tokens import TokenParts
from kpis.recorded_metrics import load
from kpis.terms.metric import Combine, MetricKind
from kpis.terms.quantity import Basis, Unit
from kpis.terms.recorded import RecordedRun
from tests.kpis.recorded.runs import TABLE, call, parts, recorded_runs, request, run

EMPTY = RunParts()


@given(st.lists(recorded_runs(), max_size=5), st.randoms())
def test_the_order_of_runs_does_not_show(runs: list[RecordedRun], random: object) -> None:
    each = [parts(one) for one in runs]
    shuffled = list(each)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one_by_one = EMPTY
    for part in each:
        one_by_one = one_by_one + part
    assert total_of(each) == total_of(shuffled) == one_by_one
    assert metrics(total_of(each)) == metrics(total_of(shuffled))


@given(recorded_runs())
def test_nothing_is_neutral(recorded: RecordedRun) -> None:
    found = parts(recorded)
    assert found + EMPTY == EMPTY + found == found


def _only(recorded: RecordedRun, thread: str) -> RecordedRun:
    def kept(items: tuple[object, ...]) -> tuple[object, ...]:
        return tuple(item for item in items if item.thread_id == thread)  # type: ignore[attr-defined]

    names = ("threads", "turns", "requests", "calls", "events")
    return replace(recorded, **{name: kept(getattr(recorded, name)) for name in names})


@given(recorded_runs())
def test_threads_apart_say_what_the_run_says(recorded: RecordedRun) -> None:
    """All but what one thread knows of another: whose result was read, what was written in between, parents, times."""
    whole = evaluate(recorded, TABLE)
    main, side = (evaluate(_only(recorded, name), TABLE) for name in ("main", "side"))
    apart = main + side
    for name in ("tokens", "cache", "compaction", "reread", "loops", "verdicts"):
        assert getattr(apart, name) == getattr(whole, name), name
    assert apart.waste.wasted_tokens == whole.waste.wasted_tokens
    assert apart.cost.low == whole.cost.low
    assert apart.cost.unpriced == whole.cost.unpriced


@given(recorded_runs())
def test_what_an_earlier_run_counts_adds_nothing(recorded: RecordedRun) -> None:
    requests = [replace(each, copied=True) for each in recorded.requests]
    calls = [replace(each, copied=True) for each in recorded.calls]
    found = parts(replace(recorded, requests=tuple(requests), calls=tuple(calls), turns=(), events=()))
    assert found.tokens.prompt == found.tokens.out == found.cost.low == found.cache.breaks == 0
    assert found.verdicts.calls == found.duplicates.upper == found.loops.steps == found.waste.wasted_tokens == 0


@given(st.lists(recorded_runs(), max_size=3))
def test_every_metric_has_a_row_and_either_a_value_or_a_reason(runs: list[RecordedRun]) -> None:
    rows = load()
    for metric_id, metric in metrics(total_of(map(parts, runs))).items():
        row = rows[metric_id]
        assert (metric.value is None) == (metric.undefined is not None), metric_id
        if metric.value is not None:
            if metric.low is not None:
                assert metric.low <= metric.value, metric_id
            if metric.high is not None:
                assert metric.high >= metric.value, metric_id
            if row.combine is Combine.RATIO_OF_SUMS:
                assert metric.numerator is not None, metric_id
                assert metric.denominator, metric_id
                assert metric.value == metric.numerator / metric.denominator, metric_id
            if row.combine is Combine.SUM:
                assert metric.numerator == metric.value, metric_id
            if row.unit in (Unit.COUNT, Unit.TOK, Unit.MS) and row.combine is Combine.SUM:
                assert isinstance(metric.value, int), metric_id
        if row.unit is Unit.MS:
            assert metric.basis is Basis.REPORTED


@given(recorded_runs())
def test_bounds_are_in_order(recorded: RecordedRun) -> None:
    found = parts(recorded)
    assert 0 <= found.duplicates.lower <= found.duplicates.upper <= found.duplicates.calls
    assert 0 <= found.cost.low <= found.cost.high
    assert found.cache.rewritten <= found.cache.tokens
    assert found.trust.observed <= found.trust.rows
    for k in (1, 3, 5):
        later = {1: 3, 3: 5, 5: 10}[k]
        assert found.reread.rereads.get(str(k), 0) <= found.reread.rereads.get(str(later), 0)


def test_the_registry_has_a_row_for_everything_that_is_made_and_no_other() -> None:
    made = set(metrics(parts(run([request(0)]))))
    assert made <= set(load())
    assert {name for name in load() if name.startswith("time_")} <= made
    for name in made:
        row = load()[name]
        assert row.kind is not MetricKind.GATE
        assert row.needs


def test_parts_hold_nothing_that_does_not_add_up_exactly() -> None:
    found = parts(run([request(0, read=5)], [call(0, 0)]))

    def leaves(part: object) -> list[object]:
        if hasattr(part, "__dataclass_fields__"):
            return [leaf for each in fields(part) for leaf in leaves(getattr(part, each.name))]  # type: ignore[arg-type]
        return list(part.values()) if isinstance(part, dict) else list(part) if isinstance(part, tuple) else [part]

    assert {type(leaf) for leaf in leaves(found)} == {int}


@pytest.mark.parametrize("n", [0, 1, 2, 3, 512, 513, 1_300])
def test_a_sum_of_any_number_of_runs_is_that_of_its_parts(n: int) -> None:
    each = [TokenParts(main_prompts=(at,), lines=1) for at in range(n)]
    found = total(reversed(each), TokenParts())
    assert found == TokenParts(main_prompts=tuple(range(n)), lines=n)


def test_attribution_is_by_what_the_command_offers() -> None:
    assert BY == ("tool", "file", "agent", "model", "project", "branch", "day")
