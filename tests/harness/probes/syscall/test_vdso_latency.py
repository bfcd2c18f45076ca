"""The probe of hits and misses: each is what it says, at any number of loops, and a fake of either is found out."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from harness.measure.clock import Undefined, WorkNotDoneError
from harness.measure.timing import Loop, time_batch
from harness.probes.syscall._fast_path import HELD, ROUND, read_call
from harness.probes.syscall.vdso import Probe
from kpis.registry import load
from seams.contract.syscall import Handle, Result, ToolCall, Verdict
from seams.contract.verdict import ReasonCode, Status, VerdictKind
from seams.runtimes.reference import Reference
from seams.syscall.kernel import fresh_kernel
from seams.syscall.vdso import Vdso
from tests.harness.probes.syscall.traces import Makes, Offers, Slow

WAYS = ("hit", "miss")
both = pytest.mark.parametrize("way", WAYS)


def opened(runtime: Any, way: str) -> Any:
    return Probe().open("vdso_hit_latency", runtime, None, {"path": way})


def test_the_points_are_those_of_the_catalog() -> None:
    assert load().get("vdso_hit_latency").params["path"] == WAYS


@both
def test_any_number_of_loops(way: str) -> None:
    measured = opened(Reference(), way)
    assert (measured.engine, measured.source) == ("mock", "synthetic")
    for loops in (1, HELD + 1, ROUND, ROUND + 1, 2 * ROUND + 7):
        assert time_batch(measured, loops, Loop()).loops == loops


def test_hits_are_answered_from_the_cache_of_reads_and_misses_are_not() -> None:
    runtime = Makes(Vdso)
    measured = opened(runtime, "hit")
    run = measured.batch(ROUND + 40)
    first, second = runtime.made[1:]
    before = (first.stats(), second.stats())
    handle, verdict = run()
    assert (verdict.kind, verdict.by) == (VerdictKind.ALLOW, "vdso")
    assert (first.stats().hits - before[0].hits, second.stats().hits - before[1].hits) == (ROUND, 40)
    assert [told.fills for told in before] == [HELD, HELD]
    assert measured._kernels[-1].reap(handle).meta["tier"] == "2"

    runtime = Makes(Vdso)
    result = opened(runtime, "miss").batch(ROUND + 40)()
    assert "served_by" not in result.meta
    assert [(path.stats().fills, path.stats().misses) for path in runtime.made[1:]] == [
        (ROUND, {"NOT_CACHED": ROUND}),
        (40, {"NOT_CACHED": 40}),
    ]


def test_the_reads_differ_in_a_number_only() -> None:
    calls = [read_call(number) for number in (1, 10**9)]
    assert calls[0].args != calls[1].args
    assert len({len(call.args) for call in calls}) == 1
    assert all(call.arguments() for call in calls)


@both
def test_one_fast_path_and_one_kernel_for_all_batches_will_do(way: str) -> None:
    class Same(Vdso):
        def mount(self, world: str, lookup: bool) -> Any:
            return kernel

    path = Same()
    kernel = fresh_kernel("default", fast_path=path)
    measured = opened(Offers(path), way)
    for loops in (3, ROUND + 3, 3):
        assert time_batch(measured, loops, Loop()).loops == loops


@both
def test_kernels_may_be_awaited(way: str) -> None:
    class Mounts(Vdso):
        def mount(self, world: str, lookup: bool) -> Any:
            return Slow(super().mount(world, lookup))

    loop = Loop()
    measured = loop.settle(opened(Makes(Mounts), way))
    assert inspect.iscoroutinefunction(measured.batch(1))
    assert time_batch(measured, 5, loop).loops == 5
    loop.close()


class Off(Vdso):
    """The seam is switched off: kernels do not ask it."""

    __slots__ = ()

    def mount(self, world: str, lookup: bool) -> Any:
        return super().mount(world, False)


class Blind(Vdso):
    """It never finds anything."""

    __slots__ = ()

    def observe(self, call: ToolCall, result: Result) -> None:
        return None


class Late(Vdso):
    """After the script of a control it answers what nobody has asked before, and always the same."""

    __slots__ = ()

    def lookup(self, call: ToolCall) -> Result | None:
        if call.tool != "get_reservation_details":
            return super().lookup(call)
        self._stats.lookups += 1
        return self._hit(b"{}", "2")


class Eager(Vdso):
    """It answers what nobody has asked before, and always the same."""

    __slots__ = ()

    def lookup(self, call: ToolCall) -> Result:
        self._stats.lookups += 1
        return self._hit(b"{}", "2")


class Swaps(Vdso):
    """It remembers that, and not what."""

    __slots__ = ()

    def _hit(self, payload: bytes, tier: str) -> Result:
        return super()._hit(bytes(len(payload)), tier)


class Unsigned(Vdso):
    """An answer that does not say where it is from."""

    __slots__ = ()

    def _hit(self, payload: bytes, tier: str) -> Result:
        super()._hit(payload, tier)
        return Result(Status.OK, payload)


class Cooks(Vdso):
    """Its books show a hit for every lookup."""

    __slots__ = ()

    def stats(self) -> Any:
        told = super().stats()
        told.hits = told.lookups
        return told


@pytest.mark.parametrize(
    ("kind", "way", "told"),
    [
        (Off, "hit", "0 lookups where 5 were due"),
        (Off, "miss", "0 lookups where 5 were due"),
        (Blind, "hit", "0 hits where 5 were due"),
        (Blind, "miss", "the fast path served status OK"),
        (Eager, "miss", "the fast path answers a read that nobody made before"),
        (Eager, "hit", "the fast path answers a read that nobody made before"),
        (Late, "miss", "5 hits where 0 were due"),
        (Late, "hit", "the engine had to answer before came back as status OK and 2 bytes"),
        (Swaps, "hit", "the fast path served status OK"),
        (Unsigned, "hit", "the fast path served status OK"),
        (Cooks, "miss", "5 hits where 0 were due"),
    ],
)
def test_a_fast_path_that_shirks_is_found_out(kind: type[Vdso], way: str, told: str) -> None:
    with pytest.raises(WorkNotDoneError, match=told):
        time_batch(opened(Makes(kind), way), 5, Loop())


class Mounted(Vdso):
    """A fast path whose kernels are made by the class named here."""

    kernel: Any = None

    def mount(self, world: str, lookup: bool) -> Any:
        return self.kernel(super().mount(world, lookup))


class Around:
    """A kernel handed on."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.engine = inner, inner.engine
        self.submit, self.reap, self.counters = inner.submit, inner.reap, inner.counters


