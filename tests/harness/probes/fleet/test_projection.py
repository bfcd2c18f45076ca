"""The probe of the model: its numbers and knobs, and the speed-up that was seen beside them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from harness.measure.clock import Tally, WorkNotDoneError
from harness.probes.fleet import projection as probe
from harness.probes.fleet.projection import KNOBS_OF, Probe
from kpis.formulas.fleet.projection import KNOBS, project
from kpis.registry import load
from seams.fleet.projection import Workers
from seams.runtimes.reference import make
from tests.harness.probes.syscall.traces import Offers


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "STEPS", 1000)


def opened(kpi: str, crew: Any = None) -> Tally:
    return Probe().open(kpi, Offers(crew), None, {})


def test_every_number_of_the_model() -> None:
    assert Probe.kpis == set(KNOBS_OF)
    clawed = opened("tax_clawed_back_frac")
    assert clawed.denominator is not None
    assert clawed.numerator / clawed.denominator == project(16).clawed_back
    faster = opened("parallel_speedup")
    assert (faster.numerator, faster.denominator) == (66, 6)
    assert opened("fold_turns").numerator == 1
    assert opened("fold_join_ns").numerator == 1_500_000_000


@pytest.mark.parametrize("kpi", sorted(KNOBS_OF))
def test_the_knobs_are_those_that_the_catalog_shows(kpi: str) -> None:
    tally = opened(kpi)
    assert tally.knobs == load().get(kpi).knobs == {name: KNOBS[name] for name in KNOBS_OF[kpi]}
    assert (tally.basis, tally.source) == ("model", "synthetic")


@pytest.mark.parametrize("kpi", sorted(KNOBS_OF))
def test_the_number_hangs_on_its_knobs_and_on_no_other(kpi: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def value(**other: float) -> float:
        knobs = {**KNOBS, **other}
        found = project(int(knobs["agents"]), knobs=knobs)
        return {
            "tax_clawed_back_frac": found.clawed_back,
            "parallel_speedup": found.speedup,
            "fold_turns": found.fold_turns,
            "fold_join_ns": found.fold_turns * knobs["ms_per_turn"],
        }[kpi]

    for name in KNOBS:
        moved = any(value(**{name: KNOBS[name] * factor}) != value() for factor in (0.01, 1.3, 100))
        assert moved == (name in KNOBS_OF[kpi]), name


def test_what_a_clock_saw_stands_beside_the_model_alone() -> None:
    tally = Probe().open("parallel_speedup", make(), None, {})
    assert not any("ms" in sentence.split() for sentence in tally.evidence)
    assert len(tally.clocked) == 3
    for sentence, trees in zip(tally.clocked[1:], ("disjoint", "overlapping"), strict=True):
        assert re.fullmatch(
            rf"measured, {trees} trees: \d+ ms one at a time, \d+ ms up to \d at a time: \d+\.\d\d times as fast",
            sentence,
        )
    for kpi in ("tax_clawed_back_frac", "fold_turns", "fold_join_ns"):
        assert Probe().open(kpi, make(), None, {}).clocked == ()


def test_a_runtime_without_workers_has_the_model_all_the_same() -> None:
    tally = opened("parallel_speedup")
    assert tally.numerator == 66
    assert tally.clocked == ("measured: nothing, since the runtime offers no workers",)


def test_workers_that_are_awaited_are_not_timed() -> None:
    class Slow:
        async def run(self, jobs, width):
            raise AssertionError("not timed")

    assert (
        opened("parallel_speedup", Slow()).clocked[0].startswith("measured: nothing, since the runtime's workers are")
    )


@pytest.mark.parametrize("answer", [None, [], [0, 0, 0, 0], "done"])
def test_workers_that_do_not_work(answer: Any) -> None:
    class Idle(Workers):
        def run(self, jobs, width):
            return answer

    with pytest.raises(WorkNotDoneError, match="did not lead where they have to"):
        opened("parallel_speedup", Idle())
