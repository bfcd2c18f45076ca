"""Drives the planner: the time of one selection, and the number of spans that a session makes it score.

Scoring is set-up here and selection is the slice, so that neither hides in the other. A count is the planner's own,
held against the closed form of the session that was replayed: a planner that says it scored everything and did not,
or that goes beyond its bound, is not believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload, WorkNotDoneError
from harness.probes.turn._replay import Cycled, Session, finish, session_of, settled
from kpis.formulas.turn.planner import CAP, scan_of
from seams.contract.turn import DEFAULT_BUDGET, GREEDY, Candidate, Durability, Forecast, Plan, Planner, Span
from seams.turn.spans import make_span
from seams.turn.view import forecast_of, lower

__all__ = ["OBJECTIVES", "Probe", "synthetic_forecast", "synthetic_spans", "verify_plan"]

OBJECTIVES = {"greedy": GREEDY}
"""The objectives that can be timed, from the parameter's word to the planner's."""

_SUBJECTS = ("auth token rotation", "refund fee policy", "failing unit test", "flight search results", "billing expiry")
_ROLES = ("user", "assistant", "tool", "Read", "WebFetch", "tool", "assistant")
_DURABILITIES = (Durability.SESSION, Durability.TURN, Durability.BOUNDED, Durability.DURABLE, Durability.TURN)


def synthetic_spans(n: int) -> list[Span]:
    """A store of ``n`` spans, the same every time: some tens to 2,400 bytes, each 11th a duplicate, each 17th sealed.

    The periods share no divisor, so that role, subject, size and marks do not move together.
    """
    spans = []
    for step in range(n):
        text = step - 3 if step % 11 == 10 else step
        body = f"{_SUBJECTS[text % 5]} item {text}\n" + "." * (40 + 37 * text % 2_360)
        spans.append(make_span(step, _ROLES[step % 7], body, _DURABILITIES[step % 5], sealed=step % 17 == 9))
    return spans


def synthetic_forecast(n: int) -> Forecast:
    """Two intents, the first and the last span pinned, one span released."""
    pins = ("span:0", f"span:{n - 1}")
    return Forecast(intents=("auth token rotation", "refund fee"), horizon=4, pins=pins, releases=("span:2",))


def verify_plan(given: tuple[Any, ...], plan: Plan) -> None:
    """Hold ``plan`` against what :meth:`Planner.optimize` was given.

    Raises:
        WorkNotDoneError: it is no partition of the candidates, nothing was selected although something fitted, it
            costs more than the budget and its pins, or it follows another objective.
    """
    candidates, budget, pins, releases, objective = given
    if plan.objective != objective:
        raise WorkNotDoneError(f"the plan follows {plan.objective!r} where {objective!r} was asked for")
    placed = sorted([each.id for each in plan.selected] + [each.id for each in plan.elided])
    if placed != sorted(each.cell.id for each in candidates):
        raise WorkNotDoneError(f"{len(placed)} placed spans are no partition of {len(candidates)} candidates")
    spent = sum(each.cost for each in plan.selected)
    if spent != plan.cost_used or spent > max(budget, plan.pinned_tokens):
        raise WorkNotDoneError(f"the selected spans cost {spent} tokens, within a budget of {budget}")
    if not plan.selected and any(_fits(each, budget, pins, releases) for each in candidates):
        raise WorkNotDoneError(f"nothing of {len(candidates)} candidates was selected")


def _fits(candidate: Candidate, budget: int, pins: tuple[str, ...], releases: tuple[str, ...]) -> bool:
    cell = candidate.cell
    if cell.sealed or cell.tombstoned:
        return False
    return cell.id in pins or (cell.id not in releases and candidate.benefit > 0 and candidate.cost <= budget)


class Probe:
    """Opens the KPIs of ``turn/planner``."""

    kpis: ClassVar[frozenset[str]] = frozenset(
        {"planner_optimize_ns", "candidate_scorings", "candidate_scorings_per_turn"}
    )

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:
        """A Slice, a Tally or Undefined; of an asynchronous planner, the coroutine that returns it."""
        planner: Planner | None = runtime.offer("turn/planner", "none")
        if planner is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no planner.")
        if kpi == "planner_optimize_ns":
            return finish(_timed(planner, workload, params), planner.candidates)
        session = session_of(workload)
        if isinstance(session, Undefined):
            return session
        return finish(_counted(planner, session, kpi, params["arm"]), planner.candidates)


async def _timed(planner: Planner, workload: Workload | None, params: Mapping[str, str]) -> Slice | Undefined:
    objective = OBJECTIVES.get(params["objective"])
    if objective is None:
        return Undefined("not-offered", f"The planner does not offer the objective {params['objective']}.")
    if params["n"] == "trace":
        session = session_of(workload)
        if isinstance(session, Undefined):
            return session
        outlooks = [lower(history) for history in session.sampled()]
        inputs = []
        for spans, forecast in outlooks:
            scored = await settled(planner.candidates(spans, forecast))
            inputs.append((scored, DEFAULT_BUDGET, forecast.pins, forecast.releases, objective))
        return Cycled(planner.optimize, inputs, verify_plan)
    n = int(params["n"])
    forecast = synthetic_forecast(n)
    scored = await settled(planner.candidates(synthetic_spans(n), forecast))
    # A quarter of the store fits, so that the planner has to choose.
    budget = sum(each.cost for each in scored) // 4
    given = (scored, budget, forecast.pins, forecast.releases, objective)
    return Cycled(planner.optimize, [given], verify_plan, source="synthetic")


async def _counted(planner: Planner, session: Session, kpi: str, arm: str) -> Tally:
    """Replay every turn and count; the whole session's scorings, or those of its last turn."""
    cap = CAP if arm == "bounded" else None
    spans = lower(session.messages).spans
    counts: list[int] = []
    for seen in session.seen:
        before = planner.scorings
        scored = await settled(planner.candidates(spans[:seen], forecast_of(session.messages[:seen]), cap))
        counts.append(planner.scorings - before)
        _verify_count(counts[-1], len(scored), seen, cap)
    cumulative = kpi == "candidate_scorings"
    held = session.seen if cumulative else session.seen[-1:]
    of = f"{len(held)} turns" if cumulative else "the last turn"
    term = "i" if cap is None else f"min(i, {cap})"
    return Tally(
        numerator=sum(counts) if cumulative else counts[-1],
        evidence=(f"closed form: {term} summed over {of}, i spans held, is {scan_of(held, cap)}",),
    )


def _verify_count(counted: int, returned: int, seen: int, cap: int | None) -> None:
    expected = scan_of([seen], cap)
    if cap is None and not counted == returned == expected:
        raise WorkNotDoneError(
            f"a full scan of {seen} spans counted {counted} scorings and returned {returned} candidates"
        )
    # A better index may need fewer than its bound; it may not score nothing, nor return what it did not score.
    if not 0 < returned <= counted <= expected:
        raise WorkNotDoneError(
            f"of {seen} spans {counted} were scored and {returned} returned, where the bound is {expected}"
        )
