"""Bootstrap, distributions, tallies, disagreement, non-inferiority, permutations and pass^k."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.context.gates import GateState
from kpis.formulas.context.steadiness import availability
from kpis.formulas.context.values import Mode
from kpis.formulas.paired.bootstrap import Interval, bootstrap, mulberry32
from kpis.formulas.paired.deltas import incomparable, paired_deltas
from kpis.formulas.paired.describe import describe
from kpis.formulas.paired.disagreement import PassedRun, disagreement
from kpis.formulas.paired.noninferiority import availability_gate, cost_gate, non_inferior, undecided
from kpis.formulas.paired.pass_k import pass_by_combinations, pass_by_windows, pass_k
from kpis.formulas.paired.permutation import MOST_EXACT, blocks_of, exact, permuted, sampled
from kpis.formulas.paired.tally import tally
from kpis.terms.context_run import RunHeader, Tokenizer
from kpis.terms.context_words import PriceBasis
from kpis.terms.kpi import Direction


class TestBootstrap:
    def test_the_generator_gives_what_it_gives_in_every_language(self) -> None:
        """The first draws of mulberry32 from seed 1, as published with it."""
        draw = mulberry32(1)
        assert [draw() for _ in range(3)] == pytest.approx(
            [0.6270739405881613, 0.002735721180215478, 0.5274470399599522]
        )
        assert mulberry32(1 << 32)() == mulberry32(0)()

    def test_below_three_pairs_there_is_no_interval(self) -> None:
        assert bootstrap([0.1, 0.2]) is None
        assert bootstrap([1, 1, 1]) == Interval(1, 1, 1, 3)

    @given(st.lists(st.floats(-5, 5), min_size=3, max_size=6), st.integers(0, 2**33))
    def test_it_lies_within_its_values_and_is_the_same_twice(self, deltas: list[float], seed: int) -> None:
        made = bootstrap(deltas, resamples=50, seed=seed)
        assert made is not None
        assert min(deltas) - 1e-9 <= made.lower <= made.upper <= max(deltas) + 1e-9
        assert bootstrap(deltas, resamples=50, seed=seed) == made

    @pytest.mark.parametrize("wrong", [{"resamples": 0}, {"confidence": 1.0}, {"confidence": 0.0}])
    def test_what_is_no_bootstrap(self, wrong) -> None:
        with pytest.raises(ValueError, match="no interval"):
            bootstrap([1, 2, 3], **wrong)


def test_a_distribution_without_values_has_only_a_count() -> None:
    empty = describe([])
    assert (empty.count, empty.mean, empty.p10, empty.largest) == (0, None, None, None)
    assert describe([], Mode.REFERENCE).mean == 0
    made = describe([3, 1, 2])
    assert (made.mean, made.median, made.p10, made.p90, made.least, made.largest) == (2, 2, 1.2, 2.8, 1, 3)


class TestTally:
    def test_lower_wins_and_a_band_ties(self) -> None:
        made = tally([0.5, 1.005, 1.5, 1], [1, 1, 1, -1])
        assert (made.wins, made.ties, made.losses, made.skipped) == (1, 1, 1, 1)
        assert tally([0.98], [1], tie_band=0.05).ties == 1
        edges = tally([0.5, 1.5], [1, 1], tie_band=0.5)
        assert (edges.wins, edges.ties, edges.losses) == (0, 2, 0)

    def test_the_band_is_of_the_baseline_where_higher_wins_too(self) -> None:
        """102 to 100 is a loss of 1.96 %, and 100 to 101 no win; of the candidate's 99 the band would be narrower."""
        made = tally([1, 0, 100, 101, 99, 98.9], [0, 1, 102, 100, 100, 100], better=Direction.HIGHER)
        assert (made.wins, made.ties, made.losses, made.skipped) == (1, 2, 3, 0)

    @pytest.mark.parametrize(("better", "counts"), [(Direction.LOWER, (0, 2, 1)), (Direction.HIGHER, (1, 2, 0))])
    def test_what_leaves_0_leaves_every_band(self, better: Direction, counts: tuple[int, int, int]) -> None:
        made = tally([0, 3, -2], [0, 0, -2], tie_band=9, better=better)
        assert (made.wins, made.ties, made.losses) == counts
        assert made.skipped == 0
        assert tally([0, 3], [0, 0], mode=Mode.REFERENCE).skipped == 2

    def test_without_a_better_direction_nothing_wins(self) -> None:
        with pytest.raises(ValueError, match="no wins"):
            tally([1], [1], better=Direction.NEUTRAL)

    def test_runs_without_partner_are_no_pairs(self) -> None:
        with pytest.raises(ValueError, match="no pairs"):
            tally([1], [1, 2])
        assert tally([1], [1, 2], mode=Mode.REFERENCE).ties == 1


