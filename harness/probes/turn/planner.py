"""Drives the planner: the time of one selection, and the number of spans that a session makes it score.

Scoring is set-up here and selection is the slice, so that neither hides in the other. Spans, costs and pins are the
probe's own; of the planner's it takes the benefits and the count. The count has to be the number of candidates that
came back, and to keep to the closed form of the session. What this cannot see is a span scored and then kept quiet
about. A plan has to be worth what its objective can reach, so that a greedy one under another name is found out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import finish, settled
from harness.probes._history import messages, turns_of
from harness.probes.turn._outlook import forecast_of, outlook_of, span_of, token_cost, words_of
from harness.probes.turn._plans import geometry_of, reachable, verify_plan, verify_reached
from harness.probes.turn._replay import Cycled, Session, session_of, verified
from kpis.formulas.turn.planner import CAP, scan_of
from seams.contract.turn import (
    COVERAGE,
    DEFAULT_BUDGET,
    EXACT,
    GREEDY,
    Candidate,
    Durability,
    Forecast,
    Message,
    Outlook,
    Plan,
    Planner,
    Span,
)

__all__ = [
    "EXACT_CELLS",
    "OBJECTIVES",
    "Probe",
    "synthetic_forecast",
    "synthetic_spans",
    "verify_scored",
]

OBJECTIVES = {"greedy": GREEDY, "exact": EXACT, "coverage": COVERAGE}
"""The objectives that can be timed, from the parameter's word to the planner's."""

EXACT_CELLS = 16_000_000
"""Spans times tokens that an exact plan of the synthetic store is asked for at most. Its work grows with both, and a
planner may then fall back to another objective, which would be timed in its place. Greedy misses the optimum of either
store at this size, so that it cannot pass for exact."""

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
        spans.append(span_of(step, _ROLES[step % 7], body, _DURABILITIES[step % 5], sealed=step % 17 == 9))
    return spans


def synthetic_forecast(n: int) -> Forecast:
    """Two intents, the first and the last span pinned, one span released."""
    pins = ("span:0", f"span:{n - 1}")
    return Forecast(intents=("auth token rotation", "refund fee"), horizon=4, pins=pins, releases=("span:2",))


def verify_scored(outlook: Outlook, cap: int | None, scored: Sequence[Candidate]) -> None:
    """Hold ``scored`` against what :meth:`Planner.candidates` was given.

    Raises:
        WorkNotDoneError: a candidate is no span of the outlook, comes twice or is worth no finite number; or one is
            missing: any without a ``cap``, a pinned one with it.
    """
    given = {span.id for span in outlook.spans}
    found = Counter(each.cell.id for each in scored)
    if found.keys() - given or len(found) < len(scored):
        raise WorkNotDoneError(f"{len(scored)} scored candidates are not as many of the {len(given)} spans given")
    missing = (given if cap is None else given.intersection(outlook.forecast.pins)) - found.keys()
    if missing:
        what = "spans" if cap is None else "pinned spans"
        raise WorkNotDoneError(f"{len(missing)} {what} out of {len(given)} given were not scored")
    if not all(math.isfinite(each.benefit) for each in scored):
        raise WorkNotDoneError("a candidate was scored with a benefit that is no finite number")


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
    objective, n = OBJECTIVES[params["objective"]], params.get("n", "")
    if "history" in params:
        return await _grown(planner, objective, params["history"])
    if n == "trace":
        session = session_of(workload)
        if isinstance(session, Undefined):
            return session
        inputs = []
        for outlook in map(outlook_of, session.sampled()):
            scored, forecast = await _candidates(planner, outlook, objective), outlook.forecast
            inputs.append((scored, DEFAULT_BUDGET, forecast.pins, forecast.releases, objective))
        return await _offered(planner, inputs, None)
    forecast = synthetic_forecast(int(n))
    scored = await _candidates(planner, Outlook(tuple(synthetic_spans(int(n))), forecast), objective)
    # A quarter of the store fits, so that the planner has to choose.
    budget = sum(each.cost for each in scored) // 4
    if objective == EXACT:
        budget = min(budget, EXACT_CELLS // len(scored))
    return await _offered(planner, [(scored, budget, forecast.pins, forecast.releases, objective)], "synthetic")


async def _grown(planner: Planner, objective: str, history: str) -> Slice | Undefined:
    """The choice after a history of that many turns, within the default budget, with its exact work."""
    turns = turns_of(history)
    if isinstance(turns, Undefined):
        return turns
    outlook = outlook_of([Message(role, text) for role, text in messages(turns)])
    scored, forecast = await _candidates(planner, outlook, objective), outlook.forecast
    given = (scored, DEFAULT_BUDGET, forecast.pins, forecast.releases, objective)
    sliced = await _offered(planner, [given], "synthetic")
    if isinstance(sliced, Cycled):
        plan = await settled(planner.optimize(*given))
        verified(verify_plan, given, plan)
        sliced.work = {"spans partitioned": len(plan.selected) + len(plan.elided), "spans selected": len(plan.selected)}
    return sliced


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
    expected: dict[int, float] = {}

    def verify(given: tuple[Any, ...], plan: Plan) -> None:
        verify_plan(given, plan)
        if objective != GREEDY:
            key = id(given[0])
            if key not in expected:
                expected[key] = reachable(given)
            verify_reached(given, plan, expected[key])

    return Cycled(planner.optimize, inputs, verify, source)


async def _scored(planner: Planner, outlook: Outlook, cap: int | None) -> list[Candidate]:
    scored: list[Candidate] = await settled(planner.candidates(outlook.spans, outlook.forecast, cap))
    verified(lambda given, came: verify_scored(given, cap, came), outlook, scored)
    return scored


async def _candidates(planner: Planner, outlook: Outlook, objective: str) -> list[Candidate]:
    """Every span at the probe's own cost, so that none is cheap by its planner's word, with the planner's benefit.

    For coverage the benefit is parted by the probe too: what the intents' words in the span are worth, and the rest.
    """
    benefits = {each.cell.id: each.benefit for each in await _scored(planner, outlook, None)}
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


async def _counted(planner: Planner, session: Session, kpi: str, arm: str) -> Tally:
    """Replay every turn and count; the whole session's scorings, or those of its last turn."""
    cap = CAP if arm == "bounded" else None
    spans = outlook_of(session.messages).spans
    counts: list[int] = []
    for seen in session.seen:
        outlook = Outlook(spans[:seen], forecast_of(session.messages[:seen]))
        before = planner.scorings
        scored = await _scored(planner, outlook, cap)
        counts.append(planner.scorings - before)
        _verify_count(counts[-1], len(scored), seen, cap)
    cumulative = kpi == "candidate_scorings"
    held = session.seen if cumulative else session.seen[-1:]
    over = f"summed over {len(held)} turns" if cumulative else "at the last turn"
    form = "closed form: i" if cap is None else f"bound: min(i, {cap})"
    return Tally(
        numerator=sum(counts) if cumulative else counts[-1],
        evidence=(f"{form} {over}, i spans held, is {scan_of(held, cap)}",),
    )


def _verify_count(counted: int, returned: int, seen: int, cap: int | None) -> None:
    if counted != returned:
        raise WorkNotDoneError(f"of {seen} spans {counted} were counted as scored and {returned} came back")
    # An index may need fewer than its bound; it may not score nothing.
    bound = scan_of([seen], cap)
    if not 0 < counted <= bound or (cap is None and counted != bound):
        raise WorkNotDoneError(f"of {seen} spans {counted} were scored, where the closed form is {bound}")
