"""The probes of the call boundary: tallies, hit rates, reaps."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Tally, Undefined, WorkNotDoneError
from harness.measure.timing import Loop, time_batch
from harness.probes.syscall.reap import Probe as ReapProbe
from harness.probes.syscall.submit import Probe as SubmitProbe
from harness.probes.syscall.vdso import Probe as VdsoProbe
from seams.contract.syscall import Counters, Result, ToolCall
from seams.contract.verdict import Status
from seams.engines.mock import MockEngine
from seams.engines.noop import NoopEngine
from seams.runtimes.reference import Reference
from seams.syscall.kernel import Kernel, fresh_kernel
from seams.syscall.vdso import Vdso
from tests.harness.probes.syscall.traces import Offers, Slow, airline, library, workload

COUNTS = ("denies", "transforms", "engine_calls")


def counted(runtime, work) -> tuple[Any, ...]:
    return tuple(SubmitProbe().open(kpi, runtime, work, {}).numerator for kpi in COUNTS)


def reaped(runtime, work, what: str = "kernel"):
    return ReapProbe().open("reap_latency_kernel", runtime, work, {"slice": what})


def served(runtime, work, arm: str = "isolated"):
    return VdsoProbe().open("vdso_hit_rate", runtime, work, {"arm": arm})


def test_counts_of_authored_traces() -> None:
    assert counted(Reference(), library()) == (1, 1, 4)
    assert counted(Reference(), airline()) == (2, 2, 3)


def test_counts_of_recorded_traces(cases: Path) -> None:
    assert counted(Reference(), workload(cases / "replay" / "tau2-smoke.json")) == (0, 0, 6)
    assert counted(Reference(), workload(cases / "replay" / "turntax-airline.json")) == (1, 2, 6)


def test_verdicts_by_kind_and_reason_one_a_submitted_call() -> None:
    tally = SubmitProbe().open("verdict_reason_distribution", Reference(), airline(), {})
    assert tally == Tally(
        7,
        reasons={
            "ALLOW/NONE": 3,
            "TRANSFORM/MISROUTE": 2,
            "DENY/MALFORMED": 1,
            "DENY/POLICY_BLOCK": 1,
        },
        source="replay",
    )


def test_awaited_kernels_count_the_same() -> None:
    loop = Loop()
    for kpi, expected in zip(COUNTS, (1, 1, 4), strict=True):
        runtime = Offers(Slow(fresh_kernel("default"), waits=True))
        assert loop.settle(SubmitProbe().open(kpi, runtime, library(), {})).numerator == expected
    loop.close()


class Cooked(Kernel):
    """A kernel with a wrong counter."""

    __slots__ = ("wrong",)

    def counters(self) -> Counters:
        told = super().counters()
        return replace(told, **{self.wrong: getattr(told, self.wrong) + 1})


class Idle(Kernel):
    """A kernel that counts engine calls it does not make."""

    __slots__ = ()

    def reap(self, handle: Any) -> Result:
        entry = self.pending.pop(handle.seq)
        if isinstance(entry, ToolCall):
            self.tally.engine_calls += 1
            return Result(Status.OK, b"{}")
        self.pending[handle.seq] = entry
        return super().reap(handle)

    def in_world(self, world: str) -> Idle:
        return self


def of(kind: type[Kernel], engine: Any) -> Any:
    kernel = fresh_kernel("default", engine, lookup=False)
    made = kind(kernel.chain, kernel.engine, kernel.fast_path, False, kernel.admitters)
    made.__class__.in_world = lambda self, world: self
    return made


@pytest.mark.parametrize("wrong", ["submits", "vdso_hits", "engine_calls", "denies", "transforms"])
def test_a_wrong_counter_is_work_not_done(wrong: str) -> None:
    kernel = of(Cooked, MockEngine())
    kernel.wrong = wrong
    with pytest.raises(WorkNotDoneError):
        SubmitProbe().open("denies", Offers(kernel), library(), {})


def test_a_kernel_that_stops_calling_its_engine_is_found_out() -> None:
    with pytest.raises(WorkNotDoneError, match="engine ran 0"):
        SubmitProbe().open("engine_calls", Offers(of(Idle, MockEngine())), library(), {})
    measured = reaped(Offers(of(Idle, NoopEngine())), library())
    with pytest.raises(WorkNotDoneError, match="it ran 0"):
        time_batch(measured, 5, Loop())


@pytest.mark.parametrize("work", [library(), airline()])
@pytest.mark.parametrize(("what", "engine"), [("kernel", "noop"), ("engine", "mock")])
def test_reaps_by_slice(work, what: str, engine: str) -> None:
    measured = reaped(Reference(), work, what)
    assert measured.engine == engine
    for loops in (1, 4, 50):
        assert time_batch(measured, loops, Loop()).loops == loops


def test_a_reap_that_comes_back_badly_is_work_not_done() -> None:
    measured = reaped(Reference(), library())
    run = measured.batch(2)
    run()
    with pytest.raises(WorkNotDoneError, match="the last reap returned"):
        measured.check(Result(Status.ERROR, b""))
    measured.batch(3)
    with pytest.raises(WorkNotDoneError, match="3 reaps reached the engine 0 times"):
        measured.check(Result(Status.OK, b"{}"))


def test_an_engine_that_stops_is_work_not_done() -> None:
    class Tires(MockEngine):
        __slots__ = ()

        def complete(self, call: ToolCall) -> Result:
            return super().complete(call) if self.completed < 9 else Result(Status.OK, b"{}")

    kernel = fresh_kernel("default", Tires(), lookup=False)
    measured = reaped(Offers(Plain(kernel)), library(), "engine")
    with pytest.raises(WorkNotDoneError, match="calls were due"):
        time_batch(measured, 50, Loop())


class Plain:
    """A runtime's kernel without worlds."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel
        self.submit, self.reap, self.counters = kernel.submit, kernel.reap, kernel.counters
        self.engine = kernel.engine


