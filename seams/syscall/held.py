"""Bodies that a gate took out of a result: kept in the content store under an id, and given back on its terms.

What is in quarantine is pinned while it is held and needs somebody to clear it; cleared, it stays held and pinned. What
was only too long for the context comes back on demand, and lies in the store unpinned: a store that is short of room
may let it go. Of either kind the oldest goes first, and is then refused for ever.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import NamedTuple

from seams.contract.store import ContentStore, Ref, UnknownDigestError
from seams.contract.verdict import ReasonCode

__all__ = ["HELD_CAP", "HeldPages", "PageInError"]

HELD_CAP = 8192
"""Bodies of a kind that are held by one gate."""


class PageInError(LookupError):
    """The body is not there, nobody cleared it, or it may not come back."""


class _Page(NamedTuple):
    ref: Ref
    reason: int


class HeldPages:
    """At most ``cap`` bodies by id, first in, first out. ``evicted`` counts those that had to go."""

    __slots__ = ("_cap", "_cleared", "_on_demand", "_pages", "_store", "evicted")

    def __init__(self, store: ContentStore, cap: int = HELD_CAP, *, on_demand: bool = False) -> None:
        self._store = store
        self._cap = max(cap, 1)
        self._on_demand = on_demand
        # Ordered: the first key of a plain dict is found by walking over all that were deleted before it.
        self._pages: OrderedDict[str, _Page] = OrderedDict()
        self._cleared: set[str] = set()
        self.evicted = 0

    def __contains__(self, page: str) -> bool:
        return page in self._pages

    def hold(self, body: bytes, page: str | None = None, reason: int = ReasonCode.NONE) -> Ref:
        """Keep ``body`` as ``page``, or under its digest; under an id that is held already it is kept once.

        ``reason`` is what it is held for.
        """
        ref = self._store.page_out(self._store.put(body))
        name = ref.digest if page is None else page
        if name in self._pages:
            return ref
        if not self._on_demand:
            self._store.pin(ref.digest)
        self._pages[name] = _Page(ref, reason)
        if len(self._pages) > self._cap:
            self._evict()
        return ref

    def reason(self, page: str) -> int:
        """What ``page`` is held for; NONE where it is not held."""
        held = self._pages.get(page)
        return ReasonCode.NONE if held is None else held.reason

    def clear(self, page: str) -> None:
        """Allow the body back; an id that is not held stays refused, whatever is held under it later."""
        if page in self._pages:
            self._cleared.add(page)

    def take(self, page: str) -> bytes:
        """The exact bytes; they stay held.

        Raises:
            PageInError: the body is not held, no longer held, or in quarantine.
        """
        held = self._pages.get(page)
        if held is None:
            raise PageInError(f"{page} is not held; a body that was evicted does not come back.")
        if not self._on_demand and page not in self._cleared:
            raise PageInError(f"{page} is in quarantine; call clear({page!r}) first.")
        try:
            return self._store.resolve(held.ref)
        except UnknownDigestError as gone:
            raise PageInError(f"{page} is not held any more: the store let its body go for want of room.") from gone

    def _evict(self) -> None:
        oldest, held = self._pages.popitem(last=False)
        self._cleared.discard(oldest)
        self.evicted += 1
        if not self._on_demand:
            self._store.unpin(held.ref.digest)
