"""The content-addressed store behind arguments and results, in memory and bounded in bytes.

The oldest unpinned body goes first. What is pinned never goes, and the body of the latest put stays until the next put,
since its handle has only just been given out: by these two the footprint may exceed the bound. It persists nothing and
knows nothing about what a body says.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256

from seams.contract import Engine
from seams.contract.store import Ref, StoreStats, UnknownDigestError

__all__ = ["INLINE", "MAX_BYTES", "HandleError", "MemoryStore", "PinError", "offer"]

INLINE = 256
"""A body of so many bytes or fewer travels inside its handle."""

MAX_BYTES = 1 << 30
"""The bound where nothing else is said: 1 GiB."""


class HandleError(ValueError):
    """The handle's digest is not that of the bytes it carries."""


class PinError(ValueError):
    """Somebody takes back a pin that is not there, and so somebody else's."""


class MemoryStore:
    """The reference store. ``max_bytes`` bounds the bodies together; 0 is no bound.

    Only ``bytes`` are taken, which nobody can change, so that none has to be copied.

    Raises:
        ValueError: the bound is negative.
    """

    __slots__ = ("_bodies", "_evictions", "_hits", "_idle", "_latest", "_max", "_pins", "_puts", "_resolves", "_size")

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        if max_bytes < 0:
            raise ValueError(f"A store cannot be bound to {max_bytes} bytes; 0 is no bound.")
        self._max = max_bytes
        self._bodies: dict[str, bytes] = {}
        # The unpinned, oldest first. Ordered: the first key of a plain dict is found by walking over all that were
        # deleted before it, so that to let many go at once would take the square of their number.
        self._idle: OrderedDict[str, None] = OrderedDict()
        self._pins: dict[str, int] = {}
        self._latest = ""
        self._size = self._puts = self._hits = self._resolves = self._evictions = 0

    def put(self, body: bytes) -> Ref:
        """A body of 256 bytes or fewer stays inline and is not counted; the same larger one is held once.

        Raises:
            TypeError: it is not of type bytes.
        """
        if not isinstance(body, bytes):
            raise TypeError(f"A body is bytes and not {type(body).__name__}; put bytes(body) instead.")
        digest = sha256(body).hexdigest()
        if len(body) <= INLINE:
            return Ref(digest, len(body), body)
        self._hold(digest, body)
        return Ref(digest, len(body))

    def resolve(self, ref: Ref) -> bytes:
        """The bytes of the handle; those that travel inside it are read from nowhere.

        Raises:
            UnknownDigestError: the body is not held.
            TypeError: ``ref`` is no handle, or carries something else than bytes.
        """
        _require_handle(ref)
        if ref.inline is not None:
            return ref.inline
        body = self._held(ref.digest)
        self._resolves += 1
        return body

    def page_out(self, ref: Ref) -> Ref:
        """The handle without its bytes, which the store now holds; counts as a put where it brings them.

        Raises:
            HandleError: the bytes are not those that the digest names.
            UnknownDigestError, TypeError: as in :meth:`resolve`.
        """
        _require_handle(ref)
        if ref.inline is None:
            return Ref(ref.digest, len(self._held(ref.digest)))
        digest = sha256(ref.inline).hexdigest()
        if digest != ref.digest:
            raise HandleError(f"The digest {_short(ref.digest)} is not that of the bytes beside it; put them instead.")
        self._hold(digest, ref.inline)
        return Ref(digest, len(ref.inline))

    def page_in(self, ref: Ref) -> Ref:
        """The handle with its bytes; the store goes on holding what it holds.

        Raises:
            UnknownDigestError, TypeError: as in :meth:`resolve`.
        """
        body = self.resolve(ref)
        return Ref(ref.digest, len(body), body)

    def pin(self, digest: str) -> None:
        """One pin more.

        Raises:
            UnknownDigestError: the body is not held, so that a pin would keep nothing.
        """
        self._held(digest)
        self._pins[digest] = self._pins.get(digest, 0) + 1
        self._idle.pop(digest, None)

    def unpin(self, digest: str) -> None:
        """One pin fewer; without any the body is subject to the bound again, as the most recent.

        Raises:
            UnknownDigestError: the body is not held.
            PinError: nobody pinned it.
        """
        self._held(digest)
        pins = self._pins.get(digest, 0)
        if pins == 0:
            raise PinError(f"The body {_short(digest)} has no pin left to take back; unpin once for each pin.")
        if pins > 1:
            self._pins[digest] = pins - 1
            return
        del self._pins[digest]
        self._idle[digest] = None
        self._shrink()

    def stats(self) -> StoreStats:
        """A snapshot."""
        return StoreStats(
            puts=self._puts,
            hits=self._hits,
            resolves=self._resolves,
            evictions=self._evictions,
            bodies=len(self._bodies),
            size=self._size,
            pinned=len(self._pins),
        )

    def _held(self, digest: str) -> bytes:
        body = self._bodies.get(digest) if isinstance(digest, str) else None
        if body is None:
            raise UnknownDigestError(
                f"The store holds no body {_short(digest)}: it was never put here, or went for want of room; "
                "put it again, and pin it while it is needed."
            )
        return body

    def _hold(self, digest: str, body: bytes) -> None:
        self._puts += 1
        self._latest = digest
        if digest not in self._bodies:
            self._bodies[digest] = body
            self._idle[digest] = None
            self._size += len(body)
        else:
            self._hits += 1
            if digest in self._idle:  # given out again just now, so no older than a body that is new
                self._idle.move_to_end(digest)
        self._shrink()

    def _shrink(self) -> None:
        """Let the oldest unpinned bodies go until the rest fits; the latest put is not among them."""
        while self._max and self._size > self._max:
            oldest = next((digest for digest in self._idle if digest != self._latest), None)
            if oldest is None:
                return
            del self._idle[oldest]
            self._size -= len(self._bodies.pop(oldest))
            self._evictions += 1


def _require_handle(ref: object) -> None:
    if not isinstance(ref, Ref) or not isinstance(ref.inline, bytes | None):
        what = f"Ref around a {type(ref.inline).__name__}" if isinstance(ref, Ref) else type(ref).__name__
        raise TypeError(f"A handle is a Ref around bytes or none and not a {what}; use what put returned.")


def _short(digest: object) -> str:
    return f"{digest[:12]}..." if isinstance(digest, str) else f"under a {type(digest).__name__}"


def offer(engine: Engine) -> MemoryStore | None:
    """A fresh store with the usual bound; it has no engine to cut, so only ``none`` is answered."""
    return MemoryStore() if engine == "none" else None
