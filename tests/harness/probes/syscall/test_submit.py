"""The probes of the call boundary: tallies and reaps."""

from __future__ import annotations

import inspect
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Tally, Undefined, WorkNotDoneError
from harness.measure.timing import Loop, time_batch
from harness.probes.syscall._trace import calls_of
from harness.probes.syscall.reap import Probe as ReapProbe
from harness.probes.syscall.submit import Probe as SubmitProbe
from seams.contract.syscall import Counters, Result, ToolCall, Verdict
from seams.contract.verdict import Disposition, ReasonCode, Status, VerdictKind
from seams.engines.mock import MockEngine
from seams.engines.noop import NoopEngine
from seams.runtimes.reference import Reference
from seams.syscall import fold as folding
from seams.syscall import reasons
from seams.syscall.fold import Chain, register_kind
from seams.syscall.kernel import Kernel, fresh_kernel
from seams.syscall.reasons import register_reason
from seams.syscall.vdso import Vdso
from tests.harness.probes.syscall.traces import CANARY, Offers, Slow, airline, canary, library, workload

COUNTS = ("denies", "transforms", "engine_calls")


def counted(runtime, work) -> tuple[Any, ...]:
    return tuple(SubmitProbe().open(kpi, runtime, work, {}).numerator for kpi in COUNTS)


def reaped(runtime, work, what: str = "kernel"):
    return ReapProbe().open("reap_latency_kernel", runtime, work, {"slice": what})


def test_counts_of_authored_traces() -> None:
    assert counted(Reference(), library()) == (1, 1, 4)
    assert counted(Reference(), airline()) == (2, 2, 3)


def test_counts_of_recorded_traces(cases: Path) -> None:
    assert counted(Reference(), workload(cases / "replay" / "tau2-smoke.json")) == (0, 0, 6)
    assert counted(Reference(), workload(cases / "replay" / "turntax-airline.json")) == (1, 2, 6)


def distribution(runtime, work) -> Tally:
    return SubmitProbe().open("verdict_reason_distribution", runtime, work, {})


def test_verdicts_by_kind_and_reason_of_submits_and_of_gates() -> None:
    assert distribution(Reference(), airline()) == Tally(
        8,
        reasons={
            "ALLOW/NONE": 3,
            "TRANSFORM/MISROUTE": 2,
            "DENY/MALFORMED": 1,
            "DENY/TRUST_VIOLATION": 1,  # the deed that policy forbids comes in a tainted trace, and is stopped before
            "QUARANTINE/TRUST_VIOLATION": 1,
        },
        source="replay",
        evidence=("refusals = 2", "rewrites = 2", "results kept out = 1"),
    )


class Gate:
    """A gate, or a rung, with one opinion."""

    name, rank, tools = "gate", 1, None

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict

    def admit(self, call: ToolCall, result: Result) -> Verdict:
        return self.verdict

    def adjudicate(self, call: ToolCall) -> Verdict:
        return self.verdict


def gated(verdict: Verdict) -> Kernel:
    return Kernel(Chain([Gate(Verdict(VerdictKind.ALLOW))]), MockEngine(), admitters=(Gate(verdict),))


@pytest.mark.parametrize(
    ("verdict", "key", "evidence"),
    [
        (
            Verdict(VerdictKind.DENY, ReasonCode.SECRET_EXFIL),
            "DENY/SECRET_EXFIL",
            ("refusals = 8", "rewrites = 0", "results kept out = 0"),
        ),
        (
            Verdict(VerdictKind.TRANSFORM, ReasonCode.OVERSIZE, "g", b"{}"),
            "TRANSFORM/OVERSIZE",
            ("refusals = 0", "rewrites = 8", "results kept out = 0"),
        ),
    ],
)
def test_what_a_gate_refuses_or_rewrites_is_counted(verdict: Verdict, key: str, evidence: tuple[str, ...]) -> None:
    tally = distribution(Offers(Plain(gated(verdict))), library())
    assert (tally.numerator, tally.reasons, tally.evidence) == (16, {"ALLOW/NONE": 8, key: 8}, evidence)


