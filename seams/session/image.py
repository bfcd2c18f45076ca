"""The seam ``session/image``: dump, verify, load, rehydrate, pack and unpack of a session.

Put together here of the parts that know a file each. Two rules hold it up. What is written appears whole or not at
all, in a folder of its own, so that no image adopts what another left behind. What is read is proved once, and the
bytes that were proved are the ones that are used, so that nobody can exchange a file between the two.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seams.contract import Engine
from seams.contract.image import (
    HEADER,
    Header,
    ImageRefusedError,
    IndexMode,
    Loaded,
    Migration,
    Resumed,
    Rung,
    Session,
)
from seams.session.core_files import PAGES, core_of
from seams.session.dormancy import woken
from seams.session.image_files import ImageFolder, named
from seams.session.image_header import header_of, require_key, sealed
from seams.session.image_place import beside, moved
from seams.session.image_tar import packed, unpacked
from seams.session.quarantine import Screening
from seams.session.recall import CoreImage
from seams.session.session_files import drive_of, effects_of, trajectory_of, written

__all__ = ["LoadedImage", "SessionImages", "offer"]


@dataclass(frozen=True, slots=True)
class LoadedImage:
    """The header, and the proved bytes of every part by its name."""

    header: Header
    parts: Mapping[str, bytes]
    file: bytes
    """The header's own file."""


class SessionImages:
    """Dumps and loads images. With ``key``, what is dumped is sealed with it and nothing else is loaded.

    ``digest``, where it is told, is that of the one image that is taken. Raises as :func:`require_key`.
    """

    def __init__(self, key: bytes | None = None, digest: str | None = None) -> None:
        self._key = None if key is None else require_key(key)
        self._digest = digest

    def dump(
        self, session: Session, folder: Path, *, now: int | None = None, index: bool = True, durable: bool = True
    ) -> Header:
        """As :meth:`seams.contract.image.Images.dump`.

        Raises:
            ValueError: the session has no id.
            TypeError: its core image is another runtime's, or a field of it is of another kind or cannot be JSON.
            ImageRefusedError: ``folder`` holds something that is no image, another writer does not let go of it, or
                nobody could load what was dumped, or pack it.
        """
        if not session.id:
            raise ValueError("A session without an id cannot be dumped; give it one.")
        core = session.core
        if core is not None and not isinstance(core, CoreImage):
            raise TypeError(f"A {type(core).__name__} is no core image of this runtime; make one with core().")
        when = int(time.time()) if now is None else now
        with beside(folder) as place:
            place.mkdir()
            parts = tuple(written(session, core, place, index=index))
            header = Header(
                session.id,
                session.created,
                when,
                session.model,
                session.host,
                session.labels,
                session.migrations,
                parts,
                digest="",
                size=0,
            )
            file = sealed(header, self._key)
            header = header_of(file, self._key)  # what this refuses, no load would take
            (place / HEADER).write_bytes(file)
            moved(place, folder, durable=durable)
        return header

    def verify(self, folder: Path) -> Header:
        """As :meth:`seams.contract.image.Images.verify`; one part at a time is in memory."""
        with ImageFolder(folder) as opened:
            header = self._header(opened.header())
            opened.require_only({HEADER, *(part.name for part in header.parts)})
            for part in header.parts:
                opened.part(part)
        return header

    def load(self, folder: Path) -> LoadedImage:
        """As :meth:`seams.contract.image.Images.load`."""
        with ImageFolder(folder) as opened:
            file = opened.header()
            header = self._header(file)
            opened.require_only({HEADER, *(part.name for part in header.parts)})
            return LoadedImage(header, {part.name: opened.part(part) for part in header.parts}, file)

    def rehydrate(
        self,
        loaded: Loaded,
        *,
        id: str | None = None,  # noqa: A002 - the session's own word
        model: str = "",
        host: str = "",
        reason: str = "",
        now: int | None = None,
        rungs: Sequence[Rung] | None = None,
        screening: Screening | None = None,
    ) -> Resumed:
        """As :meth:`seams.contract.image.Images.rehydrate`, the pages behind ``screening`` or fresh gates.

        Where the model or the host becomes another, that is a migration, which the next dump writes down. The sleep is
        counted from the dump, so a migration does not shorten it.

        Raises:
            ImageRefusedError: a part is not sound, although it is whole.
            TypeError: the image was loaded by another runtime, or ``now`` is no whole number.
        """
        if not isinstance(loaded, LoadedImage):
            raise TypeError(f"A {type(loaded).__name__} is no image that was loaded here; load its folder.")
        if now is not None and type(now) is not int:
            raise TypeError(f"The moment {now!r:.60} is no whole number of Unix seconds; give one, or leave it out.")
        header, parts = loaded.header, loaded.parts
        when = int(time.time()) if now is None else now
        drive = drive_of(parts, header.id)
        core: CoreImage | None = None
        mode: IndexMode = "none"
        if PAGES in parts:
            table = next(part.digest for part in header.parts if part.name == PAGES)
            core, mode = core_of(parts, header.id, table, screening)
        to_model, to_host = model or header.model, host or header.host
        moving = (to_model, to_host) != (header.model, header.host)
        migration = Migration(when, header.model, to_model, header.host, to_host, reason) if moving else None
        session = Session(
            header.id if id is None else id,
            drive,
            core,
            to_model,
            to_host,
            dict(header.labels),
            header.created,
            trajectory_of(parts),
            effects_of(parts),
            header.migrations + ((migration,) if migration else ()),
        )
        return Resumed(session, mode, woken(session, when - header.updated, rungs), migration, kv_positions=0)

    def pack(self, loaded: Loaded, file: Path) -> None:
        """As :meth:`seams.contract.image.Images.pack`: the header first, then the parts as it lists them.

        Raises:
            ImageRefusedError: ``file`` is there and is none that could be replaced, such as a folder or a device.
            TypeError: the image was loaded by another runtime.
        """
        if not isinstance(loaded, LoadedImage):
            raise TypeError(f"A {type(loaded).__name__} is no image that was loaded here; load its folder.")
        target = Path(os.path.realpath(named(file)))  # of a link, the file that it leads to
        if os.path.lexists(target) and not target.is_file():
            raise ImageRefusedError(file.name, "is there already and is no file; name another one.")
        with beside(target) as new:
            with new.open("xb") as out:
                packed([(HEADER, loaded.file), *loaded.parts.items()], loaded.header.updated, out)
            new.replace(target)

    def unpack(self, file: Path, folder: Path) -> None:
        """As :meth:`seams.contract.image.Images.unpack`. Refuses a folder that is there."""
        with named(file).open("rb") as archive, beside(folder) as place:
            if os.path.lexists(folder):
                raise ImageRefusedError(folder.name, "is there already; name a new folder.")
            place.mkdir()
            unpacked(archive, place)
            moved(place, folder, durable=True)

    def _header(self, data: bytes) -> Header:
        header = header_of(data, self._key)
        if self._digest is not None and header.digest != self._digest:
            raise ImageRefusedError(HEADER, "is that of another image than the one whose digest was told.")
        return header


def offer(engine: Engine) -> SessionImages | None:
    """Images without a key; files and hashes have no engine, so only ``none`` is answered."""
    return SessionImages() if engine == "none" else None
