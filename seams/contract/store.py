"""The seam ``syscall/resolver``: bodies kept by what they are, and handles that stand for them.

A body's name is its SHA-256, so that equal bodies are one body and a handle cannot come to mean another. Small bodies
travel inside their handle and never enter the store. Who may read what is decided elsewhere. (Whoever corroborates a
claim is also called a resolver: ``Resolver`` in ``seams.contract.syscall``.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

__all__ = ["ContentStore", "Ref", "StoreStats", "UnknownDigestError"]


class UnknownDigestError(LookupError):
    """The store does not hold that body: it never did, or it let it go."""


class Ref(NamedTuple):
    """A handle: SHA-256 in 64 lower-case hexadecimal digits, size in bytes, and the bytes where they travel along."""

    digest: str
    size: int
    inline: bytes | None = None


@dataclass(frozen=True, slots=True)
class StoreStats:
    """What a store did since it was made, and what it holds now; a body that stays inline is in none of it.

    ``puts`` bodies were given to it, ``hits`` of them it held already; ``resolves`` were read from it; ``evictions`` it
    let go for want of room. ``bodies`` are held, ``size`` bytes together, ``pinned`` of them for good.
    """

    puts: int = 0
    hits: int = 0
    resolves: int = 0
    evictions: int = 0
    bodies: int = 0
    size: int = 0
    pinned: int = 0


class ContentStore(Protocol):
    """``syscall/resolver``: put a body, read it back by its handle.

    Every method that is given a digest or a handle without bytes raises :class:`UnknownDigestError` where the body is
    not held.
    """

    def put(self, body: bytes) -> Ref:
        """The handle of ``body``: with its bytes where it is small, else held by the store at least until the next put.

        Who needs it for longer pins it.
        """
        ...

    def resolve(self, ref: Ref) -> bytes:
        """The exact bytes; nothing that is done with them reaches the store."""
        ...

    def page_out(self, ref: Ref) -> Ref:
        """The same body held by the store, however small; the handle without bytes."""
        ...

    def page_in(self, ref: Ref) -> Ref:
        """The same handle with its bytes, however many."""
        ...

    def pin(self, digest: str) -> None:
        """Keep the body whatever the bound; each pin wants an unpin of its own."""
        ...

    def unpin(self, digest: str) -> None:
        """Take one pin back. With the last one the body counts as the most recent."""
        ...

    def stats(self) -> StoreStats:
        """A snapshot."""
        ...
