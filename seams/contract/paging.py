"""The contract of demand paging: an elided span is asked for by its id, and comes back into a view of its own.

A fault is a record, not an error: asking for what is not there, or for what the trust gate keeps out, is an answer
too. This module holds records and Protocols only.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Protocol

from seams.contract.turn import Materialized, Outlook, RefusalReason, Selected, Span

__all__ = ["Fault", "FaultStatus", "Paging", "Store"]


class FaultStatus(StrEnum):
    """What became of a demand. ``resident``: the span is in the view already. ``absent``: there is no such span."""

    SERVED = "served"
    RESIDENT = "resident"
    ABSENT = "absent"
    REFUSED = "refused"


class Fault(NamedTuple):
    """One demand for a span. ``step`` and ``role`` are those of the span, None and blank where it is absent.

    ``reason`` says why it was refused; ``tokens`` is what a served body costs, its bytes over four, rounded up.
    """

    id: str
    step: int | None
    role: str
    status: FaultStatus
    reason: RefusalReason | None = None
    tokens: int = 0


class Store(Protocol):
    """Where the texts are: whoever calls brings it, so that a number can name the store it was taken from."""

    def span(self, span_id: str) -> Span | None:
        """The span called ``span_id``; None where the store has none."""
        ...

    def page_in(self, selected: Selected) -> str | RefusalReason:
        """The span's text, or why it stays out. A LookupError, OSError or ValueError is a refused page-in."""
        ...


class Paging(Protocol):
    """The seam ``turn/paging``. The methods may be coroutine functions; a store's are called as they are.

    A view is that of ``turn/view``: pins at any price, then what fits into the budget, in step order.
    """

    def view(self, outlook: Outlook, store: Store, budget: int) -> Materialized:
        """Plan the turn within ``budget`` tokens and page in what was selected."""
        ...

    def demand_page(self, view: Materialized, span_id: str, store: Store) -> tuple[Materialized, Fault]:
        """Bring one span back.

        A blank id is absent; then what is rendered is resident; what the store has not is absent; what it does not
        give out is refused; and the rest is served. A served span stands in its place by step in the view that comes
        back, selected and no longer elided, and its witness is taken anew; it may take that view beyond its budget.
        The view that was given stays as it is, and is what comes back where nothing was served.
        """
        ...
