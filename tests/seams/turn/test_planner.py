from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.turn import GREEDY, Candidate, Forecast
from seams.turn.index import RECENT, SpanIndex
from seams.turn.objectives import FREE_OF_COST, density_of
from seams.turn.planner import ReferencePlanner, UnknownObjectiveError, offer, optimize
from seams.turn.spans import make_span
from tests.seams.turn.shapes import candidate, ids, reasons

# Goldens


def test_greedy_is_not_exact() -> None:
    """Three items of which the densest blocks the two that are worth more together."""
    plan = optimize([candidate(0, 6, 7.0), candidate(1, 5, 5.0), candidate(2, 5, 5.0)], 10)
    assert (ids(plan), plan.benefit, plan.cost_used) == (["span:0"], 7.0, 6)


def test_what_does_not_fit_is_over_budget() -> None:
    plan = optimize([candidate(0, 4, 4), candidate(1, 4, 3), candidate(2, 4, 2)], 8)
    assert (ids(plan), reasons(plan)) == (["span:0", "span:1"], {"span:2": "over_budget"})


def test_what_does_not_fit_is_skipped_and_not_a_stop() -> None:
    assert ids(optimize([candidate(0, 9, 90), candidate(1, 20, 100), candidate(2, 1, 1)], 10)) == ["span:0", "span:2"]


def test_a_pin_is_charged_first_and_ties_go_to_the_earlier() -> None:
    plan = optimize([candidate(0, 5, 0.001), candidate(1, 3, 9), candidate(2, 3, 9)], 8, pins=["span:0"])
    assert (ids(plan), plan.cost_used, plan.pinned_tokens) == (["span:0", "span:1"], 8, 5)
    assert [each.pinned for each in plan.selected] == [True, False]


def test_pins_above_the_budget_stay_alone() -> None:
    plan = optimize([candidate(0, 10, 1), candidate(1, 10, 1), candidate(2, 1, 0)], 5, pins=["span:0", "span:1"])
    assert plan.over_budget
    assert (ids(plan), reasons(plan), plan.cost_used) == (["span:0", "span:1"], {"span:2": "over_budget"}, 20)


def test_three_pins_of_15_tokens_are_over_13() -> None:
    plan = optimize([candidate(0, 8, 1), candidate(1, 7, 1), candidate(2, 9, 1)], 13, pins=["span:0", "span:1"])
    assert (plan.over_budget, ids(plan), plan.pinned_tokens) == (True, ["span:0", "span:1"], 15)


@pytest.mark.parametrize("mark", ["sealed", "tombstoned"])
def test_a_marked_span_is_never_selected_even_when_pinned(mark: str) -> None:
    plan = optimize([candidate(0, 1, 9, **{mark: True})], 10, pins=["span:0"])
    assert (ids(plan), reasons(plan), plan.pinned_tokens) == ([], {"span:0": mark}, 0)


def test_of_equal_texts_the_earliest_stays() -> None:
    plan = optimize([candidate(1, 5, 4.0, digest="d"), candidate(0, 5, 4.0, digest="d")], 100)
    assert (ids(plan), plan.cost_used, reasons(plan)) == (["span:0"], 5, {"span:1": "duplicate"})


def test_of_equal_texts_the_pinned_one_stays() -> None:
    three = [candidate(step, 5, 4.0, digest="d") for step in range(3)]
    plan = optimize(three, 100, pins=["span:1", "span:2"])
    assert (ids(plan), reasons(plan)) == (["span:1"], {"span:0": "duplicate", "span:2": "duplicate"})


def test_blank_digests_are_no_duplicates() -> None:
    assert len(optimize([candidate(step, 1, 1, digest="") for step in range(3)], 9).selected) == 3


def test_a_released_span_does_not_stand_for_its_duplicate() -> None:
    plan = optimize([candidate(0, 1, 1, digest="d"), candidate(1, 1, 1, digest="d")], 9, releases=["span:0"])
    assert (ids(plan), reasons(plan)) == (["span:1"], {"span:0": "released"})


def test_a_pin_outweighs_a_release() -> None:
    assert ids(optimize([candidate(0, 1, 1)], 9, pins=["span:0"], releases=["span:0"])) == ["span:0"]


def test_rows_that_bear_one_id_are_told_apart() -> None:
    twins = [candidate(0, 2, 9, name="a"), candidate(1, 50, 0.1, name="a"), candidate(2, 2, 1, name="a")]
    plan = optimize(twins, 4)
    assert (plan.cost_used, [each.step for each in plan.selected], [each.step for each in plan.elided]) == (
        4,
        [0, 2],
        [1],
    )


def test_a_negative_budget_is_none() -> None:
    plan = optimize([candidate(0, 1, 1)], -5)
    assert (plan.budget, ids(plan), plan.over_budget) == (0, [], False)


def test_what_is_worth_nothing_says_so() -> None:
    assert reasons(optimize([candidate(0, 1, 0.0), candidate(1, 1, -1.0)], 9)) == {
        "span:0": "no_benefit",
        "span:1": "no_benefit",
    }


def test_nothing_to_plan_is_an_empty_plan() -> None:
    plan = optimize([], 10)
    assert (plan.selected, plan.elided, plan.candidates, plan.benefit) == ((), (), 0, 0)


def test_an_elided_span_keeps_its_handle() -> None:
    (elided,) = optimize([candidate(0, 9, 1)], 1).elided
    assert (elided.id, elided.digest) == ("span:0", "digest of 0")


