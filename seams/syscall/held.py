"""Bodies that a gate took out of a result: kept in the content store under an id, and given back on its terms.

What is in quarantine is pinned while it is held and needs somebody to clear it. What was only too long for the context
comes back on demand, and lies in the store unpinned: a store that is short of room may let it go. Of either kind the
oldest goes first, and is then refused for ever.
"""

from __future__ import annotations

from seams.contract.store import ContentStore, Ref, UnknownDigestError

__all__ = ["HELD_CAP", "HeldPages", "PageInError"]

HELD_CAP = 8192
"""Bodies of a kind that are held by one gate."""


class PageInError(LookupError):
    """The body is not there, nobody cleared it, or it may not come back."""


class HeldPages:
    """At most ``cap`` bodies by id, first in, first out. ``evicted`` counts those that had to go."""

    __slots__ = ("_cap", "_cleared", "_on_demand", "_refs", "_store", "evicted")

    def __init__(self, store: ContentStore, cap: int = HELD_CAP, *, on_demand: bool = False) -> None:
        self._store = store
        self._cap = max(cap, 1)
        self._on_demand = on_demand
        self._refs: dict[str, Ref] = {}
        self._cleared: set[str] = set()
        self.evicted = 0

    def __contains__(self, page: str) -> bool:
        return page in self._refs

    def hold(self, body: bytes, page: str | None = None) -> Ref:
        """Keep ``body`` as ``page``, or under its digest; under an id that is held already it is kept once."""
        ref = self._store.page_out(self._store.put(body))
        name = ref.digest if page is None else page
        if name in self._refs:
            return ref
        if not self._on_demand:
            self._store.pin(ref.digest)
        self._refs[name] = ref
        if len(self._refs) > self._cap:
            self._evict(next(iter(self._refs)))
        return ref

    def clear(self, page: str) -> None:
        """Allow the body back; an id that is not held stays refused, whatever is held under it later."""
        if page in self._refs:
            self._cleared.add(page)

    def take(self, page: str) -> bytes:
        """The exact bytes; they stay held.

        Raises:
            PageInError: the body is not held, no longer held, or in quarantine.
        """
        ref = self._refs.get(page)
        if ref is None:
            raise PageInError(f"{page} is not held; a body that was evicted does not come back.")
        if not self._on_demand and page not in self._cleared:
            raise PageInError(f"{page} is in quarantine; call clear({page!r}) first.")
        try:
            return self._store.resolve(ref)
        except UnknownDigestError as gone:
            raise PageInError(f"{page} is not held any more: the store let its body go for want of room.") from gone

    def _evict(self, oldest: str) -> None:
        ref = self._refs.pop(oldest)
        self._cleared.discard(oldest)
        self.evicted += 1
        if not self._on_demand:
            self._store.unpin(ref.digest)
