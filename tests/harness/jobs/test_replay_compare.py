"""Two arms of recorded runs: what pairs, what each metric differs by, who passed where."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.jobs.replay import Asked, replay
from harness.jobs.replay_compare import Compared, MetricPair
from harness.jobs.replay_compare import compare as compare_paired
from harness.jobs.replay_pairs import arm_of
from harness.record.replay import Replayed
from kpis.formulas.context.gates import GateState
from kpis.prices import shipped_prices
from tests.harness.jobs.session_files import busy, lines, put, verdicts
from tests.harness.jobs.test_replay_oracles import simulations


def compare(reference: Replayed, candidate: Replayed) -> Compared:
    return compare_paired(arm_of(reference), arm_of(candidate))


def arm(folder: Path, *runs: tuple[str, bool | None, int | None, int]) -> Replayed:
    """Runs of (case, passed, replicate, prompt)."""
    for at, (case, passed, replicate, prompt) in enumerate(runs):
        put(folder / f"{at}.jsonl", verdicts(case, passed, replicate=replicate, prompt=prompt))
    return replay([str(folder)], Asked(shipped_prices()), processes=1)


def pair_of(found: Compared, name: str) -> MetricPair:
    return next(pair for pair in found.metrics if pair.row.id == name)


@pytest.fixture
def arms(tmp_path: Path) -> tuple[Replayed, Replayed]:
    one = arm(tmp_path / "one", *((f"c{at}", at != 3, 0, 100 + at) for at in range(4)), ("alone", True, 0, 7))
    other = arm(tmp_path / "other", *((f"c{at}", True, 0, 90 + 7 * at) for at in range(4)))
    return one, other


def test_runs_pair_by_case_and_the_others_are_counted(arms: tuple[Replayed, Replayed]) -> None:
    found = compare(*arms)
    assert (found.runs, found.pairs, found.unpaired) == ((5, 4), 4, 1)
    prompt = pair_of(found, "exposed_tokens")
    assert (prompt.reference.value, prompt.candidate.value) == (413, 402), "sums are of all runs, paired or not"
    assert prompt.deltas == (-10, -4, 2, 8)
    assert prompt.median == -1
    assert prompt.interval is not None
    assert prompt.interval.lower <= -1 <= prompt.interval.upper
    assert prompt.tally is not None
    assert (prompt.tally.wins, prompt.tally.losses) == (2, 2)


def test_the_same_arms_give_the_same_interval(arms: tuple[Replayed, Replayed]) -> None:
    assert compare(*arms) == compare(*arms)


def test_who_passed_where(arms: tuple[Replayed, Replayed]) -> None:
    found = compare(*arms)
    table = found.passed.table
    assert (table.both_pass, table.candidate_only, table.reference_only, table.both_fail) == (3, 1, 0, 0)
    assert found.passed.non_inferior is GateState.SATISFIED
    back = compare(arms[1], arms[0])
    assert back.passed.non_inferior is GateState.VIOLATED


def test_a_metric_whose_larger_values_are_better(tmp_path: Path) -> None:
    for name, read in (("one", 100), ("other", 300)):
        for at in range(3):
            put(tmp_path / name / f"{at}.jsonl", verdicts(f"c{at}", passed=True, read=read))
    one, other = (replay([str(tmp_path / name)], Asked(shipped_prices()), processes=1) for name in ("one", "other"))
    hit = pair_of(compare(one, other), "cache_hit_ratio")
    assert (hit.reference.value, hit.candidate.value, hit.median) == (0.5, 0.75, 0.25)
    assert hit.tally is not None
    assert (hit.tally.wins, hit.tally.losses) == (3, 0)


def test_a_success_that_is_lost_is_worse(tmp_path: Path) -> None:
    one = arm(tmp_path / "one", *((f"c{at}", at in (0, 1), 0, 100) for at in range(4)))
    other = arm(tmp_path / "other", *((f"c{at}", at in (0, 2), 0, 100) for at in range(4)))
    success = pair_of(compare(one, other), "success_ratio").tally
    assert success is not None
    assert (success.wins, success.ties, success.losses, success.skipped) == (1, 2, 1, 0)


def test_replicates_without_a_number_are_numbered_in_their_order(tmp_path: Path) -> None:
    one = arm(tmp_path / "one", *[("c", True, None, 100 + at) for at in range(3)])
    other = arm(tmp_path / "other", *[("c", True, None, 200 + at) for at in range(2)])
    found = compare(one, other)
    assert (found.pairs, found.unpaired) == (2, 1)


def test_runs_that_nobody_judged_leave_it_open(tmp_path: Path) -> None:
    busy("a").save(tmp_path / "one")
    busy("b").save(tmp_path / "other")
    one, other = (replay([str(tmp_path / name)], Asked(shipped_prices()), processes=1) for name in ("one", "other"))
    found = compare(one, other)
    assert (found.pairs, found.unpaired, found.passed.table.pairs) == (0, 2, 0)
    assert found.passed.non_inferior is GateState.OPEN


def test_what_is_unknown_in_one_arm_is_in_no_difference(tmp_path: Path) -> None:
    one = arm(tmp_path / "one", *((f"c{at}", True, 0, 100) for at in range(3)))
    other = arm(tmp_path / "other", *((f"c{at}", True, 0, 100) for at in range(3)))
    cost = pair_of(compare(one, other), "cost_computed_usd")
    assert (cost.reference.value, cost.pairs, cost.interval, cost.tally) == (None, 0, None, None)


def test_a_file_of_simulations_gives_a_pair_a_case_and_replicate(tmp_path: Path) -> None:
    """The metrics are of the file as a whole, so they differ once."""
    both = [(task, trial) for task in range(3) for trial in range(2)]
    put(tmp_path / "one" / "r.json", simulations(*((task, trial, 1) for task, trial in both)))
    put(
        tmp_path / "other" / "r.json",
        simulations(*((task, trial, int(task < 2)) for task, trial in reversed(both)), name="b"),
    )
    one, other = (replay([str(tmp_path / name)], Asked(shipped_prices()), processes=1) for name in ("one", "other"))
    found = compare(one, other)
    assert (found.pairs, found.unpaired, found.run_pairs, found.within) == (6, 0, 1, 6)
    table = found.passed.table
    assert (table.both_pass, table.reference_only, table.candidate_only, table.both_fail) == (4, 2, 0, 0)
    assert pair_of(found, "recorded_requests").pairs == 1


def test_a_case_of_a_larger_file_shows_who_passed_and_no_metric(tmp_path: Path) -> None:
    put(tmp_path / "one" / "r.json", simulations((0, 0, 1), (1, 0, 1)))
    put(tmp_path / "other" / "r.json", simulations((0, 0, 0), name="b"))
    one, other = (replay([str(tmp_path / name)], Asked(shipped_prices()), processes=1) for name in ("one", "other"))
    found = compare(one, other)
    assert (found.pairs, found.unpaired, found.run_pairs, found.passed.table.reference_only) == (1, 1, 0, 1)
    assert found.passed.alone == 1
    assert pair_of(found, "recorded_requests").pairs == 0


@pytest.mark.parametrize(
    ("theirs", "ours", "undecided", "state"),
    [
        ((True,) * 4, (True, None, None, None), 3, GateState.OPEN),
        ((True, None), (True, True), 0, GateState.SATISFIED),
        ((True, None), (True, False), 1, GateState.OPEN),
        ((True, False), (True, None), 1, GateState.OPEN),
        ((True, True), (False, None), 1, GateState.VIOLATED),
    ],
)
def test_a_pair_that_nobody_judged_whole_keeps_the_gate_open(
    theirs: tuple[bool | None, ...], ours: tuple[bool | None, ...], undecided: int, state: GateState, tmp_path: Path
) -> None:
    one = arm(tmp_path / "one", *((f"c{at}", each, 0, 100) for at, each in enumerate(theirs)))
    other = arm(tmp_path / "other", *((f"c{at}", each, 0, 100) for at, each in enumerate(ours)))
    passed = compare(one, other).passed
    assert (passed.undecided, passed.non_inferior) == (undecided, state)


def test_two_runs_of_one_case_and_replicate_pair_with_nothing(tmp_path: Path) -> None:
    one = arm(tmp_path / "one", ("c", True, 0, 100), ("c", False, 0, 101), ("d", True, 0, 100))
    other = arm(tmp_path / "other", ("c", True, 0, 100), ("d", True, 0, 100))
    found = compare(one, other)
    assert (found.pairs, found.unpaired, found.repeated) == (1, 3, 2)


def test_a_run_that_another_file_shows_again_is_one_attempt(tmp_path: Path) -> None:
    for name in ("first", "again"):
        request = {"type": "request", "request_id": "r1", "tokens": {"fresh_in": 5, "out_total": 1}}
        facts = {"type": "facts", "case_id": "c", "replicate": 0, "success": True}
        head = {"schema": "loopladder.trace/1", "run_id": name}
        put(tmp_path / "one" / f"{name}.jsonl", lines(head, request, facts))
    one = replay([str(tmp_path / "one")], Asked(shipped_prices()), processes=1)
    found = compare(one, arm(tmp_path / "other", ("c", True, 0, 100)))
    assert (found.pairs, found.unpaired, found.repeated, found.passed.table.both_pass) == (1, 0, 0, 1)


def test_a_number_that_is_given_is_not_given_again(tmp_path: Path) -> None:
    one = arm(tmp_path / "one", ("c", True, 0, 100), ("c", True, None, 101))
    assert sorted(arm_of(one).verdicts) == [("c", 0), ("c", 1)]
