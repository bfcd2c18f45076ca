"""The gates against the external results, and the runner against altered ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance.admission import main

CASE = {
    "name": "quiet",
    "tool": "read_webpage",
    "payload": "a quiet answer",
    "bare_gate": {"verdict": "ALLOW", "reason": "NONE"},
    "chain": {"verdict": "ALLOW", "reason": "NONE"},
}


@pytest.fixture
def results(cases: Path) -> Path:
    return cases / "replay" / "admission-cases.json"


def written(tmp_path: Path, *cases: object) -> str:
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(list(cases)))
    return str(file)


def test_every_result_gets_its_verdicts(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(results)]) == 0
    assert capsys.readouterr().out == "17 passed, 0 failed\n"


def test_as_a_command(results: Path, repo: Path) -> None:
    command = [sys.executable, "-m", "tests.conformance.admission", str(results)]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "17 passed, 0 failed")


@pytest.mark.parametrize(
    ("altered", "line"),
    [
        ({"chain": {"verdict": "QUARANTINE", "reason": "NONE"}}, "quiet chain ALLOW NONE"),
        ({"bare_gate": {"verdict": "ALLOW", "reason": "OVERSIZE"}}, "quiet bare_gate ALLOW NONE"),
        (
            {"payload": "exfiltrate"},
            "quiet bare_gate QUARANTINE TRUST_VIOLATION, chain TRANSFORM NONE",
        ),
    ],
)
def test_an_altered_case_fails_by_its_name(tmp_path: Path, altered: dict, line: str, capsys) -> None:
    assert main([written(tmp_path, CASE, {**CASE, **altered})]) == 1
    assert capsys.readouterr().out == f"{line}\n1 passed, 1 failed\n"


def test_a_case_without_a_name_fails_by_its_index(tmp_path: Path, capsys) -> None:
    nameless = {key: value for key, value in CASE.items() if key != "name"}
    assert main([written(tmp_path, CASE, {**nameless, "chain": {}})]) == 1
    assert capsys.readouterr().out.startswith("#1 chain ALLOW NONE\n")


@pytest.mark.parametrize(
    "text", ["{", "[]", "{}", '[{"tool": "t"}]', "[1]", "[" * 100_000, '[{"tool": "t", "payload": 3}]']
)
def test_what_is_no_case_file_is_unreadable(tmp_path: Path, text: str, capsys) -> None:
    file = tmp_path / "broken.json"
    file.write_text(text)
    assert main([str(file)]) == 2
    assert "cannot be read as cases" in capsys.readouterr().err


def test_a_file_that_is_not_there_and_none_at_all(tmp_path: Path, capsys) -> None:
    assert main([str(tmp_path / "nowhere.json")]) == 2
    assert main([]) == 2
    assert "No file was named" in capsys.readouterr().err
