"""Changes planted into a small image: every byte of every file, and every fault of a folder and of an archive.

An image that nobody touched has to load, or a runtime that refuses whatever it is given would pass for a careful one;
and a refusal counts only where it names the part, because a reader has to know what to send for again.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from harness.measure.clock import Tally, WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.session._archives import archives
from harness.probes.session._pages import NOW, Body, authored, recorded, session_of, verify_core
from seams.contract.image import HEADER, Effect, ImageRefusedError, Images
from seams.contract.recall import Recall

__all__ = ["FOLDER_FAULTS", "Trials", "tampered"]

_SIZE = 40
_POISONED = 12
"""Which of the results is poisoned; the image has it and one before it, the older image one more behind it."""

FOLDER_FAULTS = (
    "cut by a byte",
    "cut in half",
    "emptied",
    "made longer",
    "deleted",
    "renamed",
    "replaced by a link to itself elsewhere",
    "replaced by a folder",
    "exchanged for the part of an older image",
)
"""What is done to each file of an image; a file is added to the folder besides, and a folder."""


class Trials:
    """Attempts to have a changed image taken, counted by kind; ``taken`` are those that succeeded, or named nothing."""

    def __init__(self) -> None:
        self.tried: Counter[str] = Counter()
        self.taken: list[str] = []

    async def refused(self, kind: str, part: str, read: Callable[[], Any]) -> None:
        """Count one; ``part`` is what the refusal has to name, or blank where the name is the runtime's affair."""
        self.tried[kind] += 1
        try:
            await settled(read())
        except ImageRefusedError as error:
            if error.part == part or (not part and error.part):
                return
            self.taken.append(f"{kind}: {part or 'an entry'} was refused as {error.part or 'nothing'}")
        except Exception as error:  # whatever it is, it does not say what to send for again
            self.taken.append(f"{kind}: {part or 'an entry'} ended in {type(error).__name__} and no refusal")
        else:
            self.taken.append(f"{kind}: {part or 'an archive'} was taken")


async def tampered(images: Images, recall: Recall, place: Path) -> Tally:
    """Whether every planted change was refused by name; both the load and the verification are asked.

    Raises:
        WorkNotDoneError: an image that nobody touched is not taken, or does not hold its session.
    """
    more = authored(_POISONED + 2, _SIZE)[_POISONED - 1 :]
    bodies = more[:2]
    older = await _dumped(images, recall, more, place / "older", rev=1)
    image = await _dumped(images, recall, bodies, place / "image", rev=2)
    await _require_taken(images, recall, bodies, place)
    files = {each.name: each.read_bytes() for each in sorted(image.iterdir())}
    previous = {each.name: each.read_bytes() for each in older.iterdir()}
    trials = Trials()
    for read in (images.load, images.verify):
        await _flipped(trials, read, image, files)
        await _broken(trials, read, image, files, previous)
        await trials.refused("no folder", HEADER, lambda read=read: read(place / "nothing"))  # type: ignore[misc]
    await _shipped(trials, images, files, place)
    if {each.name: each.read_bytes() for each in image.iterdir()} != files:
        raise WorkNotDoneError("the runtime wrote into an image that it was to read")
    told = [f"{kind} {count}" for kind, count in sorted(trials.tried.items())]
    return Tally(
        int(not trials.taken),
        source="synthetic",
        evidence=(
            *trials.taken[:5],
            f"{trials.tried.total()} changes of {len(files)} files, shown to the load and to the verification",
            *("; ".join(told[at : at + 8]) for at in range(0, len(told), 8)),
        ),
    )


async def _dumped(images: Images, recall: Recall, bodies: list[Body], folder: Path, rev: int) -> Path:
    session = session_of(await recorded(recall.core(), bodies), rev)
    session.effects = (Effect("refund-1", "verified_done"),)
    session.trajectory = ({"step": rev, "did": "looked"},)
    await settled(images.dump(session, folder, now=NOW + rev, durable=False))
    return folder


