"""The instrument's own lowering: the reference view's, so that both see the same history, and nobody's word for it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.probes.turn._outlook import outlook_of, span_of, token_cost, tokens_of
from seams.contract.turn import Durability, Message
from seams.turn.spans import make_span
from seams.turn.spans import token_cost as reference_cost
from seams.turn.view import lower

roles = st.sampled_from(["", "system", "user", "assistant", "tool", "goal", "Read"])


@given(st.lists(st.builds(Message, roles, st.text()), max_size=9))
def test_it_lowers_and_forecasts_as_the_reference_view_does(messages: list[Message]) -> None:
    assert outlook_of(messages) == lower(messages)


@given(st.text(), st.booleans())
def test_a_sealed_span_shows_its_size_alone(body: str, sealed: bool) -> None:
    made = make_span(3, "tool", body, Durability.BOUNDED, sealed=sealed)
    assert span_of(3, "tool", body, Durability.BOUNDED, sealed=sealed) == made


@given(st.integers(0, 10_000))
def test_a_token_is_four_bytes(size: int) -> None:
    assert token_cost(size) == reference_cost(size)
    assert tokens_of([Message("user", "x" * size), Message("tool", "")]) == token_cost(size)