class TestDeltas:
    def test_only_pairs_with_two_values_differ(self) -> None:
        ours = {("a", 0): 3.0, ("a", 1): None, ("b", 0): 5.0, ("c", 0): 1.0}
        theirs = {("a", 0): 1.0, ("a", 1): 2.0, ("b", 0): 6.0, ("d", 0): 1.0, ("e", 0): 1.0}
        made = paired_deltas(ours, theirs)
        assert (made.deltas, made.unpaired, made.without_value) == ((2.0, -1.0), 3, 1)
        assert (made.distribution.mean, made.interval) == (0.5, None)

    def test_three_pairs_have_an_interval(self) -> None:
        made = paired_deltas({at: at + 1.0 for at in range(3)}, {at: float(at) for at in range(3)})
        assert made.interval == Interval(1, 1, 1, 3)

    def test_runs_that_are_not_alike_stay_out_of_one_table(self) -> None:
        one = RunHeader("r", "c", "arm", 0, "h", "p", Tokenizer("t", PriceBasis.METERED), ("s",), "none", model="m")
        other = replace(one, arm="basic", run_id="q", tokenizer=Tokenizer("t", PriceBasis.ESTIMATED), concurrency=2)
        assert incomparable(one, replace(one, arm="basic")) == []
        assert incomparable(one, other) == ["tokenizer", "concurrency"]


def runs(*passed: bool, case: str = "c") -> list[PassedRun]:
    return [PassedRun(case, at, each) for at, each in enumerate(passed)]


class TestDisagreement:
    def test_equal_totals_can_still_break_what_worked(self) -> None:
        table = disagreement(runs(True, False, True, False), runs(True, True, False, False))
        assert (table.both_pass, table.reference_only, table.candidate_only, table.both_fail) == (1, 1, 1, 1)
        assert (table.pairs, table.net_wins, non_inferior(table)) == (4, 0, GateState.VIOLATED)
        assert non_inferior(table, epsilon=1) is GateState.SATISFIED

    def test_what_has_no_partner_is_counted(self) -> None:
        table = disagreement(runs(True, True), runs(True) + runs(True, case="other"))
        assert (table.pairs, table.unpaired) == (1, 2)

    def test_what_was_seen_twice_pairs_with_nothing(self) -> None:
        twice = runs(True) + runs(False)
        table = disagreement(twice, runs(True))
        assert (table.pairs, table.unpaired) == (0, 3)
        assert disagreement(twice, runs(True), Mode.REFERENCE).pairs == 2

    def test_nothing_shown_is_open(self) -> None:
        table = disagreement([], [])
        assert non_inferior(table) is GateState.OPEN
        assert non_inferior(table, mode=Mode.REFERENCE) is GateState.SATISFIED

    def test_a_pair_that_may_yet_be_lost_leaves_it_open(self) -> None:
        pairs = [(True, None), (False, None), (None, None), (None, False), (None, True), (True, True), (True, False)]
        assert undecided(pairs) == 4
        table = disagreement(runs(True), runs(True))
        assert non_inferior(table, undecided_pairs=1) is GateState.OPEN
        lost = disagreement(runs(False), runs(True))
        assert non_inferior(lost, undecided_pairs=1) is GateState.VIOLATED

    @given(st.lists(st.tuples(st.booleans(), st.booleans())), st.randoms())
    def test_the_order_of_runs_does_not_matter(self, pairs, random) -> None:
        ours, theirs = runs(*(a for a, _ in pairs)), runs(*(b for _, b in pairs))
        table = disagreement(ours, theirs)
        random.shuffle(ours)
        assert disagreement(ours, theirs) == table
        assert table.pairs == len(pairs)


