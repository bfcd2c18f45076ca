"""Unpaired process medians under judgement: what is refused, what is settled without a test, and what the test says."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from math import comb, pi
from statistics import NormalDist, median

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu

from harness.judge import rank_sum
from harness.judge.independent import RULE, compare_all, processes_needed
from harness.judge.rank_sum import null_cdf, shift
from kpis.terms.bench import Bench, BenchNote, BenchUnit, MachineField, Process
from kpis.terms.comparison import Comparison, ComparisonWarn, State
from kpis.terms.kpi import Direction
from tests.harness.formats.benches import MACHINE, bench, noise


def compare(base: Bench, head: Bench) -> Comparison:
    """One bench alone."""
    (only,) = compare_all([(base, head)])
    return only


def codes(comparison: Comparison) -> set[ComparisonWarn]:
    return {notice.code for notice in comparison.warnings}


def scaled(by: float, n: int = 40, seed: int = 2, spread: float = 0.01) -> Bench:
    return bench([value * by for value in noise(n, seed=seed, spread=spread)])


BASE = bench(noise(40, seed=1))


# The bounds.


@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 4), (2, 3), (3, 3), (4, 3), (4, 5)])
def test_the_null_distribution_is_that_of_all_orders(n: int, m: int) -> None:
    counts = [0] * (n * m + 1)
    for first in itertools.combinations(range(n + m), n):
        counts[sum(place - rank for rank, place in enumerate(first))] += 1
    exact = list(itertools.accumulate(Fraction(count, comb(n + m, n)) for count in counts))
    assert null_cdf(n, m) == pytest.approx([float(p) for p in exact[: n * m // 2 + 1]], rel=1e-12)


@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=12, unique=True),
    st.lists(st.integers(-20, 20), min_size=1, max_size=9, unique=True),
    st.integers(-9, 9).map(lambda whole: whole + 0.5),
)
def test_the_p_values_are_those_of_the_mann_whitney_test(base: list[int], head: list[int], margin: float) -> None:
    """Whole numbers against a margin of halves: no ties, without which the reference is exact."""
    moved = [value - margin for value in head]
    found = shift(base, head)
    for p, side in ((found.p_above(margin), "greater"), (found.p_below(margin), "less")):
        assert p == pytest.approx(mannwhitneyu(moved, base, alternative=side, method="exact").pvalue, rel=1e-9)


def test_a_bound_and_a_p_value_never_contradict_each_other() -> None:
    for seed in range(60):
        rng = random.Random(seed)
        base = [round(rng.gauss(0, 1), rng.choice([1, 6])) for _ in range(rng.randint(5, 25))]
        head = [round(rng.gauss(0.5, 1), 1) for _ in range(rng.randint(5, 25))]
        moved, margin = shift(base, head), round(rng.uniform(-1, 1), 1)
        for alpha in (0.2, 0.025, 0.005, 0.0001):
            assert (moved.p_above(margin) <= alpha) == (moved.lower(alpha) > margin)
            assert (moved.p_below(margin) <= alpha) == (moved.upper(alpha) < margin)


def test_the_bounds_cover_the_shift_as_often_as_they_say() -> None:
    """Over every order of 4 against 4: the 5 % bound misses in at most 5 % of them, and a narrower one in more."""
    misses = narrower = total = 0
    for first in itertools.combinations(range(8), 4):
        head = [float(place) for place in first]
        base = [float(place) for place in range(8) if place not in first]
        moved = shift(base, head)
        total += 1
        misses += moved.lower(0.05) > 0
        narrower += sorted(moved.differences)[2] > 0
    assert misses / total <= 0.05 < narrower / total


def test_no_bound_below_the_size_that_has_one() -> None:
    assert (1 / comb(8, 4) > RULE.alpha, 1 / comb(10, 5) <= RULE.alpha) == (True, True)
    assert shift([1.0] * 4, [2.0] * 4).lower(RULE.alpha) == -math.inf
    assert shift([1.0] * 5, [2.0] * 5).lower(RULE.alpha) == 1.0
    with pytest.raises(ValueError, match="a value in each"):
        shift([], [1.0])


@pytest.mark.parametrize("alpha", [0.025, 0.005, 1e-4, 1e-6])
def test_the_normal_distribution_stands_in_only_where_it_is_wider(
    alpha: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n, m in ((50, 60), (150, 150), (290, 300)):
        base, head = noise(n, seed=n), noise(m, seed=m + 1)
        moved = shift(base, head)
        lower, upper = moved.lower(alpha), moved.upper(alpha)
        p = moved.p_above(lower)
        with monkeypatch.context() as patched:
            patched.setattr(rank_sum, "EXACT_UP_TO", 1)
            assert moved.lower(alpha) <= lower
            assert moved.upper(alpha) >= upper
            assert moved.p_above(lower) > p


# The least sample.


def test_twenty_processes_are_what_the_margin_and_the_spread_need() -> None:
    z = NormalDist().inv_cdf
    reach = math.log(1.05) - math.log(1.02)
    assert processes_needed() == math.ceil(2 * pi / 3 * ((z(0.995) + z(0.8)) * 0.026 / reach) ** 2) == 20


def test_twenty_processes_see_five_percent_four_times_out_of_five() -> None:
    seen = 0
    for seed in range(300):
        rng = random.Random(seed)
        base = [rng.gauss(0.0, RULE.spread) for _ in range(20)]
        head = [rng.gauss(math.log(1.05), RULE.spread) for _ in range(20)]
        seen += shift(base, head).p_above(RULE.margin) <= RULE.alpha
    assert 0.72 < seen / 300 < 0.88


@pytest.mark.parametrize(("n", "m"), [(19, 40), (40, 19), (1, 1), (3, 60)])
def test_fewer_are_inconclusive_however_clear_the_difference(n: int, m: int) -> None:
    found = compare(bench(noise(n, seed=1)), scaled(3.0, m))
    assert (found.state, found.pairs) == (State.INCONCLUSIVE, min(n, m))
    assert codes(found) == {ComparisonWarn.TOO_FEW}
    assert found.ratio == pytest.approx(3.0, rel=0.1)
    assert f"{n} against {m} independent processes; 20 a side" in found.evidence[0]


def test_one_sample_has_no_bounds() -> None:
    found = compare(bench([0.01]), bench([0.02]))
    assert (found.state, found.ratio, found.low, found.high) == (State.INCONCLUSIVE, pytest.approx(2.0), None, None)


def test_rounds_are_not_processes() -> None:
    many = Bench("t", "t", BenchUnit.SECOND, (Process(tuple(noise(500, seed=1))),), machine=MACHINE)
    slow = Bench("t", "t", BenchUnit.SECOND, (Process(tuple(noise(500, seed=2, centre=0.03))),), machine=MACHINE)
    found = compare(many, slow)
    assert (found.state, found.pairs) == (State.INCONCLUSIVE, 1)
    assert "count as one" in found.evidence[0]


def test_runs_of_one_process_are_a_sample_of_one() -> None:
    shared = bench(noise(40, seed=1), notes=(BenchNote.SHARED_PROCESS,))
    found = compare(shared, scaled(2.0))
    assert (found.state, found.pairs) == (State.INCONCLUSIVE, 1)
    assert "one process" in found.evidence[0]


def test_a_summary_is_inconclusive_and_says_how_to_keep_the_values() -> None:
    found = compare(bench([], notes=(BenchNote.NO_SAMPLES,)), BASE)
    assert (found.state, found.ratio, found.pairs) == (State.INCONCLUSIVE, None, 0)
    assert "--benchmark-json" in found.evidence[0]


# What is not compared.


@pytest.mark.parametrize("field", [field for field in MachineField if field is not MachineField.HOSTNAME])
def test_another_machine_is_no_baseline_and_the_field_is_named(field: MachineField) -> None:
    found = compare(BASE, bench(noise(40, seed=2, centre=0.03), machine={**MACHINE, field: "another"}))
    assert (found.state, found.ratio) == (State.NO_BASELINE, None)
    assert field.value in found.evidence[0]
    assert "another" in found.evidence[0]


def test_another_host_of_the_same_kind_is_the_same_machine() -> None:
    assert (
        compare(BASE, bench(noise(40, seed=2), machine={**MACHINE, MachineField.HOSTNAME: "runner-7"})).state
        is State.OK
    )


def test_not_knowing_the_machine_is_not_the_same_machine() -> None:
    less = {field: value for field, value in MACHINE.items() if field is not MachineField.CPU_MODEL}
    one_sided = compare(BASE, bench(noise(40, seed=2), machine=less))
    assert one_sided.state is State.NO_BASELINE
    assert "not stated" in one_sided.evidence[0]
    assert compare(bench(noise(40, seed=1), machine=less), bench(noise(40, seed=2), machine=less)).state is State.OK
    nowhere = {field: value for field, value in less.items() if field is not MachineField.HOSTNAME}
    found = compare(bench(noise(40, seed=1), machine=nowhere), bench(noise(40, seed=2), machine=nowhere))
    assert found.state is State.NO_BASELINE
    assert "neither file states cpu_model" in found.evidence[0]


def test_units_and_directions_are_never_mixed() -> None:
    size = bench(noise(40, seed=1), unit=BenchUnit.BYTE)
    assert "unit differs" in compare(BASE, size).evidence[0]
    rate = bench(noise(40, seed=1), direction=Direction.HIGHER)
    assert "direction differs" in compare(BASE, rate).evidence[0]
    assert compare(BASE, size).state is compare(BASE, rate).state is State.NO_BASELINE


def test_other_parameters_are_another_benchmark() -> None:
    found = compare(bench(noise(40, seed=1), params_digest="aa"), bench(noise(40, seed=2), params_digest="bb"))
    assert found.state is State.NO_BASELINE
    assert "params" in found.evidence[0]


# Constants and clocks.


def test_all_equal_is_ok_with_a_warning() -> None:
    found = compare(bench([0.01] * 30), bench([0.01] * 25))
    assert (found.state, found.ratio, found.low, found.high) == (State.OK, 1.0, 1.0, 1.0)
    assert codes(found) == {ComparisonWarn.RESOLUTION}


@pytest.mark.parametrize(
    ("old", "new", "state"),
    [(115.0, 78.8, State.IMPROVED), (78.8, 115.0, State.REGRESSED), (100.0, 101.0, State.OK)],
)
def test_a_change_between_constants_is_not_suppressed(old: float, new: float, state: State) -> None:
    found = compare(bench([old] * 20), bench([new] * 20))
    assert found.state is state
    assert found.ratio == pytest.approx(new / old)
    assert codes(found) == {ComparisonWarn.RESOLUTION}


def test_the_last_digits_of_a_division_are_no_spread() -> None:
    ulp = [0.0156 * (1 + step * 2e-16) for step in range(30)]
    assert compare(bench(ulp), bench(ulp[::-1])).state is State.OK


def test_a_constant_amount_counts_from_the_first_byte_on_when_measured_twice() -> None:
    old, new = bench([1000, 1000], unit=BenchUnit.BYTE), bench([1001, 1001], unit=BenchUnit.BYTE)
    assert compare(old, new).state is State.REGRESSED
    assert compare(new, old).state is State.IMPROVED
    assert compare(old, old).state is State.OK
    once = bench([1001], unit=BenchUnit.BYTE)
    assert (compare(old, once).state, codes(compare(old, once))) == (State.INCONCLUSIVE, {ComparisonWarn.TOO_FEW})


def test_a_change_without_a_direction_is_neither_better_nor_worse() -> None:
    old, new = bench([10, 10], unit=BenchUnit.INTEGER), bench([20, 20], unit=BenchUnit.INTEGER)
    found = compare(old, new)
    assert found.state is State.INCONCLUSIVE
    assert "which way is better" in " ".join(found.evidence)
    assert compare(old, old).state is State.OK
    spread = compare(
        bench(noise(40, seed=1), unit=BenchUnit.INTEGER), bench(noise(40, seed=2, centre=0.02), unit=BenchUnit.INTEGER)
    )
    assert spread.state is State.INCONCLUSIVE
    assert "which way is better" in " ".join(spread.evidence)


def test_a_coarse_clock_is_inconclusive() -> None:
    ticks = [0.0156, 0.0312]
    old = bench([ticks[step % 3 == 0] for step in range(40)])
    new = bench([ticks[step % 3 != 0] for step in range(40)])
    found = compare(old, new)
    assert (found.state, codes(found)) == (State.INCONCLUSIVE, {ComparisonWarn.RESOLUTION})
    fine = compare(
        bench([1 + step % 4 * 1e-4 for step in range(40)]), bench([2 + step % 4 * 1e-4 for step in range(40)])
    )
    assert fine.state is State.REGRESSED  # a step of 1/10,000 hides nothing


def test_zero_time_is_inconclusive() -> None:
    found = compare(BASE, bench([*noise(39, seed=2), 0.0]))
    assert (found.state, codes(found)) == (State.INCONCLUSIVE, {ComparisonWarn.RESOLUTION})
    frozen = compare(bench([0.0] * 40), bench([0.0] * 40))
    assert frozen.state is State.INCONCLUSIVE


# What the test says.


@pytest.mark.parametrize(
    ("by", "state"),
    [(1.0, State.OK), (1.10, State.REGRESSED), (0.90, State.IMPROVED), (1.015, State.OK), (1.045, State.REGRESSED)],
)
def test_times(by: float, state: State) -> None:
    found = compare(BASE, scaled(by))
    assert found.state is state
    assert found.ratio is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low < by < found.high
    assert (found.pairs, found.alpha) == (40, RULE.alpha)
    assert found.smallest_visible is not None
    assert 0.02 < found.smallest_visible < 0.05


def test_swapped_sides_turn_a_regression_into_an_improvement() -> None:
    assert compare(scaled(1.1), BASE).state is State.IMPROVED


@pytest.mark.parametrize(("by", "state"), [(1.0, State.OK), (1.10, State.IMPROVED), (0.90, State.REGRESSED)])
def test_more_is_better_where_the_file_says_so(by: float, state: State) -> None:
    rate = Direction.HIGHER
    old = bench(noise(40, seed=1), unit=BenchUnit.INTEGER, direction=rate)
    new = bench([v * by for v in noise(40, seed=2)], unit=BenchUnit.INTEGER, direction=rate)
    found = compare(old, new)
    assert found.state is state
    assert found.ratio == pytest.approx(by, rel=0.02)


def test_a_constant_rate_that_rises_is_better() -> None:
    old, new = (bench([amount] * 2, unit=BenchUnit.INTEGER, direction=Direction.HIGHER) for amount in (100, 130))
    assert (compare(old, new).state, compare(new, old).state) == (State.IMPROVED, State.REGRESSED)


def test_ok_excludes_the_worse_and_not_the_better() -> None:
    """A spread that leaves 8 % open above 1 and 3 % below it: fine for a rate, not for a time."""
    old, new = noise(30, seed=1, spread=0.05), [value * 1.03 for value in noise(30, seed=2, spread=0.05)]
    rate = compare(*(bench(side, unit=BenchUnit.INTEGER, direction=Direction.HIGHER) for side in (old, new)))
    time = compare(bench(old), bench(new))
    assert time.high is not None
    assert time.high > 1.05
    assert (rate.state, time.state) == (State.OK, State.INCONCLUSIVE)


def test_unequal_numbers_of_processes_are_no_obstacle() -> None:
    assert compare(scaled(1.0, n=60), scaled(1.0, n=57, seed=4)).state is State.OK
    assert compare(scaled(1.0, n=60), scaled(1.1, n=25, seed=4)).state is State.REGRESSED


def test_a_wide_spread_is_inconclusive_and_says_what_could_have_been_seen() -> None:
    found = compare(bench(noise(20, seed=1, spread=0.15)), scaled(1.0, n=20, spread=0.15))
    assert found.state is State.INCONCLUSIVE
    assert found.smallest_visible is not None
    assert found.smallest_visible > 0.1


def test_a_few_spikes_change_nothing() -> None:
    spiked = [value * (1.6 if step % 12 == 0 else 1.0) for step, value in enumerate(noise(48, seed=2))]
    assert compare(bench(noise(48, seed=1)), bench(spiked)).state is State.OK


def test_the_sample_of_a_process_is_its_median_and_not_its_values() -> None:
    def with_values(values: list[float], by: float) -> Bench:
        spiked = [(1, 1, 9), (1, 9, 1), (9, 1, 1)]
        shapes = [spiked[place % 3] for place in range(len(values))]
        processes = tuple(
            Process(tuple(value * by * at for at in shape)) for value, shape in zip(values, shapes, strict=True)
        )
        return Bench("t", "t", BenchUnit.SECOND, processes, machine=MACHINE)

    values = noise(30, seed=1)
    found = compare(with_values(values, 1.0), with_values(noise(30, seed=2), 1.1))
    assert found.ratio == pytest.approx(1.1, rel=0.02)
    assert found.evidence[0].startswith("30 against 30 process medians")
    assert median(values) == pytest.approx(0.01, rel=0.02)


def test_many_benches_are_one_family() -> None:
    """A change that alone is just confirmed is not, among forty: Holm holds it against a fortieth of the level."""
    base, head = bench(noise(20, seed=7, spread=0.02)), scaled(1.04, n=20, seed=8, spread=0.02)
    alone = compare(base, head)
    assert alone.state is State.REGRESSED
    unchanged = [(bench(noise(20, seed=s)), bench(noise(20, seed=s + 500))) for s in range(39)]
    among = compare_all([(base, head), *unchanged])
    assert among[0].alpha == pytest.approx(RULE.alpha / 40)
    assert among[0].state is not State.REGRESSED
    assert [found.state for found in among[1:]] == [State.OK] * 39


def test_a_bench_that_cannot_be_tested_costs_the_others_nothing() -> None:
    few = (bench(noise(3, seed=1)), bench(noise(3, seed=2)))
    assert compare_all([few, (BASE, scaled(1.1)), few])[1].alpha == RULE.alpha


def test_nothing_compared_is_nothing() -> None:
    assert compare_all([]) == []


def test_no_false_alarm_in_a_thousand_equal_suites() -> None:
    alarms = 0
    for seed in range(1000):
        rng = random.Random(seed)
        spread = rng.choice([0.005, 0.02, 0.04])
        spikes = [1 + (rng.random() < 0.05) * 0.4 for _ in range(44)]
        values = [rng.lognormvariate(0, spread) * spike for spike in spikes]
        alarms += compare(bench(values[:20]), bench(values[20:])).state in (State.REGRESSED, State.IMPROVED)
    assert alarms == 0


@settings(deadline=None)
@given(
    st.lists(st.floats(min_value=1e-300, max_value=1e300), min_size=1, max_size=25),
    st.lists(st.floats(min_value=1e-300, max_value=1e300), min_size=1, max_size=25),
    st.sampled_from(BenchUnit),
)
def test_any_numbers_get_an_answer(old: list[float], new: list[float], unit: BenchUnit) -> None:
    found = compare(bench(old, unit=unit), bench(new, unit=unit))
    assert found.state in (State.OK, State.REGRESSED, State.IMPROVED, State.INCONCLUSIVE)
    if found.state in (State.REGRESSED, State.IMPROVED):
        assert found.ratio != 1.0


def test_more_processes_than_can_be_held_are_inconclusive() -> None:
    process = Process((1.0,))
    many = Bench("t", "t", BenchUnit.SECOND, (process,) * 4_001, machine=MACHINE)
    assert codes(compare(many, BASE)) == {ComparisonWarn.BUDGET}
