"""Drives the view over a recorded session: what it costs to spawn a turn, and how much smaller the window becomes.

One call is one turn, at the length that the history had then, and with a number in it that no other call had. The
phases are timed on inputs that the view itself prepared outside the clock. Costs and pins are taken from the messages,
never from what the view says of them; what a view has to hold is in :mod:`harness.probes.turn._views`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import finish, settled
from harness.probes._history import messages, turns_of
from harness.probes.turn._marks import digest_of, last_asked, renumbered
from harness.probes.turn._outlook import tokens_of
from harness.probes.turn._replay import Cycled, Session, session_of, verified
from harness.probes.turn._views import verify_outlook, verify_paged_in, verify_plan, verify_rendered
from kpis.formulas.turn.scaling import capped_flow, linear_flow, linear_resident, planned_resident
from seams.contract.turn import Message, Outlook, Plan, View

__all__ = ["Probe"]


_METHODS = {
    "all": ("render_turn",),
    "forecast": ("forecast",),
    "plan": ("forecast", "plan"),
    "render": ("forecast", "plan", "render"),
}
"""What a view needs for each phase: a runtime that only renders whole turns is measured on those."""


class Probe:
    """Opens the KPIs of ``turn/view``."""

    kpis: ClassVar[frozenset[str]] = frozenset({"turn_spawn_ns", "context_view_compression"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:
        """A Slice, a Tally or Undefined; of an asynchronous view, the coroutine that returns it."""
        view: View | None = runtime.offer("turn/view", "none")
        if view is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no view.")
        wanted = _METHODS[params["phase"]] if kpi == "turn_spawn_ns" else _METHODS["render"]
        missing = [name for name in wanted if not callable(getattr(view, name, None))]
        if missing:
            lacks = " and no ".join(missing)
            return Undefined("not-offered", f"The view of the runtime {runtime.name} has no {lacks}.")
        if "history" in params:
            turns = turns_of(params["history"])
            if isinstance(turns, Undefined):
                return turns
            return finish(_grown(view, turns), view.render_turn)
        session = session_of(workload)
        if isinstance(session, Undefined):
            return session
        opening = _spawned(view, session, params["phase"]) if kpi == "turn_spawn_ns" else _compressed(view, session)
        return finish(opening, *(getattr(view, name) for name in wanted))


async def _spawned(view: View, session: Session, phase: str) -> Slice:
    histories = session.sampled()
    budget = view.budget
    if phase == "all":
        return Cycled(view.render_turn, [(each,) for each in histories], _rendered(budget), renew=_renewed)
    if phase == "forecast":
        return Cycled(view.forecast, [(each,) for each in histories], _lowered, renew=_renewed)
    planned = [(history, *await _planned(view, history, budget)) for history in histories]
    if phase == "plan":
        out = {len(history): _left_out(plan, history) for history, _, plan in planned}

        def renew(given: tuple[Any, ...], number: int) -> tuple[Any, ...]:
            return _relowered(given, out[len(given[0])], number)

        outlooks = [(history, outlook) for history, outlook, _ in planned]
        return Cycled(view.plan, outlooks, lambda given, came: verify_plan(given[0], came, budget), renew=renew)
    plans = [(history, plan) for history, _, plan in planned]
    return Cycled(view.render, plans, _paged_in(budget), renew=_renewed)


def _renewed(given: tuple[Any, ...], number: int) -> tuple[Any, ...]:
    """The same with the number in what was asked last, which every view holds."""
    history, *others = given
    return renumbered(history, last_asked(history), number), *others


def _relowered(given: tuple[Any, ...], step: int, number: int) -> tuple[Any, ...]:
    """The same with the number at ``step``, and that span's digest with it."""
    history, (spans, forecast) = given
    history = renumbered(history, step, number)
    span = spans[step]._replace(digest=digest_of(history[step].content))
    return history, Outlook((*spans[:step], span, *spans[step + 1 :]), forecast)


def _left_out(plan: Plan, history: Sequence[Message]) -> int:
    """A step whose handle the plan must show: of those left out, one whose text comes once; else what was asked."""
    copies = Counter(each.content for each in history)
    alone = (each.step for each in plan.elided if copies[history[each.step].content] == 1)
    return next(alone, last_asked(history))


def _rendered(budget: int) -> Callable[[tuple[Any, ...], Any], None]:
    return lambda given, came: verify_rendered(given[0], came, budget)


def _lowered(given: tuple[Any, ...], came: Any) -> None:
    verify_outlook(given[0], came)


def _paged_in(budget: int) -> Callable[[tuple[Any, ...], Any], None]:
    def verify(given: tuple[Any, ...], came: Any) -> None:
        verify_rendered(given[0], came, budget)
        verify_paged_in(given[0], given[1], came)

    return verify


async def _planned(view: View, history: list[Message], budget: int) -> tuple[Outlook, Plan]:
    outlook = await settled(view.forecast(history))
    verified(verify_outlook, history, outlook)
    plan = await settled(view.plan(history, outlook))
    verified(lambda given, came: verify_plan(given, came, budget), history, plan)
    return outlook, plan


async def _whole(view: View, history: list[Message]) -> tuple[Outlook, Plan, list[Message]]:
    """The three phases of one turn, each held against what it was given."""
    outlook, plan = await _planned(view, history, view.budget)
    rendered = await settled(view.render(history, plan))
    verified(_paged_in(view.budget), (history, plan), rendered)
    return outlook, plan, rendered


async def _grown(view: View, turns: int) -> Slice:
    """Whole spawns after a history of that many turns, with the work that one of them does."""
    history = [Message(role, text) for role, text in messages(turns)]
    phased = all(callable(getattr(view, name, None)) for name in _METHODS["render"])
    work = await _work_of(view, history) if phased else None
    return Cycled(view.render_turn, [(history,)], _rendered(view.budget), "synthetic", work, _renewed)


async def _work_of(view: View, history: list[Message]) -> dict[str, int]:
    """The work of one spawn, counted on what its parts hand over."""
    outlook, plan, rendered = await _whole(view, history)
    return {
        "messages lowered": len(outlook.spans),
        "bytes digested": sum(span.bytes for span in outlook.spans),
        "spans scored": plan.candidates,
        "messages copied": len(rendered),
    }


async def _compressed(view: View, session: Session) -> Tally | Undefined:
    """Stock over stock: the tokens of the whole history at the last turn over those of its view.

    Raises:
        WorkNotDoneError: a message is on neither side of the plan; a window that forgets is no compression.
    """
    history, turns = session.messages, len(session.seen)
    _, plan, rendered = await _whole(view, history)
    if plan.candidates != len(history):
        raise WorkNotDoneError(f"of {len(history)} messages {plan.candidates} are on one side of the plan or the other")
    linear, planned = tokens_of(history), tokens_of(rendered)
    if planned == 0:
        return Undefined("no-denominator", "The view of the last turn holds no token: every text in it is empty.")
    resident, elided, each = len(plan.selected), len(plan.elided), -(-linear // turns)
    forms = f"{linear_resident(turns, each)} to {planned_resident(turns, each, view.budget)} tokens at the last"
    flows = f"{linear_flow(turns, each)} to {capped_flow(turns, each, view.budget)} over all of them"
    return Tally(
        linear,
        planned,
        evidence=(
            f"of {len(history)} messages {resident} are resident, {elided} elided with their handles",
            f"closed forms, {turns} turns of {each} tokens within {view.budget}: {forms}, {flows}",
        ),
    )
