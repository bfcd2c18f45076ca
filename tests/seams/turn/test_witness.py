from __future__ import annotations

from dataclasses import replace

from seams.contract.turn import RefusalReason
from seams.turn.planner import optimize
from seams.turn.spans import SpanStore
from seams.turn.view import materialize
from seams.turn.witness import audit
from tests.seams.turn.shapes import candidate

PLAN = optimize([candidate(0, 4, 4), candidate(1, 4, 3), candidate(2, 4, 2)], 8)


def test_a_plan_of_the_planner_is_faithful() -> None:
    witness = audit(PLAN)
    assert (witness.candidates, witness.resident, witness.elided, witness.recoverable) == (3, 2, 1, 1)
    assert (witness.resident_tokens, witness.elided_tokens) == (8, 4)
    assert witness.partition
    assert witness.faithful
    assert not witness.reconciled  # nothing was rendered yet


def test_without_their_handles_the_same_residency_is_unfaithful() -> None:
    witness = audit(replace(PLAN, elided=tuple(each._replace(digest="") for each in PLAN.elided)))
    assert witness.resident_tokens == audit(PLAN).resident_tokens
    assert (witness.partition, witness.faithful, witness.unrecoverable) == (True, False, ("span:2",))


def test_broken_partitions() -> None:
    lost = replace(PLAN, elided=())
    twice = replace(PLAN, elided=(PLAN.elided[0]._replace(id="span:0"),))
    blank = replace(PLAN, elided=(PLAN.elided[0]._replace(id=""),))
    for broken in (lost, twice, blank):
        assert not audit(broken).partition
        assert not audit(broken).faithful


def store_and_plan(*, sealed: bool = False) -> tuple[SpanStore, object]:
    store = SpanStore()
    for body, mark in (("a" * 16, sealed), ("b" * 16, False)):
        store.add("tool", body, sealed=mark)
    return store, optimize([candidate(step, 4, 1) for step in range(2)], 8)


def test_a_rendered_view_reconciles() -> None:
    store, plan = store_and_plan()
    view = materialize(plan, store.page_in)
    assert [each.body for each in view.rendered] == ["a" * 16, "b" * 16]
    witness = view.witness
    assert (witness.rendered, witness.refused, witness.resident_tokens) == (2, 0, 8)
    assert witness.reconciled
    assert witness.cost_contract


def test_a_refused_span_is_accounted_for_and_costs_nothing() -> None:
    store, plan = store_and_plan(sealed=True)
    view = materialize(plan, store.page_in)
    assert [(each.id, each.reason) for each in view.refused] == [("span:0", RefusalReason.SEALED)]
    assert (view.witness.rendered, view.witness.refused, view.witness.resident_tokens) == (1, 1, 4)
    assert view.witness.reconciled


def test_longer_texts_than_declared_break_the_cost_contract_alone() -> None:
    store, plan = store_and_plan()

    def grown(selected):
        return store.page_in(selected) + ("!" * 5 if selected.step == 0 else "")

    witness = materialize(plan, grown).witness
    assert (witness.cost_contract, witness.cost_diverged) == (False, ("span:0",))
    assert witness.faithful
    assert witness.reconciled
    assert witness.resident_tokens == 6 + 4
