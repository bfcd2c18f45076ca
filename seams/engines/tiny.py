"""A small decoder-only transformer whose every bit is repeatable: weights from a seed, no training, no tokenizer.

It is there to be exact, not to be good or fast. A position is computed by itself, as one vector, and sums run in an
order that the shapes alone decide; no BLAS is called, which would choose its blocking, and so its rounding, by how many
rows it is handed. What a position says therefore depends on the tokens before it and on nothing else: not on how a
prompt was cut into pieces, and not on what once stood in the cache and has left it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from seams.contract.kv import Pass
from seams.engines.rope import Rope
from seams.engines.tiny_cache import KvCache

__all__ = ["TinyConfig", "TinyModel"]

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class TinyConfig:
    """The model's sizes. ``thetas`` has one base of frequencies a layer, and so says how many layers there are.

    Raises:
        ValueError: the query heads cannot be shared out evenly among the key/value heads, or a size is not positive.
    """

    hidden: int = 32
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 8
    ffn: int = 64
    vocab: int = 48
    eps: float = 1e-5
    thetas: tuple[float, ...] = (10_000.0, 10_000.0)

    def __post_init__(self) -> None:
        sizes = (self.hidden, self.heads, self.kv_heads, self.head_dim, self.ffn, self.vocab, len(self.thetas))
        if min(sizes) <= 0:
            raise ValueError("A model without layers, heads or numbers computes nothing: all sizes must be positive.")
        if self.heads % self.kv_heads:
            raise ValueError(f"{self.heads} query heads cannot share {self.kv_heads} key/value heads evenly.")


class _Layer(NamedTuple):
    """One layer's weights, each of shape (in, out). ``qkv`` and ``gate_up`` hold their parts side by side."""

    qkv: Array
    out: Array
    gate_up: Array
    down: Array


class TinyModel:
    """Norms without gain, grouped-query attention with rotary positions, a gated feed-forward, tied embeddings."""

    def __init__(self, config: TinyConfig | None = None, seed: int = 0) -> None:
        self.config = size = TinyConfig() if config is None else config
        self.rope = Rope(size.head_dim, size.thetas)
        draw = np.random.default_rng(seed).standard_normal
        inner = size.heads * size.head_dim
        both = inner + 2 * size.kv_heads * size.head_dim

        def matrix(rows: int, columns: int) -> Array:
            weights: Array = draw((rows, columns)) / math.sqrt(rows)
            return weights

        self._embedding: Array = draw((size.vocab, size.hidden))
        self._unembedding = np.ascontiguousarray(self._embedding.T) / math.sqrt(size.hidden)
        self._layers = [
            _Layer(
                qkv=matrix(size.hidden, both),
                out=matrix(inner, size.hidden),
                gate_up=matrix(size.hidden, 2 * size.ffn),
                down=matrix(size.ffn, size.hidden),
            )
            for _ in size.thetas
        ]

    def cache(self) -> KvCache:
        """An empty cache for this model."""
        return KvCache(self.rope, self.config.kv_heads)

    def prefill(self, ids: Sequence[int], cache: KvCache) -> Pass:
        """Put ``ids`` behind what ``cache`` holds; the pass of the last of them.

        Raises:
            ValueError: there is no id, or one outside the vocabulary; the cache is then as it was.
        """
        self.require(ids)
        if not ids:
            raise ValueError("The model cannot say anything behind no id at all: give it one, or do not ask it.")
        for each in ids:
            state, weights = self._step(each, cache)
        return Pass(_product(self._normed(state), self._unembedding), np.mean(weights, axis=(0, 1)))

    def decode(self, token: int, cache: KvCache) -> Pass:
        """As :meth:`prefill` of one id."""
        return self.prefill((token,), cache)

    def require(self, ids: Sequence[int]) -> None:
        """Nothing, where all of ``ids`` are in the vocabulary.

        Raises:
            ValueError: one is not; the sentence names it.
        """
        for each in ids:
            if not 0 <= each < self.config.vocab:
                raise ValueError(
                    f"The id {each} is not in the model's vocabulary, which is 0 to {self.config.vocab - 1}."
                )

    def _step(self, token: int, cache: KvCache) -> tuple[Array, list[Array]]:
        """One position through all layers: its last state, and each layer's attention of shape (heads, n)."""
        size = self.config
        inner, shared = size.heads * size.head_dim, size.kv_heads * size.head_dim
        state = self._embedding[token]
        position = cache.extend()
        attention = []
        for layer, weights in enumerate(self._layers):
            query, key, value = np.split(_product(self._normed(state), weights.qkv), (inner, inner + shared))
            cache.write(layer, key.reshape(size.kv_heads, 1, -1), value.reshape(size.kv_heads, 1, -1))
            turned = self.rope.rotate(query.reshape(size.heads, 1, -1), position, layer)
            seen, attended = _attend(turned, cache.keys(layer), cache.values(layer))
            attention.append(attended)
            state = state + _product(seen, weights.out)
            gate, up = np.split(_product(self._normed(state), weights.gate_up), 2)
            state = state + _product(gate / (1.0 + np.exp(-gate)) * up, weights.down)
        return state, attention

    def _normed(self, state: Array) -> Array:
        scaled: Array = state / math.sqrt(np.add.reduce(state * state) / len(state) + self.config.eps)
        return scaled


def _product(vector: Array, matrix: Array) -> Array:
    """``vector @ matrix``, summed row after row of the matrix: numpy pairs up sums along the last axis only."""
    summed: Array = np.add.reduce(vector[:, None] * matrix, axis=0)
    return summed


def _attend(query: Array, keys: Array, values: Array) -> tuple[Array, Array]:
    """One position's attention to all of the cache, itself the last.

    ``query`` (heads, 1, head_dim); ``keys`` and ``values`` (kv_heads, n, head_dim), each for as many query heads in
    turn. Returns what was seen, (heads * head_dim,), and the weights, (heads, n).
    """
    kv_heads, n, head_dim = keys.shape
    grouped = query.reshape(kv_heads, -1, 1, head_dim)
    scores = np.add.reduce(grouped * keys[:, None], axis=-1) / math.sqrt(head_dim)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= np.add.reduce(weights, axis=-1, keepdims=True)
    seen = np.add.reduce(weights[..., None] * values[:, None], axis=-2)
    return seen.reshape(-1), weights.reshape(-1, n)
