"""The two ways of a read: answered by the fast path, or all the way through adjudication, engine and admission.

Both submit the same authored reads on kernels over a fast path; arguments are of one length, so that what differs is
the way. A hit is a submit alone, whose answer is then ready; a miss is a submit and its reap, with the mock engine in
it. Each round of calls has a fast path and a kernel of its own, so that neither the cache nor what is pending grows
with the number of loops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any, NamedTuple

from harness.measure.clock import Engine, WorkNotDoneError, is_async
from harness.probes._set_up import completed, distinct, now
from harness.probes.syscall._trace import HINTS, each
from harness.probes.syscall._words import result_told, verdict_told
from seams.contract.syscall import ToolCall
from seams.contract.verdict import Status, VerdictKind

__all__ = ["HELD", "ROUND", "Hits", "Misses", "read_call"]

ROUND = 256
"""Calls on one kernel."""

HELD = 16
"""Different reads that a round of hits finds cached."""


def read_call(number: int) -> ToolCall:
    """A hinted read that the default policy allows, unread and not yet submitted; its number is in the arguments."""
    args = b'{"reservation_id":"R%010d","fields":["status","passengers","fare"]}' % number
    return ToolCall("get_reservation_details", args, HINTS)


class _Books(NamedTuple):
    """What fast paths and kernels have counted together."""

    lookups: int
    hits: int
    submits: int
    vdso_hits: int
    engine_calls: int
    admitted: int
    completed: int


class _Ways:
    """Rounds of reads, and the books before and after them."""

    engine: Engine = "mock"
    source = "synthetic"

    def __init__(self, another: Callable[[], Any]) -> None:
        self._another = another
        self._numbers = count(1)
        self._paths: list[Any] = []
        self._kernels: list[Any] = []
        self._loops = 0
        self._last = 0
        self._before = _Books(*[0] * 7)

    def _rounds(self, loops: int) -> Iterator[tuple[Any, int]]:
        """A fresh kernel, and how many calls it gets."""
        self._paths, self._kernels, self._loops = [], [], loops
        for at in range(0, loops, ROUND):
            path = self._another()
            kernel = now(path.mount("default", lookup=True))
            self._paths.append(path)
            self._kernels.append(kernel)
            yield kernel, min(ROUND, loops - at)

    def _books(self) -> _Books:
        """Each object counted once, should a runtime hand out the same one again."""
        paths = [now(path.stats()) for path in distinct(self._paths)]
        kernels = [now(kernel.counters()) for kernel in distinct(self._kernels)]
        return _Books(
            lookups=sum(told.lookups for told in paths),
            hits=sum(told.hits for told in paths),
            submits=sum(told.submits for told in kernels),
            vdso_hits=sum(told.vdso_hits for told in kernels),
            engine_calls=sum(told.engine_calls for told in kernels),
            admitted=sum(told.admitted for told in kernels),
            completed=completed(self._kernels) or 0,
        )

    def _require(self, hits: int, ran: int) -> None:
        """Refuse books that moved by anything else than ``loops`` submits, so many hits and so many engine calls."""
        moved = _Books(*(after - then for after, then in zip(self._books(), self._before, strict=True)))
        counted = completed(self._kernels) is not None
        due = _Books(self._loops, hits, self._loops, hits, ran, ran, ran if counted else 0)
        if moved != due:
            found = ", ".join(
                f"{told} {name} where {wanted} were due"
                for name, told, wanted in zip(_Books._fields, moved, due, strict=True)
                if told != wanted
            )
            raise WorkNotDoneError(f"the books of {self._loops} submits show {found}")

    def _require_ready(self, submitted: Any, wanted: bytes) -> None:
        """Refuse what is no submit that was answered from the cache with ``wanted``."""
        handle, verdict = submitted if isinstance(submitted, tuple) and len(submitted) == 2 else (None, None)
        if getattr(verdict, "kind", None) != VerdictKind.ALLOW:
            raise WorkNotDoneError(f"the last submit gave {verdict_told(verdict)} where it had to be served")
        ready = now(self._kernels[-1].reap(handle))
        if getattr(ready, "payload", None) != wanted or ready.meta.get("served_by") != "vdso":
            raise WorkNotDoneError(
                f"the fast path served {result_told(ready)} where the {len(wanted)} bytes of the engine's were due"
            )


class Hits(_Ways):
    """Submits of reads that were made before, on a fast path that has kept their answers."""

    def __init__(self, another: Callable[[], Any]) -> None:
        super().__init__(another)
        self._answers: list[bytes] = []

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` submits; each round's reads were made once before the clock runs, all the way."""
        rounds = []
        for kernel, calls in self._rounds(loops):
            numbers = [next(self._numbers) for _ in range(HELD)]
            self._answers = [_answered(kernel, number) for number in numbers]
            rounds.append((kernel.submit, [read_call(numbers[at % HELD]) for at in range(calls)]))
            self._last = (calls - 1) % HELD
        self._before = self._books()
        return each(rounds)

    def check(self, result: object) -> None:
        """Every submit must have been a hit, no engine may have run, and the last answer is what the engine gave."""
        self._require(hits=self._loops, ran=0)
        self._require_ready(result, self._answers[self._last])


class Misses(_Ways):
    """Submit and reap of reads that nobody made before."""

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` reads, each with a number of its own through all batches."""
        rounds = []
        for kernel, calls in self._rounds(loops):
            numbers = [next(self._numbers) for _ in range(calls)]
            rounds.append((_whole(kernel), [read_call(number) for number in numbers]))
            self._last = numbers[-1]
        self._before = self._books()
        return each(rounds)

    def check(self, result: object) -> None:
        """Every call must have missed and reached the engine; the last answer is the cache's from now on."""
        self._require(hits=0, ran=self._loops)
        payload, status = getattr(result, "payload", None), getattr(result, "status", None)
        if status != Status.OK or not isinstance(payload, bytes):
            raise WorkNotDoneError(f"the last read came back as {result_told(result)}")
        self._require_ready(now(self._kernels[-1].submit(read_call(self._last))), payload)


def _whole(kernel: Any) -> Callable[[ToolCall], Any]:
    submit, reap = kernel.submit, kernel.reap
    waits_submit, waits_reap = is_async(submit), is_async(reap)
    if waits_submit or waits_reap:

        async def way_async(call: ToolCall) -> Any:
            handle, _ = await submit(call) if waits_submit else submit(call)
            return await reap(handle) if waits_reap else reap(handle)

        return way_async

    def way(call: ToolCall) -> Any:
        return reap(submit(call)[0])

    return way


def _answered(kernel: Any, number: int) -> bytes:
    result = now(kernel.reap(now(kernel.submit(read_call(number)))[0]))
    if getattr(result, "status", None) != Status.OK or result.meta.get("served_by") == "vdso":
        raise WorkNotDoneError(f"a read that the engine had to answer before came back as {result_told(result)}")
    payload: bytes = result.payload
    return payload
