"""A large image: what it takes in memory and in work, by counting and never by a clock."""

from __future__ import annotations

import gc
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from seams.session.image import SessionImages
from seams.session.recall import CoreImage
from tests.seams.session.sessions import NOW, session

IMAGES = SessionImages()


def core_of(pages: int) -> CoreImage:
    core = CoreImage()
    for number in range(pages):
        core.record("read_claim", b"claim %d of May, %d euros, desk %d" % (number, number * 389, number % 977))
    return core


def peak(work: Callable[[], object]) -> int:
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def calls(work: Callable[[], object]) -> int:
    count = 0

    def seen(frame, event, argument) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def size_of(folder: Path) -> int:
    return sum(each.stat().st_size for each in folder.iterdir())


def measured(pages: int, folder: Path, measure: Callable[[Callable[[], object]], int]) -> dict[str, int]:
    """Dump, load with rehydration, the same without a stored index, pack and unpack of so many pages."""
    kept = session(core_of(pages))
    archive = folder / "image.tar"
    found = {"dump": measure(lambda: IMAGES.dump(kept, folder / "image", now=NOW))}
    found["restore"] = measure(lambda: IMAGES.rehydrate(IMAGES.load(folder / "image"), now=NOW))
    found["pack"] = measure(lambda: IMAGES.pack(IMAGES.load(folder / "image"), archive))
    found["unpack"] = measure(lambda: IMAGES.unpack(archive, folder / "out"))
    found["verify"] = measure(lambda: IMAGES.verify(folder / "image"))
    IMAGES.dump(kept, folder / "bare", now=NOW, index=False)
    found["rebuild"] = measure(lambda: IMAGES.rehydrate(IMAGES.load(folder / "bare"), now=NOW))
    return found


@pytest.mark.slow
def test_an_image_of_100_000_pages_takes_under_twice_its_size_in_memory(tmp_path: Path) -> None:
    found = measured(100_000, tmp_path, peak)
    size = size_of(tmp_path / "image")
    assert size > 20_000_000
    assert {name: bytes_ for name, bytes_ in found.items() if bytes_ >= 2 * size} == {}
    # Held at the least: the bytes of the parts. A peak below that would not have been of this work.
    assert min(found["restore"], found["pack"]) >= size * 0.99


@pytest.mark.slow
def test_the_work_of_an_image_is_linear_in_its_pages(tmp_path: Path) -> None:
    """Four times the pages in less than five times the calls; a square would be sixteen. Both take several segments."""
    found = {}
    for pages in (10_000, 40_000):
        (tmp_path / str(pages)).mkdir()
        found[pages] = measured(pages, tmp_path / str(pages), calls)
    few, many = found[10_000], found[40_000]
    assert {name: many[name] / few[name] for name in few if many[name] >= 5 * few[name]} == {}
    assert many["dump"] > 3 * few["dump"]
