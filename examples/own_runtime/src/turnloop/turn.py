"""One turn. The model is whatever coroutine completes a prompt; tools are coroutines by name."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

Tool = Callable[[str], Awaitable[str]]
Model = Callable[[str], Awaitable[list[tuple[str, str]]]]


@dataclass
class Turn:
    """A loop with its tools and its history of (role, text)."""

    model: Model
    tools: dict[str, Tool]
    history: list[tuple[str, str]] = field(default_factory=list)

    def assemble(self, window: int = 2_000) -> str:
        """The newest messages that fit into ``window`` characters, oldest first."""
        kept: list[str] = []
        room = window
        for role, text in reversed(self.history):
            line = f"{role}: {text}"
            if len(line) > room:
                break
            kept.append(line)
            room -= len(line)
        return "\n".join(reversed(kept))

    async def run(self, message: str) -> int:
        """Run one turn; returns how many tools were called."""
        self.history.append(("user", message))
        calls = await self.model(self.assemble())
        results = await asyncio.gather(*(self.tools[name](argument) for name, argument in calls))
        self.fold(results)
        return len(results)

    def fold(self, results: Sequence[str]) -> None:
        """Put the results into the history, long ones cut."""
        for result in results:
            self.history.append(("tool", result if len(result) <= 500 else f"{result[:497]}..."))
