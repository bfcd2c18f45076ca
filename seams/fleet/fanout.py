"""The seam ``fleet/fanout``: siblings off one prefix, by copying what was read once into a cache for each.

It is a copy of memory and nothing else: no process is started and no agent is launched. What a sibling reads from then
on is, to the bit, what it would have read behind a prefix of its own, since a position depends only on those before.
"""

from __future__ import annotations

from collections.abc import Sequence

from seams.contract import Engine
from seams.contract.fleet_fanout import Agent
from seams.contract.kv import Pass
from seams.engines.tiny import TinyModel
from seams.engines.tiny_cache import KvCache

__all__ = ["Branch", "PrefixFanout", "offer"]


class Branch:
    """An agent of the small model: a cache of its own on weights that all share."""

    __slots__ = ("cache", "model")

    def __init__(self, model: TinyModel, cache: KvCache) -> None:
        self.model = model
        self.cache = cache

    @property
    def nbytes(self) -> int:
        """What the cache takes in bytes, reserved rows with them."""
        return self.cache.nbytes

    def prefill(self, ids: Sequence[int]) -> Pass:
        """Read ``ids``.

        Raises:
            ValueError: there is none, or one is outside the vocabulary; nothing has changed then.
        """
        return self.model.prefill(ids, self.cache)


class PrefixFanout:
    """What ``fleet/fanout`` offers."""

    def __init__(self, model: TinyModel | None = None) -> None:
        self.model = TinyModel() if model is None else model

    def agent(self) -> Branch:
        """One with an empty cache."""
        return Branch(self.model, self.model.cache())

    def spawn(self, prefix: Agent, siblings: int, reserve: int = 0) -> list[Branch]:
        """``siblings`` branches of ``prefix``, which stays as it is.

        Raises:
            ValueError: a number is below zero.
            TypeError: ``prefix`` is no branch of this model.
        """
        if siblings < 0 or reserve < 0:
            raise ValueError(
                f"{siblings} siblings with room for {reserve} positions cannot be spawned: take 0 or more of both. "
                "Run: python -m harness explain fanout_spawn_ns"
            )
        if not isinstance(prefix, Branch) or prefix.model is not self.model:
            raise TypeError(
                f"A {type(prefix).__name__} is no branch of this fan-out: spawn from one that agent() gave. "
                "Run: python -m harness explain fanout_spawn_ns"
            )
        return [Branch(self.model, prefix.cache.clone(reserve)) for _ in range(siblings)]


def offer(engine: Engine) -> PrefixFanout:  # noqa: ARG001 - copying a cache calls no engine, so any cut is the same
    """A fan-out over the small model."""
    return PrefixFanout()
