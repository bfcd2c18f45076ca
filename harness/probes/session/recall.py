"""Drives the core image: what it keeps, what of it is warm after a resume, and whether what was sealed stays sealed.

The results are the probe's own. Books are believed where they agree with what the runtime said of each result when it
was recorded, and with the pages that are there afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from harness.measure.clock import Tally, Undefined, Workload
from harness.probes._awaiting import finish
from harness.probes.session._boundary import survived
from harness.probes.session._kept import paged_out, promoted
from harness.probes.session._places import Place
from harness.probes.session._warmth import warm_index, warm_kv
from seams.contract.recall import Recall

__all__ = ["Probe"]


class Probe:
    """Opens the KPIs of ``session/recall``."""

    kpis: ClassVar[frozenset[str]] = frozenset(
        {"session_resume_warmth", "promotion_rate", "quarantine_survives_boundary", "pageout_ratio"}
    )

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Tally or Undefined; of an asynchronous runtime, the coroutine that returns it."""
        recall: Recall | None = runtime.offer("session/recall", "none")
        if recall is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no core image.")
        core = recall.core()
        steps: list[Callable[..., Any]] = [core.record, core.resolve, core.recall, core.clear]
        steps += [core.promotions, core.stats]
        if kpi == "promotion_rate":
            return finish(promoted(recall), *steps)
        if kpi == "pageout_ratio":
            return finish(paged_out(recall), *steps)
        images = runtime.offer("session/image", "none")
        if images is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no image to bring a session back from.")
        steps += [images.dump, images.load, images.rehydrate, images.pack, images.unpack]
        return finish(_crossed(kpi, runtime, recall, images, params), *steps)


async def _crossed(kpi: str, runtime: Any, recall: Recall, images: Any, params: Mapping[str, str]) -> Tally:
    with Place() as place:
        if kpi == "quarantine_survives_boundary":
            return await survived(runtime, place.path)
        return await (warm_index if params["what"] == "index" else warm_kv)(recall, images, place.path)
