"""The seam ``fleet/arbiter``: leases on file trees, so that two workers never write in one at the same time.

A tree is a path, relative to the root of the work, and stands for all that lies below it. Two trees intersect where one
is the other or contains it. A refusal is an answer, not an error. Records and Protocols only.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol

__all__ = ["Arbiter", "Decision", "Lease", "Ruling"]


class Ruling(Enum):
    """What the arbiter says.

    ``held``: a live lease intersects. ``outside``: a tree leaves the root, or is no path at all; a text in place of a
    sequence of trees is none either. ``empty``: no tree was named, and a lease on nothing protects nothing.
    """

    ADMITTED = "admitted"
    HELD = "held"
    OUTSIDE = "outside"
    EMPTY = "empty"


class Lease(NamedTuple):
    """``trees`` are as they were understood: parted by slashes, without dots, none within another, in order."""

    number: int
    holder: str
    trees: tuple[str, ...]


class Decision(NamedTuple):
    """A lease only where it was admitted; ``in_the_way`` are the live leases that intersect, by number.

    What is answered is this very record, all of it decided by then.
    """

    ruling: Ruling
    lease: Lease | None = None
    in_the_way: tuple[Lease, ...] = ()


class Arbiter(Protocol):
    """``fleet/arbiter``: the leases of one root. The methods may be coroutine functions."""

    def acquire(self, holder: str, trees: Sequence[str]) -> Decision:
        """All of ``trees`` or none of them, for ``holder``, whose own live leases are in the way like any other's."""
        ...

    def release(self, number: int) -> bool:
        """End a lease; False where there is no such live one, and for what is no number of a lease, such as True."""
        ...

    def live(self) -> Sequence[Lease]:
        """The live leases, by number."""
        ...