def test_an_engine_that_answers_otherwise_is_work_not_done() -> None:
    measured = reaped(Reference(), library(), "engine")
    run = measured.batch(1)
    run()
    with pytest.raises(WorkNotDoneError, match="the last completion"):
        measured.check(Result(Status.OK, b"{}"))


def test_reaps_may_be_awaited() -> None:
    loop = Loop()
    slow = Slow(fresh_kernel("default", NoopEngine(), lookup=False))
    measured = loop.settle(reaped(Offers(slow), library()))
    assert inspect.iscoroutinefunction(measured.batch(1))
    assert time_batch(measured, 6, loop).loops == 6
    loop.close()


def test_a_submit_that_waits_cannot_be_set_up_outside_the_clock() -> None:
    loop = Loop()
    slow = Slow(fresh_kernel("default", NoopEngine(), lookup=False), waits=True)
    measured = loop.settle(reaped(Offers(slow), library()))
    with pytest.raises(RuntimeError, match="make that method synchronous"):
        measured.batch(1)
    loop.close()


def test_only_refused_calls_leave_nothing_to_reap() -> None:
    work = library()
    refused = [call for call in work.data["calls"] if call["tool"] == "burn_shelf"]
    object.__setattr__(work, "data", {**work.data, "calls": refused})
    for what in ("kernel", "engine"):
        assert reaped(Reference(), work, what).reason == "no-denominator"


def test_hit_rates_of_an_authored_trace() -> None:
    assert served(Reference(), library()) == Tally(3, 8, {"dedup": 1, "pure": 1, "static": 1}, source="replay")
    warm = served(Reference(), library(), "shared_cache")
    assert (warm.numerator, warm.denominator, warm.reasons) == (4, 8, {"dedup": 2, "pure": 1, "static": 1})


def test_hit_rates_of_the_smoke_trace(cases: Path) -> None:
    work = workload(cases / "replay" / "tau2-smoke.json")
    cold, warm = (served(Reference(), work, arm) for arm in ("isolated", "shared_cache"))
    assert (cold.numerator, cold.denominator, cold.reasons) == (6, 12, {"dedup": 3, "pure": 1, "static": 2})
    assert (warm.numerator, warm.denominator, warm.reasons) == (7, 12, {"dedup": 4, "pure": 1, "static": 2})


def test_awaited_hits_are_the_same() -> None:
    class Mounts:
        def __init__(self) -> None:
            self.path = Vdso()

        def mount(self, world: str, lookup: bool) -> Slow:
            return Slow(self.path.mount(world, lookup), waits=True)

    loop = Loop()
    assert loop.settle(served(Offers(Mounts()), library())).numerator == 3
    loop.close()


def test_a_fast_path_that_answers_with_lookups_off_is_found_out() -> None:
    class Eager(Vdso):
        __slots__ = ()

        def mount(self, world: str, lookup: bool) -> Any:
            return super().mount(world, True)

    with pytest.raises(WorkNotDoneError, match="lookups off"):
        served(Offers(Eager()), library(), "shared_cache")


def test_hits_that_no_result_shows_are_found_out() -> None:
    class Claims(Vdso):
        __slots__ = ()

        def mount(self, world: str, lookup: bool) -> Any:
            kernel = super().mount(world, lookup)
            kernel.tally.vdso_hits = 1  # type: ignore[attr-defined]
            kernel.tally.submits = 1  # type: ignore[attr-defined]
            return kernel

    with pytest.raises(WorkNotDoneError):
        served(Offers(Claims()), library())


@pytest.mark.parametrize("open_", [lambda r, w: SubmitProbe().open("denies", r, w, {}), reaped, served])
def test_nothing_offered_and_nothing_to_replay(open_) -> None:
    assert open_(Offers(None), library()).reason == "not-offered"
    answer = open_(Reference(), None)
    assert isinstance(answer, Undefined)
    assert answer.reason == "workload-kind"


def test_a_kernel_without_its_engine_offers_no_engine_slice() -> None:
    kernel = Plain(fresh_kernel("default", lookup=False))
    del kernel.engine
    assert reaped(Offers(kernel), library(), "engine").reason == "not-offered"
    kernel = Plain(fresh_kernel("default", NoopEngine(), lookup=False))
    del kernel.engine
    assert time_batch(reaped(Offers(kernel), library()), 3, Loop()).loops == 3
