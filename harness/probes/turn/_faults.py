"""What the paging probe demands spans from and holds the demands against: a store of its own, and references in it.

What a demand has to come to is computed from the view that it was made on. Nothing of the subject runs here and no
clock is read.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from harness.measure.clock import WorkNotDoneError
from harness.probes.turn._marks import digest_of, marked
from harness.probes.turn._outlook import span_of, token_cost, utf8, words_of
from harness.probes.turn._synthetic import DURABILITIES, synthetic_body
from seams.contract.paging import Fault, FaultStatus
from seams.contract.turn import Forecast, Materialized, Outlook, RefusalReason, Selected, Span

__all__ = [
    "SHARED",
    "SPANS",
    "MemoryStore",
    "references",
    "renewed",
    "synthetic_store",
    "tokens_in",
    "verify_fault",
    "verify_view",
]

SPANS = 200
"""Spans that the view is over whose faults are timed."""

SHARED = 2
"""Words that two lines share at least where one refers to the other; a single one is often a word like `the`."""


class MemoryStore:
    """Spans and their texts in two dictionaries. Nothing in it is sealed, so it refuses nothing that it has."""

    def __init__(self, spans: Sequence[Span], bodies: Sequence[str]) -> None:
        self.spans = {span.id: span for span in spans}
        self.bodies = {span.id: body for span, body in zip(spans, bodies, strict=True)}

    def span(self, span_id: str) -> Span | None:
        """The span; None where there is none."""
        return self.spans.get(span_id)

    def page_in(self, selected: Selected) -> str | RefusalReason:
        """The text; a refusal where there is none."""
        return self.bodies.get(selected.id, RefusalReason.PAGE_IN)


def synthetic_store() -> tuple[Outlook, MemoryStore, int]:
    """``SPANS`` spans of some tens to 900 bytes, the same every time; their outlook, and a quarter of their tokens."""
    bodies = [synthetic_body(step, 860) for step in range(SPANS)]
    roles = ("user", "assistant", "tool", "tool")
    spans = [span_of(step, roles[step % 4], body, DURABILITIES[step % 5]) for step, body in enumerate(bodies)]
    forecast = Forecast(("auth token rotation", "refund fee"), horizon=4, pins=("span:0", f"span:{SPANS - 1}"))
    budget = sum(token_cost(span.bytes) for span in spans) // 4
    return Outlook(tuple(spans), forecast), MemoryStore(spans, bodies), budget


def references(spans: Sequence[Span], seen: Sequence[int]) -> Iterator[tuple[int, list[int]]]:
    """Turn by turn from the second: how many spans were held before it, and which of them its new spans refer to.

    A new span refers to the one earlier span whose shown line, role apart, shares most words of three or more letters
    and digits with its own, ``SHARED`` at least; of equals to the newest. Two that refer to one count once a turn.
    """
    lines = [words_of(span.descriptor[len(span.role) :]) for span in spans]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    indexed = 0
    for held, now in pairwise(seen):
        for row in range(indexed, held):
            for word in lines[row]:
                holders[word].append(row)
        indexed = held
        found: set[int] = set()
        for new in range(held, now):
            shared = Counter(chain.from_iterable(holders.get(word, ()) for word in lines[new]))
            most = max(shared.values(), default=0)
            if most >= SHARED:
                found.add(max(row for row, words in shared.items() if words == most))
        yield held, sorted(found)


def renewed(given: tuple[Materialized, str, MemoryStore], number: int) -> tuple[Materialized, str, MemoryStore]:
    """The same demand for a text that no call has had: the number is in it, and its digest in span and handle.

    The store is one of its own, that holds the span asked for and no other.
    """
    view, span_id, store = given
    text = marked(store.bodies[span_id], number)
    span = store.spans[span_id]._replace(digest=digest_of(text))
    elided = tuple(each._replace(digest=span.digest) if each.id == span_id else each for each in view.plan.elided)
    return view._replace(plan=replace(view.plan, elided=elided)), span_id, MemoryStore([span], [text])


def verify_view(given: tuple[Outlook, MemoryStore, int], view: Materialized) -> None:
    """Hold ``view`` against what :meth:`Paging.view` was given.

    Raises:
        WorkNotDoneError: a rendered text is not that of its span, or stands out of its order; more than pins are
            rendered beyond the budget; or a span is not on one side of the plan.
    """
    (spans, forecast), store, budget = given
    ids = {span.id for span in spans}
    places = [(each.step, each.id) for each in view.rendered]
    if places != sorted(set(places)) or not ids.issuperset(each.id for each in view.rendered):
        raise WorkNotDoneError(f"{len(places)} rendered spans are not as many of {len(ids)} in their order")
    if any(each.body != store.bodies[each.id] for each in view.rendered):
        raise WorkNotDoneError("a rendered text is not that of its span")
    placed = Counter([*(each.id for each in view.plan.selected), *(each.id for each in view.plan.elided)])
    if placed.total() != len(placed) or placed.keys() - ids or len(placed) != view.plan.candidates:
        raise WorkNotDoneError(f"{placed.total()} placed spans are no partition of {view.plan.candidates} candidates")
    spent = tokens_in(view)
    if spent > budget and not {each.id for each in view.rendered} <= set(forecast.pins):
        raise WorkNotDoneError(f"the view holds more than pins and costs {spent} tokens, within a budget of {budget}")


def verify_fault(given: tuple[Materialized, str, MemoryStore], came: tuple[Materialized, Fault]) -> None:
    """Hold a demand for a span that the store has, and gives out, against the view that it was made on.

    Raises:
        WorkNotDoneError: it was refused, or the status is not what that view calls for; the span was not spliced into
            its place with its whole text; something else changed; or the witness does not count what is rendered.
    """
    view, span_id, store = given
    paged, fault = came
    was = [each.id for each in view.rendered]
    right = FaultStatus.RESIDENT if span_id in was else FaultStatus.SERVED
    if fault.status is FaultStatus.REFUSED:
        raise WorkNotDoneError("the demand was refused, and the store that it was made on refuses nothing")
    if fault.id != span_id or fault.status is not right:
        raise WorkNotDoneError(f"the demand for a span {'in' if span_id in was else 'out of'} the view was misnamed")
    if fault.status is FaultStatus.RESIDENT:
        if paged.rendered != view.rendered:
            raise WorkNotDoneError("the span was resident, and the view changed")
        return
    body = store.bodies[span_id]
    tokens = token_cost(len(utf8(body)))
    if fault.tokens != tokens:
        raise WorkNotDoneError(f"a body of {tokens} tokens was served as one of {fault.tokens}")
    back = [each for each in paged.rendered if each.id == span_id]
    if [each.body for each in back] != [body]:
        raise WorkNotDoneError("the served span is not in the view, once and with its whole text")
    places = [(each.step, each.id) for each in paged.rendered]
    if places != sorted(places) or [each for each in paged.rendered if each.id != span_id] != list(view.rendered):
        raise WorkNotDoneError("the served span does not stand in its place between those that were there")
    selected, elided = ([each.id for each in side] for side in (paged.plan.selected, paged.plan.elided))
    if selected.count(span_id) != 1 or span_id in elided or len(selected) + len(elided) != paged.plan.candidates:
        raise WorkNotDoneError("the served span was not moved from the elided to the selected")
    resident = tokens_in(paged)
    witness = paged.witness
    if not witness.reconciled or (witness.rendered, witness.resident_tokens) != (len(places), resident):
        raise WorkNotDoneError(f"the witness does not count the {len(places)} spans and {resident} tokens in the view")


def tokens_in(view: Materialized) -> int:
    """Tokens of the texts that are rendered in ``view``."""
    return sum(token_cost(len(utf8(each.body))) for each in view.rendered)
