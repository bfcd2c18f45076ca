"""The probe of the arbiter: collisions put to it pair by pair, admissions, and arbiters that are none."""

from __future__ import annotations

import asyncio
from itertools import combinations
from typing import Any

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.measure.timing import Loop
from harness.probes.fleet.arbiter import LEASES, Probe, intersect, layout
from kpis.formulas.fleet.arbiter import collisions
from seams.contract.fleet_arbiter import Decision, Lease, Ruling
from seams.fleet.arbiter import TreeArbiter
from seams.runtimes.reference import make
from tests.harness.probes.syscall.traces import Makes


def counted(make_arbiter: Any) -> Any:
    return Probe().open("arbitration_collisions", Makes(make_arbiter), None, {})


def timed(make_arbiter: Any) -> Any:
    return Probe().open("arbitration_ns", Makes(make_arbiter), None, {})


def test_collisions_of_the_layout() -> None:
    tally = Probe().open("arbitration_collisions", make(), None, {})
    assert (tally.numerator, tally.basis) == (24, "count")
    assert "1 120, 2 56, 4 24, 8 8, 16 0" in tally.evidence[1]


@pytest.mark.parametrize("lanes", [1, 2, 3, 4, 7, 16])
def test_a_layout_has_the_pairs_that_the_count_says(lanes: int) -> None:
    pairs = sum(intersect(one, other) for one, other in combinations(layout(16, lanes), 2))
    assert pairs == collisions(16, lanes)


def test_the_reference_is_timed() -> None:
    sliced = Probe().open("arbitration_ns", make(), None, {})
    assert (sliced.engine, sliced.source) == ("none", "synthetic")
    for loops in (1, 2, 7, 300):
        result = sliced.batch(loops)()
        assert len(result) == loops
        sliced.check(result)
    assert sliced.work["live leases before"] == LEASES


class LetsAll(TreeArbiter):
    def acquire(self, holder, trees):
        return Decision(Ruling.ADMITTED, Lease(1, holder, tuple(trees)))


class LetsNone(TreeArbiter):
    def acquire(self, holder, trees):
        return Decision(Ruling.HELD)


class LooksAtEqualTreesOnly(TreeArbiter):
    def acquire(self, holder, trees):
        found = super().acquire(holder, trees)
        if found.ruling is Ruling.HELD and all(lease.trees != tuple(trees) for lease in found.in_the_way):
            return Decision(Ruling.ADMITTED, Lease(99, holder, tuple(trees)))
        return found


class LetsParents(TreeArbiter):
    """Looks whether a tree lies below a leased one, and never whether a leased one lies below it."""

    def acquire(self, holder, trees):
        found = super().acquire(holder, trees)
        if found.ruling is Ruling.HELD and not any(
            (tree + "/").startswith(held + "/") for tree in trees for lease in found.in_the_way for held in lease.trees
        ):
            return Decision(Ruling.ADMITTED, Lease(99, holder, tuple(trees)))
        return found


class LetsChildren(TreeArbiter):
    """Looks whether a leased tree lies below the one that is asked for, and never the other way round."""

    def acquire(self, holder, trees):
        found = super().acquire(holder, trees)
        if found.ruling is Ruling.HELD and not any(
            (held + "/").startswith(tree + "/") for tree in trees for lease in found.in_the_way for held in lease.trees
        ):
            return Decision(Ruling.ADMITTED, Lease(99, holder, tuple(trees)))
        return found


class ComparesText(TreeArbiter):
    """Takes ``src/part1`` for the parent of ``src/part10``."""

    def acquire(self, holder, trees):
        for lease in self.live():
            if any(tree.startswith(other) for tree in trees for other in lease.trees):
                return Decision(Ruling.HELD, in_the_way=(lease,))
        return super().acquire(holder, trees)


class FollowsDots(TreeArbiter):
    def acquire(self, holder, trees):
        return super().acquire(holder, [tree.lstrip("/.") or "x" for tree in trees])


class KeepsNothing(TreeArbiter):
    def live(self):
        return ()


class NeverReleases(TreeArbiter):
    def release(self, number):
        return False


@pytest.mark.parametrize(
    "kind", [LetsAll, LetsNone, LooksAtEqualTreesOnly, LetsParents, LetsChildren, FollowsDots, NeverReleases]
)
def test_a_count_by_what_is_no_arbiter(kind) -> None:
    with pytest.raises(WorkNotDoneError):
        counted(kind)


@pytest.mark.parametrize(
    "kind",
    [LetsAll, LetsNone, FollowsDots, ComparesText, LooksAtEqualTreesOnly, LetsParents, LetsChildren, KeepsNothing],
)
def test_a_time_by_what_is_no_arbiter(kind) -> None:
    with pytest.raises(WorkNotDoneError):
        sliced = timed(kind)
        sliced.check(sliced.batch(200)())


def test_answers_for_fewer_requests() -> None:
    sliced = timed(TreeArbiter)
    result = sliced.batch(4)()
    with pytest.raises(WorkNotDoneError, match="4 requests had 3 answers"):
        sliced.check(result[:3])


def test_an_asynchronous_arbiter_is_awaited() -> None:
    class Slow(TreeArbiter):
        async def acquire(self, holder, trees):
            return TreeArbiter.acquire(self, holder, trees)

    loop = Loop()
    assert loop.settle(counted(Slow)).numerator == 24
    sliced = loop.settle(timed(Slow))
    batch = sliced.batch(3)
    assert asyncio.iscoroutinefunction(batch)
    sliced.check(loop.run(batch()))
    loop.close()


def test_it_is_not_offered_or_once_only() -> None:
    assert counted(lambda: None) == Undefined("not-offered", "The runtime own offers no arbiter of file trees.")
    made = iter([TreeArbiter(), None])
    sliced = timed(lambda: next(made))
    with pytest.raises(WorkNotDoneError, match="once only"):
        sliced.batch(1)


class DecidesLater:
    """Stands for a decision that is made when somebody looks at it."""

    def __init__(self, arbiter, holder, trees) -> None:
        self._made = lambda: TreeArbiter.acquire(arbiter, holder, trees)
        self._found = None

    def __getattr__(self, name: str) -> Any:
        self._found = self._found or self._made()
        return getattr(self._found, name)


class PutsOff(TreeArbiter):
    def acquire(self, holder, trees):
        if holder.startswith("worker"):
            return DecidesLater(self, holder, trees)
        return super().acquire(holder, trees)


def test_a_decision_that_is_put_off_past_the_clock_is_none() -> None:
    sliced = timed(PutsOff)
    with pytest.raises(WorkNotDoneError, match="DecidesLater, no Decision"):
        sliced.check(sliced.batch(20)())
