"""Which lines of a session's main thread are its conversation, for logs of a million lines.

The same rules as :func:`harness.formats.branch.walk`, on positions instead of objects: a line costs two list entries
and one key. Lines that are no message (progress, notices) take no place: their ids stand for their parent's place.
This module refuses to know what a line says; of its owner it sets ``in_conversation``, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

__all__ = ["Chain", "Owner"]

ROOT, UNKNOWN = -1, -2


class Owner(Protocol):
    """What a line is a part of: a request, a turn, a result without a call."""

    in_conversation: bool


@dataclass(frozen=True, slots=True)
class Walked:
    """Places where an abandoned branch begins, places where a session was taken up, parents in no file of the run."""

    rewinds: tuple[int, ...]
    resumes: tuple[int, ...]
    phantoms: int


class Chain:
    """Feed it lines in the log's order; :meth:`walk` once at the end."""

    __slots__ = ("_late", "_loose", "_sessions", "owners", "parents", "place")

    def __init__(self) -> None:
        self.place: dict[str, int] = {}
        self.parents: list[int] = []
        self.owners: list[Owner | None] = []
        self._late: dict[int, str] = {}
        self._loose: list[Owner] = []
        self._sessions: set[int] = set()

    def add(self, uuid: str | None, parent: str | None, owner: Owner | None) -> None:
        """A message of the main thread. One without id cannot be gone back to: it is always kept."""
        if uuid is None:
            if owner is not None:
                self._loose.append(owner)
            return
        at = len(self.parents)
        if parent is None:
            before = ROOT
        else:
            before = self.place.get(parent, UNKNOWN)
            if before == UNKNOWN:
                self._late[at] = parent
        self.place[uuid] = at
        self.parents.append(before)
        self.owners.append(owner)

    def alias(self, uuid: str, parent: str | None) -> None:
        """A line that is no message: who names it as parent means its own parent."""
        self.place[uuid] = ROOT if parent is None else self.place.get(parent, UNKNOWN)

    def new_session(self) -> None:
        """The message added last begins another session without a parent: a resumed copy, not a way back."""
        self._sessions.add(len(self.parents) - 1)

    def walk(self) -> Walked:
        """Set ``in_conversation`` of all owners, from the last message back to the root."""
        parents, owners = self.parents, self.owners
        kept = bytearray(len(parents))
        phantoms = steps = 0
        resumes: list[int] = []
        at = len(parents) - 1
        while at >= 0 and not kept[at]:
            kept[at] = 1
            steps += 1
            before = parents[at]
            if before == UNKNOWN:
                before = self.place.get(self._late.get(at, ""), UNKNOWN)
                if before == UNKNOWN:
                    phantoms += 1
                    before = at - 1
            elif before == ROOT and at in self._sessions:
                resumes.append(at)
                before = at - 1
            at = before
        if steps == len(parents):
            return Walked((), tuple(reversed(resumes)), phantoms)
        for owner in owners:
            if owner is not None:
                owner.in_conversation = False
        # Parallel calls leave siblings: one kept line of a response keeps the response.
        for at, owner in enumerate(owners):
            if kept[at] and owner is not None:
                owner.in_conversation = True
        for owner in self._loose:
            owner.in_conversation = True
        return Walked(tuple(self._rewinds()), tuple(reversed(resumes)), phantoms)

    def _rewinds(self) -> Iterator[int]:
        for at, owner in enumerate(self.owners):
            if owner is None or owner.in_conversation:
                continue
            before = self.parents[at]
            if before < 0 or (earlier := self.owners[before]) is None or earlier.in_conversation:
                yield at
