"""What the turn probes share: a recorded session as messages, and a slice that replays it turn by turn.

A workload carries the first line and the size of each message, and of the user's the words, not its text; the text is
built again at its true size, so that rendering moves as many bytes as it did. A user's message holds all of its words
again, for they are the intents; what the assistant and the tools wrote is filler below the first line, which is all
that a span shows of it. No probe lives here and nothing is read from a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeVar

from harness.measure.clock import Engine, Undefined, Workload, WorkNotDoneError, is_async, repeat
from harness.probes._spread import spread
from seams.contract.turn import Message

__all__ = ["REPLAYED", "Cycled", "Session", "content_of", "session_of", "verified"]

T = TypeVar("T")

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


def content_of(head: str, size: int, digest: str = "", words: str = "") -> str:
    """A text of exactly ``size`` bytes in UTF-8 that begins with ``head``: cut, or filled up below it.

    The line below holds those of ``words`` that are not in ``head``, whole and as far as they fit. Then comes
    ``digest``, so that two bodies of one size and one first line stay two bodies; by twos, lest it read as a word.
    """
    data = head.encode("utf-8", "replace")
    if size <= len(data):
        cut = data[: max(size, 0)].decode("utf-8", "ignore")
        return cut + " " * (size - len(cut.encode()))
    room = size - len(data) - 1
    shown = set(head.replace(".", " ").split())
    line = _whole_words([word for word in words.split() if word not in shown], room)
    mark = "-".join(digest[at : at + 2] for at in range(0, len(digest), 2))
    filling = (f"{line}\n{mark}" if line else mark)[:room]
    return f"{data.decode()}\n{filling}" + " " * (room - len(filling))


def _whole_words(words: Sequence[str], room: int) -> str:
    """The first of ``words`` that fit into ``room`` bytes, parted by spaces. They are ASCII, a byte a character."""
    line = " ".join(words)
    return line if len(line) <= room else line[: room + 1].rpartition(" ")[0]


def session_of(workload: Workload | None) -> Session | Undefined:
    """The session in ``workload``, turns before its first message left out; Undefined where there is none."""
    if workload is None or workload.kind != "session":
        kind = "none" if workload is None else f"the kind {workload.kind!r}"
        return Undefined("workload-kind", f"This KPI replays a session; the workload given is {kind}.")
    messages: list[Message] = []
    seen: list[int] = []
    for turn in workload.data["turns"]:
        messages += [
            Message(each["role"], content_of(each["head"], each["bytes"], each["digest"], each.get("words", "")))
            for each in turn["messages"]
        ]
        if messages:
            seen.append(len(messages))
    if not seen:
        return Undefined("too-few", f"The session {workload.name} holds no message, so there is no turn to replay.")
    return Session(messages, seen)


class Cycled:
    """A slice whose one call is one turn: ``call`` with the next of ``inputs``, on and on.

    ``renew`` makes of an input, outside the clock, one that is like it and that no call has had yet, from a number
    that does not come again; without it an input comes again as it was, and may be answered from memory. ``work`` is
    what one call does, by kind and counted exactly, where all calls do the same.
    """

    engine: Engine = "none"

    def __init__(
        self,
        call: Callable[..., object],
        inputs: Sequence[tuple[Any, ...]],
        verify: Callable[[tuple[Any, ...], Any], None],
        source: str | None = None,
        work: Mapping[str, int] | None = None,
        renew: Callable[[tuple[Any, ...], int], tuple[Any, ...]] | None = None,
    ) -> None:
        self._call = call
        self._renew = renew
        self._numbers = count(1)
        self._inputs = inputs
        self._verify = verify
        self.source = source
        self.work = work

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` calls; the result is the last call's input with what came of it."""
        given = [self._inputs[turn] for turn in spread(len(self._inputs), loops)]
        if self._renew is not None:
            given = [self._renew(each, number) for each, number in zip(given, self._numbers, strict=False)]
        following = iter(given).__next__
        call: Callable[..., Any] = self._call
        if is_async(call):

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
        verified(self._verify, given, came)


def verified(verify: Callable[[T, Any], None], given: T, came: Any) -> None:
    """Hold what ``came`` of a method against what it was ``given``; nothing, and a thing of another shape, fail too.

    Raises:
        WorkNotDoneError: from ``verify``, or because ``came`` is not what the contract names.
    """
    if came is None:
        raise WorkNotDoneError("the method gave back nothing")
    try:
        verify(given, came)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        kind = type(came).__name__
        raise WorkNotDoneError(f"the method gave back a {kind}, which is not what the contract names") from error
