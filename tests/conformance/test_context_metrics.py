"""The context metrics against the external cases, their runners against altered ones, and two recorded sweeps."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from kpis.formulas.context.prices import profile_of
from kpis.formulas.paired.pass_k import pass_by_combinations, pass_by_windows
from kpis.formulas.paired.permutation import blocks_of, exact, sampled
from tests.conformance import context_metrics, derived

SWEEPS = ("sweep-96.json", "sweep-20261004T123804Z.recovered.json")
ARMS = ("basic", "economy", "balanced", "quality")


@pytest.fixture
def folder(cases: Path) -> Path:
    return cases / "context-metrics"


@pytest.fixture
def files(folder: Path) -> tuple[Path, Path]:
    return folder / "cases.jsonl", folder / "expected.jsonl"


def test_all_seventy_cases_pass(files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert context_metrics.main([*map(str, files)]) == 0
    assert capsys.readouterr().out == "70 passed, 0 failed\n"


def test_all_thirty_seven_ruled_cases_pass(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert derived.main([str(folder / "derived.jsonl")]) == 0
    assert capsys.readouterr().out == "37 passed, 0 failed\n"


@pytest.mark.parametrize(("runner", "count"), [("context_metrics", 70), ("derived", 37)])
def test_as_a_command(folder: Path, repo: Path, runner: str, count: int) -> None:
    named = ["derived.jsonl"] if runner == "derived" else ["cases.jsonl", "expected.jsonl"]
    command = [sys.executable, "-m", f"tests.conformance.{runner}", *(str(folder / name) for name in named)]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, f"{count} passed, 0 failed")


def nudged(value: Any) -> Any:
    """``value`` with its first leaf changed."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1e-6 + abs(value) * 1e-6
    if isinstance(value, dict):
        first = next(iter(value))
        return {**value, first: nudged(value[first])}
    if isinstance(value, list):
        return [nudged(value[0]), *value[1:]] if value else [0]
    return 0


def test_every_altered_value_fails_by_its_id(files: tuple[Path, Path]) -> None:
    """No case passes whatever its function returns."""
    inputs, values = (file.read_text(encoding="utf-8") for file in files)
    rows = [json.loads(line) for line in values.splitlines()]
    altered = "\n".join(json.dumps({**row, "value": nudged(row["value"])}) for row in rows)
    count, failed = context_metrics.run(inputs, altered)
    assert list(failed) == [row["id"] for row in rows]
    assert count == 70


def test_every_altered_ruling_fails_by_its_id(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "derived.jsonl").read_text(encoding="utf-8").splitlines()]
    count, failed = derived.run("\n".join(json.dumps({**row, "value": nudged(row["value"])}) for row in rows))
    assert (count, list(failed)) == (37, [row["id"] for row in rows])


def test_what_fails_stands_on_the_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = {"id": "mine", "fn": "pma", "input": {"ist": 1, "reclaimed": 2}}
    odd = {"id": "odd", "fn": "no such function", "input": {}}
    (tmp_path / "cases").write_text("\n".join(map(json.dumps, (case, odd))))
    (tmp_path / "expected").write_text('{"id": "mine", "value": 0.5}\n{"id": "odd", "value": 1}\n')
    assert context_metrics.main([str(tmp_path / "cases"), str(tmp_path / "expected")]) == 1
    assert capsys.readouterr().out == "odd\n1 passed, 1 failed\n"
    (tmp_path / "ruled").write_text('{"id": "r", "metric": "PC", "input": {"objects": 1}, "value": 1}')
    assert derived.main([str(tmp_path / "ruled")]) == 1
    assert capsys.readouterr().out == "r\n0 passed, 1 failed\n"


@pytest.mark.parametrize("text", ["{", "[]", "", '{"id": 3}', '{"id": "somebody else"}'])
def test_what_is_no_case_file(tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = tmp_path / "good", tmp_path / "bad"
    good.write_text('{"id": "a", "fn": "pma", "input": {"ist": 1, "reclaimed": 1}}')
    bad.write_text(text)
    assert context_metrics.main([str(good), str(bad)]) == 2
    assert "cannot be read as cases" in capsys.readouterr().err
    if "somebody" not in text:
        assert derived.main([str(bad)]) == 2
        assert "usage: python -m tests.conformance.derived" in capsys.readouterr().err


def test_too_few_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert (context_metrics.main([]), context_metrics.main(["one"]), derived.main([])) == (2, 2, 2)
    assert derived.main(["/nowhere/at/all"]) == 2
    assert "usage:" in capsys.readouterr().err


def cells(folder: Path, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "results" / name).read_text(encoding="utf-8"))["cells"]
    return found


def outcomes(rows: Sequence[dict[str, Any]], arm: str) -> dict[str, list[bool]]:
    """Whether each replicate passed, by task, in order of replicates."""
    of_arm = sorted((row for row in rows if row["arm"] == arm), key=lambda row: row["replicate"])
    return {task: [row["reward"] == 1 for row in of_arm if row["task_id"] == task] for task in tasks(rows)}


def tasks(rows: Sequence[dict[str, Any]]) -> list[str]:
    return sorted({row["task_id"] for row in rows})


@pytest.mark.parametrize("name", SWEEPS)
def test_a_sweep_is_six_tasks_by_four_arms_by_four_replicates(folder: Path, name: str) -> None:
    rows = cells(folder, name)
    keys = {(row["task_id"], row["arm"], row["replicate"]) for row in rows}
    assert (len(rows), len(keys), len(tasks(rows)), {row["arm"] for row in rows}) == (96, 96, 6, set(ARMS))


