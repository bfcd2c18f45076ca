"""The runner of the prefix cache against the external workload and known ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kpis.formulas.session.token_ids import agents, few_shot
from tests.conformance.radix import main, run


def test_the_external_workload(cases: Path, repo: Path) -> None:
    file = cases / "replay" / "radix-agents.json"
    command = [sys.executable, "-m", "tests.conformance.radix", str(file)]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # Three agents behind eight tokens: two part from the first, and then each of six finds its own history.
    row = {"reused": 73, "tokens": 90, "hit_rate": 73 / 90, "speedup": 90 / 17, "splits": 1}
    assert found["unbounded"] == {**row, "evictions": 0}
    assert found["budget"] == 16
    assert found["fcfs"] == found["cache_aware"] == {**row, "evictions": 1}


def test_agents_and_few_shot() -> None:
    found = run(json.dumps({"requests": agents()}))
    assert (found["unbounded"]["reused"], found["unbounded"]["speedup"], found["budget"]) == (5512, 7.5, 408)
    assert (found["fcfs"]["reused"], found["fcfs"]["evictions"]) == (3952, 29)
    assert (found["cache_aware"]["reused"], found["cache_aware"]["evictions"]) == (5512, 19)
    shots = run(json.dumps(few_shot()))
    assert (shots["unbounded"]["reused"], shots["fcfs"]["evictions"], shots["unbounded"]["splits"]) == (3840, 7, 1)


def test_requests_that_hold_nothing_have_no_rate() -> None:
    found = run("[[], []]")
    assert (found["unbounded"]["hit_rate"], found["unbounded"]["speedup"], found["budget"]) == (None, None, 0)


@pytest.mark.parametrize(
    "text", ["{", "[]", "7", '{"requests": [1]}', "[[-1]]", "[[true]]", "[[4294967296]]", '[["a"]]']
)
def test_what_is_no_workload_is_unreadable(tmp_path: Path, text: str, capsys) -> None:
    file = tmp_path / "broken.json"
    file.write_text(text)
    assert main([str(file)]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_no_file_is_unreadable(tmp_path: Path, capsys) -> None:
    assert main([]) == main([str(tmp_path / "none.json")]) == 2
    assert "python -m tests.conformance.radix WORKLOAD" in capsys.readouterr().err
