"""Which lines of an append-only session log are the conversation, and which were abandoned by going back.

Both were paid for; only one was ever sent again. Pure graph work on identifiers: it refuses to know what a line says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Link", "Walk", "walk"]


@dataclass(frozen=True, slots=True)
class Link:
    """A line's place in the log: its id, its parent's id (the logical one across a compaction), its session.

    ``leaf``: the line is of the conversation (not progress, not a notice), so that the walk may start here.
    """

    uuid: str | None
    parent: str | None
    session: str | None
    leaf: bool


@dataclass(frozen=True, slots=True)
class Walk:
    """The positions on the way from the last leaf to the root, and how many parents were not in the file."""

    kept: frozenset[int]
    phantoms: int
    resumes: tuple[int, ...]


def walk(links: Sequence[Link]) -> Walk:
    """Follow parents from the last leaf.

    A line without id cannot be gone back to: it is always kept. Where a parent is not in the file, and where a new
    session begins without a parent (a resumed copy), the log's own order leads on; a root of the same session ends
    the walk, because going back to the first prompt writes exactly that.
    """
    place = {link.uuid: at for at, link in reversed(list(enumerate(links))) if link.uuid is not None}
    kept = {at for at, link in enumerate(links) if link.uuid is None}
    phantoms = 0
    resumes: list[int] = []
    at: int | None = next(
        (n for n in range(len(links) - 1, -1, -1) if links[n].uuid is not None and links[n].leaf), None
    )
    while at is not None and at not in kept:
        kept.add(at)
        link = links[at]
        if link.parent is not None:
            parent = place.get(link.parent)
            if parent is None:
                phantoms += 1
                parent = _before(links, at)
            at = parent
            continue
        earlier = _before(links, at)
        if earlier is None or link.session is None or links[earlier].session in (None, link.session):
            break
        resumes.append(at)
        at = earlier
    return Walk(frozenset(kept), phantoms, tuple(reversed(resumes)))


def _before(links: Sequence[Link], at: int) -> int | None:
    """The nearest earlier line with an id that belongs to the conversation."""
    return next((n for n in range(at - 1, -1, -1) if links[n].uuid is not None and links[n].leaf), None)