def test_submits_that_are_left_out_are_found_out() -> None:
    class Lazy(Around):
        def __init__(self, inner: Any) -> None:
            super().__init__(inner)
            self.seen = 0
            self.submit = self.lazy

        def lazy(self, call: ToolCall) -> Any:
            self.seen += 1
            if self.seen > HELD:
                return Handle(1), Verdict(VerdictKind.ALLOW, ReasonCode.NONE, "vdso")
            return self.inner.submit(call)

    class Path(Mounted):
        kernel = Lazy

    with pytest.raises(WorkNotDoneError, match="0 lookups where 5 were due, 0 hits"):
        time_batch(opened(Makes(Path), "hit"), 5, Loop())


def test_an_engine_that_was_not_called_is_found_out() -> None:
    class Skips(Around):
        def __init__(self, inner: Any) -> None:
            super().__init__(inner)
            self.reap = self.skip

        def skip(self, handle: Handle) -> Result:
            call = self.inner.pending[handle.seq]
            if getattr(call, "tool", "") != "get_reservation_details":
                return self.inner.reap(handle)
            self.inner.tally.engine_calls += 1
            self.inner.tally.admitted += 1
            return Result(Status.OK, b"{}")

    class Path(Mounted):
        kernel = Skips

    with pytest.raises(WorkNotDoneError, match="0 completed where 5 were due"):
        time_batch(opened(Makes(Path), "miss"), 5, Loop())


def test_gates_that_are_switched_off_are_found_out_where_their_time_is_counted() -> None:
    class Lets(Around):
        def __init__(self, inner: Any) -> None:
            inner.admitters = ()
            super().__init__(inner)

    class Path(Mounted):
        kernel = Lets

    with pytest.raises(WorkNotDoneError, match="a read with an injection in it came back as status OK"):
        opened(Makes(Path), "miss")
    assert time_batch(opened(Makes(Path), "hit"), 5, Loop()).loops == 5


@both
def test_a_read_that_fails_is_no_read(way: str) -> None:
    class Fails(Around):
        def __init__(self, inner: Any) -> None:
            super().__init__(inner)
            self.reap = lambda handle: (inner.reap(handle), Result(Status.ERROR, b""))[1]

    class Path(Mounted):
        kernel = Fails

    with pytest.raises(WorkNotDoneError, match="status ERROR and 0 bytes"):
        time_batch(opened(Makes(Path), way), 5, Loop())


@both
def test_a_fast_path_that_is_not_offered_or_once_only(way: str) -> None:
    assert isinstance(opened(Offers(None), way), Undefined)
    assert opened(Offers(None), way).reason == "not-offered"

    class Once(Offers):
        def offer(self, seam: str, engine: str) -> Any:
            what, self.what = self.what, None
            return what

    with pytest.raises(WorkNotDoneError, match="once only"):
        opened(Once(Vdso()), way).batch(1)
