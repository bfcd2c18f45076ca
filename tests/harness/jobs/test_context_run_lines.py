"""``--explain`` of context metrics: the value, the runs that it is of, and the lines behind it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.main import main
from harness.jobs.replay import runs_of
from kpis.formulas.context.evaluate import evaluate
from tests.harness.jobs.context_runs import run
from tests.harness.jobs.session_files import busy, put


def explained(capsys: pytest.CaptureFixture[str], path: Path, name: str, *more: str) -> str:
    assert main(["replay", str(path), "--explain", name, *more]) == 0
    return capsys.readouterr().out


def test_every_metric_is_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path / "a.jsonl", run(env=None) + run(run_id="r2", shown=(), passed=False))
    (recorded,) = runs_of([str(tmp_path)])
    for name in evaluate(recorded.contexts[0]):
        said = explained(capsys, tmp_path, name)
        assert said.startswith(name)
        assert said.count("run r1, case") == said.count("run r2, case") == 1


def test_the_lines_behind_a_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    path = put(tmp_path / "a.jsonl", run(passed=False))
    said = explained(capsys, path, "pma_all_pairs")
    assert "a.jsonl:5: a fold (leaf): 90 tokens before, 50 after" in said
    assert "a.jsonl:6: shares 1 of 2 nodes, 10 tokens; 40 tokens are invalidated, after a fold" in said
    assert "a.jsonl:7: read repeated with nothing changed" in explained(capsys, path, "dwr_total")
    assert "a.jsonl:8: a recall that names 1 checkpoint returns 8 tokens" in explained(capsys, path, "context_regret_1")
    assert "a.jsonl:10: a hard check failed" in explained(capsys, path, "success")
    put(tmp_path / "a.jsonl", run(env=None))
    assert explained(capsys, path, "dwr_total").startswith("dwr_total (DWR): between 0 and 0.3333: the environment")
    put(tmp_path / "b.jsonl", run(run_id="r2", shown=()))
    assert "runs by state of the gate: 1 violated, 1 satisfied" in explained(capsys, tmp_path, "authority_loss_rate")


def test_of_a_transcript_it_is_undefined_and_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    busy("s-1").save(tmp_path)
    said = " ".join(explained(capsys, tmp_path, "shared_prefix_tokens").split())
    assert said.startswith("shared_prefix_tokens (SPT): unknown: no recording is a context run")
    assert "a prefix over what it shows would be a guess" in said
    assert "unknown: no recording is a context run" in explained(capsys, tmp_path, "authority_loss_rate")
