"""The seam ``turn/paging``: a span that the plan left out comes back when the turn asks for it.

What the store keeps out stays out; a demand raises nothing and changes no view in place. It pays no heed to the
budget, because what a turn asks for by name outweighs a forecast.
"""

from __future__ import annotations

from bisect import insort
from dataclasses import replace
from typing import TypeVar

from seams.contract import Engine
from seams.contract.paging import Fault, FaultStatus, Store
from seams.contract.turn import Elided, Materialized, Outlook, Plan, RefusalReason, Refused, Rendered, Selected, Span
from seams.turn.objectives import density_of
from seams.turn.planner import ReferencePlanner
from seams.turn.spans import byte_length, token_cost
from seams.turn.view import materialize
from seams.turn.witness import audit, reconcile

__all__ = ["DemandPager", "demand_page", "offer"]

_Placed = TypeVar("_Placed", Selected, Rendered)


def demand_page(view: Materialized, span_id: str, store: Store) -> tuple[Materialized, Fault]:
    """The view with ``span_id`` in it, and what became of the demand; see :class:`seams.contract.paging.Paging`."""
    if not span_id:
        return view, Fault("", None, "", FaultStatus.ABSENT)
    for each in view.rendered:
        if each.id == span_id:
            return view, Fault(span_id, each.step, each.role, FaultStatus.RESIDENT)
    span = store.span(span_id)
    if span is None:
        return view, Fault(span_id, None, "", FaultStatus.ABSENT)
    selected, elided = _moved(view.plan, span)
    body = _body(span, selected, store)
    if isinstance(body, RefusalReason):
        return view, Fault(span_id, span.step, span.role, FaultStatus.REFUSED, body)
    size = byte_length(body)
    tokens = token_cost(size)
    rendered = _spliced(view.rendered, Rendered(span_id, span.step, span.role, span.descriptor, size, tokens, body))
    paged = _view(
        _plan(view.plan, selected, elided), rendered, tuple(each for each in view.refused if each.id != span_id)
    )
    return paged, Fault(span_id, span.step, span.role, FaultStatus.SERVED, tokens=tokens)


def _moved(plan: Plan, span: Span) -> tuple[Selected, Elided | None]:
    """The span as a selected one, and the record by which it was elided.

    It has none where its page-in was refused when the view was made, and where it was never scored; then it costs
    what its size says.
    """
    kept = next((each for each in plan.selected if each.id == span.id and each.step == span.step), None)
    if kept is not None:
        return kept, None
    out = next((each for each in plan.elided if each.id == span.id and each.step == span.step), None)
    cost, benefit = (out.cost, out.benefit) if out else (token_cost(span.bytes), 0.0)
    density = density_of(benefit, cost)
    selected = Selected(span.id, span.step, span.role, span.descriptor, span.bytes, cost, benefit, density, False)
    return selected, out


def _body(span: Span, selected: Selected, store: Store) -> str | RefusalReason:
    """The text, unless the store's own marks or the store itself keep it out."""
    if span.sealed:
        return RefusalReason.SEALED
    if span.tombstoned:
        return RefusalReason.TOMBSTONED
    try:
        return store.page_in(selected)
    except (LookupError, OSError, ValueError):  # what a store may fail with; the turn goes on without the span
        return RefusalReason.PAGE_IN


def _place(each: Selected | Rendered) -> tuple[int, str]:
    return each.step, each.id


def _spliced(placed: tuple[_Placed, ...], each: _Placed) -> tuple[_Placed, ...]:
    """``placed`` with ``each`` in its place by step, then id."""
    rows = list(placed)
    insort(rows, each, key=_place)
    return tuple(rows)


def _plan(plan: Plan, selected: Selected, elided: Elided | None) -> Plan:
    """The plan with a span selected that was not; what filled its budget stays what it was."""
    if elided is None and selected in plan.selected:
        return plan
    return replace(
        plan,
        selected=_spliced(plan.selected, selected),
        elided=tuple(each for each in plan.elided if each is not elided),
        candidates=plan.candidates + (elided is None),
        cost_used=plan.cost_used + selected.cost,
        benefit=plan.benefit + selected.benefit,
    )


def _view(plan: Plan, rendered: tuple[Rendered, ...], refused: tuple[Refused, ...]) -> Materialized:
    return Materialized(plan, rendered, refused, reconcile(audit(plan), plan, rendered, refused))


class DemandPager:
    """Plans greedily over all spans and serves demands from the caller's store. Keeps nothing between calls."""

    def view(self, outlook: Outlook, store: Store, budget: int) -> Materialized:
        """As :meth:`seams.contract.paging.Paging.view`."""
        planner, (spans, forecast) = ReferencePlanner(), outlook
        candidates = planner.candidates(spans, forecast)
        return materialize(planner.optimize(candidates, budget, forecast.pins, forecast.releases), store.page_in)

    def demand_page(self, view: Materialized, span_id: str, store: Store) -> tuple[Materialized, Fault]:
        """As :func:`demand_page`."""
        return demand_page(view, span_id, store)


def offer(engine: Engine) -> DemandPager:  # noqa: ARG001 - paging calls no engine, so any cut is the same
    """A pager."""
    return DemandPager()
