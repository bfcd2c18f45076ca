"""What one admission costs: authored bodies through one fresh chain of gates a batch, nothing else around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.measure.clock import Engine, WorkNotDoneError, is_async
from harness.probes._set_up import now
from harness.probes.syscall._results import CALL, PLANTED, authored, require_admitted
from seams.contract.syscall import Result
from seams.contract.verdict import Status

__all__ = ["Admissions"]

_DISTINCT = 64
"""Bodies that differ in a batch, so that a store is not given one body over and over."""


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
        self._chain = chain = self._another()
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
        return [tally.total for tally in now(self._chain.tallies())]
