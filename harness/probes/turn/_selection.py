"""The time of one selection: scored candidates in, a plan out.

Spans, costs, pins and what a benefit is made of are the probe's own; of the planner it takes the benefits. A plan has
to be worth what its objective can reach, so that a greedy one under another name is found out, and so is one that is
less than greedy. No two calls are given the same candidates: one that the plan leaves out has a digest of its own each
time, which the plan has to show.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from harness.measure.clock import Slice, Undefined, Workload
from harness.probes._awaiting import settled
from harness.probes._history import messages, turns_of
from harness.probes.turn._outlook import outlook_of, token_cost, words_of
from harness.probes.turn._plans import geometry_of, reachable, verify_plan, verify_reached
from harness.probes.turn._replay import Cycled, session_of, verified
from harness.probes.turn._scorings import scored
from harness.probes.turn._synthetic import synthetic_forecast, synthetic_spans
from seams.contract.turn import (
    COVERAGE,
    DEFAULT_BUDGET,
    EXACT,
    GREEDY,
    Candidate,
    Message,
    Outlook,
    Plan,
    Planner,
)

__all__ = ["EXACT_CELLS", "OBJECTIVES", "timed"]

OBJECTIVES = {"greedy": GREEDY, "exact": EXACT, "coverage": COVERAGE}
"""The objectives that can be timed, from the parameter's word to the planner's."""

EXACT_CELLS = 16_000_000
"""Spans times tokens that an exact plan of the synthetic store is asked for at most. Its work grows with both, and a
planner may then fall back to another objective, which would be timed in its place. Greedy misses the optimum of either
store at this size, so that it cannot pass for exact."""


async def timed(planner: Planner, workload: Workload | None, params: Mapping[str, str]) -> Slice | Undefined:
    """The slice of the objective and the store that ``params`` name, or why there is none."""
    objective, n = OBJECTIVES[params["objective"]], params.get("n", "")
    if "history" in params:
        return await _grown(planner, objective, params["history"])
    if n == "trace":
        session = session_of(workload)
        if isinstance(session, Undefined):
            return session
        outlooks = map(outlook_of, session.sampled())
        return await _offered(planner, [await _asked(planner, each, objective) for each in outlooks], None)
    forecast = synthetic_forecast(int(n))
    found = await _candidates(planner, Outlook(tuple(synthetic_spans(int(n))), forecast), objective)
    # A quarter of the store fits, so that the planner has to choose.
    budget = sum(each.cost for each in found) // 4
    if objective == EXACT:
        budget = min(budget, EXACT_CELLS // len(found))
    return await _offered(planner, [(found, budget, forecast.pins, forecast.releases, objective)], "synthetic")


async def _grown(planner: Planner, objective: str, history: str) -> Slice | Undefined:
    """The choice after a history of that many turns, within the default budget, with its exact work."""
    turns = turns_of(history)
    if isinstance(turns, Undefined):
        return turns
    given = await _asked(planner, outlook_of([Message(role, text) for role, text in messages(turns)]), objective)
    sliced = await _offered(planner, [given], "synthetic")
    if isinstance(sliced, Cycled):
        plan = await _planned(planner, given)
        sliced.work = {"spans partitioned": len(plan.selected) + len(plan.elided), "spans selected": len(plan.selected)}
    return sliced


async def _asked(planner: Planner, outlook: Outlook, objective: str) -> tuple[Any, ...]:
    forecast = outlook.forecast
    return await _candidates(planner, outlook, objective), DEFAULT_BUDGET, forecast.pins, forecast.releases, objective


async def _planned(planner: Planner, given: tuple[Any, ...]) -> Plan:
    plan: Plan = await settled(planner.optimize(*given))
    verified(verify_plan, given, plan)
    return plan


async def _offered(planner: Planner, inputs: list[tuple[Any, ...]], source: str | None) -> Cycled | Undefined:
    """The slice; Undefined where the planner refuses the objective, or names another that took its place."""
    objective = inputs[-1][-1]
    if objective != GREEDY:
        try:
            plan = await settled(planner.optimize(*inputs[-1]))
        except ValueError:
            return Undefined("not-offered", f"The planner does not offer the objective {objective}.")
        if getattr(plan, "fell_back_from", None) == objective != plan.objective:
            told = f"{len(inputs[-1][0])} candidates and {inputs[-1][1]} tokens"
            return Undefined("not-offered", f"For {told} the planner fell back from {objective}.")
    # Candidates of one session at one length are always the same, so their number says which they are.
    rows = {len(given[0]): _marked_row(given, await _planned(planner, given)) for given in inputs}
    expected: dict[int, float] = {}

    def renew(given: tuple[Any, ...], number: int) -> tuple[Any, ...]:
        candidates, *others = given
        return _marked(candidates, rows[len(candidates)], number), *others

    def verify(given: tuple[Any, ...], plan: Plan) -> None:
        verify_plan(given, plan)
        key = len(given[0])
        if key not in expected:
            expected[key] = reachable(given)
        verify_reached(given, plan, expected[key])

    return Cycled(planner.optimize, inputs, verify, source, renew=renew)


def _marked_row(given: tuple[Any, ...], plan: Plan) -> int:
    """The row that bears the mark: one that is left out and no other's copy, else the last one."""
    candidates: list[Candidate] = given[0]
    copies = Counter(each.cell.digest for each in candidates)
    out = {each.id for each in plan.elided}
    alone = (row for row, (cell, *_) in enumerate(candidates) if cell.id in out and copies[cell.digest] == 1)
    return next(alone, len(candidates) - 1)


def _marked(candidates: list[Candidate], row: int, number: int) -> list[Candidate]:
    """The same candidates, that at ``row`` under a digest that none had before."""
    found = list(candidates)
    found[row] = found[row]._replace(cell=found[row].cell._replace(digest=f"{number:064x}"))
    return found


async def _candidates(planner: Planner, outlook: Outlook, objective: str) -> list[Candidate]:
    """Every span at the probe's own cost, so that none is cheap by its planner's word, with the planner's benefit.

    For coverage the benefit is parted by the probe too: what the intents' words in the span are worth, and the rest.
    """
    benefits = {each.cell.id: each.benefit for each in await scored(planner, outlook, None)}
    spans, forecast = outlook
    query = words_of(*forecast.intents)
    return [
        Candidate(
            span,
            token_cost(span.bytes),
            benefits[span.id],
            geometry_of(words_of(span.role, span.descriptor), query, forecast.weights.relevance, benefits[span.id])
            if objective == COVERAGE and not span.sealed
            else None,
        )
        for span in spans
    ]
