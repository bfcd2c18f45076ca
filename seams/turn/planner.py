"""The planner: which spans the coming turn sees, within a budget of tokens.

Exclusions first (sealed, tombstoned, released, duplicate text), then the pins at any price, then the free spans under
an objective. The same candidates in any order make the same plan. An objective that is not offered is refused by
name, and a plan bears the name of the rule that filled it: where the one that was asked for would have been too much
work, the plan says which it fell back from. Scoring is a step of its own (:meth:`ReferencePlanner.candidates`), so
that the two can be timed apart.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from seams.contract import Engine
from seams.contract.turn import GREEDY, Candidate, Elided, ElisionReason, Forecast, Plan, Selected, Span
from seams.turn.benefit import Scorer
from seams.turn.index import SpanIndex
from seams.turn.objectives import OBJECTIVES, density_of
from seams.turn.spans import Tokenizer, span_cost

__all__ = ["ReferencePlanner", "UnknownObjectiveError", "offer", "optimize"]


class UnknownObjectiveError(ValueError):
    """The planner was asked for an objective that it does not offer."""


def _place(candidate: Candidate) -> tuple[int, str]:
    cell = candidate.cell
    return cell.step, cell.id


def optimize(
    candidates: Sequence[Candidate],
    budget: int,
    pins: Collection[str] = (),
    releases: Collection[str] = (),
    objective: str = GREEDY,
) -> Plan:
    """Partition ``candidates`` within ``budget`` tokens (below 0 counts as 0).

    Pins and releases are ids; a pin outweighs a release. Of spans with equal digests one stays: a pinned one, else
    the earliest. Rows are told apart by their place, so that two of them may bear one id.

    Raises:
        UnknownObjectiveError: ``objective`` is not offered.
    """
    fill = OBJECTIVES.get(objective)
    if fill is None:
        raise UnknownObjectiveError(
            f"The planner does not offer the objective {objective!r}, only {', '.join(sorted(OBJECTIVES))}. "
            "Run: python -m harness explain planner_optimize_ns"
        )
    budget = max(budget, 0)
    ordered = sorted(candidates, key=_place)
    reasons, pinned = _exclude(ordered, frozenset(pins), frozenset(releases))
    free = [row for row, reason in enumerate(reasons) if reason is None and row not in pinned]

    pinned_tokens = sum(ordered[row].cost for row in pinned)
    over_budget = pinned_tokens > budget
    filled_by = objective
    if over_budget:
        for row in free:
            reasons[row] = ElisionReason.OVER_BUDGET
    else:
        filling = fill(ordered, free, budget - pinned_tokens)
        filled_by, chosen = filling.objective, set(filling.chosen)
        for row in free:
            if row not in chosen:
                adds = filling.worths[row] > 0
                reasons[row] = ElisionReason.OVER_BUDGET if adds else ElisionReason.NO_BENEFIT

    selected: list[Selected] = []
    elided: list[Elided] = []
    for row, ((cell, cost, benefit, _), reason) in enumerate(zip(ordered, reasons, strict=True)):
        span_id, step, role, descriptor, digest, size, *_ = cell
        if reason is None:
            density = density_of(benefit, cost)
            selected.append(Selected(span_id, step, role, descriptor, size, cost, benefit, density, row in pinned))
        else:
            elided.append(Elided(span_id, step, role, digest, cost, benefit, reason))
    return Plan(
        budget=budget,
        objective=filled_by,
        selected=tuple(selected),
        elided=tuple(elided),
        candidates=len(ordered),
        cost_used=sum(each.cost for each in selected),
        pinned_tokens=pinned_tokens,
        benefit=sum(each.benefit for each in selected),
        over_budget=over_budget,
        fell_back_from=None if filled_by == objective else objective,
    )


def _exclude(
    ordered: list[Candidate], pins: frozenset[str], releases: frozenset[str]
) -> tuple[list[ElisionReason | None], set[int]]:
    """Why each row is out (None: it is not), and the rows that are pinned and in."""
    reasons: list[ElisionReason | None] = [None] * len(ordered)
    pinned: set[int] = set()
    keeper: dict[str, int] = {}
    for row, (cell, *_) in enumerate(ordered):
        if cell.sealed:
            reasons[row] = ElisionReason.SEALED
            continue
        if cell.tombstoned:
            reasons[row] = ElisionReason.TOMBSTONED
            continue
        is_pinned = cell.id in pins
        if not is_pinned and cell.id in releases:
            reasons[row] = ElisionReason.RELEASED
            continue
        if cell.digest:
            kept = keeper.setdefault(cell.digest, row)
            if kept != row:
                if not is_pinned or kept in pinned:
                    reasons[row] = ElisionReason.DUPLICATE
                    continue
                reasons[kept] = ElisionReason.DUPLICATE
                keeper[cell.digest] = row
        if is_pinned:
            pinned.add(row)
    return reasons, pinned


class ReferencePlanner:
    """Scores in full or within a cap, and optimises. Holds the index of one growing history."""

    def __init__(self, tokenizer: Tokenizer | None = None) -> None:
        self._tokenizer = tokenizer
        self._index = SpanIndex()
        self._scorings = 0

    @property
    def scorings(self) -> int:
        """How many benefits were evaluated so far."""
        return self._scorings

    def candidates(self, spans: Sequence[Span], forecast: Forecast, cap: int | None = None) -> list[Candidate]:
        """Score every span; with ``cap``, those that the index names and no more, also where all would fit."""
        if cap is not None:
            spans = self._named(spans, forecast, cap)
        scorer = Scorer(forecast, max((span.step for span in spans), default=0))
        score, tokenizer = scorer.score, self._tokenizer
        scored = [Candidate(span, span_cost(span, tokenizer), *score(span)) for span in spans]
        self._scorings += scorer.calls
        return scored

    def _named(self, spans: Sequence[Span], forecast: Forecast, cap: int) -> list[Span]:
        """What the index names for this forecast, in step order."""
        if not self._index.grows_into(spans):
            self._index = SpanIndex()
        self._index.extend(spans[len(self._index) :])
        return [spans[row] for row in sorted(self._index.probe(forecast, cut=cap))]

    def optimize(
        self,
        candidates: Sequence[Candidate],
        budget: int,
        pins: Collection[str] = (),
        releases: Collection[str] = (),
        objective: str = GREEDY,
    ) -> Plan:
        """As :func:`optimize`."""
        return optimize(candidates, budget, pins, releases, objective)


def offer(engine: Engine) -> ReferencePlanner:  # noqa: ARG001 - planning calls no engine, so any cut is the same
    """A planner with an empty index."""
    return ReferencePlanner()
