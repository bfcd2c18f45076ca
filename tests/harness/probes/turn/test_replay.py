from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import workloads
from harness.measure.clock import Undefined, WorkNotDoneError
from harness.probes.turn._outlook import outlook_of
from harness.probes.turn._replay import REPLAYED, Cycled, Session, content_of, session_of, spread
from harness.workloads import FILES, shipped
from seams.contract.turn import Message
from tests.harness.probes.turn.sessions import session

SHIPPED = Path(str(workloads.__file__)).parent / FILES["session"]


@given(
    st.text(st.characters(codec="utf-8"), max_size=40),
    st.integers(0, 300),
    st.sampled_from(["", "0123456789abcdef" * 2]),
    st.lists(st.from_regex(r"[b-z]{3,9}", fullmatch=True), max_size=40).map(" ".join),
)
def test_a_text_is_rebuilt_at_its_size(head: str, size: int, digest: str, words: str) -> None:
    text = content_of(head, size, digest, words)
    assert len(text.encode()) == size
    if size > len(head.encode()):
        assert text.startswith(head + "\n")


@given(st.lists(st.from_regex(r"[b-z]{3,9}", fullmatch=True), unique=True, max_size=20), st.integers(0, 200))
def test_words_come_back_whole_and_once_on_the_line_below_the_head(words: list[str], size: int) -> None:
    head = f"{words[0]}. xx" if words else "xx"
    lines = content_of(head, len(head) + 1 + size, "ab" * 16, " ".join(words)).split("\n")
    below = lines[1].split() if len(words) > 1 and size >= len(words[1]) else []
    assert below == words[1 : 1 + len(below)]
    left = size - len(" ".join(below))
    assert len(below) + 1 >= len(words) or left < len(words[len(below) + 1]) + bool(below)


def test_the_digest_is_no_word_and_tells_bodies_apart() -> None:
    one, other = (content_of("xx", 60, digest * 16, "bcd fgh") for digest in ("ab", "cd"))
    assert one != other
    assert outlook_of([Message("user", one)]).forecast.intents == ("bcd", "fgh")


def test_a_replayed_prompt_asks_for_what_the_recorded_one_asked_for() -> None:
    """The shipped session: as many intents a turn as its texts hold, not only those of their first lines."""
    lines = [json.loads(line) for line in SHIPPED.read_text(encoding="utf-8").splitlines()]
    found = session_of(shipped("session").workload)
    assert isinstance(found, Session)
    texts = [Message(line["role"], line["text"]) for line in lines][: len(found.messages)]
    true, replayed = (
        [len(outlook_of(messages[:seen]).forecast.intents) for seen in found.seen]
        for messages in (texts, found.messages)
    )
    assert sum(true) / len(true) > 30
    assert sum(replayed) == pytest.approx(sum(true), rel=0.02)
    firsts = [Message(each.role, each.content.split("\n")[0]) for each in found.messages]
    heads = [len(outlook_of(firsts[:seen]).forecast.intents) for seen in found.seen]
    assert sum(heads) < 0.7 * sum(replayed)


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


def test_renewed_inputs_are_made_before_the_batch_runs_and_never_twice_alike() -> None:
    made: list[tuple[int, int]] = []
    called: list[tuple[int, int]] = []

    def renew(given: tuple[int, ...], number: int) -> tuple[int, int]:
        made.append((given[0], number))
        return given[0], number

    sliced = Cycled(lambda *given: called.append(given), [(7,), (8,)], lambda given, came: None, renew=renew)
    batch = sliced.batch(3)
    assert (made, called) == ([(7, 1), (8, 2), (8, 3)], [])
    assert batch()[0] == (8, 3)
    sliced.batch(2)()
    assert called == made == [(7, 1), (8, 2), (8, 3), (7, 4), (8, 5)]


def test_a_coroutine_function_is_awaited_in_each_call() -> None:
    async def call(turn: int) -> int:
        await asyncio.sleep(0)
        return 10 * turn

    sliced = Cycled(call, [(1,)], lambda given, came: None)
    assert asyncio.run(sliced.batch(3)()) == ((1,), 10)


def test_a_method_that_gives_nothing_or_something_else_back_did_no_work() -> None:
    def verify(given: tuple[int], came: list[int]) -> None:
        if came.index(given[0]):
            raise WorkNotDoneError("it is not the first")

    for empty, message in [
        (lambda _: None, "gave back nothing"),
        (lambda _: 4, "gave back a int, which is not"),
        (lambda _: [], "gave back a list, which is not"),
        (lambda turn: [0, turn], "not the first"),
    ]:
        sliced = Cycled(empty, [(7,)], verify)
        with pytest.raises(WorkNotDoneError, match=message):
            sliced.check(sliced.batch(2)())
    sliced = Cycled(lambda turn: [turn], [(7,)], verify)
    sliced.check(sliced.batch(2)())


def test_an_object_with_an_async_call_is_awaited() -> None:
    class Awaited:
        async def __call__(self, turn: int) -> int:
            return 10 * turn

    assert asyncio.run(Cycled(Awaited(), [(1,)], lambda given, came: None).batch(2)()) == ((1,), 10)
