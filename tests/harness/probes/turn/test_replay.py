from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.measure.clock import Undefined
from harness.probes.turn._replay import REPLAYED, Cycled, Session, content_of, finish, session_of, settled, spread
from tests.harness.probes.turn.sessions import session


@given(st.text(st.characters(codec="utf-8"), max_size=40), st.integers(0, 300))
def test_a_text_is_rebuilt_at_its_size(head: str, size: int) -> None:
    text = content_of(head, size)
    assert len(text.encode()) == size
    if size > len(head.encode()):
        assert text.startswith(head + "\n")


def test_history_accumulates_and_a_turn_before_the_first_message_is_left_out() -> None:
    workload = session(3)
    workload.data["turns"].insert(0, {"messages": []})
    found = session_of(workload)
    assert isinstance(found, Session)
    assert found.seen == [4, 7, 10]
    assert [len(each) for each in found.sampled()] == [4, 7, 10]
    assert found.messages[1].content.splitlines()[0] == "question 0 about claims"


@pytest.mark.parametrize(
    ("workload", "reason"),
    [(None, "workload-kind"), (session(1, kind="calls"), "workload-kind"), (session(0), "too-few")],
)
def test_without_a_session_the_reading_is_undefined(workload, reason: str) -> None:
    found = session_of(workload)
    assert isinstance(found, Undefined)
    assert found.reason == reason


def test_a_long_session_is_sampled_over_its_whole_length() -> None:
    found = session_of(session(1000))
    assert isinstance(found, Session)
    lengths = [len(each) for each in found.sampled()]
    assert len(lengths) == REPLAYED
    assert sum(lengths) / REPLAYED == pytest.approx(sum(found.seen) / 1000, rel=0.01)


@given(st.integers(1, 30), st.integers(1, 200))
def test_any_number_of_loops_stands_for_the_whole_session(turns: int, loops: int) -> None:
    chosen = spread(turns, loops)
    assert len(chosen) == loops
    counted = [chosen.count(turn) for turn in range(turns)]
    assert max(counted) - min(counted) <= 1
    assert abs(sum(chosen) / loops - (turns - 1) / 2) <= 0.5


def test_a_batch_makes_exactly_its_calls_and_hands_the_last_one_to_check() -> None:
    called: list[int] = []
    verified: list[tuple[tuple[int], int]] = []

    def call(turn: int) -> int:
        called.append(turn)
        return 10 * turn

    sliced = Cycled(call, [(0,), (1,), (2,)], lambda given, came: verified.append((given, came)))
    sliced.check(sliced.batch(5)())
    assert called == [0, 1, 2, 0, 2]
    assert verified == [((2,), 20)]


def test_a_coroutine_function_is_awaited_in_each_call() -> None:
    async def call(turn: int) -> int:
        await asyncio.sleep(0)
        return 10 * turn

    sliced = Cycled(call, [(1,)], lambda given, came: None)
    assert asyncio.run(sliced.batch(3)()) == ((1,), 10)


def test_opening_a_synchronous_runtime_needs_no_loop() -> None:
    async def opening() -> object:
        return await settled(len("four"))

    assert finish(opening(), len) == 4


def test_opening_an_asynchronous_runtime_is_left_to_the_worker() -> None:
    async def method() -> int:
        await asyncio.sleep(0)
        return 4

    async def opening() -> object:
        return await settled(method())

    assert asyncio.run(finish(opening(), method)) == 4
    with pytest.raises(TypeError, match="declare it async"):
        finish(opening(), len)
