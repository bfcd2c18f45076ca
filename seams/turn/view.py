"""The view: the messages that a turn is spawned with, planned from the history instead of copied.

Three phases that can be called and timed apart: the messages are lowered to spans and a forecast is read off them;
the planner scores and chooses; the chosen texts are paged in, through the trust gate of a view that has one, and
rendered in step order. A view that is off hands back its input and refuses the phases. What rendering loses: the
structure of tool calls, and a message's own name, which becomes its role.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from seams.contract import Engine
from seams.contract.turn import (
    DEFAULT_BUDGET,
    Durability,
    Forecast,
    Materialized,
    Message,
    Outlook,
    Plan,
    RefusalReason,
    Refused,
    Rendered,
    Selected,
    Witness,
)
from seams.turn.planner import ReferencePlanner
from seams.turn.spans import byte_length, make_span, token_cost
from seams.turn.witness import audit, reconcile

__all__ = [
    "GOAL",
    "ContextView",
    "Materialized",
    "PageIn",
    "ViewOffError",
    "forecast_of",
    "lower",
    "materialize",
    "offer",
]

GOAL = "goal"
"""The role of the message that states what the whole run is for."""

PageIn = Callable[[Selected], "str | RefusalReason"]
"""From a selected span to its text, or to the reason why the trust gate keeps it out."""

TrustGate = Callable[[Selected, Message], "RefusalReason | None"]
"""Asked once for each message that is about to be rendered; None lets it in."""

_CHAT_ROLES = frozenset({"system", "user", "assistant", "tool"})
_DURABILITY = {"system": Durability.DURABLE, "assistant": Durability.TURN}
_words = re.compile(r"[a-z0-9]{3,}").findall


class ViewOffError(RuntimeError):
    """A phase of a view that is switched off was called."""


def materialize(plan: Plan, page_in: PageIn) -> Materialized:
    """Page in what ``plan`` selected, in step order, and reconcile."""
    rendered: list[Rendered] = []
    refused: list[Refused] = []
    for each in plan.selected:
        body = page_in(each)
        if isinstance(body, RefusalReason):
            refused.append(Refused(each.id, each.step, each.role, body))
        else:
            size = byte_length(body)
            rendered.append(Rendered(each.id, each.step, each.role, each.descriptor, size, token_cost(size), body))
    witness = reconcile(audit(plan), plan, rendered, refused)
    return Materialized(plan, tuple(rendered), tuple(refused), witness)


def forecast_of(messages: Sequence[Message]) -> Forecast:
    """Pins: the goal, the system message, the first and the last user message. Intents: the last user's words."""
    first: dict[str, int] = {}
    last_user = None
    for step, message in enumerate(messages):
        role = message.role or "user"
        first.setdefault(role, step)
        if role == "user":
            last_user = step
    pinned = [first.get(GOAL), first.get("system"), first.get("user"), last_user]
    pins = tuple(f"span:{step}" for step in dict.fromkeys(pinned) if step is not None)
    words = () if last_user is None else _words(messages[last_user].content.lower())
    return Forecast(intents=tuple(dict.fromkeys(words)), horizon=1, pins=pins)


def lower(messages: Sequence[Message]) -> Outlook:
    """One span a message, and the forecast; a message without a role is the user's."""
    spans = tuple(
        make_span(step, role or "user", content, _DURABILITY.get(role, Durability.SESSION))
        for step, (role, content, _) in enumerate(messages)
    )
    return Outlook(spans, forecast_of(messages))


class ContextView:
    """Renders turns within ``budget`` tokens. ``witness`` is that of the newest turn that was rendered.

    Without a ``gate`` every message that was chosen is let in, as its results have passed the gates when they came.
    """

    def __init__(
        self,
        budget: int = DEFAULT_BUDGET,
        enabled: bool = True,
        gate: TrustGate | None = None,
        planner: ReferencePlanner | None = None,
    ) -> None:
        self.budget = budget
        self.enabled = enabled
        self.witness: Witness | None = None
        self._gate = gate
        self._planner = planner or ReferencePlanner()

    def _require_on(self) -> None:
        if not self.enabled:
            raise ViewOffError(
                "The view is off, so it has no phases: make it with enabled=True. Run: python -m harness explain "
                "turn_spawn_ns"
            )

    def forecast(self, messages: Sequence[Message]) -> Outlook:
        """Lower the messages and read the forecast off them.

        Raises:
            ViewOffError: the view is off.
        """
        self._require_on()
        return lower(messages)

    def plan(self, messages: Sequence[Message], outlook: Outlook) -> Plan:  # noqa: ARG002 - other views read the text
        """Score all spans and fill the budget greedily.

        Raises:
            ViewOffError: the view is off.
        """
        self._require_on()
        forecast = outlook.forecast
        candidates = self._planner.candidates(outlook.spans, forecast)
        return self._planner.optimize(candidates, self.budget, forecast.pins, forecast.releases)

    def render(self, messages: Sequence[Message], plan: Plan) -> list[Message]:
        """One message for each selected span that no gate keeps out; a role that is no chat role becomes ``tool``.

        Raises:
            ViewOffError: the view is off.
        """
        self._require_on()
        gate = self._gate

        def page_in(selected: Selected) -> str | RefusalReason:
            message = messages[selected.step]
            return (gate(selected, message) if gate else None) or message.content

        view = materialize(plan, page_in)
        self.witness = view.witness
        return [
            Message(each.role if each.role in _CHAT_ROLES else "tool", each.body, each.role) for each in view.rendered
        ]

    def render_turn(self, messages: list[Message]) -> list[Message]:
        """The planned view of ``messages``; where the view is off, ``messages`` itself."""
        if not self.enabled:
            return messages
        return self.render(messages, self.plan(messages, self.forecast(messages)))


def offer(engine: Engine) -> ContextView:  # noqa: ARG001 - a view calls no engine, so any cut is the same
    """A view that is on, with the default budget and without a trust gate: what one costs is not in its numbers."""
    return ContextView()