@pytest.mark.parametrize(
    ("name", "arm", "published", "windows"),
    [
        (SWEEPS[0], "basic", (0.625, 0.5, 0.5), ((15, 24), (9, 18), (3, 6))),
        (SWEEPS[0], "economy", (0.75, 0.611, 0.5), ((18, 24), (11, 18), (3, 6))),
        (SWEEPS[0], "balanced", (0.583, 0.389, 0.333), ((14, 24), (7, 18), (2, 6))),
        (SWEEPS[0], "quality", (0.625, 0.444, 0.167), ((15, 24), (8, 18), (1, 6))),
        (SWEEPS[1], "basic", (0.75, 0.611, 0.5), None),
        (SWEEPS[1], "economy", (0.708, 0.611, 0.5), None),
        (SWEEPS[1], "balanced", (0.708, 0.5, 0.167), None),
        (SWEEPS[1], "quality", (0.583, 0.5, 0.5), None),
    ],
)
def test_pass_k_of_the_sweeps_by_windows(folder: Path, name: str, arm: str, published, windows) -> None:
    seen = [pass_by_windows(outcomes(cells(folder, name), arm), k) for k in (1, 2, 4)]
    assert [round(each.value or 0, 3) for each in seen] == list(published)
    if windows:
        assert [(each.numerator, each.denominator) for each in seen] == list(windows)


def test_the_two_definitions_differ_at_two_and_agree_at_the_ends(folder: Path) -> None:
    runs = outcomes(cells(folder, SWEEPS[0]), "economy")
    by_windows = [pass_by_windows(runs, k).value for k in (1, 2, 4)]
    by_subsets = [pass_by_combinations(runs, k).value for k in (1, 2, 4)]
    assert by_windows[0] == pytest.approx(by_subsets[0])
    assert by_windows[2] == pytest.approx(by_subsets[2])
    assert by_windows[1] == pytest.approx(11 / 18)
    assert by_subsets[1] == pytest.approx(sum(c * (c - 1) / 12 for c in map(sum, runs.values())) / 6)


def rows_of_blocks(folder: Path, names: Sequence[str]) -> list[tuple[tuple[object, ...], str, int]]:
    return [
        ((name, row["task_id"], row["replicate"]), row["arm"], int(row["reward"]))
        for name in names
        for row in cells(folder, name)
    ]


@pytest.mark.parametrize(
    ("names", "observed", "p"),
    [(SWEEPS[:1], 3, 0.1612), (SWEEPS[1:], -1, 0.7230), (SWEEPS, 2, 0.3373)],
)
def test_the_exact_permutation_over_the_labels_of_all_arms(folder: Path, names, observed: int, p: float) -> None:
    """The third sweep is not among the cases, so .1703 (it alone) and .1544 (all three) cannot be held here."""
    made = exact(blocks_of(rows_of_blocks(folder, names)), "economy", "basic")
    assert (made.observed, round(made.p, 4)) == (observed, p)


def test_swapping_only_the_two_compared_arms_is_another_number(folder: Path) -> None:
    two = [row for row in rows_of_blocks(folder, SWEEPS[:1]) if row[1] in ("economy", "basic")]
    assert round(exact(blocks_of(two), "economy", "basic").p, 4) == 0.2266


def test_rates_compared_as_floats_lose_the_ties_that_counts_keep(folder: Path) -> None:
    """Published of the second sweep: .655, sampled. With rates it is .6589 exactly, with counts .7230."""
    blocks = blocks_of(rows_of_blocks(folder, SWEEPS[1:]))
    won, lost = (sum(block[arm] for block in blocks) for arm in ("economy", "basic"))
    ways = Counter({(0, 0): 1})
    for block in blocks:
        longer: Counter[tuple[int, int]] = Counter()
        for (ours, theirs), count in ways.items():
            for one, other in permutations(block.values(), 2):
                longer[ours + one, theirs + other] += count
        ways = longer
    total = sum(ways.values())
    by_rates = sum(count for (a, b), count in ways.items() if a / 24 - b / 24 >= won / 24 - lost / 24)
    by_counts = sum(count for (a, b), count in ways.items() if a - b >= won - lost)
    assert (round(by_rates / total, 4), round(by_counts / total, 4)) == (0.6589, 0.7230)


def test_a_sampled_permutation_comes_near_the_exact_one(folder: Path) -> None:
    blocks = blocks_of(rows_of_blocks(folder, SWEEPS))
    near, right = sampled(blocks, "economy", "basic", 3000), exact(blocks, "economy", "basic")
    assert near.p == pytest.approx(right.p, abs=0.04)  # four standard errors
    assert (near.observed, near.exact, right.exact) == (2, False, True)


def test_no_episode_of_a_sweep_stopped_early_whatever_its_word_for_that(folder: Path) -> None:
    """One file stores the name of an enumeration with its member; read as it stands every failure would be one."""
    for name in SWEEPS:
        words = {row["termination"].rpartition(".")[2].lower() for row in cells(folder, name)}
        assert words == {"user_stop"}


def test_no_fold_in_any_cell_so_nothing_after_one(folder: Path) -> None:
    assert {row["telemetry"]["folds"] for row in cells(folder, SWEEPS[0])} == {0}


def test_failures_of_the_first_sweep_are_of_the_database_alone(folder: Path) -> None:
    failed = [row for row in cells(folder, SWEEPS[0]) if row["reward"] != 1]
    assert {(row["db_pass"], row["communicate_pass"]) for row in failed} == {(False, True)}


def test_the_price_profiles_say_their_own_rho(folder: Path) -> None:
    rows = json.loads((folder / "results" / "economics-profiles.json").read_text(encoding="utf-8"))
    assert [profile_of(row).rho() for row in rows] == pytest.approx([row["rho"] for row in rows])
