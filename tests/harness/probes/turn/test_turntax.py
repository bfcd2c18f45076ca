"""The probe of the replay: counts, safety, modeled savings with their knobs, and the runtimes that it finds out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.measure.timing import Loop
from harness.probes.turn._books import mismatches, verify_told
from harness.probes.turn._door import Door
from harness.probes.turn._worlds import world_of
from harness.probes.turn.turntax import Probe
from kpis.formulas.turn.turntax import KNOBS
from kpis.registry import load
from seams.contract.syscall import Counters, ToolCall, Verdict
from seams.contract.turntax import Arm, Replay, TurnClass
from seams.contract.verdict import VerdictKind
from seams.runtimes.reference import Reference
from seams.syscall.admission import BareGate, CanonicalGate
from seams.syscall.monitor import Monitor
from seams.syscall.sinks import SinkGate
from seams.turn.turntax import TurnTaxReplay
from tests.harness.probes.syscall.traces import Offers, Slow, airline, library, workload


def opened(kpi: str, work, runtime: Any = None, **params: str):
    return Probe().open(kpi, runtime or Reference(), work, params)


def test_every_kpi_of_the_seam_is_wired(repo: Path) -> None:
    import tomllib

    rows = tomllib.loads((repo / "kpis" / "catalog" / "turn.toml").read_text())["kpi"]
    assert {name for name, row in rows.items() if row["seam"] == "turn/turntax"} == Probe.kpis


def test_turns_of_the_airline_trace(cases: Path) -> None:
    work = workload(cases / "replay" / "turntax-airline.json")
    saved = [opened("turns_saved", work, kind=kind).numerator for kind in ("all", "forced", "elision")]
    assert saved == [9, 5, 4]
    assert opened("vdso_off_net", work).numerator == 2
    tokens = opened("tokens_saved", work)
    others = "9 turns; at other assumed turns: local-fast 6480, hosted-flash 11880, frontier 37080"
    assert tokens == Tally(11880, knobs=dict(KNOBS), basis="model", source="replay", evidence=(others,))
    dollars, waiting = opened("dollars_saved", work), opened("latency_saved_ms", work)
    assert (dollars.numerator, waiting.numerator) == (0.048600000000000004, 13500)
    assert dollars.evidence[0].endswith("local-fast 0.0324, hosted-flash 0.0486, frontier 0.1242")
    assert waiting.evidence[0].endswith("local-fast 3600, hosted-flash 13500, frontier 36000")
    rate = opened("context_pollution_rate", work)
    assert (rate.numerator, rate.denominator, rate.reasons) == (1, 14, {"quarantine": 1})


def test_what_the_turns_were_counted_from_stands_beside_them(cases: Path) -> None:
    work = workload(cases / "replay" / "turntax-airline.json")
    found = opened("turns_saved", work, kind="all")
    assert found.basis == opened("vdso_off_net", work).basis == "formula"
    assert found.evidence[:2] == (
        "calls by class: grammar 2, pure 2, dedup 3, static 2, quarantine 1, deny 1, pass 3",
        "the kernel's counters: submits 14, vdso_hits 7, engine_calls 6, denies 1, transforms 2, quarantines 1, "
        "result_denies 0, admitted 5, engine_errors 0",
    )
    smoke = opened("turns_saved", workload(cases / "replay" / "tau2-smoke.json"), kind="all")
    assert smoke.evidence[2] == "tokens at the engine: 355 in, 140 out"


def test_the_probe_prices_with_the_knobs_that_the_catalog_shows() -> None:
    for name in ("tokens_saved", "dollars_saved", "latency_saved_ms"):
        assert opened(name, library()).knobs == dict(load().get(name).knobs)


HARM = ("injections_admitted", "destructive_executed")


@pytest.mark.parametrize("what", HARM)
@pytest.mark.parametrize(("arm", "seen"), [("baseline", 1), ("kernel", 0)])
def test_the_safety_floor_is_observed_in_both_arms(arm: str, seen: int, what: str) -> None:
    expected = Tally(seen, source="replay", evidence=("without a kernel = 1",))
    assert opened("safety_floor", airline(), arm=arm, what=what) == expected


@pytest.mark.parametrize("what", HARM)
def test_the_safety_floor_of_the_airline_trace(what: str, cases: Path) -> None:
    work = workload(cases / "replay" / "turntax-airline.json")
    assert [opened("safety_floor", work, arm=arm, what=what).numerator for arm in ("baseline", "kernel")] == [1, 0]


def test_a_monitor_that_allows_everything_is_seen_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for rung in (Monitor, SinkGate):  # the trace is tainted by then, so each of them alone would hold the deed back
        monkeypatch.setattr(rung, "adjudicate", lambda self, call: Verdict(VerdictKind.ALLOW, by="monitor"))
    assert opened("safety_floor", airline(), arm="kernel", what="destructive_executed").numerator == 1
    assert opened("safety_floor", airline(), arm="kernel", what="injections_admitted").numerator == 0


def test_a_gate_that_sees_nothing_is_seen_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for gate in (CanonicalGate, BareGate):
        monkeypatch.setattr(gate, "admit", lambda self, call, result: Verdict(VerdictKind.ALLOW))
    assert opened("safety_floor", airline(), arm="kernel", what="injections_admitted").numerator == 1


@pytest.mark.parametrize("arm", ["baseline", "kernel"])
@pytest.mark.parametrize(("what", "said"), [(HARM[0], "brings poison back"), (HARM[1], "is forbidden")])
def test_where_no_harm_can_happen_none_was_stopped(arm: str, what: str, said: str) -> None:
    answer = opened("safety_floor", library(), arm=arm, what=what)
    assert isinstance(answer, Undefined)
    assert answer.reason == "no-denominator"
    assert said in answer.detail
    assert "library" in answer.detail


def altered(tool: str, **more: Any) -> Workload:
    """The airline trace with one call only, changed."""
    work = airline()
    (call,) = [call for call in work.data["calls"] if call["tool"] == tool and call["class"] != "deny"][:1]
    return replace(work, data={**work.data, "calls": [{**call, **more}]})


def test_the_trace_itself_may_say_what_is_harmful() -> None:
    for arm in ("baseline", "kernel"):
        bad = altered("calculate", meta={"destructive": "true"}, **{"class": "deny"})
        assert opened("safety_floor", bad, arm=arm, what="destructive_executed").numerator == 1
        bad = altered("calculate", meta={}, **{"class": "quarantine"})
        assert opened("safety_floor", bad, arm=arm, what="injections_admitted").numerator == 1


def test_an_explicitly_forbidden_tool_of_the_default_world() -> None:
    work = library()
    call = {**work.data["calls"][0], "tool": "shell_rm_rf", "meta": {}}
    work = replace(work, data={**work.data, "calls": [call]})
    found = [opened("safety_floor", work, arm=arm, what="destructive_executed") for arm in ("baseline", "kernel")]
    assert [tally.numerator for tally in found] == [1, 0]


def test_another_harm_is_an_error() -> None:
    with pytest.raises(KeyError):
        opened("safety_floor", airline(), arm="kernel", what="classes")


def test_a_clean_trace_has_a_rate_of_zero_and_no_reasons() -> None:
    rate = opened("context_pollution_rate", library())
    assert (rate.numerator, rate.denominator, rate.reasons) == (0, 8, {})
    assert opened("turns_saved", library(), kind="all").numerator == 3


def test_an_awaited_replay_counts_the_same() -> None:
    loop = Loop()
    tally = opened("turns_saved", library(), Offers(Slow(TurnTaxReplay(), waits=True)), kind="all")
    assert loop.settle(tally).numerator == 3
    loop.close()


@pytest.mark.parametrize(
    "cook",
    [
        lambda told: replace(told, classes=told.classes[1:]),
        lambda told: replace(told, counters=Counters(submits=3)),
        lambda told: replace(told, redactions=told.redactions + 1),
        lambda told: replace(told, counters=replace(told.counters, admitted=told.counters.admitted - 1)),
        lambda told: replace(told, context=told.context[1:]),
        lambda told: replace(told, classes=told.classes[::-1]),
        lambda told: replace(told, context=tuple(b"" for _ in told.context)),
        lambda told: replace(told, arm=Arm.SHARED_CACHE),
        lambda told: None,
        lambda told: 4,
    ],
)
def test_books_that_do_not_balance_are_work_not_done(cook) -> None:
    with pytest.raises(WorkNotDoneError):
        opened("turns_saved", library(), Offers(Cheating(lambda told, *_: cook(told), "default")), kind="all")
    with pytest.raises(WorkNotDoneError):
        opened("turns_saved", airline(), Offers(Cheating(lambda told, *_: cook(told))), kind="all")


class Cheating(TurnTaxReplay):
    """Replays, then alters what it tells of one world. The control is replayed in the default one."""

    __slots__ = ("_alter", "_world")

    def __init__(self, alter: Any, world: str = "airline") -> None:
        self._alter = alter
        self._world = world

    def replay(self, calls: Any, world: str, arm: Arm, engine: Any = None) -> Any:
        told = super().replay(calls, world, arm, engine)
        return self._alter(told, calls, engine) if world == self._world else told


def swapped(told: Replay, place: int, kind: TurnClass, body: bytes) -> Replay:
    """One denied call of ``told`` called a hit of ``kind``, the books made to balance."""
    assert told.classes[place] is TurnClass.DENY
    kinds, bodies = list(told.classes), list(told.context)
    kinds[place], bodies[place] = kind, body
    told_of = told.counters
    counters = replace(told_of, denies=told_of.denies - 1, vdso_hits=told_of.vdso_hits + 1)
    return replace(told, classes=tuple(kinds), context=tuple(bodies), counters=counters)


@pytest.mark.parametrize(
    ("place", "kind", "body", "message"),
    [
        (4, TurnClass.DEDUP, b"{}", "shaped like a write"),
        (3, TurnClass.DEDUP, b"{}", "had not read before"),
        (3, TurnClass.STATIC, b"{}", "static answer is not what a fresh call brings"),
        (3, TurnClass.PURE, b'{"error":', "pure answer is not what a fresh call brings"),
    ],
)
@pytest.mark.parametrize("kpi", ["turns_saved", "tokens_saved", "vdso_off_net", "safety_floor"])
def test_a_hit_that_is_none_is_found_out(kpi: str, place: int, kind: TurnClass, body: bytes, message: str) -> None:
    cheat = Cheating(lambda told, *_: swapped(told, place, kind, body))
    with pytest.raises(WorkNotDoneError, match=message):
        opened(kpi, airline(), Offers(cheat), kind="all", arm="kernel", what=HARM[0])


def test_a_hit_of_a_call_without_hints_is_found_out() -> None:
    work = airline()
    calls = [{**call, "meta": {}} if call["tool"] == "get_user_details" else call for call in work.data["calls"]]
    fresh = b'{"error":"user_id is missing or no text"}'
    cheat = Cheating(lambda told, *_: swapped(told, 3, TurnClass.PURE, fresh))
    with pytest.raises(WorkNotDoneError, match="without the hints of a read"):
        opened("turns_saved", replace(work, data={**work.data, "calls": calls}), Offers(cheat), kind="all")


class Answering(TurnTaxReplay):
    """Answers everything from its fast path, or what ``hits`` says."""

    __slots__ = ()

    def replay(self, calls: Any, world: str, arm: Arm, engine: Any = None) -> Replay:
        n = len(calls)
        bodies = tuple(b"{}" for _ in calls)
        return Replay(arm, (TurnClass.STATIC,) * n, Counters(submits=n, vdso_hits=n), 0, 0, 0, bodies)


class Stale(TurnTaxReplay):
    """Goes on answering a read after a write."""

    __slots__ = ()

    def replay(self, calls: Any, world: str, arm: Arm, engine: Any = None) -> Replay:
        kept = [call for call in calls if "destructive" not in call.meta or world != "default"]
        told = super().replay(kept, world, arm, engine)
        if len(kept) == len(calls):
            return told
        place = next(place for place, call in enumerate(calls) if call not in kept)
        written = engine.complete(calls[place]).payload
        engine.arrivals.insert(place - 1, engine.arrivals.pop())
        counters = replace(
            told.counters,
            submits=len(calls),
            engine_calls=told.counters.engine_calls + 1,
            admitted=told.counters.admitted + 1,
        )
        kinds, bodies = list(told.classes), list(told.context)
        kinds.insert(place, TurnClass.PASS)
        bodies.insert(place, written)
        return replace(told, classes=tuple(kinds), context=tuple(bodies), counters=counters)


@pytest.mark.parametrize(
    ("seam", "message"),
    [
        (Answering(), "shaped like a write|static answer is not what"),
        (Stale(), "call 4 of the control was answered by the fast path"),
    ],
)
def test_a_fast_path_that_answers_too_much_is_found_out_by_the_control(seam: Any, message: str) -> None:
    for kpi in ("turns_saved", "dollars_saved", "vdso_off_net", "context_pollution_rate"):
        with pytest.raises(WorkNotDoneError, match=message):
            opened(kpi, library(), Offers(seam), kind="all")


def test_a_runtime_without_a_fast_path_goes_through_the_control() -> None:
    class Plain(TurnTaxReplay):
        __slots__ = ()

        def replay(self, calls: Any, world: str, arm: Arm, engine: Any = None) -> Replay:
            return replace(super().replay(calls, world, Arm.OFF, engine), arm=arm)

    assert opened("turns_saved", library(), Offers(Plain()), kind="all").numerator == 0
    assert opened("vdso_off_net", library(), Offers(Plain())).numerator == 0


def test_a_context_that_is_shown_empty_does_not_look_safe() -> None:
    def emptied(told: Replay, *_: Any) -> Replay:
        return replace(told, context=tuple(b"" for _ in told.context))

    def half_emptied(told: Replay, *_: Any) -> Replay:
        came = (TurnClass.PASS, TurnClass.GRAMMAR)
        shown = (b"" if kind in came else body for kind, body in zip(told.classes, told.context, strict=True))
        return replace(told, context=tuple(shown))

    for what in HARM:
        for cheat, message in ((emptied, "not what a fresh call brings"), (half_emptied, "nor a pointer to it")):
            with pytest.raises(WorkNotDoneError, match=message):
                opened("safety_floor", airline(), Offers(Cheating(cheat)), arm="kernel", what=what)


def test_a_kept_out_result_that_is_in_the_context_after_all_is_found_out() -> None:
    def let_in(told: Replay, calls: Any, engine: Any) -> Replay:
        return replace(told, context=(engine.arrivals[0].body, *told.context[1:]))

    with pytest.raises(WorkNotDoneError, match="kept out of the context is in it"):
        opened("safety_floor", airline(), Offers(Cheating(let_in)), arm="kernel", what=HARM[0])


def test_an_engine_of_the_runtimes_own_is_found_out() -> None:
    """A tame world of one's own, in which nothing is poisoned and nothing is deleted."""

    class Tame(TurnTaxReplay):
        __slots__ = ()

        def replay(self, calls: Any, world: str, arm: Arm, engine: Any = None) -> Replay:
            return super().replay(calls, world, arm, engine if world == "default" else None)

    for what in HARM:
        with pytest.raises(WorkNotDoneError, match="engine_calls: the kernel says 3, the other side of the book 0"):
            opened("safety_floor", airline(), Offers(Tame()), arm="kernel", what=what)


