"""Bodies by their digest, as they lie in an image and as they come in while a session runs.

In a file, each body stands behind its digest and its size, in the order of the digests: the same bodies are the same
bytes, in whatever order they came, and one is found by bisection in those bytes. So an image that was loaded needs
eight bytes a body besides, and no dictionary.
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from hashlib import sha256

__all__ = ["PageStore"]

_DIGEST, _HEAD = 32, 40  # a SHA-256, and behind it the size in eight bytes, most significant first


class PageStore:
    """Holds every body once. ``size`` is that of all bodies together, in bytes.

    Raises:
        ValueError: ``data`` is no file of bodies: one is cut short, is not what its digest says, or is out of order.
    """

    __slots__ = ("_data", "_new", "_starts", "size")

    def __init__(self, data: bytes = b"") -> None:
        self._data = data
        self._starts = array("Q")
        self._new: dict[bytes, bytes] = {}
        self.size = 0
        view, start, last = memoryview(data), 0, b""
        while start < len(data):
            digest = data[start : start + _DIGEST]
            size = int.from_bytes(data[start + _DIGEST : start + _HEAD], "big")
            end = start + _HEAD + size
            if end > len(data):
                raise ValueError(f"has a body at byte {start} that goes beyond its end")
            if sha256(view[start + _HEAD : end]).digest() != digest:
                raise ValueError(f"has a body at byte {start} that is not what its digest says")
            if digest <= last:
                raise ValueError(f"has a body at byte {start} that is out of order, or there twice")
            self._starts.append(start)
            self.size += size
            start, last = end, digest

    def __len__(self) -> int:
        return len(self._starts) + len(self._new)

    def put(self, body: bytes) -> str:
        """Hold ``body`` and return its digest in hexadecimal."""
        digest = sha256(body).digest()
        if digest not in self._new and self._loaded(digest) is None:
            self._new[digest] = body
            self.size += len(body)
        return digest.hex()

    def get(self, digest: str) -> bytes | None:
        """The body of that digest, None where it is not held."""
        raw = bytes.fromhex(digest)
        found = self._new.get(raw)
        return self._loaded(raw) if found is None else found

    def begun(self, digest: str, most: int) -> tuple[int, bytes] | None:
        """The size of the body of that digest, and up to ``most`` bytes of its beginning; None where it is not held."""
        raw = bytes.fromhex(digest)
        body = self._new.get(raw)
        if body is not None:
            return len(body), body[:most]
        start = self._start(raw)
        if start is None:
            return None
        size = self._size(start)
        return size, self._data[start + _HEAD : start + _HEAD + min(most, size)]

    def write(self, write: Callable[[bytes], object]) -> None:
        """All bodies in the order of their digests, each as digest, size and bytes."""
        for digest, body in heapq.merge(self._stored(), ((each, self._new[each]) for each in sorted(self._new))):
            write(digest + len(body).to_bytes(_HEAD - _DIGEST, "big"))
            write(body)

    def _stored(self) -> Iterator[tuple[bytes, bytes]]:
        for start in self._starts:
            yield self._data[start : start + _DIGEST], self._body(start)

    def _start(self, raw: bytes) -> int | None:
        data = self._data
        at = bisect_left(self._starts, raw, key=lambda start: data[start : start + _DIGEST])
        if at == len(self._starts):
            return None
        start = self._starts[at]
        return start if data[start : start + _DIGEST] == raw else None

    def _loaded(self, raw: bytes) -> bytes | None:
        start = self._start(raw)
        return None if start is None else self._body(start)

    def _size(self, start: int) -> int:
        return int.from_bytes(self._data[start + _DIGEST : start + _HEAD], "big")

    def _body(self, start: int) -> bytes:
        return self._data[start + _HEAD : start + _HEAD + self._size(start)]
