"""The probe of the replay: counts, safety, and modeled savings with their knobs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.measure.clock import Tally, WorkNotDoneError
from harness.measure.timing import Loop
from harness.probes.turn.turntax import Probe
from kpis.formulas.turn.turntax import KNOBS
from seams.contract.syscall import Counters
from seams.runtimes.reference import Reference
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


@pytest.mark.parametrize("what", ["injections_admitted", "destructive_executed"])
@pytest.mark.parametrize(("arm", "seen"), [("baseline", 1), ("kernel", 0)])
def test_the_safety_floor_is_observed_in_both_arms(arm: str, seen: int, what: str) -> None:
    assert opened("safety_floor", airline(), arm=arm, what=what) == Tally(seen, source="replay")


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
