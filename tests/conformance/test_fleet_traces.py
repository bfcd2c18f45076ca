"""The runner of recorded fleets, on the recorded file and on altered ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance import fleet_traces


def test_the_recorded_fleets(cases: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert fleet_traces.main([str(cases / "replay" / "fleet-traces.json")]) == 0
    assert capsys.readouterr().out == "24 passed, 0 failed\n"


ROW = {
    "profile": "small",
    "granularity": "global",
    "T": 1,
    "A": 2,
    "Trial": 0,
    "sessions": [
        [{"tool": "calculate", "args": {"a": 1, "b": 2}, "meta": {"readOnlyHint": "true", "idempotentHint": "true"}}],
        [{"tool": "list_all_airports", "args": {}, "meta": {}}],
    ],
    "shared": {"grammar": 0, "vdso_pure": 1, "vdso_dedup": 0, "vdso_static": 1, "quarantine": 0, "deny": 0, "pass": 0},
    "shared_turns_saved": 2,
    "isolated": [
        {"grammar": 0, "vdso_pure": 1, "vdso_dedup": 0, "vdso_static": 0, "quarantine": 0, "deny": 0, "pass": 0},
        {"grammar": 0, "vdso_pure": 0, "vdso_dedup": 0, "vdso_static": 1, "quarantine": 0, "deny": 0, "pass": 0},
    ],
    "isolated_turns_saved": 2,
}


def told(tmp_path: Path, *rows: object) -> int:
    file = tmp_path / "fleets.json"
    file.write_text(json.dumps({"rows": rows}))
    return fleet_traces.main([str(file)])


@pytest.mark.parametrize(
    "change",
    [
        {"shared_turns_saved": 3},
        {"isolated_turns_saved": 1},
        {"shared": {**ROW["shared"], "pass": 1}},
        {"isolated": ROW["isolated"][::-1]},
        {"isolated": ROW["isolated"][:1]},
        {"granularity": "galaxy"},
    ],
)
def test_an_altered_row_fails_by_name(
    change: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(tmp_path, ROW, {**ROW, "profile": "altered", **change}) == 1
    said = capsys.readouterr()
    granularity = change.get("granularity", "global")
    assert said.out == f"altered {granularity} T=1 A=2 trial 0\n1 passed, 1 failed\n"
    assert said.err.startswith(f"altered {granularity} T=1 A=2 trial 0: ")


def test_rows_of_one_name_fail_each_for_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = {**ROW, "shared_turns_saved": 3}
    assert told(tmp_path, wrong, ROW, wrong, wrong) == 1
    name = "small global T=1 A=2 trial 0"
    said = capsys.readouterr()
    assert said.out == f"{name}\n{name} #2\n{name} #3\n1 passed, 3 failed\n"
    assert [line.partition(": ")[0] for line in said.err.splitlines()] == [name, f"{name} #2", f"{name} #3"]


def test_what_is_no_row_fails_by_its_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert told(tmp_path, ROW, 7, {"sessions": []}) == 1
    assert capsys.readouterr().out == "#1\n#2\n1 passed, 2 failed\n"


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"rows": []}', "[" * 100_000])
def test_what_is_no_file_of_fleets(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "fleets.json"
    file.write_text(text)
    assert fleet_traces.main([str(file)]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_no_file_named_or_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert fleet_traces.main([]) == 2
    assert fleet_traces.main(["nowhere.json"]) == 2
    assert capsys.readouterr().err.count("Run: python -m tests.conformance.fleet_traces FILE") == 2


def test_as_a_command(repo: Path, tmp_path: Path) -> None:
    file = tmp_path / "fleets.json"
    file.write_text(json.dumps({"rows": [ROW]}))
    command = [sys.executable, "-m", "tests.conformance.fleet_traces", str(file)]
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "1 passed, 0 failed\n")
