from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.turn import Durability, Message, RefusalReason
from seams.turn.spans import byte_length, token_cost
from seams.turn.view import ContextView, ViewOffError, forecast_of, lower, offer

TALK = [
    Message("system", "You file claims."),
    Message("goal", "Close the open claim."),
    Message("user", "Hello there"),
    Message("assistant", "Which claim is it?", "bot"),
    Message("Read", "claims.txt:\n" + "x" * 400),
    Message("", "Claim 4711, the OLD claim, not 12"),
]


def test_pins_are_goal_system_first_and_last_user_in_that_order() -> None:
    assert forecast_of(TALK).pins == ("span:1", "span:0", "span:2", "span:5")


def test_one_user_message_is_pinned_once() -> None:
    assert forecast_of([Message("tool", "x"), Message("user", "only")]).pins == ("span:1",)


def test_intents_are_the_distinct_words_of_the_last_user_message() -> None:
    assert forecast_of(TALK).intents == ("claim", "4711", "the", "old", "not")
    assert forecast_of(TALK).horizon == 1


def test_a_history_without_user_has_neither_pin_nor_intent() -> None:
    assert forecast_of([Message("tool", "alpha")]) == forecast_of([])


def test_one_span_a_message_and_durability_by_role() -> None:
    spans = lower(TALK).spans
    assert [each.id for each in spans] == [f"span:{step}" for step in range(6)]
    assert spans[5].role == "user"
    session = Durability.SESSION
    assert [each.durability for each in spans] == [
        Durability.DURABLE,
        session,
        session,
        Durability.TURN,
        session,
        session,
    ]


def test_a_turn_within_the_budget_keeps_every_text_in_order() -> None:
    view = offer("none")
    rendered = view.render_turn(TALK)
    assert [each.content for each in rendered] == [each.content for each in TALK]
    assert rendered is not TALK
    assert view.witness is not None
    assert view.witness.faithful
    assert view.witness.reconciled
    assert view.witness.cost_contract


def test_roles_pass_if_chat_knows_them_and_names_are_lost() -> None:
    rendered = offer("none").render_turn(TALK)
    assert [(each.role, each.name) for each in rendered] == [
        ("system", "system"),
        ("tool", "goal"),
        ("user", "user"),
        ("assistant", "assistant"),
        ("tool", "Read"),
        ("user", "user"),
    ]


def test_a_tight_budget_elides_the_long_result_and_keeps_the_pins() -> None:
    rendered = ContextView(budget=40).render_turn(TALK)
    assert [each.name for each in rendered] == ["system", "goal", "user", "assistant", "user"]


def test_the_phases_in_turn_are_the_turn() -> None:
    view = ContextView(budget=40)
    outlook = view.forecast(TALK)
    plan = view.plan(TALK, outlook)
    assert plan.candidates == len(TALK)
    assert view.render(TALK, plan) == view.render_turn(TALK)


def test_what_the_gate_refuses_is_not_rendered_and_is_accounted_for() -> None:
    def gate(_, message: Message) -> RefusalReason | None:
        return RefusalReason.SEALED if message.role == "Read" else None

    view = ContextView(gate=gate)
    rendered = view.render_turn(TALK)
    assert "Read" not in [each.name for each in rendered]
    assert view.witness is not None
    assert (view.witness.rendered, view.witness.refused, view.witness.reconciled) == (5, 1, True)


def test_an_empty_text_that_the_gate_lets_in_is_rendered() -> None:
    assert ContextView(gate=lambda _, __: None).render_turn([Message("user", "")]) == [Message("user", "", "user")]


def test_a_view_that_is_off_is_the_identity_and_has_no_phases() -> None:
    view = ContextView(enabled=False)
    assert view.render_turn(TALK) is TALK
    outlook = offer("none").forecast(TALK)
    plan = offer("none").plan(TALK, outlook)
    for phase in (lambda: view.forecast(TALK), lambda: view.plan(TALK, outlook), lambda: view.render(TALK, plan)):
        with pytest.raises(ViewOffError, match="The view is off"):
            phase()


def test_no_message_is_an_empty_view() -> None:
    assert offer("none").render_turn([]) == []


@given(
    st.lists(
        st.builds(Message, st.sampled_from(["system", "user", "assistant", "tool", "goal"]), st.text()), max_size=9
    ),
    st.integers(0, 60),
)
def test_a_view_stays_in_its_budget_but_for_the_pins(messages: list[Message], budget: int) -> None:
    view = ContextView(budget=budget)
    outlook = view.forecast(messages)
    plan = view.plan(messages, outlook)
    rendered = view.render(messages, plan)
    assert sum(token_cost(byte_length(each.content)) for each in rendered) <= max(budget, plan.pinned_tokens)
    assert view.witness is not None
    assert view.witness.faithful
    assert view.witness.cost_contract
    if outlook.forecast.pins:
        asked = [each.content for each in messages if each.role == "user"]
        assert not asked or asked[-1] in [each.content for each in rendered]
