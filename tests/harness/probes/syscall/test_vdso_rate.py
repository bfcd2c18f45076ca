"""The probe of the hit rate: what is counted, and fast paths that answer what they must not."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Tally, WorkNotDoneError
from harness.measure.timing import Loop
from harness.probes.syscall._trace import calls_of
from harness.probes.syscall.vdso import Probe
from seams.contract.syscall import Result, ToolCall
from seams.engines.mock import MockEngine
from seams.runtimes.reference import Reference
from seams.syscall.vdso import Vdso
from tests.harness.probes.syscall.traces import CANARY, Makes, Offers, Slow, airline, canary, library, workload


def served(runtime, work, arm: str = "isolated"):
    return Probe().open("vdso_hit_rate", runtime, work, {"arm": arm})


def test_a_tier_that_nobody_knows_is_no_place_for_text() -> None:
    class Names(Vdso):
        __slots__ = ()

        def _hit(self, payload: bytes, tier: str) -> Result:
            return super()._hit(payload, CANARY)

    assert served(Makes(Names), library()).reasons == {"other": 3}


def test_hit_rates_of_an_authored_trace() -> None:
    cold = served(Reference(), library())
    assert replace(cold, evidence=()) == Tally(3, 8, {"dedup": 1, "pure": 1, "static": 1}, source="replay")
    warm = served(Reference(), library(), "shared_cache")
    assert (warm.numerator, warm.denominator, warm.reasons) == (4, 8, {"dedup": 2, "pure": 1, "static": 1})


def test_hit_rates_of_the_smoke_trace(cases: Path) -> None:
    work = workload(cases / "replay" / "tau2-smoke.json")
    cold, warm = (served(Reference(), work, arm) for arm in ("isolated", "shared_cache"))
    assert (cold.numerator, cold.denominator, cold.reasons) == (6, 12, {"dedup": 3, "pure": 1, "static": 2})
    assert (warm.numerator, warm.denominator, warm.reasons) == (7, 12, {"dedup": 4, "pure": 1, "static": 2})


def counted_tokens(tally: Tally) -> list[list[int]]:
    """Input, output and all tokens of each arm that the evidence speaks of."""
    pairs = [re.search(r"(\d+) input and (\d+) output tokens", line) for line in tally.evidence]
    return [[int(pair[1]), int(pair[2]), int(pair[1]) + int(pair[2])] for pair in pairs if pair is not None]


def test_the_tokens_of_the_smoke_trace_with_lookups_off_and_on(cases: Path) -> None:
    work = workload(cases / "replay" / "tau2-smoke.json")
    off = [687, 250, 937]
    assert counted_tokens(served(Reference(), work)) == [off, [355, 140, 495]]
    assert counted_tokens(served(Reference(), work, "shared_cache")) == [off, [298, 119, 417]]


def test_counters_and_classes_of_the_airline_trace(cases: Path) -> None:
    tally = served(Reference(), workload(cases / "replay" / "turntax-airline.json"))
    off, off_classes, on, on_classes = tally.evidence
    assert off.startswith("lookups off: 14 submits, 0 hits, 11 engine calls, 3 denies, 2 transforms, 1 quarantines;")
    assert off_classes == "lookups off by class: 3 deny, 2 grammar, 8 pass, 1 quarantine"
    assert on.startswith("isolated: 14 submits, 7 hits, 6 engine calls, 1 denies, 2 transforms, 1 quarantines;")
    assert on_classes == ("isolated by class: 3 dedup, 1 deny, 2 grammar, 3 pass, 2 pure, 1 quarantine, 2 static")


@pytest.mark.parametrize("text", ["-1", "1.5", "\u0663", CANARY, "9" * 400])
def test_tokens_that_are_no_count_are_not_summed(text: str) -> None:
    class Tells(Vdso):
        __slots__ = ()

        def mount(self, world: str, lookup: bool) -> Any:
            kernel = super().mount(world, lookup)
            kernel.engine = Told()  # type: ignore[attr-defined]
            return kernel

    class Told(MockEngine):
        __slots__ = ()

        def complete(self, call: ToolCall) -> Result:
            result = super().complete(call)
            result.meta["input_tokens"] = text
            return result

    with pytest.raises(WorkNotDoneError, match="reports input_tokens that are no count") as found:
        served(Makes(Tells), canary())
    assert CANARY not in str(found.value)


class Loose(Vdso):
    """A fast path that remembers by the tool's name and, where told, answers what it must not."""

    __slots__ = ("remembered",)
    careless: frozenset[str] = frozenset()

    def __init__(self) -> None:
        super().__init__()
        self.remembered: dict[tuple[str, bytes], bytes] = {}

    def for_world(self, world: str) -> Loose:
        return self

    def lookup(self, call: ToolCall) -> Result | None:
        hinted = call.meta.get("readOnlyHint") == "true"
        shaped = "book" in call.tool or "update" in call.tool or call.meta.get("destructive") == "true"
        self._stats.lookups += 1
        if (not hinted and "unhinted" not in self.careless) or (shaped and "shaped" not in self.careless):
            return None
        body = self.remembered.get((call.tool, b"" if "arguments" in self.careless else call.args))
        return None if body is None else self._hit(body, "2")

    def observe(self, call: ToolCall, result: Result) -> None:
        if ("book" in call.tool or "update" in call.tool) and "stale" not in self.careless:
            self.remembered.clear()
        self.remembered[call.tool, b"" if "arguments" in self.careless else call.args] = result.payload


