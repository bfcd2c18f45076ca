"""Two arms of recorded runs: what pairs, what each metric differs by, who passed where."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.jobs.replay import Asked, replay
from harness.jobs.replay_compare import Compared, MetricPair, compare
from harness.record.replay import Replayed
from kpis.formulas.context.gates import GateState
from kpis.prices import shipped_prices
from tests.harness.jobs.session_files import busy, put, verdicts


def arm(folder: Path, *runs: tuple[str, bool, int | None, int]) -> Replayed:
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
    assert found.successes is not None
    table = found.successes
    assert (table.both_pass, table.candidate_only, table.reference_only, table.both_fail) == (3, 1, 0, 0)
    assert found.non_inferior is GateState.SATISFIED
    back = compare(arms[1], arms[0])
    assert back.non_inferior is GateState.VIOLATED


def test_a_metric_whose_larger_values_are_better(tmp_path: Path) -> None:
    for name, read in (("one", 100), ("other", 300)):
        for at in range(3):
            put(tmp_path / name / f"{at}.jsonl", verdicts(f"c{at}", passed=True, read=read))
    one, other = (replay([str(tmp_path / name)], Asked(shipped_prices()), processes=1) for name in ("one", "other"))
    hit = pair_of(compare(one, other), "cache_hit_ratio")
    assert (hit.reference.value, hit.candidate.value, hit.median) == (0.5, 0.75, 0.25)
    assert hit.tally is not None
    assert (hit.tally.wins, hit.tally.losses) == (3, 0)


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
    assert (found.pairs, found.unpaired, found.successes) == (0, 2, None)
    assert found.non_inferior is GateState.OPEN


def test_what_is_unknown_in_one_arm_is_in_no_difference(tmp_path: Path) -> None:
    one = arm(tmp_path / "one", *((f"c{at}", True, 0, 100) for at in range(3)))
    other = arm(tmp_path / "other", *((f"c{at}", True, 0, 100) for at in range(3)))
    cost = pair_of(compare(one, other), "cost_computed_usd")
    assert (cost.reference.value, cost.pairs, cost.interval, cost.tally) == (None, 0, None, None)
