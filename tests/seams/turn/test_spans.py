from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.turn import Durability, RefusalReason
from seams.turn.planner import optimize
from seams.turn.spans import (
    DESCRIPTOR_BYTES,
    SpanStore,
    byte_length,
    durability_of,
    make_span,
    span_cost,
    token_cost,
    utility_of,
)
from tests.seams.turn.shapes import candidate


@pytest.mark.parametrize(("size", "tokens"), [(-1, 0), (0, 0), (1, 1), (4, 1), (5, 2), (159, 40), (1000, 250)])
def test_four_bytes_a_token_rounded_up(size: int, tokens: int) -> None:
    assert token_cost(size) == tokens


@pytest.mark.parametrize(
    ("body", "descriptor"),
    [
        ("  two words  \nsecond line", "tool: two words"),
        ("\nall below", "tool: "),
        ("", "tool: "),
        ("x" * 200, "tool: " + "x" * 120),
        ("é" * 200, "tool: " + "é" * 60),
        ("a" + "é" * 200, "tool: a" + "é" * 59),  # the 120th byte is half a character
    ],
)
def test_descriptor_is_the_stripped_first_line_cut_at_120_bytes(body: str, descriptor: str) -> None:
    assert make_span(0, "tool", body).descriptor == descriptor


def test_a_sealed_span_shows_its_size_and_nothing_else() -> None:
    span = make_span(3, "Read", "the key is é", sealed=True)
    assert span.descriptor == "Read: [sealed: 13 bytes]"
    assert (span.id, span.step, span.bytes) == ("span:3", 3, 13)


@given(st.text())
def test_digest_and_size_are_those_of_the_bytes(body: str) -> None:
    data = body.encode("utf-8", "surrogatepass")
    span = make_span(0, "user", body)
    assert (span.digest, span.bytes) == (sha256(data).hexdigest(), len(data))
    assert byte_length(body) == len(data)
    assert byte_length(span.descriptor) <= len("user: ") + DESCRIPTOR_BYTES


def test_half_a_surrogate_pair_is_lowered_all_the_same() -> None:
    assert make_span(0, "user", "\ud83d broken").bytes == 10


def test_an_unknown_durability_promises_the_least() -> None:
    assert durability_of("bounded") is Durability.BOUNDED
    assert durability_of("forever") is Durability.TURN


@pytest.mark.parametrize(
    ("attrs", "utility"),
    [
        (None, 0.0),
        ({}, 0.0),
        ({"utility": 3}, 3.0),
        ({"utility": "2.5"}, 2.5),
        ({"utility": "much"}, 0.0),
        ({"utility": "nan"}, 0.0),
        ({"utility": float("inf")}, 0.0),
        ({"utility": 10**400}, 0.0),
        ({"utility": [4]}, 0.0),
    ],
)
def test_a_garbled_utility_is_none(attrs: dict[str, object] | None, utility: float) -> None:
    assert utility_of(attrs) == utility


def test_a_tokenizer_counts_role_and_descriptor_instead_of_the_size() -> None:
    span = make_span(0, "tool", "alpha beta gamma".ljust(1000))._replace(descriptor="alpha beta gamma")
    assert span_cost(span, lambda text: len(text.split())) == 4
    assert span_cost(span) == 250


def test_the_store_pages_in_by_its_own_marks_whatever_the_plan_selected() -> None:
    store = SpanStore()
    for body, sealed in (("open", False), ("secret", True)):
        store.add("tool", body, sealed=sealed)
    plan = optimize([candidate(each.step, 1, 1.0) for each in store.spans], 9)
    assert [store.page_in(each) for each in plan.selected] == ["open", RefusalReason.SEALED]
    assert store.page_in(plan.selected[0]._replace(id="span:9")) is RefusalReason.PAGE_IN
