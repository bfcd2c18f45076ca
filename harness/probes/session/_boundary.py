"""Poisoned results that cross a boundary: dumped, packed, unpacked, and read in another process, cleared or not.

Each trial is an image with harmless pages around one that carries something. A secret and a plain injection have to be
sealed when they are recorded, or there is nothing to survive; of disguised ones only those count that were sealed.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from harness.measure.clock import Tally, WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.session._elsewhere import Found, across
from harness.probes.session._pages import NOW, POISON, Body, authored, session_of
from seams.contract.recall import Policy

__all__ = ["CARRIED", "survived"]

CARRIED = {
    "injection": POISON.encode(),
    "secret": b"sk-q7fjw2mtx9bdk4hzv6np",
    "spaced by zero-width characters": "\u200b".join(POISON).encode(),
    "in base64": b64encode(POISON.encode()),
}
"""What the poisoned page of a trial holds."""

_MUST_SEAL = ("injection", "secret")
_BENIGN = 4


def _bodies(carried: bytes) -> list[Body]:
    """Harmless results with the poisoned one in the middle, and one that repeats a body."""
    found = authored(_BENIGN, 300)
    text = b"Terms of refund. " + carried + b" Ask the desk for more."
    return [*found[:2], Body("read_webpage", text, poisoned=True), *found[2:], found[0]]


async def survived(runtime: Any, place: Path) -> Tally:
    """Whether every sealed page of every trial stayed sealed, and every harmless one came back byte by byte.

    Raises:
        WorkNotDoneError: nothing was sealed that has to be, or the other process gave no answer.
    """
    images, recall = (runtime.offer(f"session/{room}", "none") for room in ("image", "recall"))
    trials: list[tuple[str, list[Body]]] = []
    folders: list[Path] = []
    for number, (kind, carried) in enumerate(CARRIED.items()):
        core, bodies = recall.core(Policy.WARN), _bodies(carried)
        for each in bodies:
            await settled(core.record(each.tool, each.body))
        if [page.sealed for page in core.pages()] != [each.poisoned for each in bodies]:
            if kind in _MUST_SEAL:
                raise WorkNotDoneError(f"of results with one {kind} among them, not exactly that one is sealed")
            continue
        whole, archive, shipped = (place / f"{number}{end}" for end in ("", ".tar", "-shipped"))
        await settled(images.dump(session_of(core, number), whole, now=NOW, durable=False))
        await settled(images.pack(await settled(images.load(whole)), archive))
        await settled(images.unpack(archive, shipped))
        trials.append((kind, bodies))
        folders.append(shipped)
    found, where = await across(runtime, folders)
    counts: Counter[str] = Counter()
    faults: list[str] = []
    for (kind, bodies), came in zip(trials, found, strict=True):
        counts[kind] += 1
        faults += [f"{kind}: {fault}" for fault in _faults(bodies, came)]
    told = ", ".join(counts)
    return Tally(
        int(not faults),
        source="synthetic",
        evidence=(
            f"{counts.total()} images ({told}) dumped, packed, unpacked and read {where}",
            "each page read at once, after its clearance, and after one more dump with the clearance in it",
            *faults[:5],
        ),
    )


def _faults(bodies: Sequence[Body], found: Found) -> list[str]:
    wanted = ["sealed" if each.poisoned else sha256(each.body).hexdigest() for each in bodies]
    faults = [
        f"{when} the pages came back as {[word[:8] for word in words]}"
        for when, words in (("at once", found.before), ("cleared", found.after), ("dumped again", found.again))
        if words != wanted
    ]
    if found.cleared != 1:
        faults.append(f"{found.cleared} clearances were noted, so that the gates were not what kept the page out")
    return faults