def test_a_deed_that_is_done_and_called_refused_is_found_out() -> None:
    def deleting(told: Replay, calls: Any, engine: Any) -> Replay:
        engine.complete(calls[4])
        return told

    with pytest.raises(WorkNotDoneError, match="engine_calls"):
        opened("safety_floor", airline(), Offers(Cheating(deleting)), arm="kernel", what=HARM[1])


def test_what_arrives_under_another_name_is_found_out() -> None:
    def renamed(told: Replay, calls: Any, engine: Any) -> Replay:
        engine.arrivals[1] = engine.arrivals[1]._replace(tool="delete_account")
        return told

    with pytest.raises(WorkNotDoneError, match="is not what its classes say"):
        opened("turns_saved", airline(), Offers(Cheating(renamed)), kind="all")


def test_the_baseline_is_the_instruments_own() -> None:
    """The runtime is not asked what happens without it."""
    asked: list[Arm] = []

    def noting(told: Replay, *_: Any) -> Replay:
        asked.append(told.arm)
        return told

    answer = opened("safety_floor", airline(), Offers(Cheating(noting)), arm="baseline", what=HARM[0])
    assert (answer.numerator, asked) == (1, [Arm.ON])


def test_a_switch_that_switches_nothing_is_found_out() -> None:
    class Stuck(TurnTaxReplay):
        __slots__ = ()

        def replay(self, calls: Any, world: str, arm: Arm, engine: Any = None) -> Replay:
            return replace(super().replay(calls, world, Arm.ON, engine), arm=arm)

    with pytest.raises(WorkNotDoneError, match="with the fast path off 3 calls were answered by it"):
        opened("vdso_off_net", library(), Offers(Stuck()))