@pytest.mark.parametrize(
    ("benefit", "cost", "density"),
    [(1, 4, 0.25), (1, 0, FREE_OF_COST), (0, 0, 0), (-1, 0, 0), (float("inf"), 2, 0), (float("nan"), 2, 0)],
)
def test_density(benefit: float, cost: int, density: float) -> None:
    assert density_of(benefit, cost) == density


@pytest.mark.parametrize("objective", ["exact", "greedy", "anything", ""])
def test_an_objective_not_offered_is_refused_by_name(objective: str) -> None:
    with pytest.raises(
        UnknownObjectiveError, match=f"objective '{objective}', only coverage, exact-dp, {GREEDY}. Run:"
    ):
        optimize([candidate(0, 1, 1)], 9, objective=objective)


# Properties

rows = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.floats(-1, 5),
        st.sampled_from(["", "d", "e", None]),
        st.booleans(),
        st.booleans(),
    ),
    max_size=14,
).map(
    lambda drawn: [
        candidate(
            step, cost, benefit, digest=digest, sealed=sealed and tombstoned, tombstoned=tombstoned and not sealed
        )
        for step, (cost, benefit, digest, sealed, tombstoned) in enumerate(drawn)
    ]
)
some = st.sets(st.integers(0, 13).map("span:{}".format), max_size=4)


@given(rows, st.integers(-2, 40), some, some, st.randoms(use_true_random=False))
def test_a_plan_is_a_partition_within_its_budget(
    candidates: list[Candidate], budget: int, pins: set[str], releases: set[str], shuffler
) -> None:
    plan = optimize(candidates, budget, pins, releases)
    placed = [*ids(plan), *(each.id for each in plan.elided)]
    assert sorted(placed) == sorted(each.cell.id for each in candidates)
    assert plan.candidates == len(candidates)
    assert plan.cost_used == sum(each.cost for each in plan.selected)
    assert plan.cost_used <= plan.budget or (plan.over_budget and plan.cost_used == plan.pinned_tokens)

    by_id = {each.cell.id: each for each in candidates}
    kept_texts = {by_id[each].cell.digest for each in ids(plan)}
    for each in candidates:
        cell = each.cell
        out = cell.id in reasons(plan)
        if cell.id in pins and out:
            assert cell.sealed or cell.tombstoned or (cell.digest and cell.digest in kept_texts)
        if cell.id not in pins and not out:
            assert each.benefit > 0
            assert cell.id not in releases
        if cell.sealed or cell.tombstoned:
            assert out

    shuffled = list(candidates)
    shuffler.shuffle(shuffled)
    assert optimize(shuffled, budget, pins, releases) == plan


@given(rows, st.integers(0, 40))
def test_what_greedy_leaves_would_not_have_fitted(candidates: list[Candidate], budget: int) -> None:
    plan = optimize(candidates, budget)
    left = plan.budget - plan.cost_used
    assert all(each.cost > left for each in plan.elided if each.reason.value == "over_budget")


# Scoring


def history(n: int) -> list:
    return [make_span(step, "tool", f"alpha {step}" if step % 50 == 0 else f"noise {step}") for step in range(n)]


@pytest.mark.parametrize(
    ("n", "cap", "counted"),
    [(5, None, 5), (300, None, 300), (5, 8, 5), (300, 128, RECENT + 6), (100, 128, RECENT + 2), (300, 3, 3)],
)
def test_scorings_are_counted_where_they_happen(n: int, cap: int | None, counted: int) -> None:
    planner = ReferencePlanner()
    assert len(planner.candidates(history(n), Forecast(("alpha",)), cap)) == counted
    assert planner.scorings == counted


def test_a_bounded_scan_scores_what_the_index_names_and_no_more() -> None:
    forecast, spans = Forecast(("alpha",), pins=("span:1",)), history(300)
    index = SpanIndex()
    index.extend(spans)
    scored = ReferencePlanner().candidates(spans, forecast, 128)
    assert [each.cell.step for each in scored] == sorted(index.probe(forecast))


def test_a_bounded_scan_keeps_pins_relevant_and_newest_spans_in_step_order() -> None:
    forecast = Forecast(("alpha",), pins=("span:1",))
    scored = ReferencePlanner().candidates(history(300), forecast, 64)
    steps = [each.cell.step for each in scored]
    assert steps == sorted(steps)
    assert set(steps) == {0, 1, 50, 100, 150, 200, 250, *range(300 - RECENT, 300)}


def test_a_bounded_scan_scores_a_span_as_the_full_one_does() -> None:
    forecast = Forecast(("alpha",))
    planner = ReferencePlanner()
    bounded = planner.candidates(history(100), forecast, 128)
    assert len(bounded) < 100
    assert set(bounded) < set(planner.candidates(history(100), forecast))


def test_one_planner_serves_a_growing_history_and_then_another_one() -> None:
    planner, spans, forecast = ReferencePlanner(), history(400), Forecast(("alpha",))
    for seen in (200, 201, 400):
        assert planner.candidates(spans[:seen], forecast, 60) == ReferencePlanner().candidates(
            spans[:seen], forecast, 60
        )
    other = [make_span(step, "tool", f"other {step}") for step in range(250)]
    assert planner.candidates(other, forecast, 60) == ReferencePlanner().candidates(other, forecast, 60)


def test_offer_ignores_the_engine_and_shares_nothing() -> None:
    one, other = offer("none"), offer("noop")
    one.candidates(history(3), Forecast())
    assert (one.scorings, other.scorings) == (3, 0)
