"""The seam ``session/arms``: a model's server, from which each way to serve a session is put together.

Reading, decoding and copying are its only steps, and every arm is made of the same ones: what differs is how often a
prompt is read. Records and Protocols only; arrays are numpy's, and nothing here imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Held", "Server"]


class Held(Protocol):
    """What a server keeps of one session: its keys and values, by position."""

    def __len__(self) -> int: ...


class Server(Protocol):
    """``session/arms``. The methods may be coroutine functions."""

    vocab: int
    """Ids are 0 up to this."""

    def read(self, ids: Sequence[int], held: Held | None = None) -> tuple[Held, NDArray[np.float64]]:
        """Read ``ids`` behind what ``held`` has, or into a session of its own; and the logits behind the last one.

        A prompt without ``held`` is read from its first id on, whatever was read before: a server that looks it up
        somewhere is no stateless one.
        """
        ...

    def decode(self, tokens: Sequence[int], held: Sequence[Held]) -> Sequence[NDArray[np.float64]]:
        """One step of several sessions at once: one id more for each, and the logits behind it.

        How much less this is than a step of each by itself is the server's affair; the results are the same.
        """
        ...

    def clone(self, held: Held, copies: int) -> Sequence[Held]:
        """``copies`` sessions that go on from ``held`` and share nothing that one of them changes."""
        ...
