"""Numbers for reading: prefixes, separators, four digits, and ASCII where nothing else can be written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.report.units import (
    ASCII,
    UNICODE,
    interval,
    parts,
    plus_minus,
    rescaled,
    shown,
    signs_for,
)
from kpis.terms.quantity import Unit


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, Unit.NS, "0 ns"),
        (12, Unit.NS, "12 ns"),
        (0.5, Unit.NS, "0.5000 ns"),
        (999.94, Unit.NS, "999.9 ns"),
        (999.96, Unit.NS, "1.000 µs"),
        (1234.5678, Unit.NS, "1.235 µs"),
        (-1500, Unit.NS, "-1.500 µs"),
        (999_999, Unit.NS, "1.000 ms"),
        (1.5e9, Unit.NS, "1.500 s"),
        (5e13, Unit.NS, "50,000 s"),
        (0, Unit.COUNT, "0"),
        (1_234_567, Unit.COUNT, "1,234,567"),
        (12.5, Unit.COUNT, "12.50"),
        (12.0, Unit.COUNT, "12"),
        (1e300, Unit.COUNT, "1.000e+300"),
        (12_345, Unit.TOK, "12,345 tok"),
        (1_000_000, Unit.OPS, "1,000,000 ops"),
        (30_581_505, Unit.INSTRUCTIONS, "30,581,505 instructions"),
        (1, Unit.RATIO, "1.000"),
        (0.98765, Unit.RATIO, "0.9877"),
        (0.99999, Unit.RATIO, "1.000"),
        (9.9999, Unit.RATIO, "10.00"),
        (0.0123456, Unit.RATIO, "0.01235"),
        (0.00001, Unit.RATIO, "1.000e-05"),
        (0.0123, Unit.USD, "0.01230 usd"),
        (1, Unit.BOOL, "yes"),
        (0, Unit.BOOL, "no"),
        (1023, Unit.BYTES, "1,023 B"),
        (1536, Unit.BYTES, "1.500 KiB"),
        (3 * 2**30, Unit.BYTES, "3.000 GiB"),
        (12.5, Unit.MS, "12.50 ms"),
    ],
)
def test_a_value_is_shown_with_its_prefix(value: float, unit: Unit, text: str) -> None:
    assert shown(value, unit) == text


def test_ascii_signs_stand_in_where_the_encoding_cannot() -> None:
    assert shown(1500, Unit.NS, ASCII) == "1.500 us"
    assert plus_minus(12.34e6, 0.56e6, Unit.NS, ASCII) == "12.34 +- 0.5600 ms"
    assert plus_minus(12.34e6, 0.56e6, Unit.NS) == "12.34 ± 0.5600 ms"


@pytest.mark.parametrize(
    ("encoding", "ascii_only"),
    [("utf-8", False), ("ascii", True), ("cp1252", False), ("koi8-r", True), ("no such", True)],
)
def test_signs_are_chosen_by_what_can_be_encoded(encoding: str, ascii_only: bool) -> None:
    assert signs_for(encoding) is (ASCII if ascii_only else UNICODE)


def test_an_interval_shares_the_prefix_of_its_value() -> None:
    assert interval(950, 1100, Unit.NS, like=1000) == "[0.9500, 1.100] µs"
    assert interval(950, 1100, Unit.NS, like=999) == "[950.0, 1,100] ns"
    assert interval(0.9, 1, Unit.RATIO, like=0.95) == "[0.9000, 1.000]"
    assert interval(1000, 2_000_000, Unit.TOK, like=3) == "[1,000, 2,000,000] tok"
    assert interval(512, 2048, Unit.BYTES, like=1024, signs=ASCII) == "[0.5000, 2.000] KiB"


@given(st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(2**63), 2**64), st.sampled_from(Unit))
def test_any_number_is_shown_in_few_characters_and_ascii_stays_ascii(value: float, unit: Unit) -> None:
    text = shown(value, unit, ASCII)
    assert text.isascii()
    assert len(text) <= 45
    if value != 0 and unit is not Unit.BOOL:
        assert any(digit in text for digit in "123456789")


@pytest.mark.parametrize(
    ("numerator", "denominator", "text"),
    [
        (6, 12, "6 of 12"),
        (0, 1200, "0 of 1,200"),
        (12, 12, "12 of 12"),
        (89_778, 4_094, "89,778 over 4,094"),
        (0.1 + 0.2, 1.0, "0.3000 of 1"),
    ],
)
def test_a_ratio_says_what_it_is_made_of(numerator: float, denominator: float, text: str) -> None:
    assert parts(numerator, denominator) == text


@pytest.mark.parametrize(
    ("evidence", "text"),
    [
        ("hook_ns = 4.72853e+07 ns", "hook_ns = 47.29 ms"),
        ("call_ns = 1653 ns", "call_ns = 1.653 us"),
        ("heap = 1536 bytes", "heap = 1.500 KiB"),
        ("scorings = 1.23457e+06 ops", "scorings = 1.23457e+06 ops"),
        ("endless = 1e999 ns", "endless = 1e999 ns"),
        ("closed form: i summed, is 595", "closed form: i summed, is 595"),
        ("a = 1 ns and b = 2 ns", "a = 1 ns and b = 2 ns"),
    ],
)
def test_evidence_is_scaled_where_that_invents_no_digit(evidence: str, text: str) -> None:
    assert rescaled(evidence, ASCII) == text
