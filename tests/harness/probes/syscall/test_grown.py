"""Submits after a long history: it is really there, every handle is redeemed, and idle kernels are found out."""

from __future__ import annotations

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.syscall._grown import _history, grown
from harness.probes.syscall.submit import Probe
from seams.contract.syscall import Handle, Result, ToolCall, Verdict
from seams.contract.verdict import Status, VerdictKind
from seams.runtimes.reference import make
from seams.syscall.kernel import Kernel, fresh_kernel


class Offering:
    name, version = "stub", "1"

    def __init__(self, kernel: object) -> None:
        self.kernel = kernel

    def offer(self, seam: str, engine: str) -> object:
        return self.kernel


def test_the_history_is_held_and_every_handle_is_redeemed() -> None:
    sliced = Probe().open("submit_latency", make(), None, {"outcome": "allow", "history": "100"})
    for loops in (1, 300):
        sliced.check(sliced.batch(loops)())
    assert sliced.work == {"calls judged": 1, "bytes of arguments": 20}
    assert sliced.held > 500_000
    assert (sliced.engine, sliced.source) == ("mock", "synthetic")
    assert not sliced._kernel.pending
    assert sliced._kernel.counters().submits == 200 + 301
    newest = list(_history(100))[-2]
    again = ToolCall(newest.tool, newest.args, newest.meta, trace_id=newest.trace_id)
    assert sliced._kernel.submit(again)[1].by == "vdso", "the batches left the history as it was"


def test_a_kernel_that_does_nothing_is_found_out() -> None:
    class Idle(Kernel):
        idle = False

        def in_world(self, world):
            return self

        def submit(self, call):
            if self.idle:
                return Handle(1), Verdict(VerdictKind.ALLOW)
            return super().submit(call)

    made = fresh_kernel("airline")
    kernel = Idle(made.chain, made.engine, made.fast_path, made.lookup, made.admitters)
    sliced = grown(Offering(kernel), 3)
    sliced.check(sliced.batch(5)())
    Idle.idle = True
    with pytest.raises(WorkNotDoneError, match="the kernel counted 0"):
        sliced.check(sliced.batch(5)())


def test_a_kernel_that_judges_nothing_is_found_out() -> None:
    class Lax(Kernel):
        def in_world(self, world):
            return self

        def submit(self, call):
            self.tally.submits += 1
            self.seq += 1
            self.pending[self.seq] = call
            return Handle(self.seq), Verdict(VerdictKind.ALLOW)

    made = fresh_kernel("airline")
    with pytest.raises(WorkNotDoneError, match="moved denies by 0"):
        grown(Offering(Lax(made.chain, made.engine, made.fast_path, made.lookup, made.admitters)), 3)


def test_a_history_that_is_refused_is_no_history() -> None:
    class Refusing(Kernel):
        def in_world(self, world):
            return self

        def reap(self, handle):
            super().reap(handle)
            return Result(Status.ERROR, b"{}")

    made = fresh_kernel("airline")
    kernel = Refusing(made.chain, made.engine, made.fast_path, made.lookup, made.admitters)
    with pytest.raises(WorkNotDoneError, match="call 0 of the history"):
        grown(Offering(kernel), 3)


def test_a_runtime_without_a_kernel_and_a_length_that_is_none_are_undefined() -> None:
    assert isinstance(grown(Offering(None), 3), Undefined)
    found = Probe().open("submit_latency", make(), None, {"outcome": "allow", "history": "many"})
    assert isinstance(found, Undefined)
