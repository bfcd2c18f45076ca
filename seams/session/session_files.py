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

from seams.contract.image import Drive, Effect, ImageRefusedError, Migration, Part, RunState, Session
from seams.session.core_files import BODIES, INDEX, PAGES, write_pages
from seams.session.image_files import PartFile
from seams.session.image_header import EFFECTS, SESSION, TRAJECTORY
from seams.session.lines import Lines
from seams.session.recall import CoreImage
from seams.session.trajectory import Trajectory, line_of, value_of
from seams.syscall.canonical import canonical

__all__ = ["drive_of", "effects_of", "trajectory_of", "written"]


def written(session: Session, core: CoreImage | None, place: Path, *, index: bool) -> Iterator[Part]:
    """Write the parts of a session into ``place``, in the order in which an image lists them.

    Raises:
        ImageRefusedError: its drive or its effects could not be read back.
        TypeError: a field of it is not of its kind, or a value of its trajectory would not come back.
    """
    _require_kinds(session)
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
            for at, each in enumerate(session.trajectory):
                file.write(_line(at, each))
            yield file.close()
    if session.effects is not None:
        with PartFile(place, EFFECTS) as file:
            file.write(_effects(session.effects))
            yield file.close()


def _require_kinds(session: Session) -> None:
    """TypeError where what a session is made of is another thing than it says; what these hold is looked at later."""
    drive = session.drive
    if not isinstance(drive, Drive) or not isinstance(drive.run, RunState):
        raise TypeError(
            f"A session is driven by a Drive whose run is a RunState, and not by {drive!r:.120}; give it one."
        )
    if not isinstance(session.trajectory, Sequence) or isinstance(session.trajectory, str | bytes):
        raise TypeError(f"A trajectory is a list of values, and not {session.trajectory!r:.80}; give the session one.")
    labels = session.labels
    if not isinstance(labels, Mapping) or not all(isinstance(name, str) for name in labels):
        raise TypeError(f"Labels are texts by names that are texts, and not {labels!r:.80}; give the session such.")
    for name, kind, each in (("migrations", Migration, session.migrations), ("effects", Effect, session.effects or ())):
        if not isinstance(each, tuple | list) or not all(isinstance(one, kind) for one in each):
            raise TypeError(
                f"The {name} of a session are a tuple of {kind.__name__}s, and not {each!r:.80}; give it those."
            )


def _line(at: int, value: Any) -> bytes:
    try:
        return line_of(value)
    except ValueError as error:
        raise TypeError(f"Value {at} of the trajectory cannot be written as JSON: {error}; leave it out.") from error


def _effects(effects: Sequence[Effect]) -> bytes:
    for each in effects:
        if not all(isinstance(word, str) for word in each):
            raise ImageRefusedError(
                EFFECTS, f"would hold {tuple(each)!r:.80}, and both are words; give the effect such."
            )
    return canonical([each._asdict() for each in sorted(effects)]) + b"\n"


@contextmanager
def _sound(part: str) -> Iterator[None]:
    """Whatever cannot be read out of ``part`` refuses the image by its name."""
    try:
        yield
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        told = f"is whole and does not hold what it has to: {error}; dump the session again."
        raise ImageRefusedError(part, told) from error


def _drive(data: bytes, session: str) -> Drive:
    told = json.loads(data)
    if told.pop("id") != session:
        raise ValueError("it is of another session")
    pace = told["pace"]
    for name in ("turns", "tokens", "priority", "rev"):
        if type(told[name]) is not int:
            raise ValueError(f"its {name} is {told[name]!r:.60} and no whole number")
    if not isinstance(pace, list) or [type(each) for each in pace] != [int, int]:
        raise ValueError(f"its pace is {pace!r:.60} and not two whole numbers")
    if not isinstance(told["reason"], str):
        raise ValueError(f"its reason is {told['reason']!r:.60} and no text")
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
            value_of(line)
    return Trajectory(lines)


def effects_of(parts: Mapping[str, bytes]) -> tuple[Effect, ...] | None:
    """The list of effects; None where there is no such part. ImageRefusedError where one is none."""
    if EFFECTS not in parts:
        return None
    with _sound(EFFECTS):
        found = tuple(Effect(**each) for each in json.loads(parts[EFFECTS]))
        if not all(isinstance(word, str) for each in found for word in each):
            raise ValueError("an effect has an id and a state, and both are words")
    return found
