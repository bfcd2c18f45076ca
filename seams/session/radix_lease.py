"""Leases on places of a prefix cache: each holds once, in the one cache that gave it.

A place may be held by many. So a count of them is not enough: whoever gave back twice would give back another's, whose
place could then be evicted under it. A lease knows its cache and whether it is held, and says so where it is not.
"""

from __future__ import annotations

from seams.session.radix_nodes import Node

__all__ = ["Lease", "LeaseError", "StaleLeaseError", "held", "lease_of"]

_NEXT = "Run: python -m harness explain cache_hit_rate"


class LeaseError(ValueError):
    """The lease is another cache's, or it is not held any more: given back, or moved by an insertion."""


class StaleLeaseError(LeaseError):
    """The place was evicted by policy after it had been looked up. The lease on it is held, and to be given back."""


class Lease:
    """One holder's lease on ``node``, a place of the cache ``owner``; ``held`` until it is given back or moved."""

    __slots__ = ("held", "node", "owner")

    def __init__(self, owner: object, node: Node) -> None:
        self.owner = owner
        self.node = node
        self.held = True
        node.refs += 1

    def end(self) -> None:
        """Hold the place no longer."""
        self.held = False
        self.node.refs -= 1


def lease_of(owner: object, at: object) -> Lease:
    """``at``, if ``owner`` gave it.

    Raises:
        TypeError: it is no lease.
        LeaseError: another cache gave it.
    """
    if not isinstance(at, Lease):
        raise TypeError(f"A {type(at).__name__} is no place in this cache: pass on what lookup gave. {_NEXT}")
    if at.owner is not owner:
        raise LeaseError(f"This lease is another cache's: pass on what this one's lookup gave. {_NEXT}")
    return at


def held(owner: object, at: object) -> Lease:
    """``at``, if ``owner`` gave it and it is still held. LeaseError where it is not, else as :func:`lease_of`."""
    lease = lease_of(owner, at)
    if not lease.held:
        raise LeaseError(
            f"This lease was given back, or moved by an insertion, before: each look-up and each insertion gives a new "
            f"one, for one use. {_NEXT}"
        )
    return lease