async def _require_taken(images: Images, recall: Recall, bodies: list[Body], place: Path) -> None:
    folder = await _dumped(images, recall, bodies, place / "whole", rev=3)
    await settled(images.verify(folder))
    resumed = await settled(images.rehydrate(await settled(images.load(folder)), now=NOW + 3))
    await verify_core(resumed.session.core, bodies)
    shutil.rmtree(folder)


async def _flipped(trials: Trials, read: Callable[[Path], Any], image: Path, files: Mapping[str, bytes]) -> None:
    """Each byte of each file with another bit turned, bit after bit from byte to byte."""
    for name, data in files.items():
        changed = bytearray(data)
        for at in range(len(data)):
            changed[at] ^= 1 << at % 8
            (image / name).write_bytes(changed)
            await trials.refused("a byte flipped", name, lambda: read(image))
            changed[at] = data[at]
        (image / name).write_bytes(data)


async def _broken(
    trials: Trials,
    read: Callable[[Path], Any],
    image: Path,
    files: Mapping[str, bytes],
    previous: Mapping[str, bytes],
) -> None:
    for name, data in files.items():
        for kind in FOLDER_FAULTS:
            changed = _contents(kind, data, previous.get(name, b""))
            if changed == data:
                continue  # an empty part that is emptied, or an older one that is this one, is no change
            _break(kind, image / name, data, changed)
            # A name that is missing and one that is too much are one fault: either of them names it.
            wanted = name if kind != "renamed" else ""
            if kind.startswith("exchanged") and name == HEADER:
                wanted = ""  # an older header is whole: it is the parts that are not its own
            await trials.refused(kind, wanted, lambda: read(image))
            _mend(image, files)
    for name, make in (("notes.txt", lambda path: path.write_bytes(b"")), ("more", Path.mkdir)):
        make(image / name)
        await trials.refused("something added", name, lambda: read(image))
        _mend(image, files)


def _contents(kind: str, data: bytes, older: bytes) -> bytes | None:
    """What a file of ``data`` is written over with; None of what is done to the file itself."""
    return {
        "cut by a byte": data[:-1],
        "cut in half": data[: len(data) // 2],
        "emptied": b"",
        "made longer": data + b"\n",
        "exchanged for the part of an older image": older,
    }.get(kind)


def _break(kind: str, path: Path, data: bytes, changed: bytes | None) -> None:
    if kind in ("deleted", "replaced by a folder"):
        path.unlink()
        if kind != "deleted":
            path.mkdir()
    elif kind == "renamed":
        path.rename(path.with_name(f"{path.name}.1"))
    elif kind.startswith("replaced by a link"):
        elsewhere = path.parent.parent / f"elsewhere-{path.name}"
        elsewhere.write_bytes(data)
        path.unlink()
        path.symlink_to(elsewhere)
    elif changed is not None:
        path.write_bytes(changed)


def _mend(image: Path, files: Mapping[str, bytes]) -> None:
    shutil.rmtree(image)
    image.mkdir()
    for name, data in files.items():
        (image / name).write_bytes(data)


async def _shipped(trials: Trials, images: Any, files: Mapping[str, bytes], place: Path) -> None:
    """Archives of which none may become a folder that loads, and none may write a file elsewhere."""
    target, archive = place / "shipped", place / "shipped.tar"
    before = sorted(os.listdir(place))  # noqa: PTH208 - names, to be compared
    for kind, name, data in archives(files):
        archive.write_bytes(data)

        async def read() -> None:
            await settled(images.unpack(archive, target))
            await settled(images.load(target))

        await trials.refused(f"archive: {kind}", name, read)
        archive.unlink()
        if target.exists():
            shutil.rmtree(target)
        if sorted(os.listdir(place)) != before:  # noqa: PTH208 - as above
            trials.taken.append(f"archive: {kind}: something was left beside the folder")
