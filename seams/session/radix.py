"""A radix tree of cached prompt prefixes, with leases and a budget.

Each edge holds a run of tokens. A look-up splits the edge on which it ends, leases the place and makes it and all above
it recent; what is over the budget leaves from the unleased leaves, the one that was not used for longest first. Removal
by policy asks for neither. It decides who is evicted and keeps no keys or values: the tree says what of a prompt need
not be computed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush

from seams.contract import Engine
from seams.contract.radix import Match, RadixStats
from seams.session.radix_lease import Lease, LeaseError, StaleLeaseError, held, lease_of
from seams.session.radix_nodes import WIDTH, Node, Walked, below, packed, stale, walk

__all__ = ["Lease", "LeaseError", "RadixCache", "RadixStore", "StaleLeaseError", "offer"]

_TIDY = 64
"""Notes of leaves that may leave, before those that no longer hold are looked for."""

_NEXT = "Run: python -m harness explain cache_hit_rate"


class RadixCache:
    """An empty cache of at most ``max_tokens`` tokens on its edges; 0 sets no bound.

    A lease that is never given back pins its place, and all above it, for good: whoever gives up between
    :meth:`lookup` and :meth:`insert` calls :meth:`done` all the same. ``stats().leases`` shows one that leaked.

    Raises:
        ValueError: the bound is no whole number, or is below 0.
    """

    def __init__(self, max_tokens: int = 0) -> None:
        if not isinstance(max_tokens, int) or max_tokens < 0:
            raise ValueError(f"A cache of {max_tokens!r} tokens is none: take 0 for no bound, or more. {_NEXT}")
        self.max_tokens = max_tokens
        self.tokens = 0
        self.evictions = self.policy_evictions = self.splits = 0
        self._root = Node(b"", None, 0, 0)
        self._clock = 0
        self._idle: list[tuple[int, int, Node]] = []
        self._noted = 0
        self._tidy_at = _TIDY

    def match_len(self, tokens: Sequence[int]) -> int:
        """How many of ``tokens`` are cached from the first on; nothing changes."""
        return walk(self._root, packed(tokens)).tokens

    def lookup(self, tokens: Sequence[int]) -> Match:
        """Where the cached part of ``tokens`` ends, leased, and its length; it and all above it were used now."""
        boundary = self._boundary(walk(self._root, packed(tokens)))
        self._clock += 1
        node: Node | None = boundary
        while node is not None:
            node.last_used = self._clock
            node = node.parent
        return Match(Lease(self, boundary), boundary.plen)

    def insert(self, at: object, suffix: Sequence[int]) -> Lease:
        """Put ``suffix`` behind the leased ``at``, move the lease to its end and make room; returns the moved lease.

        What somebody else put there since the look-up is found and not held twice. Without a suffix ``at`` comes back,
        still leased.

        Raises:
            StaleLeaseError: the place was evicted by policy since: give the lease back and look up again.
            LeaseError: ``at`` is another cache's or not held any more. Either way nothing has changed.
            TypeError: ``at`` is no lease.
        """
        lease = held(self, at)
        run = packed(suffix)
        if not run:
            return lease
        given = lease.node
        if given.gone:
            raise StaleLeaseError(f"The place to insert behind was evicted since: look the prompt up again. {_NEXT}")
        found = walk(given, run)
        end = self._boundary(found)
        self._clock += 1
        if rest := run[(end.plen - given.plen) * WIDTH :]:
            leaf = Node(rest, end, end.plen + len(rest) // WIDTH, self._clock)
            end.children[rest[:WIDTH]] = leaf
            self.tokens += leaf.size
            end = leaf
        else:
            end.last_used = self._clock
        moved = Lease(self, end)
        self.done(lease)
        self._make_room()
        return moved

    def done(self, at: object) -> None:
        """Give a lease back.

        Raises:
            LeaseError: ``at`` is another cache's, or not held any more; what others hold there is untouched.
            TypeError: ``at`` is no lease.
        """
        lease = held(self, at)
        lease.end()
        self._note_idle(lease.node)

    def evict_node(self, at: object) -> int:
        """Drop the subtree at ``at``, whatever is leased in it and however recent; the tokens that became free.

        The place of a lease counts, held or not. Nothing, where it is the root, or has left already.
        """
        return 0 if at is None else self._evict(lease_of(self, at).node)

    def _evict(self, node: Node) -> int:
        if node.parent is None or node.gone:
            return 0
        self.policy_evictions += 1
        return self._drop(node)

    def evict_prefix(self, tokens: Sequence[int]) -> int:
        """Drop the branch on which ``tokens`` end, or part from it in the middle of an edge; the tokens that came free.

        Where the cached path ends before the tokens do, nothing of theirs that could be held against it was ever
        cached, and the clean prefix stays: 0.
        """
        run = packed(tokens)
        if not run:
            return 0
        node, child, into = walk(self._root, run)
        if child is not None and into:
            return self._evict(child)
        return self._evict(node) if node.plen * WIDTH == len(run) else 0

    def stats(self) -> RadixStats:
        """The tree as it is now; it is walked for that."""
        nodes = [node for node in below(self._root) if node is not self._root]
        depths = {id(self._root): 0}
        for node in nodes:
            depths[id(node)] = depths[id(node.parent)] + 1
        return RadixStats(
            tokens=self.tokens,
            prefix_tokens=sum(node.plen for node in nodes),
            nodes=len(nodes),
            leaves=sum(1 for node in nodes if not node.children),
            depth=max(depths.values()),
            leases=self._root.refs + sum(node.refs for node in nodes),
            splits=self.splits,
            evictions=self.evictions,
            policy_evictions=self.policy_evictions,
        )

    def _boundary(self, walked: Walked) -> Node:
        """The node at which the walk ended; the edge on which it did is split there."""
        node, child, into = walked
        if child is None:
            return node
        middle = Node(child.key[:into], node, node.plen + into // WIDTH, child.last_used)
        node.children[middle.key[:WIDTH]] = middle
        child.key = child.key[into:]
        child.parent = middle
        middle.children[child.key[:WIDTH]] = child
        self.splits += 1
        return middle

    def _make_room(self) -> None:
        while self.max_tokens and self.tokens > self.max_tokens and self._idle:
            used, _, leaf = heappop(self._idle)
            if not stale(used, leaf):
                self._drop(leaf)
                self.evictions += 1

    def _drop(self, node: Node) -> int:
        """Take the node out with all that hangs on it; the tokens that became free."""
        freed = 0
        for each in below(node):
            freed += each.size
            each.gone = True
        self.tokens -= freed
        if node.parent is not None:
            del node.parent.children[node.key[:WIDTH]]
            self._note_idle(node.parent)
        return freed

    def _note_idle(self, node: Node) -> None:
        """Remember a leaf that may be evicted; notes that no longer hold go once they may be half of them."""
        if not self.max_tokens or node.refs or node.children or node.parent is None:
            return
        self._noted += 1
        heappush(self._idle, (node.last_used, self._noted, node))
        if len(self._idle) > self._tidy_at:
            kept = {id(leaf): (used, number, leaf) for used, number, leaf in self._idle if not stale(used, leaf)}
            self._idle = sorted(kept.values())
            self._tidy_at = _TIDY + 2 * len(self._idle)


class RadixStore:
    """Makes caches that share nothing."""

    def cache(self, max_tokens: int = 0) -> RadixCache:
        """As the class :class:`RadixCache`."""
        return RadixCache(max_tokens)


def offer(engine: Engine) -> RadixStore:  # noqa: ARG001 - a tree calls no engine, so any cut is the same
    """A maker of empty caches."""
    return RadixStore()
