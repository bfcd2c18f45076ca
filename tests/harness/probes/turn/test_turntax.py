"""The probe of the replay: counts, safety, and modeled savings with their knobs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Tally, Undefined, Workload, WorkNotDoneError
from harness.measure.timing import Loop
from harness.probes.turn.turntax import Probe
from kpis.formulas.turn.turntax import KNOBS
from seams.contract.syscall import Counters, Verdict
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
    assert opened("tokens_saved", work) == Tally(11880, knobs=dict(KNOBS), basis="model", source="replay")
    assert opened("dollars_saved", work).numerator == 0.048600000000000004
    assert opened("latency_saved_ms", work).numerator == 13500
    rate = opened("context_pollution_rate", work)
    assert (rate.numerator, rate.denominator, rate.reasons) == (1, 14, {"quarantine": 1})


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
        lambda told: replace(told, returned=(*told.returned, None)),
    ],
)
def test_books_that_do_not_balance_are_work_not_done(cook) -> None:
    class Cooked(TurnTaxReplay):
        __slots__ = ()

        def replay(self, *args: Any) -> Any:
            return cook(super().replay(*args))

    with pytest.raises(WorkNotDoneError):
        opened("turns_saved", library(), Offers(Cooked()), kind="all")


def test_nothing_offered_and_nothing_to_replay() -> None:
    assert opened("turns_saved", library(), Offers(None), kind="all").reason == "not-offered"
    assert opened("turns_saved", None, kind="all").reason == "workload-kind"