@pytest.mark.parametrize("arm", ["isolated", "shared_cache"])
@pytest.mark.parametrize("work", [library(), airline()])
@pytest.mark.parametrize(
    ("careless", "said"),
    [
        ({"stale"}, "the fast path answers a read after a write"),
        ({"unhinted"}, "the fast path answers a call that does not say that it is a read"),
        ({"shaped"}, "the fast path answers a call that sounds like a write"),
        ({"arguments"}, "the fast path answers a read of something else than was read before"),
    ],
)
def test_a_fast_path_that_answers_what_it_must_not(careless: set[str], said: str, work: Any, arm: str) -> None:
    class Careless(Loose):
        __slots__ = ()

    Careless.careless = frozenset(careless)
    with pytest.raises(WorkNotDoneError, match=said):
        served(Makes(Careless), work, arm)


def test_a_fast_path_that_answers_everything_is_found_out() -> None:
    class All(Vdso):
        __slots__ = ()

        def lookup(self, call: ToolCall) -> Result:
            self._stats.lookups += 1
            return self._hit(b"{}", "1")

    for arm in ("isolated", "shared_cache"):
        with pytest.raises(WorkNotDoneError, match="the fast path answers a read that nobody made before"):
            served(Makes(All), library(), arm)


@pytest.mark.parametrize("arm", ["isolated", "shared_cache"])
def test_an_answer_that_no_engine_gives_is_found_out(arm: str) -> None:
    """It knows the script of a control by heart, and makes up the rest."""

    class Answers(Vdso):
        __slots__ = ()

        def lookup(self, call: ToolCall) -> Result | None:
            if call.tool != "get_note":
                return super().lookup(call)
            self._stats.lookups += 1
            return self._hit(b'{"note": "made up"}', "3")

    class Writes(Answers):
        __slots__ = ()

        def lookup(self, call: ToolCall) -> Result | None:
            if call.tool != "book_reservation":
                return Vdso.lookup(self, call)
            self._stats.lookups += 1
            return self._hit(b"{}", "3")

    with pytest.raises(WorkNotDoneError, match=r"call 5 with 19 bytes that no engine gives for it"):
        served(Makes(Answers), library(), arm)
    with pytest.raises(WorkNotDoneError, match="call 6, which is no read that says so"):
        served(Makes(Writes), library(), arm)
    work = library()
    sums = [{**call, "args": '{"a": 1, "b": 2}'} for call in work.data["calls"] if call["tool"] == "calculate"]
    assert served(Reference(), replace(work, data={**work.data, "calls": sums}), arm).numerator == 1

    class Wrong(Vdso):
        __slots__ = ()

        def __init__(self) -> None:
            super().__init__(pure={"calculate": lambda args: b'{"sum":4}'})

    with pytest.raises(WorkNotDoneError, match="call 0 with 9 bytes that no engine gives for it"):
        served(Makes(Wrong), replace(work, data={**work.data, "calls": sums}), arm)


