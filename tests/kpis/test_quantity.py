"""The traps that types close: each test tries to break one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.terms.quantity import Axis, Basis, Column, Quantity, QuantityError, Source, Unit, weakest_source


def ns(value: float, basis: Basis = Basis.CLOCK, source: Source = Source.LIVE) -> Quantity:
    return Quantity(value, Unit.NS, basis, source)


class TestMeasuredIsNotModeled:
    def test_a_model_input_makes_the_result_a_model(self) -> None:
        assert (ns(3) + ns(4, Basis.MODEL)).basis is Basis.MODEL
        assert ns(3, Basis.MODEL).ratio_to(ns(4)).basis is Basis.MODEL

    def test_a_column_refuses_a_model_below_a_clock(self) -> None:
        column = Column()
        column.add(ns(3))
        with pytest.raises(QuantityError, match="measured numbers cannot hold a modeled one"):
            column.add(ns(4, Basis.MODEL))
        assert [item.value for item in column] == [3]

    def test_a_model_is_not_ranked_against_a_clock(self) -> None:
        with pytest.raises(QuantityError, match="cannot be compared"):
            _ = ns(3) < ns(4, Basis.MODEL)

    def test_a_clock_cannot_claim_milliseconds(self) -> None:
        with pytest.raises(QuantityError, match="modeled or reported only"):
            Quantity(1.5, Unit.MS, Basis.CLOCK, Source.LIVE)
        assert Quantity(1.5, Unit.MS, Basis.MODEL, Source.LIVE).axis is Axis.MODELED

    def test_what_others_reported_is_never_summed_with_our_own(self) -> None:
        ours = Quantity(3, Unit.TOK, Basis.COUNT, Source.REPLAY)
        theirs = Quantity(4, Unit.TOK, Basis.REPORTED, Source.REPLAY)
        with pytest.raises(QuantityError, match="reported"):
            _ = ours + theirs
        with pytest.raises(QuantityError, match="compared"):
            _ = ours < theirs


class TestLatencyIsNotAWorkCount:
    @pytest.mark.parametrize("other", [unit for unit in Unit if unit not in (Unit.NS, Unit.BOOL)])
    def test_no_arithmetic_and_no_order_across_units(self, other: Unit) -> None:
        work = Quantity(3, other, Basis.MODEL, Source.LIVE)
        time = ns(3, Basis.MODEL)
        for attempt in (
            lambda: time + work,
            lambda: time - work,
            lambda: time < work,
            lambda: time >= work,
            lambda: time.ratio_to(work),
        ):
            with pytest.raises(QuantityError):
                attempt()

    def test_no_conversion_to_a_bare_number(self) -> None:
        for convert in (float, int, lambda q: [0] * q, lambda q: q + 1, lambda q: q < 1):
            with pytest.raises(TypeError):
                convert(ns(3))

    def test_a_clock_is_not_added_to_a_formula_over_counts(self) -> None:
        with pytest.raises(QuantityError, match="clock reading"):
            _ = ns(3) + ns(4, Basis.FORMULA)


class TestLiveIsNotReplay:
    @given(st.lists(st.sampled_from(Source), min_size=1))
    def test_the_weakest_source_wins_in_any_order(self, sources: list[Source]) -> None:
        order = [Source.LIVE, Source.REPLAY, Source.SYNTHETIC]
        total = ns(0, source=sources[0])
        for source in sources[1:]:
            total += ns(1, source=source)
        assert total.source is max(sources, key=order.index) is weakest_source(*sources)

    def test_no_source_is_no_live_source(self) -> None:
        with pytest.raises(QuantityError):
            weakest_source()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf"), None, "3"])
def test_a_quantity_is_a_finite_number(value: object) -> None:
    with pytest.raises(QuantityError, match="finite"):
        Quantity(value, Unit.COUNT, Basis.COUNT, Source.LIVE)  # type: ignore[arg-type]


def test_a_ratio_over_zero_is_undefined_not_zero() -> None:
    with pytest.raises(QuantityError, match="undefined"):
        ns(3).ratio_to(ns(0))


def test_a_truth_value_is_one_or_zero() -> None:
    with pytest.raises(QuantityError):
        Quantity(2, Unit.BOOL, Basis.COUNT, Source.LIVE)
