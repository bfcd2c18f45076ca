"""Rotary positions: the sines and cosines of every layer, and one rotation of many rows at once.

The rule is that of ``seams.contract.kv``. The tables come from the C library by way of ``math``, number by number: a
vectorised sine may round its last lanes otherwise than its first, and then a key's bits would depend on its company.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["Rope"]

_LEAST = 64
"""Positions that the first tables reach; each later growth at least doubles them."""


class Rope:
    """Rotates heads of ``head_dim`` numbers (even), with one base of frequencies a layer. Its tables only grow."""

    def __init__(self, head_dim: int, thetas: tuple[float, ...]) -> None:
        if head_dim <= 0 or head_dim % 2:
            raise ValueError(f"A head of {head_dim} numbers has no two halves to rotate: take an even head_dim.")
        self.thetas = thetas
        self.head_dim = head_dim
        self._cos = np.empty((len(thetas), 1, 0, head_dim))
        self._sin = self._cos

    def reach(self, positions: int) -> None:
        """Have tables for at least this many positions, so that no later rotation has to make them."""
        had = self._cos.shape[2]
        if positions <= had:
            return
        new = range(had, max(positions, 2 * had, _LEAST))
        pairs = range(self.head_dim // 2)
        angles = [
            [[position * theta ** (-2 * i / self.head_dim) for i in pairs] for position in new] for theta in self.thetas
        ]
        cos, sin = (
            np.array([[[of(angle) for angle in row] for row in layer] for layer in angles])[:, None]
            for of in (math.cos, math.sin)
        )
        # A minus sign in the table in place of a subtraction: exact, and both halves are then one operation.
        self._cos = np.concatenate((self._cos, np.concatenate((cos, cos), axis=-1)), axis=2)
        self._sin = np.concatenate((self._sin, np.concatenate((-sin, sin), axis=-1)), axis=2)

    def rotate(self, raw: NDArray[np.float64], first: int, layer: int | None = None) -> NDArray[np.float64]:
        """``raw`` rotated by the positions ``first``, ``first + 1``, ...

        Shape (heads, n, head_dim) for one ``layer``, (layers, heads, n, head_dim) for all of them.
        """
        rows = slice(first, first + raw.shape[-2])
        self.reach(rows.stop)
        of = slice(None) if layer is None else layer
        half = self.head_dim // 2
        turned = np.concatenate((raw[..., half:], raw[..., :half]), axis=-1)
        turned *= self._sin[of, :, rows]
        turned += raw * self._cos[of, :, rows]
        return turned
