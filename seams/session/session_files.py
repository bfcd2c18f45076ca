"""The session as the files of its image, and back: how it is driven, what it did, and its core image beside it.

As with the core image: a part that is whole can still hold anything, so what cannot be read out of it refuses the image
by the part's name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from seams.contract.image import Drive, Effect, ImageRefusedError, Part, RunState, Session
from seams.session.core_files import BODIES, INDEX, PAGES, write_pages
from seams.session.image_files import PartFile
from seams.session.image_header import EFFECTS, SESSION, TRAJECTORY
from seams.session.lines import Lines
from seams.session.recall import CoreImage
from seams.syscall.canonical import canonical

__all__ = ["Trajectory", "drive_of", "effects_of", "trajectory_of", "written"]


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


def written(session: Session, core: CoreImage | None, place: Path, *, index: bool) -> Iterator[Part]:
    """Write the parts of a session into ``place``, in the order in which an image lists them.

    Raises:
        ImageRefusedError: its drive or its effects could not be read back.
        TypeError: a value in it cannot be written as JSON.
    """
    with PartFile(place, SESSION) as file:
        drive = session.drive
        told = canonical({"id": session.id, **drive._asdict(), "run": drive.run.name.lower()}) + b"\n"
        drive_of({SESSION: told}, session.id)  # what this refuses, no load would take
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
            told = canonical([each._asdict() for each in sorted(session.effects)]) + b"\n"
            effects_of({EFFECTS: told})  # what this refuses, no load would take
            file.write(told)
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


def drive_of(parts: Mapping[str, bytes], session: str) -> Drive:
    """How ``session`` is driven. ImageRefusedError where the part does not say, or is of another session."""
    with _sound(SESSION):
        return _drive(parts[SESSION], session)


def trajectory_of(parts: Mapping[str, bytes]) -> Sequence[Any]:
    """The trajectory; empty where there is no such part. ImageRefusedError where a line is no JSON."""
    if TRAJECTORY not in parts:
        return ()
    with _sound(TRAJECTORY):
        lines = Lines(parts[TRAJECTORY])
        for line in lines:  # read and let go: one that is no JSON is found now and not on some later turn
            json.loads(line)
    return Trajectory(lines)


def effects_of(parts: Mapping[str, bytes]) -> tuple[Effect, ...] | None:
    """The list of effects; None where there is no such part. ImageRefusedError where one is none."""
    if EFFECTS not in parts:
        return None
    with _sound(EFFECTS):
        found = tuple(Effect(**each) for each in json.loads(parts[EFFECTS]))
        if not all(isinstance(word, str) for each in found for word in each):
            raise ValueError("an effect has an id and a state, which are words")
    return found
