"""Pairs: what ran in which order, and that a side that gives no number is named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from harness.measure import pair_side
from harness.measure.instrument import INSTRUMENT
from harness.measure.pair_answers import holds
from harness.measure.pairs import LEAST_LOOPS, Load, SideJob, Unmeasured, calibrate, run_pair
from harness.measure.schedule import ROUNDS, PairPlan, draw
from tests.cases.probes import hostile
from tests.harness.measure.jobs import hostile_job
from tests.harness.measure.processes import running


def spec(repo: Path, probe: str, **more: Any) -> SideJob:
    return SideJob(hostile_job(probe, repo, **{"min_time": 0.002, **more}), INSTRUMENT, repo)


def test_a_schedule_is_a_function_of_its_seed_and_favours_no_side() -> None:
    assert draw(Random(3)) == draw(Random(3))
    rng = Random(11)
    plans = [draw(rng) for _ in range(2_000)]
    for count in (
        Counter(plan.starts for plan in plans),
        Counter(first for plan in plans for first in plan.rounds),
        Counter(plan.copies["base"] for plan in plans),
        Counter(plan.copies["head"] for plan in plans),
    ):
        total = sum(count.values())
        # five standard deviations of a fair coin: one wrong alarm in two million
        assert all(abs(number - total / 2) < 2.5 * total**0.5 for number in count.values()), count
    assert len({plan.seed for plan in plans}) > 1_990
    assert all(len(plan.rounds) == ROUNDS for plan in plans)


def test_the_sides_are_released_in_turn_as_the_plan_says(repo: Path, tmp_path: Path) -> None:
    plan = PairPlan(5, 100, {"base": 0, "head": 1}, "head", ("base", "head", "head", "base", "base", "head"))
    both = spec(repo, "Base")
    loops, _ = calibrate("head", both, plan, limit=30, folder=tmp_path)
    trace: list[tuple[str, str]] = []
    pair = run_pair(
        {"base": both, "head": both},
        plan,
        load=Load(loops, means=True),
        limit=30,
        folder=tmp_path,
        trace=trace,  # type: ignore[arg-type]
    )
    assert trace[:2] == [("base", "warm-up"), ("head", "warm-up")]
    firsts = [side for side, _ in trace[2::2]]
    assert firsts == list(plan.rounds)
    assert all({a[0], b[0]} == {"base", "head"} for a, b in zip(trace[::2], trace[1::2], strict=True))
    assert {side: len(values) for side, values in pair.wall.items()} == {"base": ROUNDS, "head": ROUNDS}
    assert all(value > 0 for values in (*pair.wall.values(), *pair.cpu.values()) for value in values)
    assert not list(tmp_path.iterdir()), "the job files are gone"


@pytest.mark.parametrize(
    ("probe", "reason"), [("Raises", "error"), ("Dies", "crashed"), ("WrongWork", "work-not-done"), ("Exits", "error")]
)
def test_a_side_that_gives_no_number_is_named(probe: str, reason: str, repo: Path, tmp_path: Path) -> None:
    sides = {"base": spec(repo, "Base"), "head": spec(repo, probe)}
    with pytest.raises(Unmeasured) as caught:
        run_pair(sides, draw(Random(1)), load=Load(10, means=True), limit=30, folder=tmp_path)  # type: ignore[arg-type]
    assert (caught.value.side, caught.value.reason) == ("head", reason)


def test_a_pair_that_hangs_ends_with_its_limit(repo: Path, tmp_path: Path) -> None:
    sides = {"base": spec(repo, "Hangs"), "head": spec(repo, "Base")}
    with pytest.raises(Unmeasured) as caught:
        run_pair(sides, draw(Random(1)), load=Load(10, means=True), limit=2, folder=tmp_path)  # type: ignore[arg-type]
    assert caught.value.reason == "timeout"


def test_stamped_calls_are_paired_too(repo: Path, tmp_path: Path) -> None:
    both = spec(repo, "sugar", estimand="call-p50", params={"size": "4"})
    pair = run_pair(
        {"base": both, "head": both}, draw(Random(1)), load=Load(200, means=False), limit=30, folder=tmp_path
    )
    assert len(pair.wall["head"]) == ROUNDS


def test_an_injection_is_more_calls_and_never_a_product() -> None:
    load = Load(40, means=True, inject=1.10)
    assert (load.command("base"), load.command("head"), load.divisor, load.truth) == ("time 40", "time 44", 40, 1.1)
    stamped = Load(1000, means=False, inject=1.03)
    assert stamped.command("base") == f"time {29 * 34} 34"
    assert stamped.command("head") == f"time {29 * 35} 35"
    assert stamped.divisor == LEAST_LOOPS
    assert Load(1000, means=False).command("head") == "time 1000"


def test_blocks_of_stamped_calls_take_their_calls_together(repo: Path, tmp_path: Path) -> None:
    both = spec(repo, "sugar", estimand="call-p50", params={"size": "4"})
    load = Load(340, means=False, inject=2.0)
    pair = run_pair({"base": both, "head": both}, draw(Random(1)), load=load, limit=30, folder=tmp_path)
    assert sum(pair.wall["head"]) > sum(pair.wall["base"]), "twice the calls in a block"


# What the code under test does to the pair


def test_a_daemon_ends_with_its_pair_and_is_counted(repo: Path, tmp_path: Path) -> None:
    sides = {"base": spec(repo, "Base"), "head": spec(repo, "LeavesADaemon")}
    pair = run_pair(sides, draw(Random(1)), load=Load(10, means=True), limit=30, folder=tmp_path)  # type: ignore[arg-type]
    assert pair.left == 1
    calibrate("head", sides["head"], draw(Random(1)), limit=30, folder=tmp_path)
    assert not running(hostile.DAEMON_SLEEPS)


def test_a_pair_that_leaves_nothing_behind_says_so(repo: Path, tmp_path: Path) -> None:
    both = spec(repo, "Base")
    pair = run_pair({"base": both, "head": both}, draw(Random(1)), load=Load(10, means=True), limit=30, folder=tmp_path)
    assert pair.left == 0


@pytest.mark.parametrize("probe", ["SaysFive", "SaysNothing", "SaysUndefined", "SaysBytes", "SaysATally", "SaysNoEnd"])
def test_what_somebody_else_writes_to_the_pipe_is_no_answer(probe: str, repo: Path, tmp_path: Path) -> None:
    with pytest.raises(Unmeasured) as caught:
        calibrate("head", spec(repo, probe), draw(Random(1)), limit=30, folder=tmp_path)
    assert (caught.value.side, caught.value.reason) == ("head", "crashed")


def test_half_a_line_before_an_answer_does_not_spoil_it(repo: Path, tmp_path: Path) -> None:
    loops, wall = calibrate("head", spec(repo, "SaysTooEarly"), draw(Random(1)), limit=30, folder=tmp_path)
    assert loops > 0
    assert wall > 0


def test_a_child_that_comes_back_does_not_answer_for_its_parent(repo: Path, tmp_path: Path) -> None:
    both = spec(repo, "Forks")
    pair = run_pair({"base": both, "head": both}, draw(Random(1)), load=Load(10, means=True), limit=30, folder=tmp_path)
    assert len(pair.wall["head"]) == ROUNDS


TIME = {"to": "time 10", "wall_ns": 5.0, "cpu_ns": 0.0, "displaced": 0}
FOUND = {"to": "calibrate", "loops": 4, "wall_ns": 5.0}


@pytest.mark.parametrize("told", [TIME, FOUND])
def test_an_answer_that_holds_is_taken(told: dict[str, Any]) -> None:
    assert holds(str(told["to"]), told)


@pytest.mark.parametrize(
    "answer",
    [
        *({**TIME, "wall_ns": wall} for wall in (0, -1.0, float("nan"), float("inf"), "5", None, True, 10**400, [5])),
        *({**TIME, "cpu_ns": cpu} for cpu in (-1.0, float("nan"), None)),
        *({**TIME, "displaced": count} for count in (-1, 0.5, None)),
        *({**FOUND, "loops": loops} for loops in (0, -4, 4.0, "4", True, 10**30, None)),
        {**FOUND, "wall_ns": float("nan")},
        {"to": "time 10"},
        {"to": "calibrate"},
    ],
)
def test_an_answer_that_does_not_hold_is_none(answer: dict[str, Any]) -> None:
    assert not holds(str(answer["to"]), answer)


@pytest.mark.parametrize(
    "line", [b"5", b"[]", b"{}", b"[" * 100_000, b'{"to": "time 9"}', b'{"undefined": {"reason": 5, "detail": ""}}']
)
def test_a_side_that_knows_its_token_and_answers_something_else_has_crashed(
    line: bytes, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pair_side.SideWorker, "_line", lambda _worker: line)
    with pytest.raises(Unmeasured, match="no answer to its question") as caught:
        calibrate("head", spec(repo, "Base"), draw(Random(1)), limit=30, folder=tmp_path)
    assert caught.value.reason == "crashed"
