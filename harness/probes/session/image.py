"""Drives the session image: what a dump, a load, a resume and a proof cost, what an image weighs, what it refuses.

The session is the probe's own, a hundred pages of which some are poisoned; where its growth is asked about, every
message of a long history is a page. A runtime that proves nothing is found out before it is timed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload
from harness.probes._awaiting import finish, settled
from harness.probes._history import turns_of
from harness.probes.session._desk import (
    Desk,
    files_in,
    require_plain,
    require_refuses,
    verify_files,
    verify_resumed,
)
from harness.probes.session._images import Dumps, Rehydrations
from harness.probes.session._loads import Loads
from harness.probes.session._pages import NOW, PAGES, authored, grown
from harness.probes.session._places import place
from harness.probes.session._tampering import tampered
from seams.contract.image import HEADER, Images
from seams.contract.recall import Recall

__all__ = ["Probe"]


class Probe:
    """Opens the KPIs of ``session/image``."""

    kpis: ClassVar[frozenset[str]] = frozenset(
        {
            "session_dump_ns",
            "session_restore_ns",
            "image_integrity_verify_ns",
            "core_image_size",
            "tamper_fail_closed",
        }
    )

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Slice, a Tally or Undefined; of an asynchronous runtime, the coroutine that returns it."""
        images: Images | None = runtime.offer("session/image", "none")
        recall: Recall | None = runtime.offer("session/recall", "none")
        if images is None or recall is None:
            lacking = "session image" if images is None else "core image to put into one"
            return Undefined("not-offered", f"The runtime {runtime.name} offers no {lacking}.")
        bodies = authored()
        if "history" in params:
            turns = turns_of(params["history"])
            if isinstance(turns, Undefined):
                return turns
            bodies = grown(turns)
        found = place(params.get("fs"))
        if isinstance(found, Undefined):
            return found
        desk = Desk(images, recall, bodies, found)
        steps = (recall.core().record, images.dump, images.load, images.rehydrate, images.verify)
        return finish(_opened(kpi, desk, params), *steps)


async def _opened(kpi: str, desk: Desk, params: Mapping[str, str]) -> Slice | Tally:
    """What was asked for; the images are gone once it is a tally, or nothing."""
    try:
        found = await _found(kpi, desk, params)
    except BaseException:
        desk.close()
        raise
    if isinstance(found, Tally):
        desk.close()
    return found


async def _found(kpi: str, desk: Desk, params: Mapping[str, str]) -> Slice | Tally:
    if kpi == "tamper_fail_closed":
        return await tampered(desk.images, desk.recall, desk.place.path)
    session, folder = await desk.session(), desk.folder()
    header = await settled(desk.images.dump(session, folder, now=NOW, durable=False))
    files = files_in(folder)
    require_plain(header)
    verify_files(files, header)
    if kpi == "core_image_size":
        # Read from another place, so that nothing comes back from where the dump was asked to put it.
        loaded = await settled(desk.images.load(folder.rename(desk.folder())))
        await verify_resumed(await settled(desk.images.rehydrate(loaded, now=NOW)), session, desk.bodies, "warm")
        sizes = {name: len(data) for name, data in files.items()}
        told = ", ".join(f"{name} {sizes[name]:,}" for name in [HEADER, *(part.name for part in header.parts)])
        raw = sum(len(each.body) for each in desk.bodies)
        return Tally(
            sum(sizes.values()),
            source="synthetic",
            evidence=(f"bytes by file: {told}", f"{PAGES} pages, whose bodies alone are {raw:,} bytes"),
        )
    work = desk.work(header)
    if kpi == "session_dump_ns":
        return Dumps(desk, work)
    keeps = kpi == "session_restore_ns"
    await require_refuses(desk.images.load if keeps else desk.images.verify, folder, desk.folder())
    if kpi == "session_restore_ns" and params["phase"] == "rehydrate":
        return Rehydrations(desk, work)
    return Loads(desk, work, session, keeps=keeps)