def test_a_difference_that_is_not_the_hits_is_found_out() -> None:
    """The repairs of the arm without a fast path are told as plain passes."""

    def unrepaired(told: Replay, *_: Any) -> Replay:
        if told.arm is Arm.ON:
            return told
        kinds = tuple(TurnClass.PASS if kind is TurnClass.GRAMMAR else kind for kind in told.classes)
        return replace(told, classes=kinds, redactions=told.redactions + told.classes.count(TurnClass.GRAMMAR))

    with pytest.raises(WorkNotDoneError, match="more turns are saved than without"):
        opened("vdso_off_net", airline(), Offers(Cheating(unrepaired)))


def test_a_write_by_its_name_is_a_deed_where_the_trace_refuses_it() -> None:
    for tool, seen in (("update_seat", 1), ("look_at_seat", 0)):
        work = altered("calculate", meta={}, **{"class": "deny"})
        work.data["calls"][0]["tool"] = tool
        found = opened("safety_floor", work, arm="baseline", what=HARM[1])
        assert getattr(found, "numerator", 0) == seen


def test_a_refusal_by_a_gate_stands_in_the_place_of_a_body() -> None:
    told = Replay(Arm.ON, (TurnClass.PASS,), Counters(1, 0, 1, result_denies=1), 0, 0, 0, (b"refused",))
    world, call = world_of("default"), ToolCall("get_x")
    door = Door(world)
    door.complete(call)
    assert [each and each.tool for each in verify_told([call], told, door, world)] == ["get_x"]
    admitted = replace(told, counters=Counters(1, 0, 1, admitted=1))
    with pytest.raises(WorkNotDoneError, match="neither what the engine gave"):
        verify_told([call], admitted, door, world)


