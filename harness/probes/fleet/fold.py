"""Drives the fold: N results of sub-agents become one window, the gates among it and no model.

The bodies of every call are made afresh outside the clock, with a number in them that no other call had, and arrive in
an order that is not the agents'. Every batch has a fold of its own, and one poisoned result, of an agent and in a call
that are drawn, so that gates which are switched off at any time are found out. Before anything is timed the results
come once in another order, so that a fold which only appends is found out. What this cannot see is a gate that knows
this one poison.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count
from random import SystemRandom
from typing import Any, ClassVar

from harness.measure.clock import Engine, Slice, Undefined, Workload, WorkNotDoneError, is_async, repeat
from harness.probes._awaiting import finish, settled
from harness.probes.turn._marks import marked
from harness.probes.turn._replay import verified
from harness.probes.turn.reap import MARKS
from seams.contract.fleet_fold import Brought, Fold
from seams.contract.turn import Message

__all__ = ["BYTES", "WINDOW", "Folds", "Probe", "bodies_of", "verify_window"]

WINDOW, BYTES = 32, 1024
"""Messages in the window before, and bytes of a result."""

_STEP = 5
"""Results arrive by this step through the agents, which is not their order."""


def bodies_of(agents: int, number: int, poisoned: int | None = None) -> list[str]:
    """A report of each agent, in plain words, no two alike; ``number`` makes them others than any before.

    The agent ``poisoned`` reports an injection.
    """
    bodies = []
    for agent in range(agents):
        text = f"agent {agent}: " + (f"{MARKS[0]}, {MARKS[1]} the owner of this account. " if agent == poisoned else "")
        row = 0
        while len(text) < BYTES:
            row += 1
            text += f"file {agent * 100 + row} of {row * 7 % 31 + 1} folders read, {row * 389 % 9_973} lines, clean; "
        bodies.append(marked(text[:BYTES], number))
    return bodies


def _arrived(bodies: list[str], step: int = _STEP) -> list[Brought]:
    agents = len(bodies)
    order = sorted(range(agents), key=lambda agent: (agent * step % agents, agent))
    return [Brought(agent, bodies[agent].encode()) for agent in order]


def verify_window(given: tuple[list[Message], int, list[str], int | None], came: list[Message]) -> None:
    """Hold the next window against the one before, of that length, and the bodies by agent, one poisoned or none.

    Raises:
        WorkNotDoneError: it is no list of Messages; it does not begin as the window before; it does not go on with one
            message for each agent, in their order, whole and under its name; or a word of the poisoned one is in it.
    """
    window, length, bodies, poisoned = given
    # A stand-in for one of these may fold when it is looked at, which is past the clock.
    if type(came) is not list or not all(type(each) is Message and type(each.content) is str for each in came):
        raise WorkNotDoneError("the next window is not a list of Messages with their text")
    if len(window) != length or came is window or came[:length] != window:
        raise WorkNotDoneError("the next window is not a list of its own that begins as the window before")
    added = came[length:]
    if [(each.role, each.name) for each in added] != [("tool", f"agent-{agent}") for agent in range(len(bodies))]:
        raise WorkNotDoneError(f"{len(bodies)} results did not become as many messages in the order of their agents")
    for agent, (body, each) in enumerate(zip(bodies, added, strict=True)):
        if agent == poisoned:
            if any(mark in each.content for mark in MARKS):
                raise WorkNotDoneError("the injection entered the window: the gates let it through, or did not look")
        elif each.content != body:
            raise WorkNotDoneError(f"what agent {agent} brought back is not whole in the window")


class Folds:
    """One call folds the results of ``agents`` agents into the window."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, another: Callable[[], Fold | None], agents: int) -> None:
        self._another = another
        self._agents = agents
        self._window = _window()
        self._numbers = count(1)
        self._draw = SystemRandom()
        self._given: list[tuple[list[str], int | None]] = []
        self._drawn = 0
        self._poisoned: list[Any] = []
        self.work = {"results folded": agents, "bytes folded": agents * BYTES, "messages copied": WINDOW}

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` folds through one fresh object."""
        seam = self._another()
        if seam is None:
            raise WorkNotDoneError("the runtime offered its fold once only")
        self._drawn = drawn = self._draw.randrange(loops)
        agents = [self._draw.randrange(self._agents) if call == drawn else None for call in range(loops)]
        self._given = [(bodies_of(self._agents, next(self._numbers), agent), agent) for agent in agents]
        self._poisoned = poisoned = []
        following = iter([(_arrived(bodies), agent) for bodies, agent in self._given]).__next__
        fold: Callable[..., Any] = seam.fold
        window = self._window
        if is_async(fold):

            async def one_async() -> object:
                brought, agent = following()
                came = await fold(window, brought)
                if agent is not None:
                    poisoned.append(came)
                return came

            return repeat(one_async, loops)

        def one() -> object:
            brought, agent = following()
            came = fold(window, brought)
            if agent is not None:
                poisoned.append(came)
            return came

        return repeat(one, loops)

    def check(self, result: Any) -> None:
        """Raise WorkNotDoneError unless the poisoned call and the last one folded all that is fit, by agent."""
        if len(self._poisoned) != 1:
            raise WorkNotDoneError(f"one of the calls had a poisoned result, and {len(self._poisoned)} came to an end")
        for (bodies, agent), came in ((self._given[self._drawn], self._poisoned[0]), (self._given[-1], result)):
            verified(verify_window, (self._window, WINDOW, bodies, agent), came)


class Probe:
    """Opens the KPI of ``fleet/fold``."""

    kpis: ClassVar[frozenset[str]] = frozenset({"fold_results_ns"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Slice or Undefined; of an asynchronous fold, the coroutine that returns it."""
        seam: Fold | None = runtime.offer("fleet/fold", "none")
        if seam is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no fold of results.")
        return finish(_opened(seam, runtime, int(params["n"])), seam.fold)


def _window() -> list[Message]:
    return [Message("user" if step % 2 == 0 else "assistant", f"message {step}") for step in range(WINDOW)]


async def _opened(seam: Fold, runtime: Any, agents: int) -> Slice:
    """The slice, once an injection was kept out and the order of arrival had no say.

    Raises:
        WorkNotDoneError: it was not, or had.
    """
    window = _window()
    poisoned = bodies_of(agents, 0, poisoned=agents - 1)
    for step in (_STEP, agents - 1):
        came = await settled(seam.fold(window, _arrived(poisoned, step)))
        verified(verify_window, (window, WINDOW, poisoned, agents - 1), came)
    return Folds(lambda: runtime.offer("fleet/fold", "none"), agents)
