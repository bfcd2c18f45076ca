"""Slices of the session image: a dump, a load, a rehydration and a verification, each of images of their own.

Every dump is of a session that was recorded just now, so that nothing of an earlier one can be shipped again; every
batch of loads is of a session that no other batch had. Files are in the page cache, because they were written a moment
ago, and nothing is forced onto the disk: what that takes is the disk's, and who else writes to it. What came back is
held against what was recorded, see ``_desk``.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from harness.measure.clock import Engine, WorkNotDoneError, is_async, repeat
from harness.probes._set_up import now
from harness.probes.session._desk import Desk, change_last_byte, verify_files, verify_resumed
from harness.probes.session._pages import NOW
from seams.contract.image import ImageRefusedError, Session

__all__ = ["Dumps", "Loads", "Rehydrations"]

_SLEPT = 500


class _Timed:
    """What the slices have in common: calls of one method, each with an argument of its own."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, desk: Desk, work: dict[str, int]) -> None:
        self.desk = desk
        self.work = work

    def _calls(self, method: Callable[..., Any], given: Sequence[tuple[Any, ...]], **more: Any) -> Callable[[], object]:
        following, told = iter(given).__next__, {"now": NOW, **more}
        if is_async(method):

            async def one_async() -> object:
                return await method(*following(), **told)

            return repeat(one_async, len(given))
        return repeat(lambda: method(*following(), **told), len(given))

    def close(self) -> None:
        """Delete the images."""
        self.desk.close()


class Dumps(_Timed):
    """One call is one dump into a folder that is not there yet."""

    afresh = True

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` sessions, recorded and not yet dumped."""
        desk = self.desk
        self._given = [(now(desk.session()), desk.folder()) for _ in range(loops)]
        return self._calls(desk.images.dump, self._given, durable=False)

    def check(self, result: Any) -> None:
        """Raise WorkNotDoneError unless the last session is in its files, and comes back out of them."""
        session, folder = self._given[-1]
        images = self.desk.images
        verify_files(folder, result)
        resumed = now(images.rehydrate(now(images.load(folder)), now=NOW))
        now(verify_resumed(resumed, session, self.desk.bodies, "warm"))
        for _, each in self._given:
            shutil.rmtree(each)


class Loads(_Timed):
    """One call is one load, or one verification, of the folder of its batch.

    After the clock a byte of a part is changed, as if no time had passed, and the folder has to be refused: a runtime
    that remembers folders that it has read would have had nothing to do.
    """

    def __init__(self, desk: Desk, work: dict[str, int], session: Session, *, keeps: bool) -> None:
        super().__init__(desk, work)
        self._session = session
        self._keeps = keeps
        self._read: Callable[[Path], Any] = desk.images.load if keeps else desk.images.verify

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` times the same image, dumped just now."""
        desk, session, read = self.desk, self._session, self._read
        session.drive = session.drive._replace(rev=next(desk.numbers))
        self._folder = folder = desk.folder()
        self._header = now(desk.images.dump(session, folder, now=NOW, durable=False))
        if is_async(read):

            async def one_async() -> object:
                return await read(folder)

            return repeat(one_async, loops)
        return repeat(lambda: read(folder), loops)

    def check(self, result: Any) -> None:
        """Raise WorkNotDoneError unless the image is the one that was dumped, a load kept it, and it is looked at."""
        header = result.header if self._keeps else result
        if (header.digest, header.parts) != (self._header.digest, self._header.parts):
            raise WorkNotDoneError("what was read is not the image that was dumped last")
        verify_files(self._folder, header)
        at = next(self.desk.numbers) % len(header.parts)
        name = header.parts[at].name
        change_last_byte(self._folder / name)
        try:
            now(self._read(self._folder))
        except ImageRefusedError:
            shutil.rmtree(self._folder)  # what was proved has to be held: the files may be anybody's by now
        else:
            raise WorkNotDoneError(f"an image that was read before is taken although its {name} was changed")
        if self._keeps:
            resumed = now(self.desk.images.rehydrate(result, now=NOW))
            now(verify_resumed(resumed, self._session, self.desk.bodies, "warm"))


class Rehydrations(_Timed):
    """One call is one resume of an image that was loaded before the clock ran."""

    def __init__(self, desk: Desk, work: dict[str, int], session: Session) -> None:
        super().__init__(desk, work)
        self._session = session

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` loaded images, no two of them one object."""
        desk, session = self.desk, self._session
        session.drive = session.drive._replace(rev=next(desk.numbers))
        folder = desk.folder()
        now(desk.images.dump(session, folder, now=NOW - _SLEPT, durable=False))
        loaded = [(now(desk.images.load(folder)),) for _ in range(loops)]
        shutil.rmtree(folder)
        return self._calls(desk.images.rehydrate, loaded)

    def check(self, result: Any) -> None:
        """Raise WorkNotDoneError unless the last session that came back is the one that was dumped."""
        now(verify_resumed(result, self._session, self.desk.bodies, "warm"))
