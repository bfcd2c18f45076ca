"""Turns spawned from histories of several lengths. Nothing else in this suite touches ``seams/turn/view.py``."""

from __future__ import annotations

from harness import probe
from seams.contract.turn import Message
from seams.turn.view import ContextView

_ROLES = ("user", "assistant", "tool", "assistant")


@probe(check=lambda rendered: len(rendered) > 0 and rendered[0].content.startswith("message 0 "), source="synthetic")
def spawn(messages: str):
    """The view of a turn after so many messages."""
    view = ContextView()
    history = [Message(_ROLES[at % 4], f"message {at} {'.' * (97 * at % 1_201)}") for at in range(int(messages))]
    return lambda: view.render_turn(history)
