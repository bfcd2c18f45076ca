"""What the tests of eviction share: the small model, caches filled and compared, and one that nothing leaves."""

from __future__ import annotations

import math

import numpy as np

from seams.contract.syscall import Verdict
from seams.contract.verdict import VerdictKind
from seams.engines.tiny import TinyConfig, TinyModel
from seams.engines.tiny_cache import KvCache

MODEL = TinyModel()
TWO_THETAS = TinyModel(TinyConfig(thetas=(1e4, 1e6)))


def filled(ids, model: TinyModel = MODEL) -> KvCache:
    cache = model.cache()
    if ids:
        model.prefill(ids, cache)
    return cache


def contents(cache: KvCache) -> list[bytes]:
    """Every bit of a cache: its positions, and its rows of all three kinds in each layer."""
    kinds = (cache.keys, cache.raw_keys, cache.values)
    return [cache.positions.tobytes(), *(of(layer).tobytes() for of in kinds for layer in range(len(cache.thetas)))]


def stands_rotated_once(cache: KvCache) -> bool:
    """Whether each row's position is its index, and its key the raw one turned by that, worked out number by number."""
    half = 4
    for layer, theta in enumerate(cache.thetas):
        raw, keys = cache.raw_keys(layer), cache.keys(layer)
        for position in range(len(cache)):
            for i in range(half):
                angle = position * theta ** (-2 * i / 8)
                cos, sin = math.cos(angle), math.sin(angle)
                a, b = raw[:, position, i], raw[:, position, half + i]
                if not np.array_equal(keys[:, position, i], a * cos - b * sin):
                    return False
                if not np.array_equal(keys[:, position, half + i], b * cos + a * sin):
                    return False
    return cache.positions.tolist() == list(range(len(cache)))


class Hybrid(KvCache):
    """A cache with a running state besides its rows."""

    evictable = False


class HybridModel(TinyModel):
    def cache(self) -> KvCache:
        return Hybrid(self.rope, self.config.kv_heads)


class Saying:
    """A gate that always says the same, or breaks down."""

    def __init__(self, kind: int | None) -> None:
        self.kind = kind

    def admit(self, call, result) -> Verdict:
        if self.kind is None:
            raise RuntimeError("the gate broke down")
        return Verdict(self.kind)


HOLDING, PASSING = Saying(VerdictKind.QUARANTINE), Saying(VerdictKind.ALLOW)
