"""Slices of the session image: a dump and a rehydration, each of a session of its own.

A dump is of a session that was recorded just now, a resume of an image that was dumped just now, and every session has
a result that no other one has. Nothing is forced onto the disk: what that takes is the disk's, and who else writes to
it. What one call gave, which one is drawn, is held against what was recorded, see ``_desk``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness.measure.clock import Engine, is_async
from harness.probes._set_up import now
from harness.probes.session._desk import (
    Desk,
    files_in,
    require_plain,
    require_same,
    verify_files,
    verify_resumed,
)
from harness.probes.session._drawn import Drawn
from harness.probes.session._pages import NOW, Body
from seams.contract.image import Loaded, Session

__all__ = ["Dumps", "Rehydrations", "Timed"]

_SLEPT = 500


class Timed:
    """What the slices have in common."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, desk: Desk, work: dict[str, int]) -> None:
        self.desk = desk
        self.work = work

    def close(self) -> None:
        """Delete the images."""
        self.desk.close()


class Dumps(Timed):
    """One call is one dump into a folder that is not there yet."""

    afresh = True

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` sessions, recorded and not yet dumped."""
        desk = self.desk
        self._given = [(*now(desk.own()), desk.folder()) for _ in range(loops)]
        dump: Callable[..., Any] = desk.images.dump
        if is_async(dump):

            async def one_async(given: tuple[Session, list[Body], Path]) -> object:
                return await dump(given[0], given[2], now=NOW, durable=False)

            self._drawn = Drawn(one_async, self._given)
        else:
            self._drawn = Drawn(lambda given: dump(given[0], given[2], now=NOW, durable=False), self._given)
        return self._drawn.calls()

    def check(self, result: Any) -> None:  # noqa: ARG002 - the one that was drawn is looked at
        """Raise WorkNotDoneError unless the session was in its files at once, and comes back out of them elsewhere."""
        images = self.desk.images
        session, bodies, folder = self._given[self._drawn.at]
        files = files_in(folder)  # before anything of the result is looked at, which might write them only then
        header = self._drawn.result
        require_plain(header)
        verify_files(files, header)
        folder = folder.rename(self.desk.folder())
        loaded = now(images.load(folder))
        require_same(loaded.header, header)
        now(verify_resumed(now(images.rehydrate(loaded, now=NOW)), session, bodies, "warm"))
        shutil.rmtree(folder)
        for at, (_, _, each) in enumerate(self._given):
            if at != self._drawn.at:
                shutil.rmtree(each)


class Rehydrations(Timed):
    """One call is one resume of an image that was loaded before the clock ran, up to a look at its first page."""

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` loaded images, each of a session of its own."""
        self._given = [self._loaded() for _ in range(loops)]
        rehydrate: Callable[..., Any] = self.desk.images.rehydrate
        if is_async(rehydrate):

            async def one_async(given: tuple[Loaded, Session, list[Body]]) -> object:
                resumed = await rehydrate(given[0], now=NOW)
                next(iter(resumed.session.core.pages()))
                return resumed

            self._drawn = Drawn(one_async, self._given)
        else:

            def one(given: tuple[Loaded, Session, list[Body]]) -> object:
                resumed = rehydrate(given[0], now=NOW)
                next(iter(resumed.session.core.pages()))
                return resumed

            self._drawn = Drawn(one, self._given)
        return self._drawn.calls()

    def check(self, result: Any) -> None:  # noqa: ARG002 - the one that was drawn is looked at
        """Raise WorkNotDoneError unless the session that came back is the one that was dumped."""
        _, session, bodies = self._given[self._drawn.at]
        now(verify_resumed(self._drawn.result, session, bodies, "warm"))

    def _loaded(self) -> tuple[Loaded, Session, list[Body]]:
        (session, bodies), folder = now(self.desk.own()), self.desk.folder()
        now(self.desk.images.dump(session, folder, now=NOW - _SLEPT, durable=False))
        loaded: Loaded = now(self.desk.images.load(folder))
        shutil.rmtree(folder)
        return loaded, session, bodies
