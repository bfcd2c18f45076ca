"""Nesting is bounded exactly, in time linear in the input, whatever the strings hold."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.formats.limits import FormatError, Limits, check_depth, printable, read_bounded

_json = st.recursive(
    st.none() | st.text(alphabet='[]{}"\\x', max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(alphabet="[{", max_size=2), inner, max_size=3),
    max_leaves=20,
)


def depth_of(value: Any) -> int:
    """How deep a value nests."""
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(depth_of, value), default=0) if isinstance(value, list) else 0


def refused(data: bytes, depth: int) -> bool:
    """Whether ``data`` is too deep for ``depth``."""
    try:
        check_depth(data, Limits(max_depth=depth), "x")
    except FormatError:
        return True
    return False


@given(_json)
@settings(deadline=None)
def test_depth_is_exact_on_every_json_value(value: Any) -> None:
    data, depth = json.dumps(value).encode(), depth_of(value)
    assert not refused(data, depth)
    assert depth == 0 or refused(data, depth - 1)


@pytest.mark.parametrize(
    "data",
    [b'"' + b'\\"' * 200_000, b'"\\' * 200_000, b'"' * 400_001, b"[]" * 200_000, b'{"' * 3 + b"]}" * 200_000],
)
def test_hostile_strings_are_scanned_once(data: bytes) -> None:
    # Quadratic scanning of these would take minutes and run into the suite's time limit.
    assert not refused(data, 10_000)


def test_a_document_deeper_than_any_stack_is_refused() -> None:
    assert refused(b"[" * 1_000_000, 64)


def test_the_sentence_names_the_place() -> None:
    with pytest.raises(FormatError, match="Line 7 nests deeper than 2 levels"):
        check_depth(b"[[[]]]", Limits(max_depth=2), "Line 7")


def test_reading_stops_at_the_limit() -> None:
    assert read_bounded(io.BytesIO(b"12345"), Limits(max_bytes=5)) == b"12345"
    with pytest.raises(FormatError, match="larger than 4 bytes"):
        read_bounded(io.BytesIO(b"12345"), Limits(max_bytes=4))


@given(st.text(max_size=200))
@settings(deadline=None)
def test_a_shown_text_is_one_printable_line(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert len(shown) <= 80
