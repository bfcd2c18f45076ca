"""The seam ``turn/kv``: a session's keys and values, kept by segment, from which a segment can be taken out again.

Each position has, in each layer and key/value head, a value, a key as the model computed it (raw) and the key that is
attended to, which is the raw one rotated by its position. Taking a span out moves the positions behind it, so their
keys are rotated anew: once, from the raw key, because rotating a rotated key rounds twice and is no longer what the
model would have computed. Records and Protocols only; arrays are numpy's, float64, and nothing here imports it.

The rotation, by which every cache is checked to the bit: in a head of ``d`` numbers, ``a`` the first half and ``b``
the second, entry ``i`` of position ``p`` turns by the angle ``p * theta ** (-2 * i / d)``, in double precision and with
the C library's sine and cosine, into ``a cos - b sin`` and ``b cos + a sin``, each operation rounded by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, Self

from seams.contract.syscall import Verdict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Admission", "Cache", "Evicted", "Kv", "Pass", "Segment"]


class Pass(NamedTuple):
    """What a model says after the last position it was given: ``logits`` of shape (vocab,).

    ``attention`` has one weight a position of the cache, averaged over layers and heads; they sum to 1.
    """

    logits: NDArray[np.float64]
    attention: NDArray[np.float64]


@dataclass(slots=True)
class Segment:
    """A run of ``length`` positions of the cache, from ``start`` on, that came of one message or one result.

    ``held``: it was taken out, has no positions any more and starts where it stood. ``attended`` counts the
    observations since it came; without one, ``cumulative`` and ``ema`` say nothing.
    """

    id: str
    tool: str
    start: int
    length: int
    pinned: bool = False
    held: bool = False
    attended: int = 0
    cumulative: float = 0.0
    ema: float = 0.0


class Evicted(NamedTuple):
    """How many positions left the cache; ``ok`` is whether the segment is out, which an empty one may be."""

    positions: int
    ok: bool


class Admission(NamedTuple):
    """What the gate said, how many positions left the cache for it, and the model's pass where the tokens stayed."""

    verdict: Verdict
    evicted: int
    passed: Pass | None


class Cache(Protocol):
    """What can be read of a cache. Views of its memory, good until the next change."""

    @property
    def thetas(self) -> tuple[float, ...]:
        """The base of the rotation's frequencies, one a layer."""
        ...

    @property
    def positions(self) -> NDArray[np.int64]:
        """The position by which each row is rotated, shape (n,)."""
        ...

    def keys(self, layer: int) -> NDArray[np.float64]:
        """The rotated keys, shape (kv_heads, n, head_dim)."""
        ...

    def raw_keys(self, layer: int) -> NDArray[np.float64]:
        """The keys before rotation, shape (kv_heads, n, head_dim)."""
        ...

    def values(self, layer: int) -> NDArray[np.float64]:
        """The values, shape (kv_heads, n, head_dim)."""
        ...

    def __len__(self) -> int: ...


class Kv(Protocol):
    """``turn/kv``: a cache and the ledger of what stands where in it. The methods may be coroutine functions."""

    @property
    def cache(self) -> Cache:
        """The cache as it is now."""
        ...

    def append(self, id: str, tool: str, ids: Sequence[int]) -> Pass | None:  # noqa: A002 - the segment's own word
        """Prefill ``ids`` behind all others, as the segment ``id``."""
        ...

    def quarantine(self, id: str) -> Evicted:  # noqa: A002 - as above
        """Take a segment out, with its keys and values; one that is out already, or unknown, is not ok."""
        ...

    def clone(self) -> Self:
        """A copy that shares no row with this one. Set-up of a measurement, so never a coroutine function."""
        ...
