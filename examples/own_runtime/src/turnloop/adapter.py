"""What loopladder sees of this runtime: the seams that it offers. Everything else reads *undefined: not offered*."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from turnloop.turn import Turn


class TurnloopRuntime:
    """Offers the view: which messages a turn is spawned with."""

    name = "turnloop"
    version = "1.0.0"

    def offer(self, seam: str, engine: str) -> object | None:
        """The view without an engine; nothing else."""
        return View() if seam == "turn/view" and engine == "none" else None


class View:
    """``turn/view`` over this runtime's own window rule."""

    async def render_turn(self, messages: Sequence[Any]) -> list[Any]:
        """The newest messages that fit, oldest first; the system message always."""
        turn = Turn(model=_silent, tools={}, history=[(message.role, message.content) for message in messages])
        lines = turn.assemble(window=16_000).count("\n") + 1
        await asyncio.sleep(0)
        return list(messages[-min(lines, len(messages)) :])


async def _silent(_prompt: str) -> list[tuple[str, str]]:
    return []


async def make() -> TurnloopRuntime:
    """The factory; it may be async, as a runtime that opens connections would need."""
    return TurnloopRuntime()
