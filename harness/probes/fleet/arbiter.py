"""Drives the arbiter: what an admission costs among live leases, and how many pairs of workers are in each other's way.

What intersects is worked out here, by comparing the parts of two paths, and no ruling is believed. The timed requests
are half of free trees and half of trees that somebody holds, in turn; every ruling of a batch is looked at. Before
that, paths that leave the root and leases that hold nothing have to be refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from typing import Any, ClassVar

from harness.measure.clock import Engine, Slice, Tally, Undefined, Workload, WorkNotDoneError, is_async
from harness.probes._awaiting import awaits, finish, settled
from harness.probes._set_up import now
from kpis.formulas.fleet.arbiter import collisions
from seams.contract.fleet_arbiter import Arbiter, Decision, Lease, Ruling

__all__ = ["LANES", "LEASES", "WORKERS", "Admissions", "Probe", "intersect", "layout"]

WORKERS, LANES = 16, 4
"""The layout whose pairs are counted."""

LEASES = 64
"""Live leases among which an admission is timed."""

_OUTSIDE = ("/etc", "..", "a/../../b", "a\0b", "")


def intersect(one: str, other: str) -> bool:
    """Whether one path is the other or lies below it. Both are plain: no dots, no empty parts."""
    a, b = one.split("/"), other.split("/")
    return all(x == y for x, y in zip(a, b, strict=False))


def layout(workers: int, lanes: int) -> list[str]:
    """The tree of each worker: dealt out over the lanes, and in a lane each one's within that of the one before."""
    return [f"lane-{worker % lanes}" + "/deeper" * (worker // lanes) for worker in range(workers)]


class Admissions:
    """One call is one request of a lease."""

    engine: Engine = "none"
    source = "synthetic"

    def __init__(self, another: Callable[[], Arbiter | None]) -> None:
        self._another = another
        self._requests: list[tuple[str, list[str]]] = []
        self._arbiter: Any = None
        self.work = {"live leases before": LEASES, "trees asked for": 1}

    def batch(self, loops: int) -> Callable[[], object]:
        """``loops`` requests at a fresh arbiter that has its leases; the result is every decision."""
        self._arbiter = self._another()
        if self._arbiter is None:
            raise WorkNotDoneError("the runtime offered its arbiter once only")
        for lease in range(LEASES):
            if now(self._arbiter.acquire(f"holder {lease}", [_held(lease)])).ruling is not Ruling.ADMITTED:
                raise WorkNotDoneError("a free tree was not let")
        self._requests = [(f"worker {number}", [_asked(number)[0]]) for number in range(loops)]
        requests, acquire = self._requests, self._arbiter.acquire
        if is_async(acquire):

            async def run_async() -> object:
                return [await acquire(holder, trees) for holder, trees in requests]

            return run_async

        def run() -> object:
            return [acquire(holder, trees) for holder, trees in requests]

        return run

    def check(self, result: Any) -> None:
        """Raise WorkNotDoneError unless the free trees were let, the others refused by their holders, and all noted."""
        if len(result) != len(self._requests):
            raise WorkNotDoneError(f"{len(self._requests)} requests had {len(result)} answers")
        for number, decision in enumerate(result):
            if type(decision) is not Decision:  # a stand-in may decide only when it is looked at, past the clock
                raise WorkNotDoneError(f"request {number} was answered with a {type(decision).__name__}, no Decision")
            _, due = _asked(number)
            if decision.ruling is not (Ruling.ADMITTED if due is None else Ruling.HELD):
                raise WorkNotDoneError(f"request {number} was {decision.ruling.value}, and must not be")
            if any(type(lease) is not Lease for lease in (decision.lease, *decision.in_the_way) if lease is not None):
                raise WorkNotDoneError(f"request {number} was answered with a lease that is no Lease")
            holders = [lease.holder for lease in decision.in_the_way]
            if due is not None and holders != [f"holder {due}"]:
                raise WorkNotDoneError(f"request {number} is in the way of {', '.join(holders) or 'nobody'}")
        live = len(now(self._arbiter.live()))
        if live != LEASES + (len(self._requests) + 1) // 2:
            raise WorkNotDoneError(f"{live} leases are live, which are not those that were let")


def _held(lease: int) -> str:
    return f"src/part{lease}/sub"


def _asked(number: int) -> tuple[str, int | None]:
    """A tree, and which of the first leases is in its way: none and one in turn.

    Half of the free trees lie beside a held one and have a name that begins like it. What is asked for is now below,
    now above and now just what is held: above only those beside which nothing else was let, so that one is in the way.
    """
    turn, kind = divmod(number, 2)
    lease = turn % LEASES
    if kind == 0:
        return (f"docs/page{number}", None) if turn % 2 else (f"{_held(lease | 1)}{number}", None)
    match turn % 3:
        case 0:
            return f"{_held(lease)}/deeper/still", lease
        case 1:
            return _held(lease & ~1).removesuffix("/sub"), lease & ~1
        case _:
            return _held(lease), lease


class Probe:
    """Opens the time of an admission, or the count of collisions."""

    kpis: ClassVar[frozenset[str]] = frozenset({"arbitration_ns", "arbitration_collisions"})

    def open(self, kpi: str, runtime: Any, workload: Workload | None, params: Mapping[str, str]) -> Any:  # noqa: ARG002
        """A Slice, a Tally or Undefined; of an asynchronous arbiter, the coroutine that returns it.

        Raises:
            WorkNotDoneError: the arbiter lets what it must not, or does not let what is free.
        """
        arbiter: Arbiter | None = runtime.offer("fleet/arbiter", "none")
        if arbiter is None:
            return Undefined("not-offered", f"The runtime {runtime.name} offers no arbiter of file trees.")
        opening = _counted(arbiter) if kpi == "arbitration_collisions" else _timed(arbiter, runtime)
        return finish(opening, waits=awaits(arbiter, "acquire", "release", "live"))


async def _verify_refusals(arbiter: Any) -> None:
    """What leaves the root is outside, and a lease on nothing is none; neither leaves a lease behind."""
    for tree in _OUTSIDE:
        for trees in ([tree], ["fine", tree]):
            ruling = (await settled(arbiter.acquire("anybody", trees))).ruling
            if ruling is not Ruling.OUTSIDE:
                raise WorkNotDoneError(f"the tree {tree!r} was {ruling.value}, and is outside the root")
    if (await settled(arbiter.acquire("anybody", []))).ruling is not Ruling.EMPTY:
        raise WorkNotDoneError("a lease on no tree was not refused as one")
    if len(await settled(arbiter.live())):
        raise WorkNotDoneError("a refusal left a lease behind")


async def _pairs_refused(arbiter: Any, trees: Sequence[str]) -> int:
    """Pairs of which the arbiter lets one and then not the other, whichever comes first; both are then given back.

    Raises:
        WorkNotDoneError: it refused a pair whose trees do not intersect, or let one whose trees do.
    """
    refused = 0
    for one, other in permutations(trees, 2):
        first = await settled(arbiter.acquire("one", [one]))
        second = await settled(arbiter.acquire("other", [other]))
        wanted = Ruling.HELD if intersect(one, other) else Ruling.ADMITTED
        if first.ruling is not Ruling.ADMITTED or second.ruling is not wanted:
            raise WorkNotDoneError(f"{one} and {other} were {first.ruling.value} and {second.ruling.value}")
        refused += second.ruling is Ruling.HELD
        for decision in (first, second):
            if decision.lease is not None and not await settled(arbiter.release(decision.lease.number)):
                raise WorkNotDoneError("a live lease could not be given back")
    return refused // 2


async def _counted(arbiter: Any) -> Tally:
    await _verify_refusals(arbiter)
    counts = {lanes: await _pairs_refused(arbiter, layout(WORKERS, lanes)) for lanes in (1, 2, LANES, 8, WORKERS)}
    wanted = {lanes: collisions(WORKERS, lanes) for lanes in counts}
    if counts != wanted:
        raise WorkNotDoneError(f"pairs by lanes are {counts}, and have to be {wanted}")
    told = ", ".join(f"{lanes} {count}" for lanes, count in counts.items())
    pairs = WORKERS * (WORKERS - 1) // 2
    evidence = (
        f"{WORKERS} workers, {pairs} pairs, each put to the arbiter: {counts[LANES]} refused over {LANES} lanes",
        f"refused by number of lanes: {told}; equal to the count over the layout",
    )
    return Tally(counts[LANES], source="synthetic", evidence=evidence)


async def _timed(arbiter: Any, runtime: Any) -> Slice:
    await _verify_refusals(arbiter)
    return Admissions(lambda: runtime.offer("fleet/arbiter", "none"))
