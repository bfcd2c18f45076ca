"""The seam ``fleet/arbiter``: who may write where, as leases on file trees that never intersect.

The live trees are kept by their parts, so that an admission walks the parts of the trees that are asked for and looks
at no lease that is elsewhere. Paths are judged as they are spelled, and by what they lead to where a root on disk is
given: a link that leads out of it, or into somebody's tree, is seen through. It hands out leases and enforces nothing;
it keeps no clock, so a lease lives until it is released.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from seams.contract import Engine
from seams.contract.fleet_arbiter import Decision, Lease, Ruling

__all__ = ["LONGEST", "TreeArbiter", "offer"]

LONGEST = 4096
"""Characters of a path; what is longer is none that a file system would take."""


class _Node:
    """One part of a path: the lease on it, if there is one, and the parts below that lead to others."""

    __slots__ = ("children", "lease")

    def __init__(self) -> None:
        self.children: dict[str, _Node] = {}
        self.lease: Lease | None = None

    def leases(self) -> Iterator[Lease]:
        """All on it and below it."""
        left = [self]
        while left:
            node = left.pop()
            if node.lease is not None:
                yield node.lease
            left += node.children.values()


_Parts = tuple[str, ...]


class TreeArbiter:
    """The leases of one root. ``root`` is the folder on disk whose links are followed; without it no disk is looked at.

    One thread owns it.
    """

    def __init__(self, root: Path | None = None) -> None:
        self._root = None if root is None else root.resolve()
        self._top = _Node()
        self._live: dict[int, Lease] = {}
        self._last = 0

    def acquire(self, holder: str, trees: Sequence[str]) -> Decision:
        """See the contract. The whole root is the tree ``.``."""
        if isinstance(trees, str):  # its letters would be taken for trees
            return Decision(Ruling.OUTSIDE)
        if not trees:
            return Decision(Ruling.EMPTY)
        asked: list[_Parts] = []
        try:
            for tree in trees:
                parts = self._parts(tree)
                if parts is None:
                    return Decision(Ruling.OUTSIDE)
                asked.append(parts)
        except TypeError:  # it is one thing and no list of any
            return Decision(Ruling.OUTSIDE)
        asked = _outermost(asked)
        in_the_way = {lease.number: lease for parts in asked for lease in self._intersecting(parts)}
        if in_the_way:
            return Decision(Ruling.HELD, in_the_way=tuple(in_the_way[number] for number in sorted(in_the_way)))
        self._last += 1
        lease = Lease(self._last, holder, tuple("/".join(parts) or "." for parts in asked))
        for parts in asked:
            self._node(parts).lease = lease
        self._live[lease.number] = lease
        return Decision(Ruling.ADMITTED, lease)

    def release(self, number: int) -> bool:
        """See the contract."""
        # True and 1.0 are no numbers of a lease, though a dict takes them for 1.
        lease = self._live.pop(number, None) if type(number) is int else None
        if lease is None:
            return False
        for tree in lease.trees:
            self._forget(() if tree == "." else tuple(tree.split("/")))
        return True

    def live(self) -> tuple[Lease, ...]:
        """See the contract."""
        return tuple(self._live.values())

    def _parts(self, tree: str) -> _Parts | None:
        """The parts of a path within the root; None where it leads out of it, or is no path."""
        if not isinstance(tree, str) or not tree or len(tree) > LONGEST or "\0" in tree or tree.startswith("/"):
            return None
        if self._root is not None:
            try:
                found = (self._root / tree).resolve()
            except (OSError, RuntimeError, ValueError):  # a loop of links, or what no file system takes
                return None
            return found.relative_to(self._root).parts if found.is_relative_to(self._root) else None
        parts: list[str] = []
        for part in tree.split("/"):
            if part == "..":
                if not parts:
                    return None
                parts.pop()
            elif part not in ("", "."):
                parts.append(part)
        return tuple(parts)

    def _intersecting(self, parts: _Parts) -> Iterator[Lease]:
        node = self._top
        for part in parts:
            if node.lease is not None:  # a tree that contains the one asked for
                yield node.lease
            below = node.children.get(part)
            if below is None:
                return
            node = below
        yield from node.leases()

    def _node(self, parts: _Parts) -> _Node:
        node = self._top
        for part in parts:
            node = node.children.setdefault(part, _Node())
        return node

    def _forget(self, parts: _Parts) -> None:
        """Take the lease off its node, and the nodes away that lead to none any more."""
        path = [self._top]
        for part in parts:
            path.append(path[-1].children[part])
        path[-1].lease = None
        for above, part in zip(reversed(path[:-1]), reversed(parts), strict=True):
            below = above.children[part]
            if below.children or below.lease is not None:
                return
            del above.children[part]


def _outermost(trees: Sequence[_Parts]) -> list[_Parts]:
    """Each tree once, none within another, in order."""
    kept: list[_Parts] = []
    for parts in sorted(set(trees)):
        if not kept or parts[: len(kept[-1])] != kept[-1]:
            kept.append(parts)
    return kept


def offer(engine: Engine) -> TreeArbiter:  # noqa: ARG001 - arbitration calls no engine, so any cut is the same
    """An arbiter without a lease, that judges paths as they are spelled."""
    return TreeArbiter()
