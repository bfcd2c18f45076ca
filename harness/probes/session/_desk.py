"""The parts of a runtime around one session, and what an image and a resumed session have to be.

What came back is held against what was recorded, page by page, and what was written against its digests. Nothing is
timed here.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

from harness.measure.clock import WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.session._pages import Body, of_its_own, recorded, session_of, verify_core
from harness.probes.session._places import Place
from seams.contract.image import HEADER, Header, ImageRefusedError, Images, Part, Resumed, Session
from seams.contract.recall import Recall

__all__ = [
    "Desk",
    "change_last_byte",
    "files_in",
    "require_plain",
    "require_refuses",
    "require_same",
    "verify_files",
    "verify_resumed",
]


class Desk:
    """The parts of a runtime, the results of its session, and the place for its images."""

    def __init__(self, images: Images, recall: Recall, bodies: Sequence[Body], place: Place) -> None:
        self.images = images
        self.recall = recall
        self.bodies = bodies
        self.place = place
        self.numbers = count(1)

    async def session(self) -> Session:
        """A session like no other, freshly recorded; its results are those of every other."""
        return session_of(await recorded(self.recall.core(), self.bodies), next(self.numbers))

    async def own(self) -> tuple[Session, list[Body]]:
        """A session of which one result is like no other's, freshly recorded, and its results."""
        number = next(self.numbers)
        bodies = of_its_own(self.bodies, number)
        return session_of(await recorded(self.recall.core(), bodies), number), bodies

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


def files_in(folder: Path) -> dict[str, bytes]:
    """What is in ``folder`` now, by name."""
    return {each.name: each.read_bytes() for each in folder.iterdir()}


def require_plain(header: Any) -> None:
    """What a runtime returned is a header by itself, and not something that becomes one when it is looked at.

    Raises:
        WorkNotDoneError: it is no plain record, so that its work may have been put off until the clock had stopped.
    """
    parts = header.parts if type(header) is Header else None
    if type(parts) is not tuple or any(type(part) is not Part for part in parts):
        raise WorkNotDoneError(f"a {type(header).__name__} came back in the place of a plain header with its parts")
    if any(list(map(type, part)) != [str, int, str] for part in parts) or type(header.digest) is not str:
        raise WorkNotDoneError("the header that came back does not hold plain names, sizes and digests")


def require_same(header: Header, dumped: Header) -> None:
    """``header`` is that of the image that was ``dumped``.

    Raises:
        WorkNotDoneError: it is another's.
    """
    require_plain(header)
    if (header.digest, header.parts) != (dumped.digest, dumped.parts):
        raise WorkNotDoneError("what was read is not the image that was dumped there")


def verify_files(files: Mapping[str, bytes], header: Header) -> None:
    """Every part and nothing else is in ``files``, each with the size and the digest that the header says.

    Raises:
        WorkNotDoneError: it is not.
    """
    wanted = {part.name: (part.size, part.digest) for part in header.parts}
    found = {name: (len(data), sha256(data).hexdigest()) for name, data in files.items() if name != HEADER}
    if not wanted or found != wanted:
        raise WorkNotDoneError("the files of the image are not the parts that its header lists")


async def verify_resumed(resumed: Any, session: Session, bodies: Sequence[Body], index: str) -> None:
    """The session that came back is the one that went in.

    Raises:
        WorkNotDoneError: it is another, or its index came to be in another way than ``index`` says; or what came back
            is no plain record.
    """
    if type(resumed) is not Resumed or type(resumed.session) is not Session:
        raise WorkNotDoneError(f"a {type(resumed).__name__} came back in the place of a plain record of a session")
    back = resumed.session
    if (back.id, back.drive, back.model) != (session.id, session.drive, session.model):
        raise WorkNotDoneError("the session came back under another id, with another drive or another model")
    if resumed.index != index:
        raise WorkNotDoneError(f"the index of the session is said to be {resumed.index}, not {index}")
    await verify_core(back.core, bodies)


def change_last_byte(file: Path) -> None:
    """Turn the lowest bit of the last byte, or write one where there is none; the file keeps the moment it is from."""
    data, told = file.read_bytes(), file.stat()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]) if data else b"\n")
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
