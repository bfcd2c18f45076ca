"""The probe of one submit, by outcome, and the runtimes that it finds out."""

from __future__ import annotations

from typing import Any

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.measure.timing import Loop, time_batch
from harness.probes.syscall._submits import HANDLES, OUTCOMES, Submits
from harness.probes.syscall.submit import Probe
from kpis.registry import load
from seams.contract.syscall import Counters, Handle, Result, ToolCall, Verdict
from seams.contract.verdict import Status, Taint, VerdictKind
from seams.runtimes.reference import Reference
from seams.syscall.kernel import Kernel, fresh_kernel
from tests.harness.probes.syscall.traces import Offers, Slow


def opened(runtime: Any, outcome: str = "allow") -> Any:
    return Probe().open("submit_latency", runtime, None, {"outcome": outcome})


def test_the_outcomes_are_those_of_the_catalog() -> None:
    assert set(load().get("submit_latency").params["outcome"]) == set(OUTCOMES)


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("loops", [1, HANDLES, HANDLES + 1, 200])
def test_every_loop_is_one_submit_of_its_outcome(outcome: str, loops: int) -> None:
    measured = opened(Reference(), outcome)
    assert (measured.engine, measured.source) == ("noop", "synthetic")
    assert time_batch(measured, loops, Loop()).loops == loops
    pending = [len(kernel.pending) for kernel in measured._kernels]
    assert max(pending) <= HANDLES
    assert sum(pending) == loops - 1, "the last one was reaped, to see that it can be"


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_no_submit_is_timed_in_a_trace_that_saw_nothing(outcome: str) -> None:
    measured = opened(Reference(), outcome)
    measured.batch(3)
    for kernel in measured._kernels:
        seen = Taint.TRUSTED if outcome == "deny" else Taint.TAINTED
        assert kernel.flow.mark("") is seen, "a refusal is the kernel's own text"


class Own(Kernel):
    """The reference kernel with one part of it broken; ``in_world`` gives another of the same kind."""

    __slots__ = ()

    @classmethod
    def fresh(cls) -> Own:
        made = fresh_kernel("airline", "noop")
        return cls(made.chain, made.engine, made.fast_path, made.lookup, made.admitters, made.resolvers, flow=made.flow)

    def in_world(self, world: str) -> Own:
        return type(self).fresh()


class Switched(Own):
    """Submits nothing: the same handle and the same verdict for everybody, and books to match neither."""

    def submit(self, call: ToolCall) -> tuple[Handle, Verdict]:
        return Handle(1), Verdict(VerdictKind.ALLOW, by="monitor")

    def reap(self, handle: Handle) -> Result:
        return Result(Status.OK, b"{}")


class Cooked(Switched):
    """As much, with books that were made up."""

    def counters(self) -> Counters:
        self.tally.submits += 64
        return Counters(submits=self.tally.submits)


class NoCache(Own):
    """A fast path that is never asked."""

    @classmethod
    def fresh(cls) -> Own:
        made = super().fresh()
        made.lookup = False
        return made


class NoRewrite(Own):
    """Says TRANSFORM and leaves the arguments as they were."""

    def submit(self, call: ToolCall) -> tuple[Handle, Verdict]:
        before = call.args
        answer = Kernel.submit(self, call)
        call.args = before
        return answer


class Lax(Own):
    """Lets everything through, and counts honestly."""

    def submit(self, call: ToolCall) -> tuple[Handle, Verdict]:
        self.tally.submits += 1
        self.seq += 1
        self.pending[self.seq] = call
        return Handle(self.seq), Verdict(VerdictKind.ALLOW, by="lax")


class NoRepair(Own):
    """Refuses what it must, and asks no rung that would put the arguments right."""

    def submit(self, call: ToolCall) -> tuple[Handle, Verdict]:
        if call.tool != "convert_currency":
            return Kernel.submit(self, call)
        self.tally.submits += 1
        self.seq += 1
        self.pending[self.seq] = call
        return Handle(self.seq), Verdict(VerdictKind.ALLOW, by="lax")


class Lost(Own):
    """Hands out tickets that nobody redeems."""

    def reap(self, handle: Handle) -> Result:
        return Result(Status.ERROR, b"{}")


class Speechless(Own):
    def submit(self, call: ToolCall) -> Any:
        Kernel.submit(self, call)


@pytest.mark.parametrize(
    ("kernel", "outcome", "said"),
    [
        (Switched, "allow", "moved submits by 0"),
        (Cooked, "deny", "moved"),
        (Lax, "allow", "moved denies by 0"),
        (Lax, "hit", "moved denies by 0"),
        (NoCache, "hit", "moved vdso_hits by 0"),
        (NoRewrite, "transform", "other arguments"),
        (Lax, "deny", "moved denies by 0"),
        (NoRepair, "transform", "moved transforms by 0"),
        (Lost, "allow", "which is no DENY"),
        (Lost, "deny", "which is no DENY"),
        (Speechless, "allow", "no handle with a verdict"),
    ],
)
def test_work_that_was_not_done_is_found_out(kernel: type[Own], outcome: str, said: str) -> None:
    with pytest.raises((WorkNotDoneError, TypeError), match=f"{said}|cannot unpack"):
        time_batch(opened(Offers(kernel.fresh()), outcome), 5, Loop())


def test_the_reference_kernel_in_such_clothes_is_sound() -> None:
    for outcome in OUTCOMES:
        assert time_batch(opened(Offers(Own.fresh()), outcome), 70, Loop()).loops == 70


def test_a_submit_may_be_awaited() -> None:
    loop = Loop()
    measured = loop.settle(opened(Offers(Slow(fresh_kernel("airline", "noop"))), "transform"))
    assert time_batch(measured, 70, loop).loops == 70
    loop.close()


def test_nothing_offered() -> None:
    answer = opened(Offers(None))
    assert isinstance(answer, Undefined)
    assert answer.reason == "not-offered"


def test_a_kernel_that_is_offered_once_only() -> None:
    class Once:
        name, version = "once", "1"
        left = 1

        def offer(self, seam: str, engine: str) -> Any:
            self.left -= 1
            return _Bare(fresh_kernel("airline", "noop")) if self.left >= 0 else None

    with pytest.raises(WorkNotDoneError, match="once only"):
        opened(Once())


class _Bare:
    """A kernel that knows no worlds."""

    def __init__(self, inner: Kernel) -> None:
        self.submit, self.reap, self.counters = inner.submit, inner.reap, inner.counters


def test_one_kernel_that_is_offered_again_and_again_is_counted_once() -> None:
    bare = _Bare(fresh_kernel("airline", "noop"))
    assert time_batch(opened(Offers(bare), "deny"), 3 * HANDLES, Loop()).loops == 3 * HANDLES


def test_a_slice_makes_fresh_calls() -> None:
    measured = opened(Reference())
    assert isinstance(measured, Submits)
    assert measured.call() is not measured.call()
