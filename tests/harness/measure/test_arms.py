"""Rounds of arms, and what becomes of them: one ratio a process, its two sides and its parts."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.measure.arms import run, time_round
from harness.measure.clock import Tally, Undefined, WorkNotDoneError
from harness.measure.launch import launch
from harness.measure.opening import Refused
from harness.measure.timing import Loop
from tests.harness.measure.jobs import hostile_job


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


def opened(what, **beside):
    return SimpleNamespace(what=what, loop=Loop(), beside=beside)


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


def test_ratios_that_were_opened_together_are_of_the_same_rounds() -> None:
    class Other(Two):
        def parts(self):
            raise AssertionError("it has rounds already")

        def ratio(self, rounds):
            found = super().ratio(rounds)
            return replace(found, numerator=found.denominator, denominator=found.numerator)

    class Broken(Two):
        def ratio(self, rounds):
            raise WorkNotDoneError("the arms were not served alike")

    gone = Undefined("not-offered", "None.")
    arms = Two()
    answer = run({"values": 3}, opened(arms, other=Other(), broken=Broken(), gone=gone, none=Two(tally=Tally(1e9, 1))))
    beside = answer["beside"]
    assert len(arms.seen) == 3
    assert beside["other"]["rounds"] == answer["rounds"]
    sides = ("numerator", "denominator")
    assert [beside["other"]["ratio"][side] for side in sides] == [answer["ratio"][side] for side in sides[::-1]]
    reasons = {name: beside[name]["undefined"]["reason"] for name in ("broken", "gone", "none")}
    assert reasons == {"broken": "work-not-done", "gone": "not-offered", "none": "too-short"}


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


def asked(task: str, repo: Path, folder: Path, **more):
    """What a worker answers of the ratio of the second arm over the third."""
    about = {
        "kpi": "net_value_add_vs_tuned",
        "estimand": "rate",
        "timed": False,
        "params": {"of": "clock"},
        "probe": "harness.probes.session.arms:Probe",
        "seam": "session/arms",
        "task": task,
        "limit": 60,
    }
    job = {**hostile_job("", repo), **about, **more}
    return launch(job, seed=1, limit=60, folder=folder, cwd=repo)


def test_a_worker_says_what_it_found_and_then_times_it(repo: Path, tmp_path: Path) -> None:
    found = asked("discover", repo, tmp_path)
    assert found.undefined is None
    assert (found.result["slice"], found.result["engine"], found.result["source"]) == ("parts", "none", "synthetic")
    timed = asked("ratio", repo, tmp_path, values=2)
    assert timed.undefined is None
    assert timed.result["ratio"]["numerator"] > timed.result["ratio"]["denominator"] > 0
    assert {len(values) for values in timed.result["rounds"].values()} == {2}
    assert "beside" not in timed.result


def test_one_worker_times_every_ratio_that_is_wanted(repo: Path, tmp_path: Path) -> None:
    wanted = ["net_value_add_vs_naive", "turn_tax_A_over_B"]
    found = asked("ratio", repo, tmp_path, values=2, beside=[*wanted, "prefill_tokens"]).result
    assert sorted(found["beside"]) == wanted
    naive, tax = (found["beside"][kpi]["ratio"] for kpi in wanted)
    tuned = found["ratio"]
    assert (naive["numerator"], naive["denominator"]) == (tax["numerator"], tuned["denominator"])
    assert tax["denominator"] == tuned["numerator"]


@pytest.mark.parametrize(
    ("task", "more", "words"),
    [("tally", {}, "gate it as report"), ("discover", {"estimand": "count"}, "a slice where this KPI needs a Tally")],
)
def test_where_a_count_is_wanted_arms_are_refused(task, more, words, repo: Path, tmp_path: Path) -> None:
    answer = asked(task, repo, tmp_path, **more)
    assert answer.undefined is not None
    assert words in answer.undefined[1]
