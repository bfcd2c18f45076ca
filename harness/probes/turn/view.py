"""Drives the view over a recorded session: what it costs to spawn a turn, and how much smaller the window becomes.

One call is one turn, at the length that the history had then. The phases are timed on inputs that the view itself
prepared outside the clock, and a view that hands back its input, as one that is switched off does, is found out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload, WorkNotDoneError
from harness.probes.turn._replay import Cycled, Session, finish, session_of, settled
from seams.contract.turn import Message, Outlook, Plan, View
from seams.turn.spans import byte_length, token_cost
from seams.turn.view import forecast_of
from seams.turn.witness import audit

__all__ = ["Probe", "tokens_of", "verify_outlook", "verify_plan", "verify_rendered"]


def tokens_of(messages: Sequence[Message]) -> int:
    """Tokens of the texts of ``messages``."""
    return sum(token_cost(byte_length(each.content)) for each in messages)


def verify_outlook(messages: Sequence[Message], outlook: Outlook) -> None:
    """Raise WorkNotDoneError unless each message became a span of its size."""
    lowered = [span.bytes for span in outlook.spans]
    if lowered != [byte_length(each.content) for each in messages]:
        raise WorkNotDoneError(f"{len(lowered)} spans do not have the sizes of {len(messages)} messages")


def verify_plan(messages: Sequence[Message], plan: Plan, budget: int) -> None:
    """Raise WorkNotDoneError unless the plan parts what it scored, selects something and keeps to the budget."""
    if not audit(plan).partition or not 0 < plan.candidates <= len(messages):
        raise WorkNotDoneError(f"the plan is no partition of {plan.candidates} out of {len(messages)} messages")
    if not plan.selected:
        raise WorkNotDoneError(f"the plan selects none of {len(messages)} messages")
    if sum(each.cost for each in plan.selected) > max(budget, plan.pinned_tokens):
        raise WorkNotDoneError(f"the plan costs {plan.cost_used} tokens, within a budget of {budget}")


def verify_rendered(messages: Sequence[Message], rendered: Sequence[Message], budget: int) -> None:
    """Raise WorkNotDoneError unless ``rendered`` is a view of ``messages``: its own list, in order, within the budget.

    What is pinned (goal, system, first and last user message) may exceed the budget, and the last user message is
    always there.
    """
    if rendered is messages:
        raise WorkNotDoneError("the view handed back its input: it is switched off")
    if not rendered:
        raise WorkNotDoneError(f"nothing of {len(messages)} messages was rendered")
    history = iter(each.content for each in messages)
    if not all(each.content in history for each in rendered):  # `in` advances: a subsequence, in order
        raise WorkNotDoneError("a rendered text is not one of the history, or stands out of its order")
    asked = [each.content for each in messages if (each.role or "user") == "user"]
    if asked and asked[-1] not in {each.content for each in rendered}:
        raise WorkNotDoneError("the last user message is not in the view")
    pinned = tokens_of([messages[int(pin.removeprefix("span:"))] for pin in forecast_of(messages).pins])
    spent = tokens_of(rendered)
    if spent > max(budget, pinned):
        raise WorkNotDoneError(f"the view holds {spent} tokens, within a budget of {budget}")


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
        session = session_of(workload)
        if isinstance(session, Undefined):
            return session
        opening = _spawned(view, session, params["phase"]) if kpi == "turn_spawn_ns" else _compressed(view, session)
        return finish(opening, *(getattr(view, name) for name in wanted))


async def _spawned(view: View, session: Session, phase: str) -> Slice:
    histories = session.sampled()
    budget = view.budget
    if phase == "all":
        turns = [(history,) for history in histories]
        return Cycled(view.render_turn, turns, lambda given, came: verify_rendered(given[0], came, budget))
    if phase == "forecast":
        turns = [(history,) for history in histories]
        return Cycled(view.forecast, turns, lambda given, came: verify_outlook(given[0], came))
    outlooks = [(history, await settled(view.forecast(history))) for history in histories]
    if phase == "plan":
        return Cycled(view.plan, outlooks, lambda given, came: verify_plan(given[0], came, budget))
    plans = [(history, await settled(view.plan(history, outlook))) for history, outlook in outlooks]
    return Cycled(view.render, plans, lambda given, came: verify_rendered(given[0], came, budget))


async def _compressed(view: View, session: Session) -> Tally | Undefined:
    """Stock over stock: the tokens of the whole history at the last turn over those of its view.

    Raises:
        WorkNotDoneError: an elided span lost its handle; a window that forgets is no compression.
    """
    history = session.messages
    plan = await settled(view.plan(history, await settled(view.forecast(history))))
    rendered = await settled(view.render(history, plan))
    verify_plan(history, plan, view.budget)
    verify_rendered(history, rendered, view.budget)
    witness = audit(plan)
    if not witness.faithful:
        raise WorkNotDoneError(f"{len(witness.unrecoverable)} elided spans cannot be recovered")
    linear, planned = tokens_of(history), tokens_of(rendered)
    if planned == 0:
        return Undefined("no-denominator", "The view of the last turn holds no token: every text in it is empty.")
    evidence = f"of {len(history)} messages {witness.resident} are resident, {witness.elided} elided with their handles"
    return Tally(linear, planned, evidence=(evidence,))
