"""The contract of a turn's reap: the results that came back pass the gates and enter the next window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from seams.contract.syscall import Result, ToolCall
from seams.contract.turn import Message

__all__ = ["Returned", "TurnReap"]


class Returned(NamedTuple):
    """A call and what its engine gave back, before any gate has seen it. Gates rewrite the result in place."""

    call: ToolCall
    result: Result


class TurnReap(Protocol):
    """The seam ``turn/reap``. The method may be a coroutine function."""

    def reap_turn(self, window: Sequence[Message], returned: Sequence[Returned]) -> list[Message]:
        """The window of the next turn: a new list, ``window`` and then the admitted payloads in order.

        A payload enters as a message of the role ``tool`` that bears the tool's name. Of a result that was held out,
        what the gate left in its place may enter, and nothing of the body.
        """
        ...