class TestGates:
    def test_a_candidate_on_its_margin_is_inside(self) -> None:
        assert availability_gate(availability(95, 5), availability(100, 0)) is GateState.SATISFIED
        assert availability_gate(availability(94, 6), availability(100, 0)) is GateState.VIOLATED
        assert availability_gate(availability(0, 0), availability(1, 0)) is GateState.OPEN

    def test_the_cost_gate_is_on_the_ratio_and_its_upper_end(self) -> None:
        assert cost_gate(None).state is GateState.OPEN
        made = cost_gate(Interval(0.97, 0.95, 0.99, 5))
        assert (made.state, made.target_met) == (GateState.SATISFIED, False)
        assert cost_gate(Interval(0.9, 0.8, 1.0, 5)).state is GateState.VIOLATED
        with pytest.raises(ValueError, match="ratios to the baseline"):
            cost_gate(Interval(0.97, -0.05, -0.01, 5))


class TestPermutation:
    @given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=1, max_size=3))
    def test_the_convolution_is_the_enumeration_of_all_labellings(self, scores: list[list[int]]) -> None:
        blocks = [dict(zip("abc", each, strict=True)) for each in scores]
        made = exact(blocks, "a", "b")
        totals = [0]
        for block in blocks:
            totals = [so_far + one - other for so_far in totals for one, other, _ in permutations(block.values())]
        assert made.p == sum(total >= made.observed for total in totals) / len(totals)

    def test_two_equal_arms(self) -> None:
        made = exact([{"a": 1, "b": 1}] * 3, "a", "b")
        assert (made.observed, made.p) == (0, 1)

    def test_blocks_in_which_all_scored_alike_count_as_labellings(self) -> None:
        made = exact([{"a": 1, "b": 1, "c": 1}, {"a": 1, "b": 0, "c": 0}], "a", "b")
        assert (made.observed, made.reaching, made.total) == (1, 6 * 2, 6 * 6)

    def test_it_is_exact_up_to_so_many_blocks_that_differ_and_sampled_beyond(self) -> None:
        alike, apart = {"a": 1, "b": 1}, {"a": 1, "b": 0}
        assert permuted([alike] * (MOST_EXACT + 1) + [apart], "a", "b").exact

    def test_what_takes_too_long_exactly_is_sampled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("kpis.formulas.paired.permutation.MOST_EXACT", 1)
        made = permuted([{"a": 1, "b": 0}] * 2, "a", "b")
        assert (made.exact, made.total) == (False, 20_000)
        assert made == permuted([{"a": 1, "b": 0}] * 2, "a", "b")

    def test_a_sampled_one_is_never_zero(self) -> None:
        blocks = [{"a": 1, "b": 0}] * 40
        assert sampled(blocks, "a", "b", samples=50).p == 1 / 51

    def test_blocks_hold_each_arm_once(self) -> None:
        rows = [(("t", 0), "a", 1), (("t", 0), "b", 0), (("t", 1), "a", 1)]
        assert blocks_of(rows) == [{"a": 1, "b": 0}, {"a": 1}]
        with pytest.raises(ValueError, match="two scores"):
            blocks_of([*rows, rows[0]])

    @pytest.mark.parametrize("blocks", [[], [{"a": 1}], [{"a": 1, "c": 2}]])
    def test_what_is_no_comparison(self, blocks) -> None:
        with pytest.raises(ValueError, match="block"):
            exact(blocks, "a", "b")
        with pytest.raises(ValueError, match="no test"):
            sampled([{"a": 1, "b": 0}], "a", "b", samples=0)


class TestPassK:
    TASKS: ClassVar = {"one": [True, True, False, True], "two": [True, True, True, True], "few": [True]}

    def test_by_windows(self) -> None:
        made = pass_by_windows(self.TASKS, 2)
        assert (made.numerator, made.denominator) == (4, 6)

    def test_by_combinations(self) -> None:
        made = pass_by_combinations(self.TASKS, 2)
        assert (made.value, made.tasks, made.too_few) == (0.75, 2, 1)

    def test_both_at_each_power_of_two_and_at_the_most(self) -> None:
        assert [(each.k, each.windows.value) for each in pass_k({"a": [True, True, False]})] == [
            (1, pytest.approx(2 / 3)),
            (2, 0.5),
            (3, 0),
        ]
        assert pass_k({}) == pass_k({"a": []}) == ()

    def test_without_enough_replicates_there_is_none(self) -> None:
        assert pass_by_windows(self.TASKS, 5).value is None
        assert pass_by_combinations({}, 1).value is None
        for function in (pass_by_windows, pass_by_combinations):
            with pytest.raises(ValueError, match="at least 1"):
                function(self.TASKS, 0)
