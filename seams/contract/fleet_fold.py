"""The seam ``fleet/fold``: what sub-agents brought back enters the one window of who sent them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from seams.contract.turn import Message

__all__ = ["Brought", "Fold"]


class Brought(NamedTuple):
    """What the sub-agent number ``agent`` (from 0) brought back, before any gate has seen it."""

    agent: int
    body: bytes


class Fold(Protocol):
    """``fleet/fold``. The method may be a coroutine function."""

    def fold(self, window: Sequence[Message], brought: Sequence[Brought]) -> list[Message]:
        """The next window: a new list, ``window`` and then one message for each result, by the agents' numbers.

        A plain list of Messages that are there when this returns: nothing is left to be done when it is looked at.
        The order in which results arrive has no say. A message has the role ``tool`` and the name ``agent-<number>``.
        Of a body that the gates held out nothing enters, but what they left in its place. Two results of one agent, or
        a number below zero, are a ValueError.
        """
        ...
