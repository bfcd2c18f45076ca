"""Slices of the session image: a dump, a load, a rehydration and a verification, each of images of their own.

Every dump is of a session that was recorded just now, so that nothing of an earlier one can be shipped again; every
batch of loads is of a session that no other batch had. Files are in the page cache, because they were written a moment
ago. What came back is held against what was recorded, page by page, and what was
written against its digests.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from harness.measure.clock import Engine, WorkNotDoneError, is_async, repeat
from harness.probes._awaiting import settled
from harness.probes._set_up import now
from harness.probes.session._pages import NOW, Body, recorded, session_of, verify_core
from harness.probes.session._places import Place
from seams.contract.image import HEADER, Header, ImageRefusedError, Images, Session
from seams.contract.recall import Recall

__all__ = [
    "Desk",
    "Dumps",
    "Loads",
    "Rehydrations",
    "change_last_byte",
    "require_refuses",
    "verify_files",
    "verify_resumed",
]

_SLEPT = 500


class Desk:
    """The parts of a runtime, the results of its session, and the place for its images."""

    def __init__(self, images: Images, recall: Recall, bodies: Sequence[Body], place: Place) -> None:
        self.images = images
        self.recall = recall
        self.bodies = bodies
        self.place = place
        self.numbers = count(1)

    async def session(self) -> Session:
        """A session like no other, freshly recorded."""
        return session_of(await recorded(self.recall.core(), self.bodies), next(self.numbers))

    def folder(self) -> Path:
        """A place for an image where there is none."""
        return self.place.path / f"image-{next(self.numbers)}"

    def work(self, header: Header) -> dict[str, int]:
        """What one image is, in exact counts."""
        size = header.size + sum(part.size for part in header.parts)
        return {"pages": len(self.bodies), "files": 1 + len(header.parts), f"bytes of files on {self.place.fs}": size}

    def close(self) -> None:
        """Delete the images."""
        self.place.close()


def verify_files(folder: Path, header: Header) -> None:
    """Every part and nothing else is in ``folder``, each with the size and the digest that the header says.

    Raises:
        WorkNotDoneError: it is not.
    """
    wanted = {part.name: (part.size, part.digest) for part in header.parts}
    files = {each.name: each.read_bytes() for each in folder.iterdir() if each.name != HEADER}
    found = {name: (len(data), sha256(data).hexdigest()) for name, data in files.items()}
    if not wanted or found != wanted:
        raise WorkNotDoneError("the files of the image are not the parts that its header lists")


async def verify_resumed(resumed: Any, session: Session, bodies: Sequence[Body], index: str) -> None:
    """The session that came back is the one that went in.

    Raises:
        WorkNotDoneError: it is another, or its index came to be in another way than ``index`` says.
    """
    back = resumed.session
    if (back.id, back.drive, back.model) != (session.id, session.drive, session.model):
        raise WorkNotDoneError("the session came back under another id, with another drive or another model")
    if resumed.index != index:
        raise WorkNotDoneError(f"the index of the session is said to be {resumed.index}, not {index}")
    await verify_core(back.core, bodies)


def change_last_byte(file: Path) -> None:
    """Turn the lowest bit of the last byte; the file keeps the moment at which it was written."""
    data, told = file.read_bytes(), file.stat()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    os.utime(file, ns=(told.st_atime_ns, told.st_mtime_ns))


async def require_refuses(read: Callable[[Path], Any], image: Path, scratch: Path) -> None:
    """A copy of ``image`` whose last byte of a part is another must be refused, whichever part it is.

    Raises:
        WorkNotDoneError: it was taken, so that what is timed proves nothing.
    """
    for name in sorted(each.name for each in image.iterdir()):
        shutil.copytree(image, scratch)
        change_last_byte(scratch / name)
        try:
            await settled(read(scratch))
        except ImageRefusedError:
            continue
        finally:
            shutil.rmtree(scratch)
        raise WorkNotDoneError(f"an image whose {name} was changed in its last byte is taken")


class _Timed:
    """What the slices have in common: calls of one method, each with an argument of its own."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, desk: Desk, work: dict[str, int]) -> None:
        self.desk = desk
        self.work = work

    def _calls(self, method: Callable[..., Any], given: Sequence[tuple[Any, ...]]) -> Callable[[], object]:
        following = iter(given).__next__
        if is_async(method):

            async def one_async() -> object:
                return await method(*following(), now=NOW)

            return repeat(one_async, len(given))
        return repeat(lambda: method(*following(), now=NOW), len(given))

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
        return self._calls(desk.images.dump, self._given)

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
        self._header = now(desk.images.dump(session, folder, now=NOW))
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
        now(desk.images.dump(session, folder, now=NOW - _SLEPT))
        loaded = [(now(desk.images.load(folder)),) for _ in range(loops)]
        shutil.rmtree(folder)
        return self._calls(desk.images.rehydrate, loaded)

    def check(self, result: Any) -> None:
        """Raise WorkNotDoneError unless the last session that came back is the one that was dumped."""
        now(verify_resumed(result, self._session, self.desk.bodies, "warm"))
