"""Spans made, scored, indexed and chosen, at several lengths of history."""

from __future__ import annotations

from harness import probe
from seams.contract.turn import Durability, Forecast, Span
from seams.turn.index import SpanIndex
from seams.turn.planner import ReferencePlanner
from seams.turn.spans import make_span

_TOPICS = ("token rotation", "refund fees", "a failing test", "flights on friday", "a bill that expired")
_ROLES = ("user", "assistant", "tool", "tool", "assistant")
_LASTS = tuple(Durability)


def _store(n: int) -> list[Span]:
    """``n`` spans of some tens to 2,000 bytes, the same every time."""
    return [
        make_span(step, _ROLES[step % 5], f"{_TOPICS[step % 5]} {step}\n{'.' * (31 * step % 1_999)}", _LASTS[step % 4])
        for step in range(n)
    ]


def _forecast(n: int) -> Forecast:
    return Forecast(intents=("refund fees", "token rotation"), pins=("span:0", f"span:{n - 1}"))


@probe(check=lambda plan: 0 < len(plan.selected) < plan.candidates, source="synthetic")
def optimize(n: str):
    """A greedy plan of ``n`` scored spans, a quarter of whose tokens fit."""
    planner, forecast = ReferencePlanner(), _forecast(int(n))
    scored = planner.candidates(_store(int(n)), forecast)
    budget = sum(each.cost for each in scored) // 4
    return lambda: planner.optimize(scored, budget, forecast.pins)


@probe(check=lambda scored: any(each.benefit > 0 for each in scored), source="synthetic")
def score(n: str):
    """The benefit of each of ``n`` spans."""
    planner, forecast, spans = ReferencePlanner(), _forecast(int(n)), _store(int(n))
    return lambda: planner.candidates(spans, forecast)


@probe(check=lambda rows: len(rows) > 0, source="synthetic")
def index_probe(n: str):
    """The rows of an index over ``n`` spans that are worth scoring."""
    index, forecast = SpanIndex(), _forecast(int(n))
    index.extend(_store(int(n)))
    return lambda: index.probe(forecast)


@probe(check=lambda index: len(index) > 0, source="synthetic")
def index_build(n: str):
    """An index over ``n`` spans, from nothing."""
    spans = _store(int(n))

    def call() -> SpanIndex:
        index = SpanIndex()
        index.extend(spans)
        return index

    return call


@probe(check=lambda span: span.bytes > 0 and len(span.digest) == 64, source="synthetic")
def span(size: str):
    """One span of a body of ``size`` bytes."""
    body = "the first line\n" + "." * (int(size) - 15)
    return lambda: make_span(3, "tool", body)
