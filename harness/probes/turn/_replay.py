"""What the turn probes share: a recorded session as messages, and a slice that replays it turn by turn.

A workload carries the first line and the size of each message, not its text; the text is built again at its true
size, so that rendering moves as many bytes as it did. No probe lives here and nothing is read from a clock.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from itertools import cycle
from typing import Any, NamedTuple

from harness.measure.clock import Engine, Undefined, Workload, repeat
from seams.contract.turn import Message

__all__ = ["REPLAYED", "Cycled", "Session", "content_of", "finish", "session_of", "settled", "spread"]

REPLAYED = 64
"""Turns of a session that are timed at most, spread evenly: each holds its own prepared history in memory."""


class Session(NamedTuple):
    """All messages of a session in order, and how many of them each turn has seen."""

    messages: list[Message]
    seen: list[int]

    def sampled(self) -> list[list[Message]]:
        """The histories of the turns that are timed, earliest first."""
        turns = len(self.seen)
        return [self.messages[: self.seen[turn]] for turn in spread(turns, min(turns, REPLAYED))]


def content_of(head: str, size: int, digest: str = "") -> str:
    """A text of exactly ``size`` bytes in UTF-8 that begins with ``head``: cut, or filled up below it.

    The filling begins with ``digest``, so that two bodies of one size and one first line stay two bodies.
    """
    data = head.encode("utf-8", "replace")
    if size <= len(data):
        cut = data[: max(size, 0)].decode("utf-8", "ignore")
        return cut + " " * (size - len(cut.encode()))
    filling = digest[: size - len(data) - 1]
    return data.decode() + "\n" + filling + " " * (size - len(data) - 1 - len(filling))


def session_of(workload: Workload | None) -> Session | Undefined:
    """The session in ``workload``, turns before its first message left out; Undefined where there is none."""
    if workload is None or workload.kind != "session":
        kind = "none" if workload is None else f"the kind {workload.kind!r}"
        return Undefined("workload-kind", f"This KPI replays a session; the workload given is {kind}.")
    messages: list[Message] = []
    seen: list[int] = []
    for turn in workload.data["turns"]:
        messages += [
            Message(each["role"], content_of(each["head"], each["bytes"], each["digest"])) for each in turn["messages"]
        ]
        if messages:
            seen.append(len(messages))
    if not seen:
        return Undefined("too-few", f"The session {workload.name} holds no message, so there is no turn to replay.")
    return Session(messages, seen)


def spread(turns: int, loops: int) -> list[int]:
    """``loops`` turns out of ``turns``: whole rounds in order, then the rest at even distances.

    The same loops always give the same turns, and any number of them stands for the whole session, early and late.
    """
    rounds, rest = divmod(loops, turns)
    return list(range(turns)) * rounds + [(2 * each + 1) * turns // (2 * rest) for each in range(rest)]


class Cycled:
    """A slice whose one call is one turn: ``call`` with the next of ``inputs``, on and on."""

    engine: Engine = "none"

    def __init__(
        self,
        call: Callable[..., object],
        inputs: Sequence[tuple[Any, ...]],
        verify: Callable[[tuple[Any, ...], Any], None],
        source: str | None = None,
    ) -> None:
        self._call = call
        self._inputs = inputs
        self._verify = verify
        self.source = source

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` calls; the result is the last call's input with what came of it."""
        following = cycle([self._inputs[turn] for turn in spread(len(self._inputs), loops)]).__next__
        call: Callable[..., Any] = self._call
        if inspect.iscoroutinefunction(call):

            async def one_async() -> object:
                given = following()
                return given, await call(*given)

            return repeat(one_async, loops)

        def one() -> object:
            given = following()
            return given, call(*given)

        return repeat(one, loops)

    def check(self, result: Any) -> None:
        """Raise WorkNotDoneError unless the last call did its work."""
        given, came = result
        self._verify(given, came)


async def settled(value: Any) -> Any:
    """``value``, awaited if it is awaitable: a runtime's methods may be coroutine functions."""
    return await value if isinstance(value, Awaitable) else value


def finish(opening: Coroutine[Any, Any, Any], *methods: Callable[..., object]) -> Any:
    """What ``opening`` returns; or ``opening`` itself, for the worker to await, where one of ``methods`` is async.

    A synchronous runtime suspends nowhere, so its opening ends at the first step and no event loop is imported.
    """
    if any(inspect.iscoroutinefunction(method) for method in methods):
        return opening
    try:
        opening.send(None)
    except StopIteration as done:
        return done.value
    opening.close()
    raise TypeError(
        "A method of the runtime returned an awaitable without being a coroutine function: declare it async."
    )
