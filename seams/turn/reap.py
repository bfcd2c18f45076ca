"""The seam ``turn/reap``: what a turn pays to take in its results, the engines that made them not among it.

Every result passes the gates of a kernel, in the order in which the calls were made; then one message for each is
folded into the next window. What a gate puts in the place of a body (a stub, a pointer, a refusal) is the message, so
that each call has its answer and a body that was held out is not in the window.
"""

from __future__ import annotations

from collections.abc import Sequence

from seams.contract import Engine
from seams.contract.reap import Returned
from seams.contract.turn import Message
from seams.syscall.enforcement import admit
from seams.syscall.kernel import fresh_kernel
from seams.syscall.state import KernelState

__all__ = ["TurnReaper", "fold", "offer"]


def fold(window: Sequence[Message], returned: Sequence[Returned]) -> list[Message]:
    """``window`` with one tool message for each payload as it stands; bytes that are no UTF-8 are replaced."""
    return [
        *window,
        *(Message("tool", result.payload.decode("utf-8", "replace"), call.tool) for call, result in returned),
    ]


class TurnReaper:
    """Reaps turns through the gates of ``kernel``, which also counts them."""

    def __init__(self, kernel: KernelState) -> None:
        self.kernel = kernel

    def reap_turn(self, window: Sequence[Message], returned: Sequence[Returned]) -> list[Message]:
        """Admit every result, then fold them all."""
        for call, result in returned:
            admit(self.kernel, call, result)
        return fold(window, returned)


def offer(engine: Engine) -> TurnReaper:  # noqa: ARG001 - the results are there already, so any cut is the same
    """A reaper with the gates of a fresh kernel of the default world."""
    return TurnReaper(fresh_kernel("default", "noop"))
