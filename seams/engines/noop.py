"""An engine that does nothing: it cuts the tool out of a reap, so that what is left is the kernel's own."""

from __future__ import annotations

from seams.contract.syscall import Result, ToolCall
from seams.contract.verdict import Status

__all__ = ["NoopEngine"]


class NoopEngine:
    """Completes every call with ``{}``; ``completed`` counts them."""

    __slots__ = ("completed",)

    def __init__(self) -> None:
        self.completed = 0

    def complete(self, call: ToolCall) -> Result:  # noqa: ARG002 - the engine's signature
        """A fresh empty result."""
        self.completed += 1
        return Result(Status.OK, b"{}")
