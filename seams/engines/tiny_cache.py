"""The cache of the small model: keys, raw keys and values of all positions, in memory that grows.

It stores, deletes and rotates rows, and decides nothing: which rows have to go is said in ``seams.turn.kv``. Rows of
all layers lie in one array a kind, of shape (layers, kv_heads, capacity, head_dim), so that a survivor's rotation is
one operation over all layers and heads.
"""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from seams.engines.rope import Rope

__all__ = ["KvCache"]

_LEAST = 16
"""Positions that the first growth makes room for; each later one doubles."""


class KvCache:
    """An empty cache for ``kv_heads`` heads in each layer that ``rope`` has."""

    evictable = True
    """Whether a position can be taken out. A cache with running state besides, which nothing leaves, says no."""

    def __init__(self, rope: Rope, kv_heads: int) -> None:
        self._rope = rope
        self._length = 0
        self._positions = np.empty(0, dtype=np.int64)
        self._keys, self._raw, self._values = (
            np.empty((len(rope.thetas), kv_heads, 0, rope.head_dim)) for _ in range(3)
        )

    def __len__(self) -> int:
        return self._length

    @property
    def thetas(self) -> tuple[float, ...]:
        """The base of the rotation's frequencies, one a layer."""
        return self._rope.thetas

    @property
    def positions(self) -> NDArray[np.int64]:
        """The position by which each row is rotated, shape (n,)."""
        return self._positions[: self._length]

    def keys(self, layer: int) -> NDArray[np.float64]:
        """The rotated keys of ``layer``, a view of shape (kv_heads, n, head_dim)."""
        return self._keys[layer, :, : self._length]

    def raw_keys(self, layer: int) -> NDArray[np.float64]:
        """The keys of ``layer`` before rotation, a view of shape (kv_heads, n, head_dim)."""
        return self._raw[layer, :, : self._length]

    def values(self, layer: int) -> NDArray[np.float64]:
        """The values of ``layer``, a view of shape (kv_heads, n, head_dim)."""
        return self._values[layer, :, : self._length]

    @property
    def nbytes(self) -> int:
        """What the arrays take in bytes, reserved rows with them."""
        return sum(each.nbytes for each in (self._positions, self._keys, self._raw, self._values))

    def extend(self) -> int:
        """Open one more position and return it; each layer then has to :meth:`write` its row."""
        position = self._length
        if position == len(self._positions):
            self._resize(max(_LEAST, 2 * position))
        self._positions[position] = position
        self._length = position + 1
        return position

    def write(self, layer: int, raw: NDArray[np.float64], values: NDArray[np.float64]) -> None:
        """The newest position's row of ``layer``: raw keys and values of shape (kv_heads, 1, head_dim)."""
        at = self._length - 1
        self._raw[layer, :, at : at + 1] = raw
        self._values[layer, :, at : at + 1] = values
        self._keys[layer, :, at : at + 1] = self._rope.rotate(raw, at, layer)

    def delete(self, start: int, stop: int) -> None:
        """Drop the rows from ``start`` up to ``stop``. Those behind keep the positions they were rotated by."""
        left = self._length - (stop - start)
        self._positions[start:left] = self._positions[stop : self._length]
        for rows in (self._keys, self._raw, self._values):
            rows[:, :, start:left] = rows[:, :, stop : self._length]
        self._length = left

    def settle(self, start: int) -> None:
        """Give each row from ``start`` on its index for a position, by one rotation of its raw key."""
        end = self._length
        self._positions[start:end] = np.arange(start, end)
        self._keys[:, :, start:end] = self._rope.rotate(self._raw[:, :, start:end], start)

    def clone(self, reserve: int = 0) -> Self:
        """A copy of its own, with room for ``reserve`` more positions before anything is copied again."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._resize(self._length + reserve)
        return copy

    def _resize(self, capacity: int) -> None:
        """Move the rows into new arrays of ``capacity`` positions."""
        kept = self._length
        positions = np.empty(capacity, dtype=np.int64)
        positions[:kept] = self._positions[:kept]
        self._positions = positions
        self._keys, self._raw, self._values = (
            _moved(rows, kept, capacity) for rows in (self._keys, self._raw, self._values)
        )


def _moved(rows: NDArray[np.float64], kept: int, capacity: int) -> NDArray[np.float64]:
    layers, heads, _, head_dim = rows.shape
    room = np.empty((layers, heads, capacity, head_dim))
    room[:, :, :kept] = rows[:, :, :kept]
    return room
