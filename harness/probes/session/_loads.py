"""The slice of a load, or of a verification, of images out of a stock that no other call of the batch reads.

The images have the same pages and differ in what drives the session, hence in header and digest. Before each batch all
are moved, and their times become others, so that by place and time none of them was ever read. Files are in the page
cache, because they were written a moment ago. Bodies are the same in all, so a runtime that compared bytes with those
it had proved before, in the place of proving them, is not found out here.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from harness.measure.clock import WorkNotDoneError, is_async
from harness.probes._set_up import now
from harness.probes.session._desk import (
    Desk,
    change_last_byte,
    files_in,
    require_same,
    verify_files,
    verify_resumed,
)
from harness.probes.session._drawn import CHANCE, Drawn
from harness.probes.session._images import Timed
from harness.probes.session._pages import NOW
from seams.contract.image import Drive, Header, ImageRefusedError, Session

__all__ = ["Loads"]


class _Stocked(NamedTuple):
    """An image of the stock: by what its session is driven, where it lies now, what its dump said, if it was read."""

    drive: Drive
    folder: Path
    header: Header
    read: bool = False


class Loads(Timed):
    """One call is one load, or one verification, of one image.

    After the clock an image that an earlier batch read, and this one did not, has a byte of a part changed and has to
    be refused: whoever knows images by anything less than their bytes takes it.
    """

    def __init__(self, desk: Desk, work: dict[str, int], session: Session, *, keeps: bool) -> None:
        super().__init__(desk, work)
        self._session = session
        self._keeps = keeps
        self._stock: list[_Stocked] = []

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` images in an order of their own, and one more for afterwards."""
        self._stock += [self._dumped() for _ in range(loops + 1 - len(self._stock))]
        CHANCE.shuffle(self._stock)
        spare = next((each for each in self._stock if each.read), self._stock[0])
        self._stock.remove(spare)
        self._spare = self._moved(spare)
        self._given = [self._moved(each)._replace(read=True) for each in self._stock[:loops]]
        self._stock[:loops] = [*self._given, self._spare]
        read = self._read
        if is_async(read):

            async def one_async(given: _Stocked) -> object:
                return await read(given.folder)

            self._drawn = Drawn(one_async, self._given)
        else:
            self._drawn = Drawn(lambda given: read(given.folder), self._given)
        return self._drawn.calls()

    def check(self, result: Any) -> None:  # noqa: ARG002 - the one that was drawn is looked at
        """Raise WorkNotDoneError unless the image is the one that lay there, a load holds it, and it is looked at."""
        given = self._given[self._drawn.at]
        verify_files(files_in(given.folder), given.header)
        # What was proved has to be held: the files may be anybody's by now, and those that are open as well.
        away = given.folder.rename(self.desk.folder())
        files = [each for each in away.iterdir() if each.stat().st_size]
        for each in files:
            change_last_byte(each)
        came = self._drawn.result
        require_same(came.header if self._keeps else came, given.header)
        if self._keeps:
            session = Session(self._session.id, given.drive, model=self._session.model)
            resumed = now(self.desk.images.rehydrate(came, now=NOW))
            now(verify_resumed(resumed, session, self.desk.bodies, "warm"))
        for each in files:
            change_last_byte(each)
        away.rename(given.folder)
        self._require_refused()

    def _require_refused(self) -> None:
        name = CHANCE.choice([part.name for part in self._spare.header.parts if part.size])
        file = self._spare.folder / name
        change_last_byte(file)
        try:
            now(self._read(self._spare.folder))
        except ImageRefusedError:
            change_last_byte(file)
        else:
            raise WorkNotDoneError(f"an image whose {name} was changed is taken: it is known by something else")

    @property
    def _read(self) -> Callable[[Path], Any]:
        return self.desk.images.load if self._keeps else self.desk.images.verify

    def _dumped(self) -> _Stocked:
        session, folder = self._session, self.desk.folder()
        session.drive = session.drive._replace(rev=next(self.desk.numbers))
        header = now(self.desk.images.dump(session, folder, now=NOW, durable=False))
        return _Stocked(session.drive, folder, header)

    def _moved(self, image: _Stocked) -> _Stocked:
        """``image`` in a new place; each file's change of its entry is a moment ago, when it was written stays."""
        folder = image.folder.rename(self.desk.folder())
        for each in folder.iterdir():
            told = each.stat()
            os.utime(each, ns=(told.st_atime_ns, told.st_mtime_ns))
        return image._replace(folder=folder)
