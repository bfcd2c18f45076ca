"""What of a session is there at once when it comes back: the index of its pages, and the positions of a model's cache.

The way in which an index came back is the runtime's word; that it is an index over the pages that came back is not.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from harness.measure.clock import Tally, WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.session._pages import NOW, authored, recorded, session_of, verify_core
from seams.contract.recall import Recall

__all__ = ["SIZES", "warm_index", "warm_kv"]

SIZES = (1, 3, 10, 30, 100)
"""Pages of the sessions that are resumed."""

_BYTES_A_TOKEN = 4


async def _resumed(recall: Recall, images: Any, place: Path, pages: int, *, index: bool = True) -> tuple[Any, int]:
    """A session of so many pages after a dump and a load, its pages looked at; and the bytes of the image's files.

    Raises:
        WorkNotDoneError: its pages are not what was recorded, or a word that is in one of them does not find it.
    """
    bodies = authored(pages, 200)
    core = await recorded(recall.core(), bodies)
    folder = place / f"{pages}-{index}"
    await settled(images.dump(session_of(core, pages), folder, now=NOW, index=index, durable=False))
    resumed = await settled(images.rehydrate(await settled(images.load(folder)), now=NOW))
    back = resumed.session.core
    await verify_core(back, bodies)
    found = await settled(back.recall("claims of the desk", pages))
    wanted = {step: each.body for step, each in enumerate(bodies) if not each.poisoned}
    if {page.step: body for page, body in found} != wanted:
        raise WorkNotDoneError(f"{len(wanted)} pages share a word with the question and {len(found)} were recalled")
    return resumed, sum(each.stat().st_size for each in folder.iterdir())


async def warm_index(recall: Recall, images: Any, place: Path) -> Tally:
    """Resumes that attached a stored index over all resumes of images as the runtime dumps them.

    Raises:
        WorkNotDoneError: an image without an index is said to have brought one, or one that is no larger than that.
    """
    modes: Counter[str] = Counter()
    for pages in SIZES:
        (resumed, size), (without, bare) = [
            await _resumed(recall, images, place, pages, index=index) for index in (True, False)
        ]
        if without.index != "rebuild":
            raise WorkNotDoneError(f"the index of an image that was dumped without one is said to be {without.index}")
        if resumed.index == "warm" and size <= bare:
            raise WorkNotDoneError(f"an image of {size} bytes is said to bring an index, and has {bare} without one")
        modes[resumed.index] += 1
    told = ", ".join(f"{mode} {count}" for mode, count in sorted(modes.items()))
    return Tally(
        modes["warm"],
        modes.total(),
        reasons=dict(modes),
        source="synthetic",
        evidence=(f"resumes of {', '.join(map(str, SIZES))} pages: {told}", "without a stored index: rebuild"),
    )


async def warm_kv(recall: Recall, images: Any, place: Path) -> Tally:
    """Positions of a model's cache that came back over the positions of the session, at four bytes each.

    Raises:
        WorkNotDoneError: more are said to have come back than the session has.
    """
    resumed, _ = await _resumed(recall, images, place, max(SIZES))
    back = resumed.kv_positions
    positions = sum(-(-page.size // _BYTES_A_TOKEN) for page in resumed.session.core.pages())
    if type(back) is not int or not 0 <= back <= positions:
        raise WorkNotDoneError(f"{back!r} positions are said to have come back, of a session that has {positions}")
    return Tally(
        back,
        positions,
        reasons={name: count for name, count in (("cached", back), ("cold", positions - back)) if count},
        source="synthetic",
        evidence=(f"{back} of {positions} positions came back with keys and values, by the runtime's own word",),
    )
