"""Epochs: what a call is placed under, what a write moves on, and that a stamp is never given twice."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seams.contract.syscall import ToolCall
from seams.syscall.epochs import NODES, Epochs, Invalidation, entity_of, namespace_of

GLOBAL, NAMESPACE, RESOURCE = Invalidation


def call(tool: str, **args: Any) -> ToolCall:
    return ToolCall(tool, json.dumps(args).encode())


@pytest.mark.parametrize(
    ("tool", "namespace"),
    [
        ("search_direct_flight", "flights"),
        ("BOOK_FLIGHT", "flights"),
        ("convert_currency", "fx"),
        ("forex_rate", "fx"),
        ("get_room", "hotels"),
        ("get_user_details", "users"),
        ("delete_account", "users"),
        ("list_all_airports", "airports"),
        ("fetch_refund_policy", "docs"),
        ("get_user_flights", None),
        ("airport_hotel", None),
        ("get_thing", None),
        ("", None),
    ],
)
def test_a_tool_has_one_namespace_or_none(tool: str, namespace: str | None) -> None:
    assert namespace_of(tool) == namespace


@pytest.mark.parametrize(
    ("namespace", "args", "entity"),
    [
        ("flights", {"origin": "sfo", "destination": " jfk "}, "SFO-JFK"),
        ("hotels", {"origin": "SFO", "destination": "JFK", "nights": 2}, "SFO-JFK"),
        ("fx", {"from_currency": "USD", "to_currency": "EUR", "amount": 1}, "USD-EUR"),
        ("fx", {"from": "usd", "to": "eur"}, "USD-EUR"),
        ("users", {"user_id": "mia"}, "MIA"),
        ("users", {"user_id": "n" * 200}, "N" * 200),
        ("users", {"user_id": "n" * 201}, None),
        ("users", {"user_id": "n" * 1_000_000}, None),
        ("users", {"user_id": 7}, None),
        ("users", {"user_id": " "}, None),
        ("users", {"user_id": ["mia"]}, None),
        ("users", {}, None),
        ("users", None, None),
        ("flights", {"origin": "SFO"}, None),
        ("fx", {"from": "USD", "from_currency": "EUR", "to": "JPY"}, None),
        ("docs", {"topic": "bags"}, None),
        ("users", {"named:user_id": "mia"}, "MIA"),
        ("users", {"user_id": "mia", "named:user_id": "bob"}, None),
    ],
)
def test_an_entity_is_named_in_full_or_not(namespace: str, args: dict[str, Any] | None, entity: str | None) -> None:
    assert entity_of(namespace, args) == entity


def test_the_world_is_one_node_by_default() -> None:
    epochs = Epochs()
    assert epochs.stamp(call("get_user", user_id="mia")) == epochs.stamp(call("anything")) == (0,)
    assert epochs.wrote(call("update_user", user_id="mia"))
    assert epochs.stamp(call("search_flight")) == (1,)


READS = {
    "mia": call("get_user", user_id="mia"),
    "bob": call("get_user", user_id="bob"),
    "fx": call("convert_currency", from_currency="USD", to_currency="EUR"),
    "thing": call("get_thing"),
}


@pytest.mark.parametrize(
    ("mode", "write", "stands"),
    [
        (GLOBAL, call("update_user", user_id="mia"), set()),
        (NAMESPACE, call("update_user", user_id="mia"), {"fx"}),
        (NAMESPACE, call("update_user"), {"fx"}),
        (NAMESPACE, call("update_exchange_rate"), {"mia", "bob"}),
        (NAMESPACE, call("update_thing"), set()),
        (NAMESPACE, call("book_user_flight"), set()),
        (RESOURCE, call("update_user", user_id="Mia"), {"bob", "fx"}),
        (RESOURCE, call("update_user"), {"fx"}),
        (RESOURCE, ToolCall("update_user", b"\xff\xfe"), {"fx"}),
        (RESOURCE, call("update_thing", user_id="mia"), set()),
    ],
)
def test_a_write_reaches_the_finest_node_it_names(mode: Invalidation, write: ToolCall, stands: set[str]) -> None:
    epochs = Epochs(mode)
    before = {name: epochs.stamp(read) for name, read in READS.items()}
    whole = epochs.wrote(write)
    assert {name for name, read in READS.items() if epochs.stamp(read) == before[name]} == stands
    assert whole is (not stands)
    assert epochs.world == int(whole)


def test_a_resource_that_is_not_named_has_no_stamp() -> None:
    epochs = Epochs(RESOURCE)
    assert epochs.stamp(call("get_user")) is None
    assert epochs.stamp(call("fetch_policy", topic="bags")) is None
    assert epochs.stamp(call("get_thing")) is not None


def test_epochs_are_told_apart_by_place() -> None:
    """One step of the entity after two of its namespace is not twelve steps of one."""
    read = READS["mia"]
    one_two, twelve = Epochs(RESOURCE), Epochs(NAMESPACE)
    one_two.wrote(call("update_user"))
    for _ in range(2):
        one_two.wrote(call("update_user", user_id="mia"))
    for _ in range(12):
        twelve.wrote(call("update_user"))
    assert (one_two.stamp(read), twelve.stamp(read)) == ((0, 1, 2), (0, 12))


def test_a_full_table_moves_the_world_on() -> None:
    epochs = Epochs(RESOURCE, cap=2)
    read = READS["mia"]
    for user in ("mia", "bob", "mia"):
        assert not epochs.wrote(call("update_user", user_id=user))
    before = epochs.stamp(read)
    assert epochs.wrote(call("update_user", user_id="eve")), "a third node finds no room"
    assert (before, epochs.stamp(read)) == ((0, 0, 2), (1, 0, 0))
    assert not epochs.wrote(call("update_user", user_id="eve")), "the table started over"


def test_the_usual_table_holds_8192_nodes() -> None:
    epochs = Epochs(RESOURCE)
    reached = [epochs.wrote(call("update_user", user_id=f"u{index}")) for index in range(NODES + 1)]
    assert (NODES, sum(reached), reached[-1]) == (8192, 1, True)


TOOLS = ("user", "flight", "thing", "user_flight")


@given(
    st.lists(st.tuples(st.sampled_from(TOOLS), st.sampled_from(("mia", "bob", "eve", ""))), max_size=40),
    st.sampled_from(Invalidation),
    st.integers(1, 3),
)
def test_no_read_is_stamped_alike_before_and_after_a_write_in_its_reach(
    writes: list[tuple[str, str]], mode: Invalidation, cap: int
) -> None:
    epochs = Epochs(mode, cap)
    read = READS["mia"]
    given = [epochs.stamp(read)]
    for tool, user in writes:
        epochs.wrote(call(f"update_{tool}", **({"user_id": user} if user else {})))
        apart = mode is not GLOBAL and (
            tool == "flight" or (mode is RESOURCE and tool == "user" and user in ("bob", "eve"))
        )
        stamp = epochs.stamp(read)
        if not apart:
            assert stamp not in given
        given.append(stamp)
