"""A server of the small model: read a prompt, decode a step, copy a prefix's cache to those who go on from it.

The one kernel computes position by position, so a prompt costs the same in one piece as in many, and a step of five
sessions is five steps: what an arm saves here is prompt tokens and nothing else, no batching among it. It keeps no
prompt from one call to the next, so that whoever wants a prefix read once has to hold on to it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from seams.contract import Engine
from seams.contract.arms import Held
from seams.engines.tiny import TinyModel
from seams.engines.tiny_cache import KvCache

__all__ = ["TinyServer", "offer"]

_NEXT = "Run: python -m harness explain net_value_add_vs_tuned"


class TinyServer:
    """Serves ``model``. Sessions belong to whoever asked for them; nothing is kept here."""

    def __init__(self, model: TinyModel | None = None) -> None:
        self._model = TinyModel() if model is None else model
        self.vocab = self._model.config.vocab

    def read(self, ids: Sequence[int], held: Held | None = None) -> tuple[KvCache, NDArray[np.float64]]:
        """Read ``ids`` behind what ``held`` has, or into a new session; the logits behind the last one.

        Raises:
            ValueError: there is no id, or one outside the vocabulary; ``held`` is then as it was.
            TypeError: ``held`` is no session of this server.
        """
        cache = self._model.cache() if held is None else _own(held)
        return cache, self._model.prefill(ids, cache).logits

    def decode(self, tokens: Sequence[int], held: Sequence[Held]) -> list[NDArray[np.float64]]:
        """One id more for each session, one after the other; the logits behind each.

        Raises:
            ValueError: there is not one id for each session, or one outside the vocabulary.
            TypeError: as :meth:`read`.
        """
        if len(tokens) != len(held):
            raise ValueError(f"{len(tokens)} ids for {len(held)} sessions: a step takes one id for each. {_NEXT}")
        self._model.require(tokens)
        return [self._model.decode(token, _own(each)).logits for token, each in zip(tokens, held, strict=True)]

    def clone(self, held: Held, copies: int) -> list[KvCache]:
        """``copies`` sessions with rows of their own, without room for more.

        Raises:
            ValueError: fewer than one are asked for.
            TypeError: as :meth:`read`.
        """
        if copies < 1:
            raise ValueError(f"{copies} agents go on from no prefix: ask for one or more. {_NEXT}")
        return [_own(held).clone() for _ in range(copies)]


def _own(held: Held) -> KvCache:
    if not isinstance(held, KvCache):
        raise TypeError(f"A {type(held).__name__} is no session of this server: pass on what read gave. {_NEXT}")
    return held


def offer(engine: Engine) -> TinyServer:  # noqa: ARG001 - the model is the seam itself, so any cut is the same
    """A server of a small model of its own."""
    return TinyServer()
