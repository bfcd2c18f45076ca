"""The nodes of a radix tree of tokens, and the comparison of runs.

A run is packed, four bytes a token, so that runs are compared as memory and not token by token. Nothing here changes a
tree or knows of a budget.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple

__all__ = ["WIDTH", "Node", "Walked", "below", "packed", "stale", "walk"]

WIDTH = 4
"""Bytes of a token in a run."""

_NEXT = "Run: python -m harness explain cache_hit_rate"


class Node:
    """The end of a run of tokens: ``key`` on the edge to it, ``plen`` tokens from the root, ``refs`` leases.

    ``gone`` is whether it has left the tree, where somebody may hold it still.
    """

    __slots__ = ("children", "gone", "key", "last_used", "parent", "plen", "refs")

    def __init__(self, key: bytes, parent: Node | None, plen: int, last_used: int) -> None:
        self.key = key
        self.parent = parent
        self.children: dict[bytes, Node] = {}
        self.plen = plen
        self.refs = 0
        self.last_used = last_used
        self.gone = False

    @property
    def size(self) -> int:
        """Tokens on the edge to it."""
        return len(self.key) // WIDTH


class Walked(NamedTuple):
    """The deepest node whose run was matched whole; then a child of it of whose run ``into`` bytes were matched."""

    node: Node
    child: Node | None
    into: int

    @property
    def tokens(self) -> int:
        """Tokens from the root to where the walk ended."""
        return self.node.plen + self.into // WIDTH


def walk(node: Node, run: bytes) -> Walked:
    """Follow ``run`` from ``node`` on, as far as the tree has it."""
    at = 0
    while child := node.children.get(run[at : at + WIDTH]):
        key = child.key
        if run.startswith(key, at):
            node = child
            at += len(key)
            continue
        return Walked(node, child, _shared(key, run[at : at + len(key)]))
    return Walked(node, None, 0)


def stale(used: int, leaf: Node) -> bool:
    """Whether the leaf was used, leased, extended or evicted since it was noted."""
    return leaf.gone or used != leaf.last_used or bool(leaf.refs) or bool(leaf.children)


def packed(tokens: Sequence[int]) -> bytes:
    """The ids as memory, four bytes each.

    Raises:
        ValueError: one is below 0, or needs more than 32 bits, or is no integer.
    """
    try:
        # Of bytes the array would take the memory for its own.
        return array("I", list(tokens) if isinstance(tokens, bytes | bytearray) else tokens).tobytes()
    except (OverflowError, TypeError) as error:
        raise ValueError(f"A token id is a whole number of 32 bits, from 0 on ({error}). {_NEXT}") from None


def _shared(left: bytes, right: bytes) -> int:
    """Bytes of whole tokens that both begin with; halved, since comparing memory costs next to nothing."""
    low, high = 0, min(len(left), len(right)) // WIDTH
    while low < high:
        middle = (low + high + 1) // 2
        if left.startswith(right[: middle * WIDTH]):
            low = middle
        else:
            high = middle - 1
    return low * WIDTH


def below(node: Node) -> Iterator[Node]:
    """The node and all that hang on it, parents before children."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(each.children.values())
