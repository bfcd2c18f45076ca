"""Rounds of arms, and what becomes of them: one ratio a process, its two sides and its parts."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from harness.measure.arms import run, time_round
from harness.measure.clock import Tally, WorkNotDoneError
from harness.measure.opening import Refused
from harness.measure.timing import Loop


def spin() -> int:
    return sum(range(2_000))


class Two:
    """Arm a spins twice, in two parts of one name; arm b once."""

    engine = "none"

    def __init__(self, parts=None, tally=None) -> None:
        self.seen: list[object] = []
        self.order: list[str] = []
        self._parts = parts
        self._tally = tally

    def parts(self):
        def part(name):
            def call():
                self.order.append(name)
                return spin()

            return name, call

        return [part("a"), part("b"), part("a")] if self._parts is None else self._parts

    def check(self, result) -> None:
        self.seen.append(result)

    def ratio(self, rounds):
        if self._tally is not None:
            return self._tally
        least = {name: min(spent[name] for spent in rounds) for name in rounds[0]}
        return Tally(1000 * least["a"], 1000 * least["b"], evidence=(f"{len(rounds)} rounds",))


def opened(what):
    return SimpleNamespace(what=what, loop=Loop())


def test_parts_run_in_order_and_those_of_one_name_are_summed() -> None:
    arms = Two()
    spent = time_round(arms, Loop())
    assert arms.order == ["a", "b", "a"]
    assert sorted(spent) == ["a", "b"]
    assert all(ns > 0 for ns in spent.values())
    assert arms.seen == [spin()]


def test_a_process_answers_with_a_ratio_and_all_its_rounds() -> None:
    arms = Two()
    answer = run({"values": 3}, opened(arms))
    assert sorted(answer) == ["ratio", "rounds"]
    assert answer["ratio"]["evidence"] == ["3 rounds"]
    assert answer["ratio"]["numerator"] == 1000 * min(answer["rounds"]["a"])
    assert {name: len(values) for name, values in answer["rounds"].items()} == {"a": 3, "b": 3}
    assert len(arms.seen) == 3


def test_parts_may_be_coroutine_functions_beside_others() -> None:
    async def waits() -> str:
        await asyncio.sleep(0)
        return "waited"

    loop = Loop()
    arms = Two(parts=[("a", spin), ("b", waits)])
    assert sorted(time_round(arms, loop)) == ["a", "b"]
    assert arms.seen == ["waited"]
    loop.close()


def test_work_that_was_not_done_is_no_round() -> None:
    class Idle(Two):
        def check(self, result) -> None:
            raise WorkNotDoneError("nothing was served")

    with pytest.raises(WorkNotDoneError, match="nothing was served"):
        run({"values": 1}, opened(Idle()))


@pytest.mark.parametrize(
    ("tally", "reason"),
    [
        (Tally(1e9), "bad-value"),
        (Tally(1e9, 0), "bad-value"),
        (Tally(0, 1e9), "bad-value"),
        (Tally(float("nan"), 1e9), "bad-value"),
        (Tally(1e9, 1), "too-short"),
        (Tally(1, 1e9), "too-short"),
    ],
)
def test_what_is_no_ratio_of_times_is_refused(tally, reason) -> None:
    with pytest.raises(Refused) as refused:
        run({"values": 1}, opened(Two(tally=tally)))
    assert refused.value.reason == reason
