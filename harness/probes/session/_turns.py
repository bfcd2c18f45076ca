"""The turns that a live session is put through, and the proof that each of them was run.

Every text of one kind has one length, whatever the turn, so that a session grows by no digit of a number; no two texts
are alike, so that none is served from memory. The tools are the probe's own and know which calls came to them.
"""

from __future__ import annotations

import shutil
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from harness.measure.clock import Undefined, WorkNotDoneError, is_async
from harness.probes._awaiting import awaits, settled
from harness.probes.session._places import Place, place
from seams.contract.lifecycle import Given, Lifecycle
from seams.contract.syscall import Result, ToolCall
from seams.contract.turn import DEFAULT_BUDGET, Message
from seams.contract.verdict import Status

__all__ = [
    "BROKEN",
    "SYSTEM",
    "TEXT_A_TURN",
    "Tools",
    "fresh_folder",
    "given",
    "opened",
    "require_memory",
    "rest",
    "room",
    "turned",
]

SYSTEM = "You run the claims desk. Look up every claim before you answer, and name the notes that you used."
BROKEN = "read_archive"
"""A tool that raises whenever it is called."""

_ASKED, _ANSWERED = 480, 720
_BYTES = {"read_claim": 1_000, "search_notes": 2_400}
TEXT_A_TURN = _ASKED + _ANSWERED + sum(_BYTES.values())
"""Bytes of text that a turn brings: its question, its answer, and the bodies of its results."""

_HINTS: Mapping[str, str] = MappingProxyType({"readOnlyHint": "true", "idempotentHint": "true"})
_REMEMBERED = 12
"""Turns after which a window that keeps half of the budget is told from one that keeps the newest turn alone."""


def _text(kind: str, number: str, size: int) -> str:
    """``size`` bytes of plain words that begin with what they are; ``number`` has one width."""
    line = f"{kind} {number}: two claims are open, the first since May; "
    return (line * (size // len(line) + 1))[:size]


def _number(turn: int) -> str:
    return f"{turn:08}"


def given(turn: int, *, broken: bool = False) -> Given:
    """What comes into that turn: a read of a claim and one of its notes, and where it is ``broken`` a read that fails.

    The objects are fresh, and whoever holds one of them holds it alone.
    """
    number = _number(turn)
    tools = [*_BYTES, *([BROKEN] if broken else [])]
    calls = [ToolCall(tool, b'{"id": "%s"}' % number.encode(), _HINTS) for tool in tools]
    return Given(_text("Question", number, _ASKED), _text("Answer", number, _ANSWERED), calls)


class Tools:
    """The engine of a session. ``ran`` has the tool and the id of each call since the newest turn began."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, str]] = []

    def complete(self, call: ToolCall) -> Result:
        """The body of a read.

        Raises:
            OSError: the tool is the broken one.
            LookupError: there is no such tool.
        """
        number = str((call.arguments() or {})["id"])
        self.ran.append((call.tool, number))
        if call.tool == BROKEN:
            raise OSError("the archive cannot be reached")
        return Result(Status.OK, _text(call.tool, number, _BYTES[call.tool]).encode())


def fresh_folder(folder: Path) -> Path:
    """``folder``, emptied: each session has the same path, so that no name is longer than another's."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return folder


def room() -> Place:
    """In memory where that is possible: no disk is waited for."""
    found = place("tmpfs")
    return Place() if isinstance(found, Undefined) else found


async def rest(waits: bool, seconds: float = 0.0) -> None:
    """Let the loop go round where there is one, so that what was only asked to end can end."""
    if waits:
        import asyncio  # here, because a synchronous runtime needs none of it

        for _ in range(3):
            await asyncio.sleep(0)
        await asyncio.sleep(seconds)
    elif seconds:
        threading.Event().wait(seconds)


async def opened(lifecycle: Lifecycle, folder: Path) -> tuple[Any, Tools]:
    """A new session in an emptied folder, and its tools.

    Raises:
        TypeError: a method of the session waits, and ``open``, by which it is seen whether a loop is needed, does not.
    """
    tools = Tools()
    session = await settled(lifecycle.open(SYSTEM, tools, fresh_folder(folder)))
    if awaits(session, "run_turn", "close") and not is_async(lifecycle.open):
        raise TypeError("The session that open() gave has a method that waits: declare open() async as well.")
    return session, tools


async def turned(session: Any, tools: Tools, turn: int, *, broken: bool = False) -> int:
    """Run one turn and hold it against what was given; the bytes of text in the window that came back.

    Raises:
        WorkNotDoneError: a call did not come to the tools once, or the window lacks the prompt or a part of the turn.
    """
    tools.ran.clear()
    put = given(turn, broken=broken)
    window: Sequence[Message] = await settled(session.run_turn(put))
    number = _number(turn)
    if sorted(tools.ran) != sorted((call.tool, number) for call in put.calls):
        raise WorkNotDoneError(f"{len(put.calls)} calls were made in turn {turn} and the tools ran {len(tools.ran)}")
    _verify(window, put, turn, number)
    return sum(len(each.content.encode()) for each in window)


def _verify(window: Sequence[Message], put: Given, turn: int, number: str) -> None:
    if not any(each.role == "system" and each.content == SYSTEM for each in window):
        raise WorkNotDoneError(f"the window after turn {turn} has no system prompt")
    bodies = [_text(call.tool, number, _BYTES[call.tool]) for call in put.calls if call.tool in _BYTES]
    following = iter(window)
    contents = (each.content for each in following)
    if not all(text in contents for text in (put.asked, put.answered, *bodies)):  # `in` advances: in their order
        raise WorkNotDoneError(f"what was asked, answered and read in turn {turn} is not all in the window, in order")
    if sum(each.role == "tool" for each in following) < len(put.calls) - len(bodies):
        raise WorkNotDoneError(f"a call of turn {turn} failed and has no result in the window")


async def require_memory(lifecycle: Lifecycle, folder: Path) -> None:
    """Run a session that is not measured; every part of what is measured afterwards has run once.

    Raises:
        WorkNotDoneError: it forgets what was said before: next to nothing would be held of it.
    """
    session, tools = await opened(lifecycle, folder)
    try:
        kept = 0
        for turn in range(_REMEMBERED):
            kept = await turned(session, tools, turn)
    finally:
        await settled(session.close())
    if kept < DEFAULT_BUDGET // 2 * 4:
        raise WorkNotDoneError(f"after {_REMEMBERED} turns the window holds {kept} bytes of {DEFAULT_BUDGET * 4}")
