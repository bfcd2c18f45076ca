"""Probes of this project: each returns the callable to time, or a Tally. The harness owns the clock."""

from __future__ import annotations

import asyncio

from turnloop.turn import Turn

from harness import probe
from harness.measure.clock import Tally


def _turn(tools: int) -> tuple[Turn, list[int]]:
    asked: list[int] = []

    async def model(_prompt: str) -> list[tuple[str, str]]:
        # The mock engine: it answers at once, so that what is timed is the loop and not the model.
        asked.append(1)
        return [("look_up", f"row {index}") for index in range(tools)]

    async def look_up(argument: str) -> str:
        await asyncio.sleep(0)
        return f"{argument}: " + "x" * 200

    return Turn(model=model, tools={"look_up": look_up}), asked


@probe(engine="mock", check=lambda called: called in (1, 4))
def turn_run(tools: str):
    """A whole turn with this many tool calls, the history kept at fifty messages."""
    turn, _ = _turn(int(tools))
    turn.history = [("user", f"message {index} " + "y" * 60) for index in range(50)]
    start = list(turn.history)

    async def call() -> int:
        turn.history[:] = start
        return await turn.run("what does row 3 say?")

    return call


@probe(check=lambda text: text.endswith("message 199"))
def turn_assemble():
    """The synchronous part: choosing the window."""
    turn, _ = _turn(0)
    turn.history = [("user", f"message {index}") for index in range(200)]
    return turn.assemble


@probe
async def model_calls(runtime):
    """How often a turn asks its model: counted, not timed."""
    turn, asked = _turn(4)
    for _ in range(3):
        await turn.run("go on")
    return Tally(sum(asked), evidence=(f"three turns on {runtime.name} {runtime.version}",))
