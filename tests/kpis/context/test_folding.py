"""Prefixes, reclaimed tokens and PMA, exposure, frozen load, auxiliary use, cost, break-even, buckets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.formulas.context.attribution import Bucket, LeafText, PricedNode, attribute
from kpis.formulas.context.auxiliary import AuxiliaryCall, AuxiliaryKind, AuxiliaryUse, auxiliary, contradiction
from kpis.formulas.context.break_even import CostLine, Region, RegionKind, crossing, region
from kpis.formulas.context.cost_curve import RHOS, Additions, cost_at, cost_curve, miss_by_appends
from kpis.formulas.context.exposure import exposure
from kpis.formulas.context.frozen import frozen
from kpis.formulas.context.locality import Prefix, Surface, locality, prefix, shared_nodes
from kpis.formulas.context.percentile import percentile
from kpis.formulas.context.reclaimed import FoldSize, prefix_mutation, reclaimed, reclaimed_by
from kpis.formulas.context.values import Mode, RecordError

names = st.lists(st.sampled_from("abcdef"), max_size=8)
tokens = st.integers(0, 10_000)
surfaces = names.flatmap(
    lambda ids: st.lists(tokens, min_size=len(ids), max_size=len(ids)).map(lambda prices: Surface(ids, prices))
)
chains = st.lists(surfaces, max_size=6)


class TestPrefix:
    def test_only_the_leading_run_counts(self) -> None:
        assert prefix(["a", "b", "c"], [1, 2, 4], ["a", "x", "c"]) == Prefix(1, 1, 6)

    def test_nothing_before(self) -> None:
        assert prefix([], [], ["a"]) == Prefix(0, 0, 0)

    def test_nothing_after_loses_everything(self) -> None:
        assert prefix(["a", "b"], [10, 20], []) == Prefix(0, 0, 30)

    def test_a_missing_price_is_no_zero(self) -> None:
        with pytest.raises(RecordError, match="3 nodes and 2 prices"):
            prefix(["a", "b", "c"], [5, 6], ["a", "b", "c"])
        assert prefix(["a", "b", "c"], [5, 6], ["a", "b", "c"], Mode.REFERENCE) == Prefix(3, 11, 0)

    @given(surfaces, names)
    def test_both_sums_are_the_price_of_the_earlier_request(self, earlier: Surface, later: list[str]) -> None:
        made = prefix(earlier.nodes, earlier.prices, later)
        assert made.spt + made.ist == sum(earlier.prices)

    @given(surfaces, names, names)
    def test_appending_never_lowers_the_shared_nodes(self, earlier: Surface, later: list[str], more: list[str]) -> None:
        assert shared_nodes(earlier.nodes, [*later, *more]) >= shared_nodes(earlier.nodes, later)

    @given(chains, st.integers(1, 50))
    def test_tokens_scale_and_nodes_do_not(self, chain: list[Surface], factor: int) -> None:
        made = locality(chain)
        scaled = locality([Surface(each.nodes, [price * factor for price in each.prices]) for each in chain])
        assert [pair.spn for pair in scaled.pairs] == [pair.spn for pair in made.pairs]
        assert (scaled.spt, scaled.ist) == (made.spt * factor, made.ist * factor)

    def test_the_pairs_before_folds_are_some_of_all(self) -> None:
        chain = [Surface("ab", (1, 2)), Surface("ac", (1, 4)), Surface("x", (8,))]
        made = locality(chain)
        assert (made.spt, made.ist, made.ist_before({1}), made.ist_before({2})) == (1, 7, 2, 5)
        assert made.ist_before({0}) == 0


class TestReclaimed:
    def test_a_fold_that_grows_gives_nothing_back_and_is_counted(self) -> None:
        made = reclaimed_by([FoldSize(100, 120), FoldSize(100, 40), FoldSize(9, 1, ok=False)])
        assert (made.attempted, made.failed, made.grown, made.total) == (3, 1, 1, 60)

    def test_root_folds_count_and_can_be_left_out(self) -> None:
        made = reclaimed_by([FoldSize(100, 40), FoldSize(50, 20, root=True)])
        assert (made.total, made.excluding_root) == (90, 60)

    def test_a_fold_of_unknown_size_makes_the_sum_unknown(self) -> None:
        assert reclaimed_by([FoldSize(100, None), FoldSize(9, 4)]).total is None
        root = reclaimed_by([FoldSize(None, 9, root=True), FoldSize(9, 4)])
        assert (root.total, root.excluding_root, root.unknown) == (None, 5, 1)

    def test_no_fold_is_a_true_zero(self) -> None:
        assert reclaimed_by([]).total == 0

    @given(tokens, tokens)
    def test_never_negative(self, before: int, after: int) -> None:
        assert reclaimed(before, after) >= 0

    def test_pma(self) -> None:
        assert prefix_mutation(1744, 864).value == pytest.approx(2.0185, abs=5e-5)

    @pytest.mark.parametrize(("invalidated", "back", "pma"), [(33748, 32652, 1.0336), (1060, 1000, 1.06), (0, 10, 0)])
    def test_pma_of_printed_rows(self, invalidated: int, back: int, pma: float) -> None:
        assert prefix_mutation(invalidated, back).value == pytest.approx(pma, abs=5e-5)

    @pytest.mark.parametrize("invalidated", [0, 7])
    def test_pma_without_reclaimed_tokens_has_no_value(self, invalidated: int) -> None:
        made = prefix_mutation(invalidated, 0)
        assert (made.value, made.undefined) == (None, "no fold reclaimed anything")

    @given(st.lists(st.tuples(tokens, st.integers(1, 10_000)), min_size=1))
    def test_pma_of_independent_runs_is_the_ratio_of_sums(self, runs: list[tuple[int, int]]) -> None:
        ist, back = (sum(parts) for parts in zip(*runs, strict=True))
        whole = prefix_mutation(ist, back).value
        assert whole is not None
        own = [prefix_mutation(*run).value or 0 for run in runs]
        assert min(own) - 1e-9 <= whole <= max(own) + 1e-9

    @given(tokens, st.integers(1, 10_000), st.integers(1, 99))
    def test_pma_does_not_scale(self, invalidated: int, back: int, factor: int) -> None:
        assert prefix_mutation(invalidated * factor, back * factor).value == pytest.approx(
            prefix_mutation(invalidated, back).value
        )


class TestExposure:
    def test_four_prompts(self) -> None:
        made = exposure([100, 200, 300, 400])
        assert (made.total, made.mean, made.median, made.peak, made.p95) == (1000, 250, 250, 400, pytest.approx(385))

    def test_no_request(self) -> None:
        made = exposure([])
        assert (made.count, made.total, made.mean, made.median, made.peak, made.p95) == (0, 0, None, None, None, None)
        assert exposure([], Mode.REFERENCE).p95 == 0

    def test_one_request_is_all_of_them(self) -> None:
        made = exposure([7])
        assert {made.mean, made.median, made.peak, made.p95} == {7}

    @given(st.lists(st.integers(0, 10**6), min_size=1), st.integers(0, 100))
    def test_percentiles_as_numpy_has_them(self, values: list[int], percent: int) -> None:
        import numpy

        assert percentile(values, percent) == pytest.approx(float(numpy.percentile(values, percent)))

    def test_there_is_no_percentile_above_a_hundred(self) -> None:
        with pytest.raises(ValueError, match="between 0 and 100"):
            percentile([1], 101)

    @given(st.lists(tokens, min_size=1), st.randoms())
    def test_the_order_of_requests_does_not_matter(self, prompts: list[int], random) -> None:
        shuffled = list(prompts)
        random.shuffle(shuffled)
        assert exposure(shuffled) == exposure(prompts)


class TestFrozen:
    def test_share_is_a_ratio_of_sums(self) -> None:
        made = frozen([100, 100], [400, 600])
        assert (made.mean, made.peak, made.share.value) == (100, 100, 0.2)

    def test_without_prompt_or_request_there_is_no_share(self) -> None:
        assert frozen([50], [0]).share.value is None
        empty = frozen([], [])
        assert (empty.mean, empty.peak, empty.share.value) == (None, None, None)
        assert frozen([], [], Mode.REFERENCE).share.value == 0

    def test_no_checkpoint_is_a_true_zero(self) -> None:
        assert frozen([0, 0], [10, 20]).share.value == 0

    def test_lists_of_two_lengths_contradict_each_other(self) -> None:
        with pytest.raises(RecordError, match="1 frozen loads for 2 prompts"):
            frozen([1], [1, 2])


class TestAuxiliary:
    CALLS = (
        AuxiliaryCall(AuxiliaryKind.SUMMARY, 100, 20),
        AuxiliaryCall(AuxiliaryKind.RATIONALE, 50, None),
    )

    def test_a_call_without_usage_leaves_the_tokens_unknown_and_the_count_right(self) -> None:
        assert auxiliary(self.CALLS) == AuxiliaryUse(2, 150, None)
        assert auxiliary(self.CALLS, AuxiliaryKind.SUMMARY) == AuxiliaryUse(1, 100, 20)

    def test_no_call_used_nothing(self) -> None:
        assert auxiliary([]) == AuxiliaryUse(0, 0, 0)

    def test_a_run_that_asks_no_model_must_not_have_asked_one(self) -> None:
        assert contradiction(auxiliary([]), "none") is None
        assert contradiction(auxiliary(self.CALLS), "rationale") is None
        assert "2 such calls" in (contradiction(auxiliary(self.CALLS), "none") or "")


class TestCost:
    def test_a_fifth_of_the_price(self) -> None:
        assert cost_at(0.2, 1000, 700) == 440

    def test_with_what_compaction_and_recall_asked_for(self) -> None:
        assert cost_at(0.2, 1000, 700, Additions(50, 100, 3, 20)) == 810

    @given(tokens, st.data())
    def test_at_full_price_it_is_the_prompt_and_the_additions(self, prompt: int, data: st.DataObject) -> None:
        shared = data.draw(st.integers(0, prompt))
        extra = Additions(*data.draw(st.tuples(tokens, tokens, st.integers(1, 9), tokens)))
        assert cost_at(1, prompt, shared, extra) == prompt + extra.cost

    @given(tokens, st.data())
    def test_a_dearer_token_never_costs_less(self, prompt: int, data: st.DataObject) -> None:
        curve = cost_curve(prompt, data.draw(st.integers(0, prompt)))
        assert list(curve) == list(RHOS)
        assert list(curve.values()) == sorted(curve.values())

    def test_more_shared_than_sent_is_an_error_of_the_recording(self) -> None:
        with pytest.raises(RecordError, match="do not fit"):
            cost_at(0.1, 500, 900)
        assert cost_at(0.1, 500, 900, mode=Mode.REFERENCE) == -310

    def test_the_other_miss_is_another_number(self) -> None:
        """One fold of 100 into 40, then 10 appended: 100 invalidated were not sent again, 40 new ones were."""
        assert miss_by_appends(100, 10) == 110
        assert cost_at(0, 50, 0) == 50


class TestBreakEven:
    def test_crossing(self) -> None:
        assert crossing(CostLine(550, 500), CostLine(400, 800)) == 0.5
        assert crossing(CostLine(1, 5), CostLine(2, 5)) is None

    def test_a_crossing_below_free_is_no_answer(self) -> None:
        """More misses and more hits: dearer at every price, although the lines cross, at -.0135."""
        ours, basic = CostLine(36031, 313589), CostLine(35670, 286919)
        assert crossing(ours, basic) == pytest.approx(-0.0135, abs=5e-5)
        assert region(ours, basic) == Region(RegionKind.NEVER)

    @given(*[st.builds(CostLine, tokens, tokens, tokens)] * 2, st.sampled_from([i / 20 for i in range(21)]))
    def test_a_region_says_where_it_is_cheaper(self, ours: CostLine, basic: CostLine, rho: float) -> None:
        found = region(ours, basic)
        difference = ours.miss + ours.extra + rho * ours.hit - (basic.miss + basic.extra + rho * basic.hit)
        if abs(difference) < 1e-6:
            return
        inside = {
            RegionKind.ALWAYS: True,
            RegionKind.NEVER: False,
            RegionKind.BELOW: found.cross is not None and rho < found.cross,
            RegionKind.ABOVE: found.cross is not None and rho > found.cross,
        }[found.kind]
        assert (difference < 0) is inside

    def test_arms_that_cost_the_same_are_not_cheaper(self) -> None:
        assert region(CostLine(5, 5), CostLine(5, 5)).kind is RegionKind.NEVER


class TestBuckets:
    def test_they_sum_to_the_prompt(self) -> None:
        nodes = [
            PricedNode("s", 10, Bucket.SYSTEM),
            PricedNode("u", 5, Bucket.RAW_USER),
            PricedNode("cp", 30, Bucket.UNATTRIBUTED_ENVELOPE, LeafText(state_chars=41, rationale_chars=8)),
        ]
        made = attribute(nodes, 60, tool_schema=12, measured=["s", "u", "cp"])
        assert sum(made.values()) == 60
        assert made[Bucket.CHECKPOINT_LEAF_STATE] == 11  # 41 characters at four a token, rounded up
        assert (made[Bucket.CHECKPOINT_LEAF_RATIONALE], made[Bucket.CHECKPOINT_FRAMING]) == (2, 17)
        assert (made[Bucket.TOOL_SCHEMA], made[Bucket.UNATTRIBUTED_ENVELOPE]) == (12, 3)

    @given(st.lists(st.tuples(tokens, st.sampled_from(Bucket))), tokens)
    def test_exactly_whatever_is_in_them(self, parts: list[tuple[int, Bucket]], envelope: int) -> None:
        nodes = [PricedNode(str(at), price, bucket) for at, (price, bucket) in enumerate(parts)]
        prompt = sum(price for price, _ in parts) + envelope
        assert sum(attribute(nodes, prompt).values()) == prompt

    def test_a_stale_measurement_is_an_error(self) -> None:
        with pytest.raises(RecordError, match="stale"):
            attribute([PricedNode("a", 1, Bucket.SYSTEM)], 1, measured=["b"])

    def test_parts_that_exceed_their_whole_are_an_error(self) -> None:
        with pytest.raises(RecordError, match="take 3 tokens of a prompt of 2"):
            attribute([PricedNode("a", 3, Bucket.SYSTEM)], 2)
        with pytest.raises(RecordError, match="checkpoint a take 5 of 4"):
            attribute([PricedNode("a", 4, Bucket.SYSTEM, LeafText(20, 0))], 9)
