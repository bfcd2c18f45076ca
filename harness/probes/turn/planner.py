"""Drives the planner: the time of one selection, and the number of spans that a session makes it score.

Scoring is set-up here and selection is the slice, so that neither hides in the other. Spans, costs and pins are the
probe's own; of the planner's it takes the benefits and the count. The count has to be the number of candidates that
came back, and to keep to the closed form of the session. What this cannot see is a span scored and then kept quiet
about.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import finish, settled
from harness.probes.turn._outlook import forecast_of, outlook_of, span_of, token_cost
from harness.probes.turn._replay import Cycled, Session, session_of, verified
from kpis.formulas.turn.planner import CAP, scan_of
from seams.contract.turn import DEFAULT_BUDGET, GREEDY, Candidate, Durability, Forecast, Outlook, Plan, Planner, Span

__all__ = ["OBJECTIVES", "Probe", "synthetic_forecast", "synthetic_spans", "verify_plan", "verify_scored"]

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


def verify_plan(given: tuple[Any, ...], plan: Plan) -> None:
    """Hold ``plan`` against what :meth:`Planner.optimize` was given, each cost being that of the candidate.

    Raises:
        WorkNotDoneError: it follows another objective, is no partition of the candidates, selects what is barred or
            leaves out a pin, spends more than the budget on other things than pins, says that it spends something
            else, or (greedy) leaves out what would have fitted.
    """
    candidates, budget, pins, releases, objective = given
    if plan.objective != objective:
        raise WorkNotDoneError("the plan follows another objective than the one that was asked for")
    by_id: dict[str, Candidate] = {each.cell.id: each for each in candidates}
    chosen = [each.id for each in plan.selected]
    placed = Counter([*chosen, *(each.id for each in plan.elided)])
    if placed != Counter(by_id.keys()):
        raise WorkNotDoneError(f"{placed.total()} placed spans are no partition of {len(by_id)} candidates")
    kept = [by_id[each] for each in chosen]
    texts = {each.cell.digest for each in kept}
    pinned = [each for each in candidates if each.cell.id in pins and not _barred(each, ())]
    if any(_barred(each, () if each in pinned else releases) for each in kept):
        raise WorkNotDoneError("a span that is sealed, tombstoned or released was selected")
    if any(each.cell.digest not in texts for each in pinned):
        raise WorkNotDoneError(f"not all of {len(pinned)} pinned spans were selected")
    spent = sum(each.cost for each in kept)
    if spent != plan.cost_used:
        raise WorkNotDoneError(f"the selected spans cost {spent} tokens, and the plan says {plan.cost_used}")
    if spent > budget and not all(each in pinned for each in kept):
        raise WorkNotDoneError(f"the selected spans, more than pins, cost {spent} tokens, within a budget of {budget}")
    copies = Counter(each.cell.digest for each in candidates)
    out = (by_id[each.id] for each in plan.elided)
    left_out = sum(copies[each.cell.digest] == 1 and _fits(each, budget - spent, releases) for each in out)
    if objective == GREEDY and left_out:
        raise WorkNotDoneError(f"the plan leaves out {left_out} spans of {len(by_id)} that would still have fitted")


def _barred(candidate: Candidate, releases: Sequence[str]) -> bool:
    cell = candidate.cell
    return cell.sealed or cell.tombstoned or cell.id in releases


def _fits(candidate: Candidate, left: int, releases: Sequence[str]) -> bool:
    return candidate.benefit > 0 and candidate.cost <= left and not _barred(candidate, releases)


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
        inputs = []
        for outlook in map(outlook_of, session.sampled()):
            scored, forecast = await _candidates(planner, outlook), outlook.forecast
            inputs.append((scored, DEFAULT_BUDGET, forecast.pins, forecast.releases, objective))
        return Cycled(planner.optimize, inputs, verify_plan)
    n = int(params["n"])
    forecast = synthetic_forecast(n)
    scored = await _candidates(planner, Outlook(tuple(synthetic_spans(n)), forecast))
    # A quarter of the store fits, so that the planner has to choose.
    budget = sum(each.cost for each in scored) // 4
    given = (scored, budget, forecast.pins, forecast.releases, objective)
    return Cycled(planner.optimize, [given], verify_plan, source="synthetic")


async def _scored(planner: Planner, outlook: Outlook, cap: int | None) -> list[Candidate]:
    scored: list[Candidate] = await settled(planner.candidates(outlook.spans, outlook.forecast, cap))
    verified(lambda given, came: verify_scored(given, cap, came), outlook, scored)
    return scored


async def _candidates(planner: Planner, outlook: Outlook) -> list[Candidate]:
    """Every span at the probe's own cost, so that none is cheap by its planner's word, with the planner's benefit."""
    benefits = {each.cell.id: each.benefit for each in await _scored(planner, outlook, None)}
    return [Candidate(span, token_cost(span.bytes), benefits[span.id]) for span in outlook.spans]


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