def test_free_text_is_no_reason() -> None:
    class Tells(Gate):
        def admit(self, call: ToolCall, result: Result) -> Verdict:
            return Verdict(VerdictKind.QUARANTINE)

    class Told(Plain):
        def __init__(self, kernel: Any) -> None:
            super().__init__(kernel)
            self.reap = lambda handle: self._told(kernel.reap(handle))

        @staticmethod
        def _told(result: Result) -> Result:
            result.meta["reason"] = CANARY
            return result

    kernel = Kernel(Chain([Gate(Verdict(VerdictKind.ALLOW))]), MockEngine(), admitters=(Tells(Verdict(0)),))
    assert distribution(Offers(Told(kernel)), canary()).reasons == {"ALLOW/NONE": 8, "QUARANTINE/UNNAMED": 8}


def test_a_runtime_may_have_kinds_and_reasons_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folding, "_registered", {})
    monkeypatch.setattr(folding, "_rank", dict(folding._rank))
    monkeypatch.setattr(reasons, "_registered", {})
    register_kind(1_025, "ASK_A_HUMAN", 35)
    register_reason(1_026, "BUDGET_SPENT", Disposition.WAIT)
    asks = Gate(Verdict(1_025, 1_026, "purse", meta={"retry_after": "60"}))
    kernel = Kernel(Chain([asks, Gate(Verdict(VerdictKind.ALLOW))]), MockEngine())
    tally = distribution(Offers(Plain(kernel)), library())
    told = ({"KIND_1025/REASON_1026": 8}, "refusals = 8")
    assert (tally.reasons, tally.evidence[0]) == told, "the histogram is in the instrument's words"
    refusal, _ = kernel.syscall(ToolCall("t"))
    assert {key: refusal.meta[key] for key in ("reason", "disposition", "retry_after")} == {
        "reason": "BUDGET_SPENT",
        "disposition": "wait",
        "retry_after": "60",
    }


