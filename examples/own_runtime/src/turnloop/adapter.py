"""What loopladder sees of this runtime: the seams that it offers. Everything else reads *undefined: not-offered*."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any


class TurnloopRuntime:
    """Offers the view: which messages a turn is spawned with."""

    name = "turnloop"
    version = "1.0.0"

    def offer(self, seam: str, engine: str) -> object | None:
        """The view without an engine; nothing else."""
        return View() if seam == "turn/view" and engine == "none" else None


class View:
    """``turn/view`` by this runtime's rule: the question, and the newest messages that fit beside it."""

    budget = 4_096  # tokens, at four bytes a token

    async def render_turn(self, messages: Sequence[Any]) -> list[Any]:
        """The messages of the turn, oldest first."""
        await asyncio.sleep(0)  # a real runtime would read its store here
        question = max((at for at, message in enumerate(messages) if message.role == "user"), default=None)
        room = self.budget - (_tokens(messages[question]) if question is not None else 0)
        kept = set() if question is None else {question}
        for at in range(len(messages) - 1, -1, -1):
            if at == question:
                continue
            room -= _tokens(messages[at])
            if room < 0:
                break
            kept.add(at)
        return [messages[at] for at in sorted(kept)]


def _tokens(message: Any) -> int:
    return (len(message.content.encode()) + 3) // 4


async def make() -> TurnloopRuntime:
    """The factory; it may be async, as a runtime that opens connections would need."""
    return TurnloopRuntime()
