"""How often gates keep a result out: their own books over one replay, held against the kernel's.

Every gate must have seen every result that the engine returned, and must give a reason for each one that it kept out.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.probes._awaiting import settled
from harness.probes.syscall._words import is_name, reason_told
from harness.probes.syscall.submit import replay

__all__ = ["screened"]


async def screened(chain: Any, workload: Workload) -> Tally | Undefined:
    """Results kept out over results that entered the chain, by gate and reason.

    Raises:
        WorkNotDoneError: the books of the gates, of the kernel and of the replay contradict each other.
    """
    kernel = await settled(chain.mount(workload.data["world"]))
    before = _books(await settled(chain.tallies()))
    counters = (await replay(kernel, workload)).counters
    entered = counters.engine_calls - counters.engine_errors
    after = _books(await settled(chain.tallies()))
    kept: Counter[str] = Counter()
    for gate, (total, quarantined, reasons) in after.items():
        total_before, quarantined_before, reasons_before = before[gate]
        if total - total_before != entered:
            raise WorkNotDoneError(f"{entered} results entered the chain and {gate} counts {total - total_before}")
        found = reasons - reasons_before
        if quarantined - quarantined_before != found.total():
            raise WorkNotDoneError(
                f"{gate} counts {quarantined - quarantined_before} quarantines and gives reasons for {found.total()}"
            )
        kept.update({f"{gate}/{reason}": count for reason, count in found.items()})
    if kept.total() < counters.quarantines:
        raise WorkNotDoneError(
            f"the kernel counts {counters.quarantines} quarantines and all gates together {kept.total()}"
        )
    if not entered:
        return Undefined("no-denominator", f"No call of {workload.name} returned a result, so no gate saw one.")
    return Tally(kept.total(), entered, reasons=dict(kept), source=workload.source)


def _books(tallies: Any) -> dict[str, tuple[int, int, Counter[str]]]:
    """Results seen, results kept out and their reasons, by gate; no word in it but names that are names."""
    books: dict[str, tuple[int, int, Counter[str]]] = {}
    for tally in tallies:
        gate = tally.gate
        if not is_name(gate) or gate in books:
            raise WorkNotDoneError("a gate lacks a name of its own, of small letters, digits and hyphens")
        reasons: Counter[str] = Counter()
        for name, count in tally.reasons.items():
            reasons[reason_told(name)] += count
        books[gate] = (tally.total, tally.quarantined, reasons)
    return books
