"""The registry of metrics of recorded runs, composites that are refused, and results of many runs as one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.errors import CatalogError, SelectionError
from kpis.formulas.context.percentile import percentile
from kpis.recorded_combine import combine
from kpis.recorded_metrics import CATALOG, CompositeError, load, read_rows, refuse_composite, row_named, row_of
from kpis.terms.kpi import Direction
from kpis.terms.metric import Combine, Metric, MetricClass, MetricKind
from kpis.terms.quantity import Basis

ROW = """
[metric.mine]
class = "context"
kind = "kpi"
unit = "tok"
direction = "lower"
needs = ["request"]
definition = "d"
undefined = "u"
combine = "sum"
"""


def test_the_rows_are_those_of_all_files_of_the_folder() -> None:
    files = sorted(CATALOG.glob("*.toml"))
    assert len(load()) == sum(file.read_text(encoding="utf-8").count("\n[metric.") for file in files)
    for metric_id, row in load().items():
        assert row.id == metric_id
        assert row.definition.strip() and row.undefined.strip(), metric_id


def test_gates_have_targets_and_signals_no_direction() -> None:
    for row in load().values():
        if row.kind is MetricKind.GATE:
            assert row.target in (0, 1)
            assert row.direction is not Direction.NEUTRAL
        if row.kind is MetricKind.SIGNAL:
            assert row.direction is Direction.NEUTRAL
        if row.metric_class is MetricClass.CORRECTNESS:
            assert row.kind in (MetricKind.GATE, MetricKind.KPI)


@pytest.mark.parametrize(
    ("symbol", "ids"),
    [
        ("ALR", ["authority_loss_rate"]),
        ("SSR", ["state_stale_rate"]),
        ("PC", ["provenance_coverage"]),
        ("CCVR", ["critical_violation_rate"]),
        ("SAR", ["state_ambiguity_rate"]),
        ("SPN", ["shared_prefix_nodes"]),
        ("SPT", ["shared_prefix_tokens"]),
        ("IST", ["invalidated_suffix_tokens"]),
        ("R", ["reclaimed_tokens"]),
        ("PMA", ["pma_all_pairs"]),
        ("CR@5", ["context_regret_5"]),
        ("DWR", ["dwr_total"]),
        ("TAF@3", ["taf_3"]),
        ("RTR", ["recall_trigger_rate"]),
        ("RSGT", ["recall_success_given_trigger"]),
        ("RBCR", ["realised_baseline_cost_ratio"]),
    ],
)
def test_symbols(symbol: str, ids: list[str]) -> None:
    rows = read_rows({"context.toml": (CATALOG / "context.toml").read_text(encoding="utf-8")})
    assert [row.id for row in rows.values() if row.symbol == symbol] == ids


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (ROW.replace("lower", "down"), "'down'"),
        (ROW.replace('kind = "kpi"', 'kind = "gate"'), "a gate has a target"),
        (ROW.replace('kind = "kpi"', 'kind = "signal"'), "no better direction"),
        (ROW.replace('unit = "tok"\n', ""), "lacks 'unit'"),
        (ROW + 'colour = "red"\n', "unknown key colour"),
        ("[metric]\nmine = 3\n", "is not sound"),
        ("[metric", "is no TOML"),
    ],
)
def test_a_row_that_is_not_sound_is_named_with_its_file(text: str, fault: str) -> None:
    with pytest.raises(CatalogError) as caught:
        read_rows({"mine.toml": text})
    assert caught.value.sentences[0].startswith("mine.toml")
    assert fault in str(caught.value)


def test_two_files_share_no_id() -> None:
    with pytest.raises(CatalogError, match=r"b.toml: metric mine is also a row of a.toml"):
        read_rows({"a.toml": ROW, "b.toml": ROW})


def test_a_metric_that_there_is_not() -> None:
    with pytest.raises(SelectionError, match="did you mean frozen_share"):
        row_of("frozen_shares")


class TestComposites:
    def test_two_classes_are_refused_by_name(self) -> None:
        with pytest.raises(CompositeError, match=r"dwr_total \(behaviour\) and cost_rho_0 \(context\)"):
            refuse_composite(["dwr_total", "dwr_read", "cost_rho_0"])

    @pytest.mark.parametrize(
        "pair",
        [
            ("authority_loss_rate", "cost_rho_1"),
            ("lost_obligations", "success"),
            ("shared_prefix_tokens", "provider_cache_read_tokens"),
            ("pma_all_pairs", "invalidated_suffix_tokens"),
            ("recall_trigger_rate", "recall_success_given_trigger"),
            ("realised_cost_usd", "modelled_cost_usd"),
        ],
    )
    def test_pairs_that_never_stand_in_one_number(self, pair: tuple[str, str]) -> None:
        for ids in (pair, pair[::-1]):
            with pytest.raises(CompositeError) as caught:
                refuse_composite(ids)
            assert all(each in str(caught.value) for each in pair)

    @given(st.lists(st.sampled_from(sorted(load())), min_size=1, max_size=4))
    def test_what_passes_is_of_one_class(self, ids: list[str]) -> None:
        classes = {row_of(each).metric_class for each in ids}
        try:
            assert {refuse_composite(ids)} == classes
        except CompositeError:
            assert len(classes) > 1 or len(set(ids)) > 1

    def test_nothing_is_no_composite(self) -> None:
        with pytest.raises(ValueError, match="members"):
            refuse_composite([])


def total(value: float | None, each: str = "reclaimed_tokens") -> Metric:
    undefined = None if value is not None else "not recorded"
    return Metric(each, value, Basis.COUNT, undefined=undefined, numerator=value)


def part(top: float | None, below: float | None, each: str = "pma_all_pairs", **other) -> Metric:
    value = None if not below or top is None or other.get("high") else top / below
    undefined = None if value is not None else "why"
    return Metric(each, value, Basis.FORMULA, undefined, top, below, **other)


class TestCombining:
    def test_the_rules_are_those_of_the_rows(self) -> None:
        rules = {each: load()[each].combine for each in ("reclaimed_tokens", "pma_all_pairs", "prompt_tokens_peak")}
        assert list(rules.values()) == [Combine.SUM, Combine.RATIO_OF_SUMS, Combine.MAX]

    def test_ratios_come_from_summed_parts_and_not_from_ratios(self) -> None:
        made = combine("pma_all_pairs", [part(1, 1), part(0, 3)])
        assert (made.value, made.numerator, made.denominator) == (0.25, 1, 4)

    def test_a_run_with_nothing_to_divide_by_adds_nothing(self) -> None:
        assert combine("pma_all_pairs", [part(1, 2), part(0, 0)]).value == 0.5
        made = combine("pma_all_pairs", [part(3, 0), part(0, 0)])
        assert (made.value, made.undefined, made.numerator) == (None, "why", 3)

    def test_a_silent_run_leaves_the_whole_without_value_and_the_known_part_told(self) -> None:
        made = combine("reclaimed_tokens", [total(5), total(None), total(2)])
        assert (made.value, made.detail) == (None, {"known": 7, "runs": 3, "without": 1})
        assert made.undefined == "1 of 3 runs have no value: not recorded"
        ratio = combine("pma_all_pairs", [part(1, 2), part(None, None)])
        assert (ratio.value, ratio.detail["known_denominator"]) == (None, 2)

    def test_peaks_are_peaks(self) -> None:
        peaks = [total(value, "prompt_tokens_peak") for value in (4, 9, 1)]
        assert combine("prompt_tokens_peak", peaks).value == 9
        idle = Metric("prompt_tokens_peak", None, Basis.COUNT, "no request", 0, 0)
        assert combine("prompt_tokens_peak", [*peaks, idle]).value == 9
        assert combine("prompt_tokens_peak", [idle, idle]).value is None
        silent = total(None, "prompt_tokens_peak")
        made = combine("prompt_tokens_peak", [*peaks, silent])
        assert (made.value, made.detail["known"], made.detail["without"]) == (None, 9, 1)

    def test_details_add_up(self) -> None:
        parts = [part(1, 2, detail={"censored": 1}), part(1, 2, detail={"censored": 2})]
        assert combine("pma_all_pairs", parts).detail == {"censored": 3}

    def test_percentiles_need_the_values(self) -> None:
        halves = [total(5, "prompt_tokens_p95"), total(7, "prompt_tokens_p95")]
        assert "all values" in (combine("prompt_tokens_p95", halves).undefined or "")
        raw = [1, 5, 9, 2]
        assert combine("prompt_tokens_p95", halves, raw).value == percentile(raw, 95)
        medians = [total(5, "prompt_tokens_median")] * 2
        assert combine("prompt_tokens_median", medians, raw).value == 3.5
        assert combine("prompt_tokens_median", medians, []).value is None

    def test_bounds_combine_as_bounds(self) -> None:
        known = part(1, 4, "dwr_total")
        bounded = part(0, 2, "dwr_total", low=0.0, high=0.5)
        made = combine("dwr_total", [known, bounded])
        assert (made.value, made.low, made.high) == (None, pytest.approx(1 / 6), pytest.approx(2 / 6))

    @pytest.mark.parametrize(
        ("each", "ends", "made"),
        [
            ("reclaimed_tokens", [(5, 5, None), (2, None, None)], (7, 7, None)),
            ("reclaimed_tokens", [(5, 5, 9), (2, 2, 3)], (7, 7, 12)),
            ("reclaimed_tokens", [(5, None, 5), (2, 1, None)], (7, None, None)),
            ("reclaimed_tokens", [(5, None, None), (2, None, None)], (7, None, None)),
            ("prompt_tokens_peak", [(5, 5, None), (9, None, None)], (9, 9, None)),
            ("prompt_tokens_peak", [(5, 5, 20), (9, None, None)], (9, 9, 20)),
        ],
    )
    def test_a_bound_among_sums_and_peaks_makes_a_bound_of_them(
        self, each: str, ends: list[tuple[int, int | None, int | None]], made: tuple[int, int | None, int | None]
    ) -> None:
        parts = [Metric(each, value, Basis.COUNT, numerator=value, low=low, high=high) for value, low, high in ends]
        found = combine(each, parts)
        assert (found.value, found.low, found.high) == made

    def test_a_ratio_that_is_open_on_one_side_stays_open(self) -> None:
        at_least = Metric("pma_all_pairs", 0.5, Basis.FORMULA, numerator=1, denominator=2, low=0.5)
        found = combine("pma_all_pairs", [part(1, 2), at_least])
        assert (found.value, found.low, found.high) == (0.5, 0.5, None)
        at_most = Metric("pma_all_pairs", 0.5, Basis.FORMULA, numerator=1, denominator=2, high=0.5)
        found = combine("pma_all_pairs", [part(1, 2), at_most])
        assert (found.value, found.low, found.high) == (0.5, None, 0.5)

    def test_what_has_no_rule_for_many_has_no_value_for_many(self) -> None:
        assert combine("break_even_rho", [total(0.5, "break_even_rho")] * 2).value is None

    def test_what_others_reported_is_not_added_to_our_own_counts(self) -> None:
        reported = Metric("reclaimed_tokens", 5, Basis.REPORTED, numerator=5)
        assert "do not add up" in (combine("reclaimed_tokens", [total(5), reported]).undefined or "")

    def test_only_results_of_the_metric(self) -> None:
        for wrong in ([], [total(1, "folds")]):
            with pytest.raises(ValueError, match="at least one"):
                combine("reclaimed_tokens", wrong)

    @given(st.lists(st.tuples(st.integers(0, 999), st.integers(0, 999)), min_size=1, max_size=6), st.randoms())
    def test_the_order_of_runs_does_not_matter(self, rows, random) -> None:
        parts = [part(top, below) for top, below in rows]
        whole = combine("pma_all_pairs", parts)
        assert whole.denominator == sum(below for _, below in rows)
        random.shuffle(parts)
        again = combine("pma_all_pairs", parts)
        assert (again.value, again.numerator, again.denominator) == (whole.value, whole.numerator, whole.denominator)

    @given(st.lists(st.tuples(st.integers(0, 99), st.integers(1, 99)), min_size=2, max_size=6), st.data())
    def test_combining_in_two_steps_is_combining_at_once(self, rows, data) -> None:
        cut = data.draw(st.integers(1, len(rows) - 1))
        parts = [part(top, below) for top, below in rows]
        halves = [combine("pma_all_pairs", parts[:cut]), combine("pma_all_pairs", parts[cut:])]
        assert combine("pma_all_pairs", halves).value == combine("pma_all_pairs", parts).value


def test_no_name_is_the_symbol_of_what_has_none() -> None:
    with pytest.raises(SelectionError, match="no metric of recorded runs named ''"):
        row_named("")
