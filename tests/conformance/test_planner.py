"""The planner against the external stores, and the runner against altered ones."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.planner import main, run


@pytest.fixture
def stores(cases: Path) -> Path:
    return cases / "replay" / "planner-cases.json"


def test_all_twelve_stores_pass(stores: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(stores)]) == 0
    assert capsys.readouterr().out == "12 passed, 0 failed\n"


def test_as_a_command(stores: Path, repo: Path) -> None:
    command = [sys.executable, "-m", "tests.conformance.planner", str(stores)]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "12 passed, 0 failed")


@pytest.mark.parametrize(
    "alter",
    [
        lambda case: case["spans"][0].update(digest="0" * 64),
        lambda case: case["spans"][0].update(descriptor="Read: something else"),
        lambda case: case["candidates"][2].update(benefit=case["candidates"][2]["benefit"] + 1e-6),
        lambda case: case["plans"]["greedy-density"]["selected"].reverse(),
        lambda case: case["plans"]["greedy-density"]["elided"][0].update(reason="released"),
        lambda case: case["plans"]["greedy-density"].update(over_budget=True),
        lambda case: case["plans"]["exact-dp"]["selected"].pop(),
        lambda case: case["plans"]["exact-dp"].update(objective="greedy-density"),
        lambda case: case["plans"]["coverage"]["elided"][0].update(reason="over_budget"),
        lambda case: case["plans"]["coverage"].update(benefit=case["plans"]["coverage"]["benefit"] + 1e-6),
        lambda case: case["plans"].pop("coverage"),
        lambda case: case["faults"].pop(),
        lambda case: case["faults"][0].update(status="absent"),
        lambda case: case["faults"][0].update(tokens=1),
        lambda case: case["faults"][0].update(reason="page_in_refused"),
        lambda case: case["forecast"].update(weights={"relevance": 1}),
        lambda case: case["rendered"].pop(),
        lambda case: case["witness"].update(faithful=False),
        lambda case: case.pop("forecast"),
    ],
)
def test_an_altered_store_fails_by_its_index(stores: Path, tmp_path: Path, alter, capsys) -> None:
    document = json.loads(stores.read_text())
    altered = {"cases": [document["cases"][0], copy.deepcopy(document["cases"][0])]}
    alter(altered["cases"][1])
    file = tmp_path / "altered.json"
    file.write_text(json.dumps(altered))
    assert main([str(file)]) == 1
    assert capsys.readouterr().out == "#1\n1 passed, 1 failed\n"


def test_weights_that_are_not_the_defaults_fail_every_store_without_any(stores: Path) -> None:
    document = json.loads(stores.read_text())
    document["default_weights"]["recency"] = 0.3
    count, failed = run(json.dumps(document))
    assert count == len(failed) == 12
    assert failed["#0"] == ["default_weights[0].recency: 0.3 expected, 0.2 made"]


@pytest.mark.parametrize("text", ["{", "[]", '{"cases": []}'])
def test_what_is_no_case_file_is_unreadable(tmp_path: Path, text: str, capsys) -> None:
    file = tmp_path / "broken.json"
    file.write_text(text)
    assert main([str(file)]) == 2
    assert "cannot be read" in capsys.readouterr().err
    with pytest.raises(ValueError, match=r"cases|Expecting"):
        run(text)


def test_no_file_named_is_unreadable(capsys) -> None:
    assert main([]) == 2
    assert "No file was named" in capsys.readouterr().err
