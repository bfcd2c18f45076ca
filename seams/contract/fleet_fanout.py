"""The seam ``fleet/fanout``: siblings that go on from one prefix, each with keys and values of its own.

Records and Protocols only. The caches are those of ``seams.contract.kv``, by whose rule they are checked to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from seams.contract.kv import Cache, Pass

__all__ = ["Agent", "Fanout"]


class Agent(Protocol):
    """One agent's state. ``prefill`` may be a coroutine function."""

    @property
    def cache(self) -> Cache:
        """What it has read so far."""
        ...

    @property
    def nbytes(self) -> int:
        """What its cache takes in bytes, reserved rows with them."""
        ...

    def prefill(self, ids: Sequence[int]) -> Pass:
        """Read ``ids`` behind all that it has read; an empty list, or an id outside the vocabulary, is a ValueError."""
        ...


class Fanout(Protocol):
    """``fleet/fanout``. The methods may be coroutine functions."""

    def agent(self) -> Agent:
        """One that has read nothing."""
        ...

    def spawn(self, prefix: Agent, siblings: int, reserve: int = 0) -> Sequence[Agent]:
        """``siblings`` agents that have read what ``prefix`` has, and from now on share nothing with it or each other.

        The copy is made by the time this returns, and not when a sibling is read or changed for the first time. Each
        has room for ``reserve`` more positions before its memory has to grow. None at all is an empty sequence; a
        number below zero is a ValueError.
        """
        ...
