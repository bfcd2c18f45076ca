"""The seam ``session/image``: dump, verify, load, rehydrate, pack and unpack of a session.

Put together here of the parts that know a file each. Two rules hold it up. What is written appears whole or not at
all, in a folder of its own, so that no image adopts what another left behind. What is read is proved once, and the
bytes that were proved are the ones that are used, so that nobody can exchange a file between the two.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from seams.contract import Engine
from seams.contract.image import (
    HEADER,
    Drive,
    Effect,
    Header,
    ImageRefusedError,
    IndexMode,
    Loaded,
    Migration,
    Part,
    Resumed,
    Rung,
    RunState,
    Session,
)
from seams.session.core_files import BODIES, INDEX, PAGES, core_of, write_pages
from seams.session.dormancy import woken
from seams.session.image_files import ImageFolder, PartFile, beside, moved
from seams.session.image_header import EFFECTS, SESSION, TRAJECTORY, header_of, sealed
from seams.session.image_tar import packed, unpacked
from seams.session.lines import Lines
from seams.session.quarantine import Screening
from seams.session.recall import CoreImage
from seams.syscall.canonical import canonical

__all__ = ["LoadedImage", "SessionImages", "Trajectory", "offer"]


@dataclass(frozen=True, slots=True)
class LoadedImage:
    """The header, and the proved bytes of every part by its name."""

    header: Header
    parts: Mapping[str, bytes]
    file: bytes
    """The header's own file."""


class Trajectory(Sequence[Any]):
    """The values of a trajectory, each read when it is asked for."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        return json.loads(self._lines[at + len(self) if at < 0 else at])


class SessionImages:
    """Dumps and loads images. With ``key``, what is dumped is sealed with it and nothing else is loaded.

    ``digest``, where it is told, is that of the one image that is taken.
    """

    def __init__(self, key: bytes | None = None, digest: str | None = None) -> None:
        self._key = key
        self._digest = digest

    def dump(self, session: Session, folder: Path, *, now: int | None = None, index: bool = True) -> Header:
        """As :meth:`seams.contract.image.Images.dump`; nothing is forced onto the disk.

        Raises:
            ValueError: the session has no id.
            TypeError: its core image is another runtime's, or a value in it cannot be written as JSON.
            ImageRefusedError: ``folder`` holds something that is no image, or nobody could load what was dumped.
        """
        if not session.id:
            raise ValueError("A session without an id cannot be dumped; give it one.")
        core = session.core
        if core is not None and not isinstance(core, CoreImage):
            raise TypeError(f"A {type(core).__name__} is no core image of this runtime; make one with core().")
        when = int(time.time()) if now is None else now
        with beside(folder) as place:
            parts = tuple(_written(session, core, place, index=index))
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
            moved(place, folder)
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
            TypeError: the image was loaded by another runtime.
        """
        if not isinstance(loaded, LoadedImage):
            raise TypeError(f"A {type(loaded).__name__} is no image that was loaded here; load its folder.")
        header, parts = loaded.header, loaded.parts
        when = int(time.time()) if now is None else now
        with _sound(SESSION):
            drive = _drive(parts[SESSION], header.id)
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
            _trajectory(parts),
            _effects(parts),
            header.migrations + ((migration,) if migration else ()),
        )
        return Resumed(session, mode, woken(session, when - header.updated, rungs), migration, kv_positions=0)

    def pack(self, loaded: Loaded, file: Path) -> None:
        """As :meth:`seams.contract.image.Images.pack`: the header first, then the parts as it lists them."""
        if not isinstance(loaded, LoadedImage):
            raise TypeError(f"A {type(loaded).__name__} is no image that was loaded here; load its folder.")
        with file.open("wb") as out:
            packed([(HEADER, loaded.file), *loaded.parts.items()], loaded.header.updated, out)

    def unpack(self, file: Path, folder: Path) -> None:
        """As :meth:`seams.contract.image.Images.unpack`. Refuses a folder that is there."""
        if folder.exists():
            raise ImageRefusedError(folder.name, "is there already; name a new folder.")
        with file.open("rb") as archive, beside(folder) as place:
            unpacked(archive, place)
            moved(place, folder)

    def _header(self, data: bytes) -> Header:
        header = header_of(data, self._key)
        if self._digest is not None and header.digest != self._digest:
            raise ImageRefusedError(HEADER, "is that of another image than the one whose digest was told.")
        return header


def _written(session: Session, core: CoreImage | None, place: Path, *, index: bool) -> Iterator[Part]:
    """Write the parts of a session, in the order in which an image lists them."""
    with PartFile(place, SESSION) as file:
        drive = session.drive
        told = canonical({"id": session.id, **drive._asdict(), "run": drive.run.name.lower()}) + b"\n"
        with _sound(SESSION):
            _drive(told, session.id)
        file.write(told)
        yield file.close()
    if core is not None:
        with PartFile(place, PAGES) as file:
            write_pages(core, session.id, file.write)
            pages = file.close()
        yield pages
        with PartFile(place, BODIES) as file:
            core.store.write(file.write)
            yield file.close()
        if index:
            with PartFile(place, INDEX) as file:
                core.index().write(file.write, pages.digest)
                yield file.close()
    if session.trajectory:
        with PartFile(place, TRAJECTORY) as file:
            for each in session.trajectory:
                file.write(canonical(each) + b"\n")
            yield file.close()
    if session.effects is not None:
        with PartFile(place, EFFECTS) as file:
            file.write(canonical([each._asdict() for each in sorted(session.effects)]) + b"\n")
            yield file.close()


@contextmanager
def _sound(part: str) -> Iterator[None]:
    """Whatever cannot be read out of ``part`` refuses the image by its name."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise ImageRefusedError(part, f"is whole and does not hold what it has to: {error}.") from error


def _drive(data: bytes, session: str) -> Drive:
    told = json.loads(data)
    if told.pop("id") != session:
        raise ValueError("it is of another session")
    pace = told["pace"]
    numbers = (told["turns"], told["tokens"], told["priority"], told["rev"], *pace)
    if any(type(each) is not int for each in numbers) or not isinstance(told["reason"], str) or len(pace) != 2:
        raise ValueError("a number or a word of it is none")
    return Drive(**{**told, "run": RunState[told["run"].upper()], "pace": (pace[0], pace[1])})


def _trajectory(parts: Mapping[str, bytes]) -> Sequence[Any]:
    if TRAJECTORY not in parts:
        return ()
    with _sound(TRAJECTORY):
        lines = Lines(parts[TRAJECTORY])
        for line in lines:  # read and let go: one that is no JSON is found now and not on some later turn
            json.loads(line)
    return Trajectory(lines)


def _effects(parts: Mapping[str, bytes]) -> tuple[Effect, ...] | None:
    if EFFECTS not in parts:
        return None
    with _sound(EFFECTS):
        found = tuple(Effect(**each) for each in json.loads(parts[EFFECTS]))
        if not all(isinstance(word, str) for each in found for word in each):
            raise ValueError("an effect has an id and a state, which are words")
    return found


def offer(engine: Engine) -> SessionImages | None:
    """Images without a key; files and hashes have no engine, so only ``none`` is answered."""
    return SessionImages() if engine == "none" else None
