"""Two arms of runs recorded for their context: what pairs, which gates hold where, what the pairs differ by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cli.main import main
from harness.jobs.replay_compare_context import compare_contexts
from kpis.formulas.context.gates import GateState
from tests.harness.jobs.context_runs import read, run
from tests.harness.jobs.session_files import busy, put


def arms(tmp_path: Path, **changes: Any) -> tuple[Path, Path]:
    for at in range(4):
        put(tmp_path / "one" / f"{at}.jsonl", run(run_id=f"a{at}", case_id=f"c{at}", arm="one", after=60 + at))
        told = {"run_id": f"b{at}", "case_id": f"c{at}", "arm": "other", "after": 40 + at} | (
            changes if at == 3 else {}
        )
        put(tmp_path / "other" / f"{3 - at}.jsonl", run(**told))
    return tmp_path / "one", tmp_path / "other"


def test_arms_pair_by_case_and_replicate(tmp_path: Path) -> None:
    one, other = (read(path).contexts for path in arms(tmp_path))
    found = compare_contexts(one, other)
    assert (found.runs, found.pairs, found.unpaired, found.unlike) == ((4, 4), 4, 0, 0)
    back = next(pair for pair in found.metrics if pair.row.id == "reclaimed_tokens")
    assert (back.reference.value, back.candidate.value, back.deltas) == (114, 194, (20, 20, 20, 20))
    assert back.tally is not None
    assert back.tally.wins == 4
    assert found.passed.table.both_pass == 4
    assert found.available is GateState.SATISFIED
    assert not {pair.row.id for pair in found.metrics} & found.gates.keys(), "a gate has no difference"


def test_all_runs_of_an_arm_may_lie_in_one_file(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (folder,) = (path for path in arms(tmp_path) if path.name == name)
        put(tmp_path / "flat" / name / "all.jsonl", b"".join(path.read_bytes() for path in folder.iterdir()))
    apart = compare_contexts(*(read(path).contexts for path in arms(tmp_path)))
    flat = compare_contexts(*(read(tmp_path / "flat" / name).contexts for name in ("one", "other")))
    assert flat == apart


def test_pairs_under_other_conditions_are_none(tmp_path: Path) -> None:
    one, other = (read(path).contexts for path in arms(tmp_path, window_tokens=9))
    found = compare_contexts(one, other)
    assert (found.pairs, found.unlike, found.conditions, found.unpaired) == (3, 1, ("window_tokens",), 0)
    one, other = (read(path).contexts for path in arms(tmp_path, replicate=1))
    assert (compare_contexts(one, other).pairs, compare_contexts(one, other).unpaired) == (3, 2)


def test_two_runs_of_one_case_and_replicate_pair_with_nothing(tmp_path: Path) -> None:
    put(tmp_path / "one" / "again.jsonl", run(run_id="a9", case_id="c0", arm="one", after=70))
    one, other = (read(path).contexts for path in arms(tmp_path))
    found = compare_contexts(one, other)
    assert (found.runs, found.pairs, found.unpaired) == ((5, 4), 3, 3)


def test_two_arms_on_a_page(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    one, other = arms(tmp_path, shown=(), passed=False)
    assert main(["replay", "--compare", str(one), str(other)]) == 0
    said = capsys.readouterr().out
    told = said[said.index("context runs: 4 and 4, 4 pairs by case and replicate") :].splitlines()
    assert told[1] == "gate authority_loss_rate: first 4 satisfied; second 1 violated, 3 satisfied"
    assert "all hard checks passed by both 3, by the first alone 1, by the second alone 0, by neither 0" in told
    assert "at most 0.05 less often answered than the first: satisfied" in told
    (row,) = (line for line in told if line.startswith("reclaimed_tokens "))
    assert row.split()[1:3] == ["114", "194"]
    busy("s-1").save(tmp_path / "plain")
    assert main(["replay", "--compare", str(tmp_path / "plain"), str(other)]) == 0
    assert "context runs" not in capsys.readouterr().out
