"""Drives demand paging: how often a session goes back to what its view left out, and what bringing it back costs.

The store is the probe's own, in memory, so that no backend is timed and no text is the subject's word, and it refuses
nothing. A pager that refuses, that says resident of what is not there, that answers from memory, or that writes into
the view it was given, is found out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import finish, settled
from harness.probes.turn._faults import (
    SPANS,
    MemoryStore,
    references,
    renewed,
    synthetic_store,
    tokens_in,
    verify_fault,
    verify_view,
)
from harness.probes.turn._outlook import forecast_of, outlook_of, tokens_of
from harness.probes.turn._replay import Cycled, Session, session_of, verified
from kpis.formulas.turn.scaling import fault_tax
from seams.contract.paging import FaultStatus, Paging
from seams.contract.turn import DEFAULT_BUDGET, Materialized, Outlook

__all__ = ["Probe"]


class Probe:
    """Opens the KPIs of ``turn/paging``."""

    kpis: ClassVar[frozenset[str]] = frozenset({"demand_page_miss_rate", "page_fault_latency_ns"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Slice, a Tally or Undefined; of an asynchronous pager, the coroutine that returns it."""
        paging: Paging | None = runtime.offer("turn/paging", "none")
        if paging is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no demand paging.")
        if kpi == "page_fault_latency_ns":
            return finish(_timed(paging), paging.view, paging.demand_page)
        session = session_of(workload)
        if isinstance(session, Undefined):
            return session
        return finish(_missed(paging, session), paging.view, paging.demand_page)


async def _viewed(paging: Paging, outlook: Outlook, store: MemoryStore, budget: int) -> Materialized:
    view: Materialized = await settled(paging.view(outlook, store, budget))
    verified(verify_view, (outlook, store, budget), view)
    return view


async def _timed(paging: Paging) -> Slice:
    outlook, store, budget = synthetic_store()
    view = await _viewed(paging, outlook, store, budget)
    held = list(view.rendered)
    # A view that chose next to nothing would be quick to splice into.
    filled = tokens_in(view)
    if 2 * filled < budget:
        raise WorkNotDoneError(f"the view of {SPANS} spans holds {filled} tokens of {budget}")
    resident = {each.id for each in held}
    demands = [(view, span.id, store) for span in outlook.spans if span.id not in resident]
    for given in demands:
        verified(verify_fault, given, await settled(paging.demand_page(*given)))

    def verify(given: tuple[Any, ...], came: Any) -> None:
        if list(view.rendered) != held:
            raise WorkNotDoneError("a demand wrote into the view that it was given")
        verify_fault((given[0], given[1], given[2]), came)

    return Cycled(paging.demand_page, demands, verify, source="synthetic", renew=_renewed)


def _renewed(given: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    view, span_id, store = given
    return renewed((view, span_id, store), number)


async def _missed(paging: Paging, session: Session) -> Tally | Undefined:
    """Replay the session; each turn's references are demanded from the view that the turn before it had."""
    messages = session.messages
    spans = outlook_of(messages).spans
    store = MemoryStore(spans, [each.content for each in messages])
    counts: Counter[FaultStatus] = Counter()
    tokens = 0
    for held, wanted in references(spans, session.seen):
        if not wanted:
            continue
        outlook = Outlook(spans[:held], forecast_of(messages[:held]))
        view = await _viewed(paging, outlook, store, DEFAULT_BUDGET)
        for row in wanted:
            given = (view, spans[row].id, store)
            came = await settled(paging.demand_page(*given))
            verified(verify_fault, given, came)
            counts[came[1].status] += 1
            tokens += came[1].tokens
            view = came[0]
    served, asked, turns = counts[FaultStatus.SERVED], counts.total(), len(session.seen)
    if not asked:
        return Undefined("no-denominator", f"No message of the {turns} turns refers to an earlier turn.")
    told = f"{served} served, {counts[FaultStatus.RESIDENT]} resident"
    each, found = -(-tokens_of(messages) // turns), 1 - served / asked
    return Tally(
        served,
        asked,
        evidence=(
            f"{asked} references over {turns} turns at {DEFAULT_BUDGET} tokens: {told}",
            f"{tokens} tokens were paged in again; (1 - p) b n, of {turns} turns of {each} tokens "
            f"at p = {found:.4f}, is {fault_tax(turns, each, found)}",
        ),
    )