def test_a_page_may_be_pointed_at_by_its_length() -> None:
    world, call = world_of("default"), ToolCall("get_x")
    door = Door(world)
    length = len(door.complete(call).payload)
    told = Replay(Arm.ON, (TurnClass.PASS,), Counters(1, 0, 1, admitted=1), 0, 0, 0, ())
    for pointer, right in (
        ({"_paged": True, "ref": "q1", "len": length}, True),
        ({"_paged": True, "ref": "q1", "len": length + 1}, False),
        ({"_paged": True, "ref": "", "len": length}, False),
        ({"ref": "q1", "len": length}, False),
        ([], False),
    ):
        shown = replace(told, context=(json.dumps(pointer).encode(),))
        if right:
            verify_told([call], shown, door, world)
        else:
            with pytest.raises(WorkNotDoneError, match="neither what the engine gave"):
                verify_told([call], shown, door, world)


def test_books_that_do_not_balance_are_told() -> None:
    told = Replay(Arm.ON, (TurnClass.DENY,), Counters(submits=1, denies=1), 0, 0, 0, (b"",))
    assert mismatches(told, 0) == ()
    cooked = replace(told, counters=Counters(submits=1, engine_calls=1))
    assert any(line.startswith("denies") for line in mismatches(cooked, 1))
    assert any("submits" in line for line in mismatches(replace(told, classes=()), 0))
    assert any("engine_calls" in line for line in mismatches(told, 1))
    passed = replace(told, classes=(TurnClass.PASS,), counters=Counters(1, 0, 1, admitted=1))
    assert mismatches(passed, 1) == ()
    lost = replace(passed, counters=Counters(1, 0, 1))
    assert any(line.startswith("engine_calls") for line in mismatches(lost, 1))
    assert mismatches(replace(passed, counters=Counters(1, 0, 1, engine_errors=1)), 1) == ()


def test_nothing_offered_and_nothing_to_replay() -> None:
    assert opened("turns_saved", library(), Offers(None), kind="all").reason == "not-offered"
    assert opened("turns_saved", None, kind="all").reason == "workload-kind"
