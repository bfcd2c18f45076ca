"""What a Codex thread repeats of the thread that it came from.

A fork, and in many builds a sub-agent, begins with its parent's lines, written again at the time of the fork, which may
take more than a second: times tell nothing. What tells is the sequence. A child's counters are its parent's as long as
each is found in the parent's file behind the one before; the first that is not ends the copy. A review that runs beside
its parent has all its counters there and none of its own. Counters are never compared across siblings, because two
children may reach equal ones. This module refuses to say which of two equal things was first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.formats.codex_usage import Vector
from kpis.terms.trace import ToolCall

__all__ = ["CallKey", "Copies", "Lineage", "key_of_call"]

CallKey = tuple[str, str | None, str | None]


def key_of_call(call: ToolCall) -> CallKey:
    """What must be equal for one call to be another one's copy."""
    return call.call_id, call.name, call.arg_digest


@dataclass(slots=True)
class Lineage:
    """What a thread shows of itself, its own copies included, for its children to be compared with."""

    order: dict[Vector, int] = field(default_factory=dict)
    users: list[str] = field(default_factory=list)
    calls: set[CallKey] = field(default_factory=set)


class Copies:
    """The copied beginning of one thread. ``end`` is the position of the last thing in it, -1 where nothing is copied.

    ``least`` counters must agree before any is called a copy: one where the parent itself is at hand, two where a
    sibling stands in for it.
    """

    __slots__ = ("_lineage", "_open", "_user", "_vector", "end", "least", "matched", "own")

    def __init__(self, lineage: Lineage | None, least: int = 1) -> None:
        self._lineage = lineage or Lineage()
        self._open = lineage is not None
        self._vector = -1
        self._user = 0
        self.least = least
        self.matched = 0
        self.own = 0
        self.end = -1

    def vector(self, vector: Vector, at: int) -> bool:
        """Whether the counter at position ``at`` is the parent's."""
        place = self._lineage.order.get(vector) if self._open else None
        if place is None or place <= self._vector:
            self._open = False
            self.own += 1
            return False
        self._vector, self.end = place, at
        self.matched += 1
        return True

    def user(self, digest: str, at: int) -> None:
        """A user's message at ``at``."""
        if self._open:
            try:
                self._user = self._lineage.users.index(digest, self._user) + 1
            except ValueError:
                return
            self.end = at

    def call(self, key: CallKey, at: int) -> bool:
        """Whether the call at ``at`` is the parent's."""
        if not self._open or key not in self._lineage.calls:
            return False
        self.end = at
        return True
