"""The gate as a script and as workflows: how each exit code ends, what is annotated, and what is asked for."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

WORKFLOWS = ["ci/workflows/pull-request.yml", "ci/workflows/nightly.yml"]

OPEN = [{"leg": "main", "state": "inconclusive"}, {"leg": "instructions", "state": "void"}]
"""Undecided; of the legs beside the main one nothing is owed."""

BROKEN = [*OPEN, {"leg": "main", "state": "void"}]
STEP = "      - run: |\n"

CASES = [
    (0, OPEN, 0, None),
    (3, OPEN, 0, "::warning"),
    (3, [], 0, "::warning"),
    (3, BROKEN, 3, "::error"),
    (3, None, 3, "::error"),
    (1, OPEN, 1, "::error"),
    (5, [], 5, "::error"),
    (2, None, 2, "::error"),
]
"""(how the gate ends, the rows of its file or None for no file, how the check ends, its annotation)."""


def fake(place: Path, code: int, rows: list[dict[str, str]] | None) -> None:
    """A program in the place of loopladder that writes ``rows`` where ``--json`` says, and ends with ``code``."""
    lines = [f"#!{sys.executable}", "import json, sys", 'print("a page for", *sys.argv[1:], flush=True)']
    lines.append('print("a note", file=sys.stderr)')
    if rows is not None:
        lines += ['name = sys.argv[sys.argv.index("--json") + 1]']
        lines += [f"open(name, 'w').write(json.dumps({{'rows': {rows!r}}}))"]
    place.write_text("\n".join([*lines, f"sys.exit({code})", ""]))
    place.chmod(0o755)


@pytest.mark.parametrize(("code", "rows", "ends", "annotation"), CASES)
def test_the_script_writes_a_summary_and_annotations_and_nothing_else(
    code: int, rows: list[dict[str, str]] | None, ends: int, annotation: str | None, repo: Path, tmp_path: Path
) -> None:
    fake(tmp_path / "fake", code, rows)
    shutil.copy(repo / "ci" / "gate", tmp_path / "gate")
    (tmp_path / "summary").write_text("before\n")
    (tmp_path / ".harness").mkdir()
    (tmp_path / ".harness" / "gate.json").write_text(json.dumps({"rows": OPEN}))  # an earlier gate's
    # No token: what a workflow of a fork has.
    environment = {
        "PATH": os.environ["PATH"],
        "LOOPLADDER": str(tmp_path / "fake"),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }
    command = [str(tmp_path / "gate"), "origin/main", "--budget", "5m"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == ends, done.stderr
    page = "a page for gate --against origin/main --budget 5m --json .harness/gate.json\na note\n"
    assert (tmp_path / "summary").read_text() == f"before\n```\n{page}```\n"
    said = done.stdout.removeprefix(page)
    assert said == "" if annotation is None else said.startswith(f"{annotation} title=loopladder::")
    assert len(said.splitlines()) <= 1, "one annotation"
    assert ("(void)" in said) is (code == 3 and ends == 3)


@pytest.mark.parametrize("workflow", WORKFLOWS)
@pytest.mark.parametrize(("code", "rows", "ends", "annotation"), CASES)
def test_a_workflow_fails_where_something_broke_and_not_where_it_is_undecided(
    code: int,
    rows: list[dict[str, str]] | None,
    ends: int,
    annotation: str | None,
    workflow: str,
    repo: Path,
    tmp_path: Path,
) -> None:
    (tmp_path / "bin").mkdir()
    fake(tmp_path / "bin" / "loopladder", code, rows)
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    (tmp_path / "step.sh").write_text(textwrap.dedent((repo / workflow).read_text(encoding="utf-8").split(STEP)[1]))
    environment = {
        "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
        "GITHUB_BASE_REF": "main",
    }
    # As a runner starts a step.
    command = ["bash", "-e", str(tmp_path / "step.sh")]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == ends, done.stderr
    assert (tmp_path / "summary").read_text().startswith("```\na page for gate --against ")
    said = [line for line in done.stdout.splitlines() if line.startswith("::")]
    if code == 3:
        assert [line.partition(" ")[0] for line in said] == [annotation]
    else:
        assert said == []


@pytest.mark.parametrize("workflow", WORKFLOWS)
def test_a_workflow_asks_for_no_more_than_reading(workflow: str, repo: Path) -> None:
    text = (repo / workflow).read_text(encoding="utf-8")
    assert "permissions:\n  contents: read\njobs:" in text
    assert "write" not in text
    assert "secrets." not in text
    assert "pull_request_target" not in text
    assert "GITHUB_STEP_SUMMARY" in text
