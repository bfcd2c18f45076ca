"""Drives the view over a recorded session: what it costs to spawn a turn, and how much smaller the window becomes.

One call is one turn, at the length that the history had then. The phases are timed on inputs that the view itself
prepared outside the clock. Costs and pins are taken from the messages, never from what the view says of them, and a
view that hands back its input, as one that is switched off does, is found out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import finish, settled
from harness.probes._history import messages, turns_of
from harness.probes.turn._outlook import pinned_steps, role_of, tokens_of, utf8
from harness.probes.turn._replay import Cycled, Session, session_of, verified
from seams.contract.turn import Elided, Message, Outlook, Plan, Selected, View

__all__ = ["Probe", "verify_outlook", "verify_plan", "verify_rendered"]


def verify_outlook(messages: Sequence[Message], outlook: Outlook) -> None:
    """Raise WorkNotDoneError unless each message became a span at its place, with the size and digest of its text."""
    texts = [utf8(each.content) for each in messages]
    if [(span.step, span.bytes) for span in outlook.spans] != [(step, len(text)) for step, text in enumerate(texts)]:
        raise WorkNotDoneError(f"{len(outlook.spans)} spans do not have the sizes of {len(messages)} messages")
    if [span.digest for span in outlook.spans] != [sha256(text).hexdigest() for text in texts]:
        raise WorkNotDoneError(f"{len(outlook.spans)} spans do not have the digests of {len(messages)} messages")


def verify_plan(messages: Sequence[Message], plan: Plan, budget: int) -> None:
    """Raise WorkNotDoneError unless the plan parts what it scored, keeps what was asked last and keeps to the budget.

    A selected span costs what the message at its step costs, whatever the plan says.
    """
    placed: list[Selected | Elided] = [*plan.selected, *plan.elided]
    steps, ids = {each.step for each in placed}, {each.id for each in placed} - {""}
    if not len(placed) == len(steps) == len(ids) == plan.candidates or not steps.issubset(range(len(messages))):
        raise WorkNotDoneError(f"the plan is no partition of {plan.candidates} out of {len(messages)} messages")
    if not plan.selected:
        raise WorkNotDoneError(f"the plan selects none of {len(messages)} messages")
    _verify_kept(messages, [messages[each.step] for each in plan.selected], budget, "plan")


def verify_rendered(messages: Sequence[Message], rendered: Sequence[Message], budget: int) -> None:
    """Raise WorkNotDoneError unless ``rendered`` is a view of ``messages``: its own list, in order, within the budget.

    What is pinned (goal, system, first and last user message) may exceed the budget alone, and the last user message
    is always there.
    """
    if rendered is messages:
        raise WorkNotDoneError("the view handed back its input: it is switched off")
    if not rendered:
        raise WorkNotDoneError(f"nothing of {len(messages)} messages was rendered")
    history = iter(each.content for each in messages)
    if not all(each.content in history for each in rendered):  # `in` advances: a subsequence, in order
        raise WorkNotDoneError("a rendered text is not one of the history, or stands out of its order")
    _verify_kept(messages, rendered, budget, "view")


def _verify_kept(messages: Sequence[Message], kept: Sequence[Message], budget: int, what: str) -> None:
    texts = {each.content for each in kept}
    asked = [each.content for each in messages if role_of(each) == "user"]
    if asked and asked[-1] not in texts:
        raise WorkNotDoneError(f"the last user message is not in the {what}")
    spent = tokens_of(kept)
    if spent > budget and not texts <= {messages[step].content for step in pinned_steps(messages)}:
        raise WorkNotDoneError(f"the {what} holds more than pins and costs {spent} tokens, within a budget of {budget}")


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
        turns = [(history,) for history in histories]
        return Cycled(view.render_turn, turns, lambda given, came: verify_rendered(given[0], came, budget))
    if phase == "forecast":
        turns = [(history,) for history in histories]
        return Cycled(view.forecast, turns, lambda given, came: verify_outlook(given[0], came))
    outlooks = [(history, await settled(view.forecast(history))) for history in histories]
    for history, outlook in outlooks:
        verified(verify_outlook, history, outlook)
    if phase == "plan":
        return Cycled(view.plan, outlooks, lambda given, came: verify_plan(given[0], came, budget))
    plans = [(history, await settled(view.plan(history, outlook))) for history, outlook in outlooks]
    for history, plan in plans:
        verified(lambda given, came: verify_plan(given, came, budget), history, plan)
    return Cycled(view.render, plans, lambda given, came: verify_rendered(given[0], came, budget))


async def _grown(view: View, turns: int) -> Slice:
    """Whole spawns after a history of that many turns, with the work that one of them does."""
    history = [Message(role, text) for role, text in messages(turns)]
    phased = all(callable(getattr(view, name, None)) for name in _METHODS["render"])
    work = await _work_of(view, history) if phased else None
    budget = view.budget

    def verify(given: tuple[list[Message]], came: list[Message]) -> None:
        verify_rendered(given[0], came, budget)

    return Cycled(view.render_turn, [(history,)], verify, "synthetic", work)


async def _work_of(view: View, history: list[Message]) -> dict[str, int]:
    """The work of one spawn, counted on what its parts hand over."""
    budget = view.budget
    outlook = await settled(view.forecast(history))
    verified(verify_outlook, history, outlook)
    plan = await settled(view.plan(history, outlook))
    verified(lambda given, came: verify_plan(given, came, budget), history, plan)
    rendered = await settled(view.render(history, plan))
    verified(lambda given, came: verify_rendered(given, came, budget), history, rendered)
    return {
        "messages lowered": len(outlook.spans),
        "bytes digested": sum(span.bytes for span in outlook.spans),
        "spans scored": plan.candidates,
        "messages copied": len(rendered),
    }


async def _compressed(view: View, session: Session) -> Tally | Undefined:
    """Stock over stock: the tokens of the whole history at the last turn over those of its view.

    Raises:
        WorkNotDoneError: an elided span lost its handle; a window that forgets is no compression.
    """
    history, budget = session.messages, view.budget
    outlook = await settled(view.forecast(history))
    verified(verify_outlook, history, outlook)
    plan = await settled(view.plan(history, outlook))
    verified(lambda given, came: verify_plan(given, came, budget), history, plan)
    rendered = await settled(view.render(history, plan))
    verified(lambda given, came: verify_rendered(given, came, budget), history, rendered)
    lost = sum(each.digest != sha256(utf8(history[each.step].content)).hexdigest() for each in plan.elided)
    if lost:
        raise WorkNotDoneError(f"{lost} elided spans cannot be recovered: their handle is not the digest of their text")
    linear, planned = tokens_of(history), tokens_of(rendered)
    if planned == 0:
        return Undefined("no-denominator", "The view of the last turn holds no token: every text in it is empty.")
    resident, elided = len(plan.selected), len(plan.elided)
    evidence = f"of {len(history)} messages {resident} are resident, {elided} elided with their handles"
    return Tally(linear, planned, evidence=(evidence,))