def test_a_fast_path_that_was_warmed_by_somebody_is_no_fresh_one() -> None:
    warm = Vdso()
    warm.mount("default", lookup=True).syscall(calls_of(library())[0])
    with pytest.raises(WorkNotDoneError, match="a fresh fast path begins with 1 lookups, 0 hits and 1 fills"):
        served(Offers(warm), library())
    paths = iter([Vdso(), Vdso(), warm])
    with pytest.raises(WorkNotDoneError, match="begins with 1 lookups"):
        served(Makes(lambda: next(paths)), library())


def test_a_stub_that_is_served_again_is_the_one_that_was_kept() -> None:
    """Its number differs from one replay to the next, and it is no answer that was made up."""
    work = airline()
    calls = [{**work.data["calls"][0], "class": None}] * 3
    for arm, hits in (("isolated", 2), ("shared_cache", 3)):
        assert served(Reference(), replace(work, data={**work.data, "calls": calls}), arm).numerator == hits


def test_the_same_arguments_in_another_order_are_the_same_read() -> None:
    work = library()
    calls = [{**work.data["calls"][5], "args": args} for args in ('{"page":4,"n":1}', '{"n":1,"page":4}')]
    tally = served(Reference(), replace(work, data={**work.data, "calls": calls}))
    assert (tally.numerator, tally.denominator) == (1, 2)


def test_awaited_hits_are_the_same() -> None:
    class Mounts:
        def __init__(self) -> None:
            self.path = Vdso()

        async def stats(self) -> Any:
            return self.path.stats()

        def mount(self, world: str, lookup: bool) -> Slow:
            return Slow(self.path.mount(world, lookup), waits=True)

    loop = Loop()
    assert loop.settle(served(Makes(Mounts), library())).numerator == 3
    loop.close()


def test_a_fast_path_that_answers_with_lookups_off_is_found_out() -> None:
    class Eager(Vdso):
        __slots__ = ()

        def mount(self, world: str, lookup: bool) -> Any:
            return super().mount(world, True)

    for arm in ("isolated", "shared_cache"):
        with pytest.raises(WorkNotDoneError, match="with lookups off the fast path still answered 3 calls"):
            served(Makes(Eager), library(), arm)


def test_hits_that_no_result_shows_are_found_out() -> None:
    class Claims(Vdso):
        __slots__ = ()

        def mount(self, world: str, lookup: bool) -> Any:
            kernel = super().mount(world, lookup)
            kernel.tally.vdso_hits = 1  # type: ignore[attr-defined]
            kernel.tally.submits = 1  # type: ignore[attr-defined]
            return kernel

    with pytest.raises(WorkNotDoneError, match="of 8 calls the kernel submitted 9 and settled 9"):
        served(Makes(Claims), library())


def test_engine_calls_that_no_gate_accounts_for_are_found_out() -> None:
    class Lets(Vdso):
        __slots__ = ()

        def mount(self, world: str, lookup: bool) -> Any:
            kernel = super().mount(world, lookup)
            kernel.tally.admitted = -1  # type: ignore[attr-defined]
            return kernel

    with pytest.raises(WorkNotDoneError, match="of 7 engine calls the gates account for 6"):
        served(Makes(Lets), library())


def test_nothing_offered_and_nothing_to_replay() -> None:
    assert served(Offers(None), library()).reason == "not-offered"
    assert served(Reference(), None).reason == "workload-kind"
