"""The probe of the model: its numbers and knobs; and the speed-up that a clock sees, a number by itself."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from harness.measure.clock import Tally, Undefined, WorkNotDoneError
from harness.probes.fleet import _crews
from harness.probes.fleet._crews import TREES, Crews
from harness.probes.fleet.projection import KNOBS_OF, Probe
from kpis.formulas.fleet.projection import KNOBS, project
from kpis.registry import load
from seams.fleet.projection import Workers
from seams.runtimes.reference import make
from tests.harness.probes.syscall.traces import Offers


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_crews, "STEPS", 1000)


def opened(kpi: str, crew: Any = None) -> Tally:
    return Probe().open(kpi, Offers(crew), None, {})


def test_every_number_of_the_model() -> None:
    assert Probe.kpis == {*KNOBS_OF, "measured_speedup"}
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


def crews(crew: Any, trees: str = "disjoint") -> Crews:
    found = Probe().open("measured_speedup", Offers(crew), None, {"trees": trees})
    assert isinstance(found, Crews)
    return found


def one_round(found: Crews) -> dict[str, int]:
    """A round without a clock: both arms are done and checked, and some times are said of them."""
    for _, call in found.parts():
        made: Any = call()
        if inspect.isawaitable(made):
            asyncio.run(made)  # type: ignore[arg-type]
    found.check(None)
    return {"serial": 300_000_000, "parallel": 200_000_000}


@pytest.mark.parametrize("kpi", sorted(KNOBS_OF))
def test_the_model_has_no_clock_and_no_workers(kpi: str) -> None:
    class Unasked(Workers):
        def run(self, jobs, width):
            raise AssertionError("the model asked a worker")

    assert opened(kpi, Unasked()).clocked == ()


@pytest.mark.parametrize("trees", TREES)
def test_both_arms_are_the_ratio_and_stand_in_its_evidence(trees: str) -> None:
    found = crews(make().offer("fleet/projection", "none"), trees)
    tally = found.ratio([one_round(found), {"serial": 400_000_000, "parallel": 150_000_000}])
    assert (tally.numerator, tally.denominator, tally.source) == (300_000_000, 150_000_000, "synthetic")
    assert f"{trees} trees" in tally.evidence[0]
    assert "serial 300.0 ms one at a time, parallel 150.0 ms" in tally.evidence[1]
    assert tally.evidence[1].endswith("2.00 times as fast")
    assert tally.evidence[2] == (
        f"modeled, and no part of it: parallel_speedup with {found.width} agents {project(found.width).speedup:.3f}"
    )


class Watching(Workers):
    """Notes what it is handed, and does it."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, list[Any]]] = []

    def run(self, jobs, width):
        self.seen.append((width, list(jobs)))
        return super().run(jobs, width)


def test_no_job_comes_twice_and_the_arms_take_turns() -> None:
    crew = Watching()
    found = crews(crew)
    for _ in range(2):
        one_round(found)
    assert [width for width, _ in crew.seen] == [1, found.width, found.width, 1]
    seeds = [job.seed for _, jobs in crew.seen for job in jobs]
    assert len(set(seeds)) == len(seeds) == 4 * found.width


@pytest.mark.parametrize(("trees", "lanes"), [("disjoint", None), ("overlapping", 1)])
def test_trees_are_each_workers_own_or_one_for_all(trees: str, lanes: int | None) -> None:
    crew = Watching()
    found = crews(crew, trees)
    one_round(found)
    for _, jobs in crew.seen:
        assert len({job.trees for job in jobs}) == (lanes or found.width)


def test_workers_may_be_awaited() -> None:
    class Slow(Workers):
        async def run(self, jobs, width):
            return super().run(jobs, width)

    one_round(crews(Slow()))


def test_a_runtime_without_workers_has_the_model_all_the_same() -> None:
    assert opened("parallel_speedup").numerator == 66
    found = Probe().open("measured_speedup", Offers(None), None, {"trees": "disjoint"})
    assert isinstance(found, Undefined)
    assert found.reason == "not-offered"
    strange = Probe().open("measured_speedup", make(), None, {"trees": "none"})
    assert isinstance(strange, Undefined)
    assert strange.reason == "bad-value"


@pytest.mark.parametrize("answer", [None, [], [0, 0, 0, 0], "done"])
@pytest.mark.parametrize("idle", ["serial", "parallel"])
def test_workers_that_do_not_work(answer: Any, idle: str) -> None:
    class Idle(Workers):
        def run(self, jobs, width):
            return answer if (width == 1) == (idle == "serial") else super().run(jobs, width)

    with pytest.raises(WorkNotDoneError, match=rf"did not lead where they have to \({idle}\)"):
        one_round(crews(Idle()))


def test_workers_that_are_put_off_until_their_answers_are_looked_at() -> None:
    class Later(list[int]):
        def __init__(self, work) -> None:
            super().__init__()
            self._work = work

        def __iter__(self):
            return iter(self._work())

    class PutsOff(Workers):
        def run(self, jobs, width):
            return Later(lambda: Workers.run(self, jobs, width))

    with pytest.raises(WorkNotDoneError, match="did not lead where they have to"):
        one_round(crews(PutsOff()))
