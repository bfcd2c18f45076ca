from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.paging import Fault, FaultStatus
from seams.contract.turn import Forecast, Materialized, Outlook, RefusalReason, Span
from seams.turn.paging import DemandPager, demand_page, offer
from seams.turn.planner import optimize
from seams.turn.spans import SpanStore
from seams.turn.view import materialize
from seams.turn.witness import audit, reconcile
from tests.seams.turn.shapes import candidate, ids


def store_of(*costs: int, sealed: tuple[int, ...] = ()) -> SpanStore:
    store = SpanStore()
    for step, cost in enumerate(costs):
        store.add("tool", f"{step}" * (4 * cost - 1), sealed=step in sealed)
    return store


def fault_store() -> tuple[SpanStore, Materialized]:
    """Three spans of 8, 7 and 9 tokens, of which two pins of 15 are over a budget of 13."""
    store = store_of(8, 7, 9)
    rows = [candidate(step, cost, 1.0)._replace(cell=store.spans[step]) for step, cost in enumerate((8, 7, 9))]
    return store, materialize(optimize(rows, 13, ["span:0", "span:1"]), store.page_in)


def test_a_served_fault_is_spliced_in_and_counted_anew() -> None:
    store, view = fault_store()
    assert (view.plan.over_budget, ids(view.plan), view.witness.resident_tokens) == (True, ["span:0", "span:1"], 15)
    paged, fault = demand_page(view, "span:2", store)
    assert fault == Fault("span:2", 2, "tool", FaultStatus.SERVED, None, 9)
    assert [each.id for each in paged.rendered] == ids(paged.plan) == ["span:0", "span:1", "span:2"]
    assert (paged.plan.elided, paged.plan.cost_used, paged.plan.candidates) == ((), 24, 3)
    assert paged.plan.cost_used > paged.plan.budget
    witness = paged.witness
    assert (witness.resident, witness.elided, witness.rendered, witness.resident_tokens) == (3, 0, 3, 24)
    assert witness.reconciled
    assert witness.faithful
    assert witness.cost_contract


def test_a_span_comes_back_in_its_place_by_step() -> None:
    store = store_of(3, 3, 3)
    rows = [candidate(step, 3, [5, 1, 4][step])._replace(cell=store.spans[step]) for step in range(3)]
    view = materialize(optimize(rows, 6), store.page_in)
    assert ids(view.plan) == ["span:0", "span:2"]
    paged, _ = demand_page(view, "span:1", store)
    assert [each.id for each in paged.rendered] == ["span:0", "span:1", "span:2"]
    assert paged.plan.benefit == 10
    moved = paged.plan.selected[1]
    assert (moved.cost, moved.benefit, moved.density, moved.pinned) == (3, 1, 1 / 3, False)


@pytest.mark.parametrize("span_id", ["", "span:7"])
def test_what_is_not_there_is_absent(span_id: str) -> None:
    store, view = fault_store()
    assert demand_page(view, span_id, store) == (view, Fault(span_id, None, "", FaultStatus.ABSENT))


def test_what_is_rendered_is_resident_even_where_the_store_has_lost_it() -> None:
    _, view = fault_store()
    same, fault = demand_page(view, "span:1", store_of())
    assert (same is view, fault) == (True, Fault("span:1", 1, "tool", FaultStatus.RESIDENT))


class Failing(SpanStore):
    """Has the spans of another store, and does with each page-in what it is told."""

    def __init__(self, store: SpanStore, answer: object) -> None:
        super().__init__()
        self.store, self.answer = store, answer

    def span(self, span_id: str) -> Span | None:
        return self.store.span(span_id)

    def page_in(self, selected):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (RefusalReason.SEALED, RefusalReason.SEALED),
        (RefusalReason.TOMBSTONED, RefusalReason.TOMBSTONED),
        (KeyError("gone"), RefusalReason.PAGE_IN),
        (OSError("unplugged"), RefusalReason.PAGE_IN),
        (ValueError("torn"), RefusalReason.PAGE_IN),
    ],
)
def test_what_the_store_does_not_give_out_is_refused_and_changes_nothing(answer: object, reason: RefusalReason) -> None:
    store, view = fault_store()
    same, fault = demand_page(view, "span:2", Failing(store, answer))
    assert (same is view, fault) == (True, Fault("span:2", 2, "tool", FaultStatus.REFUSED, reason))


def test_a_fault_of_the_stores_own_making_is_not_swallowed() -> None:
    store, view = fault_store()
    with pytest.raises(TypeError, match="a mistake"):
        demand_page(view, "span:2", Failing(store, TypeError("a mistake")))


def test_the_stores_marks_count_and_not_the_plan() -> None:
    _, view = fault_store()
    sealed = store_of(8, 7, 9, sealed=(2,))
    assert demand_page(view, "span:2", sealed)[1].reason is RefusalReason.SEALED

    class Tombstoned(Failing):
        def span(self, span_id: str) -> Span | None:
            found = super().span(span_id)
            return found and found._replace(tombstoned=True)

    found = demand_page(view, "span:2", Tombstoned(store_of(8, 7, 9), "given out all the same"))
    assert found == (view, Fault("span:2", 2, "tool", FaultStatus.REFUSED, RefusalReason.TOMBSTONED))


