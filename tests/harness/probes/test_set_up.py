"""Answers that are taken at once, and objects that are counted once."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from harness.probes._set_up import completed, distinct, now
from harness.probes._spread import spread


def test_an_answer_is_taken_at_once_whether_or_not_it_is_awaited() -> None:
    async def at_once() -> int:
        return 4

    async def later() -> int:
        await asyncio.sleep(0)
        return 4

    assert now(4) == now(at_once()) == 4
    with pytest.raises(TypeError, match="make that method synchronous"):
        now(later())


def test_an_object_that_is_offered_again_is_one() -> None:
    first, second = [1], [1]
    assert [id(each) for each in distinct([first, second, first])] == [id(first), id(second)]


def test_engines_are_counted_once_and_only_where_all_of_them_count() -> None:
    engine, other = SimpleNamespace(completed=3), SimpleNamespace(completed=4)
    owners = [SimpleNamespace(engine=engine), SimpleNamespace(engine=other), SimpleNamespace(engine=engine)]
    assert completed(owners) == 7
    assert completed([*owners, SimpleNamespace()]) is None
    assert completed([*owners, SimpleNamespace(engine=SimpleNamespace(completed="many"))]) is None


@pytest.mark.parametrize(("inputs", "loops"), [(1, 1), (3, 2), (3, 3), (8, 12), (7, 100)])
def test_a_batch_of_any_size_is_dealt_from_all_over(inputs: int, loops: int) -> None:
    dealt = spread(inputs, loops)
    assert len(dealt) == loops
    rounds = loops // inputs
    assert dealt[: rounds * inputs] == [*range(inputs)] * rounds
    rest = dealt[rounds * inputs :]
    assert rest == sorted(set(rest))
    assert all(abs(place - (2 * at + 1) * inputs / (2 * len(rest))) < 1 for at, place in enumerate(rest))
