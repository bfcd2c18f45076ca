"""What a view of a turn has to be, worked out from the messages that it was made of.

A view that hands back its input, as one that is switched off does, or that holds next to nothing, is found out: no
message may be left out that still fits while half of the budget is free. What a runtime pins besides the last message
of the user's is its own affair. No clock is read here.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.measure.clock import WorkNotDoneError
from harness.probes.turn._marks import digest_of
from harness.probes.turn._outlook import pinned_steps, role_of, token_cost, tokens_of, utf8
from seams.contract.turn import Elided, Message, Outlook, Plan, Selected

__all__ = ["verify_outlook", "verify_paged_in", "verify_plan", "verify_rendered"]


def verify_outlook(messages: Sequence[Message], outlook: Outlook) -> None:
    """Raise WorkNotDoneError unless each message became a span at its place, with the size and digest of its text."""
    texts = [utf8(each.content) for each in messages]
    if [(span.step, span.bytes) for span in outlook.spans] != [(step, len(text)) for step, text in enumerate(texts)]:
        raise WorkNotDoneError(f"{len(outlook.spans)} spans do not have the sizes of {len(messages)} messages")
    if [span.digest for span in outlook.spans] != [digest_of(each.content) for each in messages]:
        raise WorkNotDoneError(f"{len(outlook.spans)} spans do not have the digests of {len(messages)} messages")


def verify_plan(messages: Sequence[Message], plan: Plan, budget: int) -> None:
    """Raise WorkNotDoneError unless the plan parts what it scored, fills the budget as a view has to and keeps handles.

    A selected span costs what the message at its step costs, whatever the plan says; an elided one keeps the digest of
    its text, by which it comes back.
    """
    placed: list[Selected | Elided] = [*plan.selected, *plan.elided]
    steps, ids = {each.step for each in placed}, {each.id for each in placed} - {""}
    if not len(placed) == len(steps) == len(ids) == plan.candidates or not steps.issubset(range(len(messages))):
        raise WorkNotDoneError(f"the plan is no partition of {plan.candidates} out of {len(messages)} messages")
    if not plan.selected:
        raise WorkNotDoneError(f"the plan selects none of {len(messages)} messages")
    _verify_kept(messages, [messages[each.step] for each in plan.selected], budget, "plan")
    lost = sum(each.digest != digest_of(messages[each.step].content) for each in plan.elided)
    if lost:
        raise WorkNotDoneError(f"{lost} elided spans cannot be recovered: their handle is not the digest of their text")


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


def verify_paged_in(messages: Sequence[Message], plan: Plan, rendered: Sequence[Message]) -> None:
    """Raise WorkNotDoneError unless the texts of ``rendered`` are those that ``plan`` selected, in step order."""
    wanted = [messages[step].content for step in sorted(each.step for each in plan.selected)]
    if [each.content for each in rendered] != wanted:
        raise WorkNotDoneError(f"the {len(rendered)} rendered texts are not those of the {len(wanted)} selected spans")


def _verify_kept(messages: Sequence[Message], kept: Sequence[Message], budget: int, what: str) -> None:
    texts = {each.content for each in kept}
    asked = [each.content for each in messages if role_of(each) == "user"]
    if asked and asked[-1] not in texts:
        raise WorkNotDoneError(f"the last user message is not in the {what}")
    pins = {messages[step].content for step in pinned_steps(messages)}
    spent = tokens_of(kept)
    if spent > budget and not texts <= pins:
        raise WorkNotDoneError(f"the {what} holds more than pins and costs {spent} tokens, within a budget of {budget}")
    history = {each.content for each in messages}
    left = [_cost({text}) for text in history - texts - {""}]
    half = 2 * spent < budget and any(cost <= budget - spent for cost in left)
    if half or (left and _cost(history) <= budget):
        raise WorkNotDoneError(
            f"the {what} holds {spent} tokens of {budget} and leaves out {len(left)} texts, of which more would fit"
        )


def _cost(texts: set[str]) -> int:
    return sum(token_cost(len(utf8(text))) for text in texts)
