"""Probe of ``syscall/admission``: what the gates cost by what a result carries, and how often they keep one out.

The cost is that of authored bodies. The rate is counted over one replay of the workload, on a live kernel with a mock
engine. Before either, the chain is shown a quiet body, a secret and an injection: gates that are switched off, or that
keep everything out, have neither a cost nor a rate worth knowing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from harness.measure.clock import Engine, Slice, Tally, Undefined, Workload, WorkNotDoneError, is_async
from harness.probes._awaiting import at_once, awaits, finish, settled
from harness.probes.syscall._results import CALL, PLANTED, authored, require_admitted, require_screens
from harness.probes.syscall._trace import offered, unusable
from harness.probes.syscall.submit import replay
from seams.contract.syscall import Result
from seams.contract.verdict import Status
from seams.syscall.reasons import UnknownReasonError, reason_code, reason_name

__all__ = ["Admissions", "Probe"]

SEAM = "syscall/admission"
_DISTINCT = 64
"""Bodies that differ in a batch, so that a store is not given one body over and over."""
_SET_UP = "The runtime waits inside a method that is set-up here; make that method synchronous."
_GATE = re.compile(r"[a-z][a-z0-9_.-]{0,39}").fullmatch


class Admissions:
    """Admissions of fresh results through one fresh chain a batch."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, another: Callable[[], Any], payload: str, size: int) -> None:
        self._another = another
        self._payload = payload
        self._bodies = [authored(payload, size, number) for number in range(_DISTINCT)]
        self._results: list[Result] = []
        self._chain: Any = None
        self._before: list[int] = []

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` admissions; the results and the chain are made here."""
        chain = self._another()
        if isinstance(chain, Undefined):
            raise WorkNotDoneError("the runtime offered its chain once only")
        self._chain = chain
        self._before = self._totals()
        self._results = results = [Result(Status.OK, self._bodies[at % _DISTINCT]) for at in range(loops)]
        admit = chain.admit
        if is_async(admit):

            async def run_async() -> object:
                verdict = None
                for result in results:
                    verdict = await admit(CALL, result)
                return verdict

            return run_async

        def run() -> object:
            verdict = None
            for result in results:
                verdict = admit(CALL, result)
            return verdict

        return run

    def check(self, result: object) -> None:
        """Every gate saw every result; every payload, and the last verdict, are what the body calls for."""
        loops = len(self._results)
        if self._totals() != [total + loops for total in self._before]:
            raise WorkNotDoneError(f"{loops} results were admitted, and not every gate counts as many more")
        bodies = [self._bodies[at % _DISTINCT] for at in range(loops)]
        require_admitted(self._payload, bodies[-1], result, self._results[-1])
        planted, passed = PLANTED[self._payload], self._results[-1].payload == bodies[-1]
        for at, (body, admitted) in enumerate(zip(bodies, self._results, strict=True)):
            if (admitted.payload == body) != passed or (planted and planted in admitted.payload):
                raise WorkNotDoneError(f"admission {at + 1} of {loops} left another kind of payload than the last one")

    def _totals(self) -> list[int]:
        return [tally.total for tally in at_once(settled(self._chain.tallies()), _SET_UP)]


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
    def another() -> Any:
        return offered(runtime, SEAM, "none", "default")

    found = another()
    if isinstance(found, Undefined):
        return found
    opening = _cost(found, another, params["payload"], int(params["bytes"]))
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


async def _cost(found: Any, another: Callable[[], Any], payload: str, size: int) -> Admissions:
    await require_screens(found)
    return Admissions(another, payload, size)


async def _rate(chain: Any, shown: Any, workload: Workload) -> Tally | Undefined:
    await require_screens(shown)
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
        if not isinstance(gate, str) or not _GATE(gate) or gate in books:
            raise WorkNotDoneError("a gate lacks a name of its own, of small letters, digits and hyphens")
        reasons: Counter[str] = Counter()
        for name, count in tally.reasons.items():
            reasons[_reason(name)] += count
        books[gate] = (tally.total, tally.quarantined, reasons)
    return books


def _reason(name: str) -> str:
    """The name as it is where it is one; a runtime's free text has no place in a histogram."""
    try:
        return reason_name(reason_code(name))
    except UnknownReasonError:
        return "UNNAMED"
