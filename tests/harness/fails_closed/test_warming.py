"""A process that has not settled is no steady sample: said where it shows, and not judged where it decides."""

from __future__ import annotations

from math import log
from typing import Any

import pytest

from harness.cli.exits import Exit
from harness.judge.warming import first_values, unsteady
from kpis.terms.bench import Bench, BenchNote, BenchUnit, Process
from kpis.terms.comparison import ComparisonWarn, State
from tests.harness.fails_closed.conftest import Judged
from tests.harness.formats.benches import MACHINE, noise, pyperf


def bench(shape: tuple[float, ...], n: int = 20, seed: int = 1, **more: Any) -> Bench:
    """Processes whose values have a shape; each value has noise of its own, of 2 %."""
    rows = [noise(n, seed=seed * 100 + place, centre=0.01 * factor, spread=0.02) for place, factor in enumerate(shape)]
    processes = tuple(Process(values) for values in zip(*rows, strict=True))
    return Bench("t", "t", BenchUnit.SECOND, processes, machine=MACHINE, **more)


def documents(shape: tuple[float, ...], seed: int) -> dict[str, Any]:
    made = pyperf({"t": [1.0] * 20})
    made["benchmarks"][0]["runs"] = [{"values": list(each.values)} for each in bench(shape, seed=seed).processes]
    return made


# https://github.com/samyama-ai/samyama-graph/issues/752: 15 of 21 first runs were 1.4 to 1.9 times slow.
def test_a_slow_first_value_that_the_median_rests_on_is_not_judged(gate_from: Judged) -> None:
    """Two values, of which the head's first is cold: a mean of cold and warm would be called a regression of 25 %."""
    code, found = gate_from(documents((1, 1), 1), documents((1.5, 1), 2))
    (row,) = found["rows"]
    assert (code, row["state"], row["ratio"]) == (Exit.UNKNOWN, "inconclusive", None)
    assert [notice["code"] for notice in row["warnings"]] == ["first-slow", "first-slow"]
    assert "more warm-ups" in row["evidence"][0]


def test_a_slow_first_value_that_the_median_does_not_rest_on_is_said(
    gate_from: Judged, capsys: pytest.CaptureFixture[str]
) -> None:
    code, found = gate_from(documents((1.5, 1, 1), 1), documents((1.5, 1, 1), 2))
    (row,) = found["rows"]
    assert (code, row["state"]) == (Exit.OK, "ok")
    assert [notice["code"] for notice in row["warnings"]] == ["first-slow", "first-slow"]
    assert "warning, first-slow: The first value of a process of the head is 1.5" in capsys.readouterr().out


def test_a_process_that_is_still_warming_up_at_its_second_value_is_not_judged() -> None:
    found = unsteady(bench((1.6, 1.4, 1.0)), bench((1, 1, 1), seed=2))
    assert found is not None
    assert (found.state, found.pairs) == (State.INCONCLUSIVE, 20)
    assert "of the base" in found.evidence[0]


def test_a_fast_first_value_that_the_median_rests_on_is_not_judged(gate_from: Judged) -> None:
    """Two values, of which the head's first is fast: their mean would be called an improvement of 12 %."""
    code, found = gate_from(documents((1, 1), 1), documents((0.75, 1), 2))
    (row,) = found["rows"]
    assert (code, row["state"], row["ratio"]) == (Exit.UNKNOWN, "inconclusive", None)
    assert {notice["code"] for notice in row["warnings"]} == {"autocorrelated"}
    assert "of the head is 0.8" in row["evidence"][0]
    assert "begin from the same state" in row["evidence"][0]


def test_a_fast_base_hides_nothing_either() -> None:
    """Its median is too low, so that a head that is as fast as the base really is would be called slower."""
    found = unsteady(bench((0.75, 1)), bench((1, 1), seed=2))
    assert found is not None
    assert (found.state, found.warnings[0].code) == (State.INCONCLUSIVE, ComparisonWarn.AUTOCORRELATED)
    assert "of the base" in found.evidence[0]


@pytest.mark.parametrize(("shape", "code"), [((1.5, 1), "first-slow"), ((0.7, 1), "autocorrelated")])
@pytest.mark.parametrize("zero", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
def test_one_zero_does_not_switch_the_look_off(
    shape: tuple[float, float], code: str, zero: tuple[float, float]
) -> None:
    odd = bench(shape)
    holed = Bench("t", "t", BenchUnit.SECOND, (Process(zero), *odd.processes), machine=MACHINE)
    found = unsteady(holed, bench((1, 1), seed=2))
    assert found is not None
    assert found.warnings[0].code.value == code
    assert [notice.code.value for notice in first_values(holed, bench((1, 1), seed=2))] == [code]


# https://github.com/conbench/conbench/issues/598: elsewhere the first run is the fastest.
def test_a_fast_first_value_is_said_too() -> None:
    (notice,) = first_values(bench((0.8, 1, 1)), bench((1, 1, 1), seed=2))
    assert notice.code is ComparisonWarn.AUTOCORRELATED
    assert "of the base" in notice.message


@pytest.mark.parametrize("spike", [1.3, 9.0])
def test_a_spike_in_any_place_is_no_fast_beginning(spike: float) -> None:
    """Without its first value the median of such a process is slower in two of three, and without its last as often."""
    processes = bench((1, 1, 1), n=30).processes
    spiked = [
        Process(tuple(value * (spike if at == place % 3 else 1) for at, value in enumerate(each.values)))
        for place, each in enumerate(processes)
    ]
    steady = bench((1, 1, 1), seed=2)
    assert unsteady(Bench("t", "t", BenchUnit.SECOND, tuple(spiked), machine=MACHINE), steady) is None
    late = tuple(Process((*each.values[:2], each.values[2] * spike)) for each in processes)
    assert unsteady(Bench("t", "t", BenchUnit.SECOND, late, machine=MACHINE), steady) is not None


@pytest.mark.parametrize("by", [1.0, 1.03])
def test_what_differs_by_less_than_five_percent_is_left_alone(by: float) -> None:
    assert first_values(bench((by, 1, 1)), bench((by, 1, 1), seed=2)) == ()


def test_steady_noise_is_not_taken_for_a_trend() -> None:
    """Forty benches of a noise that is wide against the margins: the level of the bound keeps them quiet."""
    rows = [noise(120, seed=seed, spread=0.10) for seed in range(40)]
    made = [
        Bench("t", "t", BenchUnit.SECOND, tuple(Process(tuple(r[i : i + 3])) for i in range(0, 120, 3))) for r in rows
    ]
    assert sum(bool(first_values(each, each)) or unsteady(each, each) is not None for each in made) == 0


def test_what_cannot_show_a_trend_shows_none() -> None:
    """One value a process, processes that are one, too few of them for a bound, and zeros alone."""
    cold = (3.0, 1.0)
    for quiet in (
        bench((1.0,)),
        bench(cold, notes=(BenchNote.SHARED_PROCESS,)),
        bench(cold, n=9),
        Bench("t", "t", BenchUnit.SECOND, (Process((0.0, 1.0)),) * 20),
    ):
        assert (first_values(quiet, quiet), unsteady(quiet, quiet)) == ((), None)
    assert unsteady(bench(cold, n=10), bench(cold, n=10)) is not None
    assert 2**-9 > 0.001 > 2**-10, "the least size with a bound at this level"
    assert log(1.05) > log(1.02)