def test_a_span_that_was_refused_and_is_given_out_later_is_no_longer_refused() -> None:
    sealed = store_of(3, 3, sealed=(0,))
    rows = [candidate(step, 3, 1.0)._replace(cell=sealed.spans[step]._replace(sealed=False)) for step in range(2)]
    view = materialize(optimize(rows, 99), sealed.page_in)
    assert (view.witness.rendered, view.witness.refused) == (1, 1)
    paged, fault = demand_page(view, "span:0", store_of(3, 3))
    assert (fault.status, paged.refused, paged.plan) == (FaultStatus.SERVED, (), view.plan)
    assert (paged.witness.rendered, paged.witness.refused, paged.witness.reconciled) == (2, 0, True)


def test_a_span_that_was_never_scored_joins_the_partition() -> None:
    store, view = fault_store()
    narrow = replace(view.plan, elided=(), candidates=2)
    view = view._replace(plan=narrow, witness=reconcile(audit(narrow), narrow, view.rendered, view.refused))
    paged, fault = demand_page(view, "span:2", store)
    assert (fault.tokens, paged.plan.candidates, ids(paged.plan)[-1]) == (9, 3, "span:2")
    assert (paged.plan.selected[-1].cost, paged.plan.selected[-1].benefit) == (9, 0.0)
    assert paged.witness.faithful


def test_a_longer_text_than_declared_costs_what_it_is_and_breaks_the_cost_contract() -> None:
    store, view = fault_store()
    paged, fault = demand_page(view, "span:2", Failing(store, "é" * 30))
    assert (fault.tokens, paged.witness.resident_tokens) == (15, 15 + 15)
    assert (paged.witness.cost_contract, paged.witness.cost_diverged) == (False, ("span:2",))


def test_of_rows_that_bear_one_id_the_one_of_the_stores_step_moves() -> None:
    store = store_of(2, 2, 2)
    rows = [candidate(0, 2, 9)._replace(cell=store.spans[0])]
    rows += [candidate(step, 2, 1)._replace(cell=store.spans[step]._replace(id="span:1")) for step in (1, 2)]
    paged, fault = demand_page(materialize(optimize(rows, 2), store.page_in), "span:1", store)
    assert fault.status is FaultStatus.SERVED
    assert [each.step for each in paged.plan.selected] == [0, 1]
    assert [each.step for each in paged.plan.elided] == [2]
    assert not paged.witness.partition  # one id on both sides: the witness says so


def test_a_pager_plans_its_view_and_shares_nothing() -> None:
    store = store_of(3, 4, 5)
    view = offer("none").view(Outlook(store.spans, Forecast(pins=("span:2",))), store, 9)
    assert ids(view.plan) == [each.id for each in view.rendered]
    assert "span:2" in ids(view.plan)
    assert view.witness.reconciled
    assert offer("noop") is not offer("none")


texts = st.lists(st.text(max_size=60), min_size=1, max_size=12, unique=True)


@given(texts, st.integers(0, 60), st.lists(st.integers(-1, 13), max_size=8), st.sets(st.integers(0, 11), max_size=3))
def test_demands_leave_what_they_were_given_and_keep_the_partition(
    bodies: list[str], budget: int, wanted: list[int], sealed: set[int]
) -> None:
    store = SpanStore()
    for step, body in enumerate(bodies):
        store.add("tool", body, sealed=step in sealed)
    pager = DemandPager()
    view = pager.view(Outlook(store.spans, Forecast(("alpha",), pins=("span:0",))), store, budget)
    for step in wanted:
        span_id = "" if step < 0 else f"span:{step}"
        before = (view.plan, tuple(view.rendered), view.refused, view.witness)
        held = [each.id for each in view.rendered]
        paged, fault = pager.demand_page(view, span_id, store)
        assert (view.plan, view.rendered, view.refused, view.witness) == before
        after = [each.id for each in paged.rendered]
        if fault.status is FaultStatus.SERVED:
            assert sorted(after) == sorted([*held, span_id])
            assert pager.demand_page(paged, span_id, store)[1].status is FaultStatus.RESIDENT
        else:
            assert paged is view
        assert (fault.status is FaultStatus.RESIDENT) == (span_id in held)
        assert (fault.status is FaultStatus.ABSENT) == (not span_id or step >= len(bodies))
        assert (fault.status is FaultStatus.REFUSED) == (0 <= step < len(bodies) and step in sealed)
        assert [each.step for each in paged.rendered] == sorted(each.step for each in paged.rendered)
        witness = paged.witness
        assert witness.reconciled
        assert witness.faithful
        assert witness.resident_tokens == sum(each.tokens for each in paged.rendered)
        assert paged.plan.cost_used == sum(each.cost for each in paged.plan.selected)
        view = paged
