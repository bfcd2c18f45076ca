"""The probe of the catch rate: two sources, and what each of them is held to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.measure.timing import Loop
from harness.probes.syscall.preflight import Probe
from seams.contract.syscall import Counters, ToolCall, Verdict
from seams.contract.verdict import VerdictKind
from seams.runtimes.reference import Reference
from seams.syscall.kernel import Kernel, fresh_kernel
from seams.syscall.preflight import PreflightRung
from tests.harness.probes.syscall.traces import CANARY, Offers, Slow, airline, canary, library, workload

SOURCES = ("ladder", "deny_before_dispatch")


def rate(runtime: Any, work: Workload | None, source: str = "ladder") -> Any:
    return Probe().open("preflight_catch_rate", runtime, work, {"source": source})


def test_the_two_sources_of_one_trace_differ() -> None:
    """Of seven calls one is answered before, one is a broken call, and one a deed that is refused."""
    assert rate(Reference(), airline()) == Tally(1, 5, {"MALFORMED": 1}, excluded=2, source="replay")
    refused = {"MALFORMED": 1, "TRUST_VIOLATION": 1}
    assert rate(Reference(), airline(), "deny_before_dispatch") == Tally(2, 7, refused, source="replay")


@pytest.mark.parametrize("source", SOURCES)
def test_a_recorded_trace_without_a_broken_call(cases: Path, source: str) -> None:
    work = workload(cases / "replay" / "tau2-smoke.json")
    told = rate(Reference(), work, source)
    assert (told.numerator, told.denominator) == (0, 6 if source == "ladder" else 12)


def broken(*, hidden: bool = False) -> Workload:
    """The library's trace with one call whose arguments break off."""
    work = library()
    calls = [dict(call) for call in work.data["calls"]]
    calls[0] |= {"args": '{"q": ', "tool": "list_all_airports" if hidden else calls[0]["tool"]}
    return replace(work, data={**work.data, "calls": calls})


def test_a_broken_call_is_caught_by_both() -> None:
    assert rate(Reference(), broken()).numerator == 1
    assert rate(Reference(), broken(), "deny_before_dispatch").reasons["MALFORMED"] == 1


def test_a_fast_path_answer_precedes_the_ladder() -> None:
    assert rate(Reference(), broken(hidden=True)).numerator == 0


class Own(Kernel):
    """The reference kernel around another ladder or with other books."""

    __slots__ = ()
    rung: type[PreflightRung] = PreflightRung

    def in_world(self, world: str) -> Own:
        made = fresh_kernel(world)
        kernel = type(self)(made.chain, made.engine, made.fast_path, True, made.admitters, flow=made.flow)
        ladder = next(rung for rung in kernel.chain.rungs if isinstance(rung, PreflightRung))
        ladder.__class__ = self.rung
        return kernel


class Sleeps(PreflightRung):
    """Is never asked."""

    __slots__ = ()

    def adjudicate(self, call: ToolCall) -> Verdict:
        return Verdict(VerdictKind.DEFER)


class Asleep(Own):
    __slots__ = ()
    rung = Sleeps


class Boasts(PreflightRung):
    """Writes each catch down twice."""

    __slots__ = ()

    def _note(self, call: ToolCall, verdict: Verdict) -> None:
        self.caught += call.args != b'{"user_id": '
        super()._note(call, verdict)


class Boastful(Own):
    __slots__ = ()
    rung = Boasts


class Cooks(Own):
    __slots__ = ()

    def counters(self) -> Counters:
        return replace(self.tally, denies=0)


@pytest.mark.parametrize(
    ("kernel", "work", "said"),
    [
        (Asleep, library(), "does not catch"),
        (Boastful, broken(), "it caught 2 of"),
        (Cooks, airline(), "the kernel counts 7 submits and 0 denies"),
    ],
)
def test_books_that_do_not_balance(kernel: type[Own], work: Workload, said: str) -> None:
    # The fold binds a rung's method when the chain is made, so the chain is made again.
    from seams.syscall.fold import Chain

    class Rebound(kernel):  # type: ignore[misc, valid-type]
        __slots__ = ()

        def in_world(self, world: str) -> Own:
            made: Own = super().in_world(world)
            made.chain = Chain(made.chain.rungs)
            return made

    start = fresh_kernel("default")
    with pytest.raises(WorkNotDoneError, match=said):
        rate(Offers(Rebound(start.chain, start.engine)), work)


def test_a_runtime_without_a_ladder_has_the_other_source() -> None:
    class Plain:
        def __init__(self, inner: Kernel) -> None:
            self.submit, self.reap, self.counters = inner.submit, inner.reap, inner.counters

        def in_world(self, world: str) -> Plain:
            return Plain(fresh_kernel(world))

    plain = Plain(fresh_kernel("default"))
    answer = rate(Offers(plain), airline())
    assert isinstance(answer, Undefined)
    assert (answer.reason, "ladder" in answer.detail) == ("not-offered", True)
    assert rate(Offers(plain), airline(), "deny_before_dispatch").numerator == 2


def test_what_is_no_object_and_comes_through_is_found_without_a_ladder_too() -> None:
    class Lax:
        def __init__(self) -> None:
            self.inner = fresh_kernel("default")
            self.reap, self.counters = self.inner.reap, self.inner.counters

        def in_world(self, world: str) -> Lax:
            return Lax()

        def submit(self, call: ToolCall) -> Any:
            call.args = b"{}"
            return self.inner.submit(call)

    with pytest.raises(WorkNotDoneError, match="came to be dispatched"):
        rate(Offers(Lax()), broken(), "deny_before_dispatch")


def test_no_recorded_text_is_in_a_tally() -> None:
    for source in SOURCES:
        assert CANARY not in repr(rate(Reference(), canary(), source))


def test_a_kernel_may_be_awaited() -> None:
    class SlowLadder(Slow):
        @property
        def ladder(self) -> Any:
            return self.inner.ladder

        def in_world(self, world: str) -> SlowLadder:
            return SlowLadder(self.inner.in_world(world), waits=True)

    loop = Loop()
    told = loop.settle(rate(Offers(SlowLadder(fresh_kernel("default"))), airline()))
    assert (told.numerator, told.denominator) == (1, 5)
    loop.close()


@pytest.mark.parametrize("source", SOURCES)
def test_a_kernel_that_is_offered_once_only_has_no_control(source: str) -> None:
    class Once(Offers):
        def offer(self, seam: str, engine: str) -> Any:
            what, self.what = self.what, None
            return what

    answer = rate(Once(fresh_kernel("default")), airline(), source)
    assert isinstance(answer, Undefined)
    assert (answer.reason, "once only" in answer.detail) == ("not-offered", True)


def test_nothing_offered_and_nothing_to_replay() -> None:
    assert rate(Offers(None), library()).reason == "not-offered"
    assert rate(Reference(), None).reason == "workload-kind"
