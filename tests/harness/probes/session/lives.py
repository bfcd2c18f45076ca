"""Small runtimes with live sessions: one that keeps its newest turns alone, in either colour, and ways to leak."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections import deque
from typing import Any

from seams.contract.turn import Message

KEPT = 4
"""Turns that a window keeps: of 4,600 bytes each, more than half of the budget."""


class Session:
    """A session in memory; ``plants`` are called with it at each step."""

    def __init__(self, owner: Lean, system: str, tools: Any) -> None:
        self.owner, self.system, self.tools = owner, system, tools
        self.turns: deque[list[Message]] = deque(maxlen=KEPT)
        owner.open_sessions.add(id(self))

    def run_turn(self, given: Any) -> list[Message]:
        added = [Message("user", given.asked), Message("assistant", given.answered)]
        for call in given.calls:
            try:
                body = self.tools.complete(call).payload.decode()
            except Exception:
                body = "failed"
                self.owner.on_failure(self)
            added.append(Message("tool", body))
        self.turns.append(added)
        self.owner.on_turn(self)
        return [Message("system", self.system), *(each for turn in self.turns for each in turn)]

    def close(self) -> None:
        self.owner.open_sessions.discard(id(self))
        self.owner.on_close(self)


class Lean:
    """Opens sessions that hold what they must. A leak is planted by overriding one of the ``on_`` methods."""

    session: type[Session] = Session

    def __init__(self) -> None:
        self.open_sessions: set[int] = set()
        self.undone: list[Any] = []

    def open(self, system: str, tools: Any, folder: Any) -> Any:
        session = self.session(self, system, tools)
        self.on_open(session)
        return session

    def registered(self) -> int:
        return len(self.open_sessions)

    def on_open(self, session: Session) -> None: ...

    def on_turn(self, session: Session) -> None: ...

    def on_failure(self, session: Session) -> None: ...

    def on_close(self, session: Session) -> None: ...

    def undo(self) -> None:
        """Take back what was planted, so that no test sees that of another."""
        for each in self.undone:
            each()


class SlowSession(Session):
    async def run_turn(self, given: Any) -> list[Message]:
        await asyncio.sleep(0)
        return super().run_turn(given)

    async def close(self) -> None:
        await asyncio.sleep(0)
        super().close()


class Slow(Lean):
    """The same, asynchronous."""

    session = SlowSession

    async def open(self, system: str, tools: Any, folder: Any) -> Any:
        await asyncio.sleep(0)
        return super().open(system, tools, folder)


def descriptor(owner: Lean) -> None:
    read, write = os.pipe()
    os.close(write)
    owner.undone.append(lambda: os.close(read))


def thread(owner: Lean) -> None:
    go = threading.Event()
    started = threading.Thread(target=go.wait, name="watcher", daemon=True)
    started.start()
    owner.undone.append(lambda: (go.set(), started.join()))


def task(owner: Lean) -> None:
    owner.undone.append(asyncio.get_running_loop().create_task(asyncio.sleep(3_600), name="heartbeat").cancel)


def child(owner: Lean) -> None:
    started = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    owner.undone.append(started.communicate)
