"""Probe of ``syscall/admission``: what the gates cost by what a result carries, and how often they keep one out.

The cost is that of authored bodies. The rate is counted over one replay of the workload, on a live kernel with a mock
engine. Before either, the chain is shown a quiet body, a secret and an injection: gates that are switched off, or that
keep everything out, have neither a cost nor a rate worth knowing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from harness.measure.clock import Slice, Tally, Undefined, Workload
from harness.probes._awaiting import awaits, finish
from harness.probes.syscall._admissions import Admissions
from harness.probes.syscall._results import require_screens
from harness.probes.syscall._screened import screened
from harness.probes.syscall._trace import another, offered, unusable

__all__ = ["Probe"]

SEAM = "syscall/admission"


class Probe:
    """Opens the cost of an admission at one point, or the rate of a replay."""

    kpis: ClassVar[frozenset[str]] = frozenset({"admit_chain_ns", "screen_quarantine_rate"})

    def open(
        self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]
    ) -> Slice | Tally | Undefined:
        """The slice or the rate, or why there is none.

        Raises:
            WorkNotDoneError: the chain does not keep out what it must, or its books do not balance.
        """
        return _open_cost(runtime, params) if kpi == "admit_chain_ns" else _open_rate(runtime, workload)


def _open_cost(runtime: Any, params: Mapping[str, str]) -> Slice | Undefined:
    found = offered(runtime, SEAM, "none", "default")
    if isinstance(found, Undefined):
        return found
    opening = _cost(found, another(runtime, SEAM, "none", "default", found), params["payload"], int(params["bytes"]))
    opened: Slice = finish(opening, waits=awaits(found, "admit"))
    return opened


def _open_rate(runtime: Any, workload: Workload | None) -> Tally | Undefined:
    refused = unusable(workload)
    if refused is not None or workload is None:
        return refused or Undefined("workload-kind", "There is no workload.")
    world = workload.data["world"]
    # Two of them: what is shown to the one is in no count of the other.
    shown, chain = (offered(runtime, SEAM, "mock", world) for _ in range(2))
    if isinstance(shown, Undefined) or isinstance(chain, Undefined):
        return shown if isinstance(shown, Undefined) else Undefined("not-offered", f"{SEAM} was offered once only.")
    if not hasattr(chain, "mount"):
        return Undefined("not-offered", f"The runtime's {SEAM} has no method mount, so no kernel can be replayed.")
    waits = awaits(chain, "admit", "mount", "tallies")
    if not waits:
        waits = awaits(shown.mount(world), "submit", "reap", "counters")
    rate: Tally | Undefined = finish(_rate(chain, shown, workload), waits=waits)
    return rate


async def _cost(found: Any, make: Callable[[], Any], payload: str, size: int) -> Admissions:
    await require_screens(found)
    return Admissions(make, payload, size)


async def _rate(chain: Any, shown: Any, workload: Workload) -> Tally | Undefined:
    await require_screens(shown)
    return await screened(chain, workload)
