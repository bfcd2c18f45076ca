"""The seam ``fleet/share``: several sessions side by side in one world, each call settled by the runtime's own kernel.

One replay is one world. Sessions that are to be isolated are replayed one by one, each in a world of its own, so that a
runtime has one way to replay and cannot do it otherwise where it is compared with itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from seams.contract.syscall import ToolCall, ToolEngine
from seams.contract.turntax import Replay

__all__ = ["Share", "interleaved"]


def interleaved(
    sessions: Sequence[Sequence[ToolCall]], plan: Sequence[ToolCall] = ()
) -> Iterator[tuple[int | None, ToolCall]]:
    """The order of a replay: all of ``plan``, then each session's first call in turn, then each one's second, ...

    Yields the session's number with each call, None with those of the plan. A session that has ended is passed over.
    """
    for call in plan:
        yield None, call
    for turn in range(max(map(len, sessions), default=0)):
        for number, session in enumerate(sessions):
            if turn < len(session):
                yield number, session[turn]


class Share(Protocol):
    """``fleet/share``. The method may be a coroutine function."""

    def replay(
        self,
        sessions: Sequence[Sequence[ToolCall]],
        world: str,
        engine: ToolEngine | None = None,
        plan: Sequence[ToolCall] = (),
    ) -> Replay:
        """Replay fresh copies of all calls in one fresh ``world``, in the order of :func:`interleaved`.

        What it tells is in that order too, its arm ``on``; the counters are those of all sessions together. The plan
        is a session of its own. A call that is let through reaches ``engine`` once; without one, the world's own.
        """
        ...