def test_a_runtime_that_renames_its_reasons_changes_no_histogram(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = distribution(Reference(), library())
    for module in (folding, reasons):
        monkeypatch.setattr(module, "_CORE_NAME", dict.fromkeys(module._CORE_NAME, "FINE"))
    assert distribution(Reference(), library()) == expected


def test_a_gate_that_breaks_down_is_no_verdict() -> None:
    class Breaks(Gate):
        def admit(self, call: ToolCall, result: Result) -> Verdict:
            raise ZeroDivisionError

    kernel = gated(Verdict(VerdictKind.ALLOW))
    kernel.admitters = (Breaks(Verdict(VerdictKind.ALLOW)),)
    with pytest.raises(ZeroDivisionError):
        distribution(Offers(Plain(kernel)), library())


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


class Idler(Idle):
    """As much, and it says of each of them that it was admitted."""

    __slots__ = ()

    def reap(self, handle: Any) -> Result:
        self.tally.admitted += isinstance(self.pending[handle.seq], ToolCall)
        return super().reap(handle)


class Gated(Offers):
    """One object for its no-op engine, and the reference kernel for a mock one."""

    def offer(self, seam: str, engine: str) -> Any:
        return fresh_kernel("default", lookup=False) if engine == "mock" else self.what


def of(kind: type[Kernel], engine: Any) -> Any:
    kernel = fresh_kernel("default", engine, lookup=False)
    made = kind(kernel.chain, kernel.engine, kernel.fast_path, False, kernel.admitters)
    made.__class__.in_world = lambda self, world: self
    return made


@pytest.mark.parametrize(
    "wrong",
    ["submits", "vdso_hits", "engine_calls", "denies", "transforms", "admitted", "quarantines", "result_denies"],
)
def test_a_wrong_counter_is_work_not_done(wrong: str) -> None:
    kernel = of(Cooked, MockEngine())
    kernel.wrong = wrong
    with pytest.raises(WorkNotDoneError):
        SubmitProbe().open("denies", Offers(kernel), library(), {})


def test_a_kernel_that_stops_calling_its_engine_is_found_out() -> None:
    with pytest.raises(WorkNotDoneError, match="engine ran 0"):
        SubmitProbe().open("engine_calls", Offers(of(Idle, MockEngine())), library(), {})
    measured = reaped(Gated(of(Idle, NoopEngine())), library())
    with pytest.raises(WorkNotDoneError, match="of 5 reaps the kernel admitted 0"):
        time_batch(measured, 5, Loop())
    measured = reaped(Gated(of(Idler, NoopEngine())), library())
    with pytest.raises(WorkNotDoneError, match="it ran 0"):
        time_batch(measured, 5, Loop())


def ungated(world: str = "default", engine: Any = "mock") -> Kernel:
    kernel = fresh_kernel(world, engine, lookup=False)
    kernel.admitters = ()
    return kernel


@pytest.mark.parametrize("work", [library(), airline()])
def test_reaps_with_the_gates_off_are_found_out(work) -> None:
    """Without a gate a reap is quicker, and what a no-op engine returns would never show it."""

    class Off(Offers):
        def offer(self, seam: str, engine: str) -> Kernel:
            return Plain(ungated(work.data["world"], engine))

    with pytest.raises(WorkNotDoneError, match="a read with an injection in it came back as status OK"):
        reaped(Off(None), work)


def test_gates_that_keep_everything_out_are_no_gates() -> None:
    kernel = ungated()
    kernel.admitters = (Gate(Verdict(VerdictKind.QUARANTINE, ReasonCode.TRUST_VIOLATION)),)
    with pytest.raises(WorkNotDoneError, match="a quiet read came back as status OK"):
        reaped(Offers(Plain(kernel)), library())


def test_a_result_that_is_not_admitted_is_work_not_done() -> None:
    """The control has gates, and the kernel that is timed has none that lets anything pass."""
    kernel = ungated("default", NoopEngine())
    kernel.admitters = (Gate(Verdict(VerdictKind.QUARANTINE)),)
    measured = reaped(Gated(Plain(kernel)), library())
    with pytest.raises(WorkNotDoneError, match="of 4 reaps the kernel admitted 0 results"):
        time_batch(measured, 4, Loop())


def test_a_runtime_without_a_mock_engine_cannot_show_its_gates() -> None:
    class NoMock(Offers):
        def offer(self, seam: str, engine: str) -> Any:
            return self.what if engine == "noop" else None

    answer = reaped(NoMock(Plain(fresh_kernel("default", "noop", lookup=False))), library())
    assert isinstance(answer, Undefined)
    assert (answer.reason, "cut out as mock" in answer.detail) == ("not-offered", True)


@pytest.mark.parametrize("work", [library(), airline()])
@pytest.mark.parametrize(("what", "engine"), [("kernel", "noop"), ("engine", "mock")])
def test_reaps_by_slice_at_any_number_of_loops(work, what: str, engine: str) -> None:
    measured = reaped(Reference(), work, what)
    assert measured.engine == engine
    for loops in (1, 4, 50):
        assert time_batch(measured, loops, Loop()).loops == loops


def test_a_reap_that_comes_back_badly_is_work_not_done() -> None:
    measured = reaped(Reference(), library())
    run = measured.batch(2)
    run()
    with pytest.raises(WorkNotDoneError, match="the last reap returned status ERROR and 0 bytes"):
        measured.check(Result(Status.ERROR, b""))
    measured.batch(3)
    with pytest.raises(WorkNotDoneError, match="3 reaps reached the engine 0 times"):
        measured.check(Result(Status.OK, b"{}"))


def test_every_batch_reads_for_the_first_time() -> None:
    class Learns(Vdso):
        __slots__ = ()

        def observe(self, call: ToolCall, result: Result) -> None:
            before = self.stats().fills
            super().observe(call, result)
            filled.append((call.tool, self.stats().fills > before))

    class Again(Plain):
        """A kernel that is made anew in every world."""

        def __init__(self, world: str = "default") -> None:
            super().__init__(fresh_kernel(world, "noop", fast_path=Learns(), lookup=False))

        def in_world(self, world: str) -> Again:
            return Again(world)

    filled: list[tuple[str, bool]] = []
    measured = reaped(Gated(Again()), library())
    for loops in (7, 14, 7):
        filled.clear()
        time_batch(measured, loops, Loop())
        # The second and the third get_member repeat the first; a write comes before the last one and strands it.
        once = [
            ("get_member", True),
            ("get_member", False),
            ("calculate", True),
            ("list_all_airports", False),
            ("get_note", True),
            ("book_reservation", False),
            ("get_member", True),
        ]
        assert filled == once * (loops // 7)


def test_a_rest_of_loops_is_spread_over_the_trace() -> None:
    measured = reaped(Reference(), library())
    dealt = [[call.tool for call in calls] for _, calls in measured._dealt(9)]
    assert [len(calls) for calls in dealt] == [7, 2]
    assert dealt[1] == [dealt[0][1], dealt[0][5]]


def test_the_engine_is_handed_what_a_reap_would_hand_it() -> None:
    class Notes(MockEngine):
        __slots__ = ()

        def complete(self, call: ToolCall) -> Result:
            given.append((call.args, call._read is not None and call._read[0] is call.args))
            return super().complete(call)

    class Again(Plain):
        def __init__(self, world: str = "airline") -> None:
            super().__init__(fresh_kernel("airline", Notes(), lookup=False))

        def in_world(self, world: str) -> Again:
            return Again(world)

    given: list[tuple[bytes, bool]] = []
    kernel = Again()
    for call in calls_of(airline()):
        kernel.reap(kernel.submit(call)[0])
    as_reaped = list(given)
    measured = reaped(Offers(Again()), airline(), "engine")
    given.clear()
    time_batch(measured, len(as_reaped), Loop())
    assert given == as_reaped
    assert {decoded for _, decoded in given} == {True, False}, "the allowed calls were read, the repaired ones not yet"


def test_a_kernel_that_is_offered_once_only() -> None:
    class Once(Offers):
        def offer(self, seam: str, engine: str) -> Any:
            if engine == "mock":
                return fresh_kernel("default", lookup=False)
            what, self.what = self.what, None
            return what

    measured = reaped(Once(Plain(fresh_kernel("default", "noop", lookup=False))), library())
    with pytest.raises(WorkNotDoneError, match="once only"):
        measured.batch(1)


def test_kernels_on_one_engine_are_counted_once() -> None:
    class Shares(Plain):
        def __init__(self) -> None:
            super().__init__(fresh_kernel("default", engine, lookup=False))

        def in_world(self, world: str) -> Shares:
            return Shares()

    engine = NoopEngine()
    assert time_batch(reaped(Gated(Shares()), library()), 20, Loop()).loops == 20


def test_no_recorded_text_reaches_a_sentence() -> None:
    measured = reaped(Gated(Plain(fresh_kernel("default", NoopEngine(), lookup=False))), canary())
    measured.batch(1)()
    with pytest.raises(WorkNotDoneError) as badly:
        measured.check(Result(Status.ERROR, CANARY.encode(), {"error": CANARY}))
    measured = reaped(Reference(), canary(), "engine")
    measured.batch(1)()
    with pytest.raises(WorkNotDoneError) as otherwise:
        measured.check(Result(Status.OK, CANARY.encode() * 2, {"note": CANARY}))
    assert f"status OK and {2 * len(CANARY)} bytes" in str(otherwise.value)
    for error in (badly, otherwise):
        assert CANARY not in str(error.value)


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
    measured = loop.settle(reaped(Gated(slow), library()))
    assert inspect.iscoroutinefunction(measured.batch(1))
    assert time_batch(measured, 6, loop).loops == 6
    loop.close()


def test_a_submit_that_waits_cannot_be_set_up_outside_the_clock() -> None:
    loop = Loop()
    slow = Slow(fresh_kernel("default", NoopEngine(), lookup=False), waits=True)
    measured = loop.settle(reaped(Gated(slow), library()))
    with pytest.raises(TypeError, match="make that method synchronous"):
        measured.batch(1)
    loop.close()


def test_only_refused_calls_leave_nothing_to_reap() -> None:
    work = library()
    refused = [call for call in work.data["calls"] if call["tool"] == "burn_shelf"]
    object.__setattr__(work, "data", {**work.data, "calls": refused})
    for what in ("kernel", "engine"):
        assert reaped(Reference(), work, what).reason == "no-denominator"


@pytest.mark.parametrize("open_", [lambda r, w: SubmitProbe().open("denies", r, w, {}), reaped])
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
    assert time_batch(reaped(Gated(kernel), library()), 3, Loop()).loops == 3
