"""``ratchet`` as it is typed: exit codes, what is printed where, and sentences that end in the next command."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from harness.jobs.rows import project_catalog
from harness.project import load_project
from tests.harness.cli.own import SEAM, Command, row
from tests.harness.jobs.recorded import SLUG, Lab


def own(root: Path, name: str, *more: str) -> Lab:
    """A project with one KPI of its own, a count; ``more`` are lines of its row."""
    (root / "bench").mkdir(exist_ok=True)
    (root / "pyproject.toml").write_text('[tool.harness]\nkpis = ["bench/*.toml"]\n')
    text = row(name, "bench.probes:Own", estimand="count", unit="count").rstrip() + "\n" + "\n".join(more)
    (root / "bench" / "own.toml").write_text(SEAM + text + "\n")
    return Lab(root, project_catalog(load_project(root)))


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A project with a record of one session."""
    made = own(tmp_path, "own_calls")
    made.sessions(1)
    return made


def test_without_a_record_of_this_machine_it_ends_with_4(loopladder: Command, tmp_path: Path) -> None:
    done = loopladder("ratchet", "check")
    assert done.returncode == 4, done.stderr
    assert "There is no record of this machine" in done.stdout
    assert "ratchet accept" in done.stdout
    lab = Lab(tmp_path)
    lab.file(lab.run(0))
    done = loopladder("ratchet", "check", "--run", "run.json", "--json", "-")
    assert done.returncode == 4
    document = json.loads(done.stdout)
    assert (document["schema"], document["rows"], document["verdict"]["passed"]) == ("harness.ratchet/1", [], False)
    assert SLUG in done.stderr


def test_an_unchanged_run_ends_with_0_and_thin_rows_with_1_when_strict(loopladder: Command, lab: Lab) -> None:
    lab.file(lab.run(1))
    done = loopladder("ratchet", "check", "--run", "run.json")
    assert done.returncode == 0, done.stderr
    assert "pass: clean" in done.stdout
    assert "thin: 12 rows" in done.stdout
    assert "pending since" in done.stdout
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert loopladder("ratchet", "check", "--run", "run.json", "--strict").returncode == 1


def test_a_count_that_is_worse_by_one_ends_with_1(loopladder: Command, lab: Lab) -> None:
    lab.file(lab.run(1, {"own_calls": 13}))
    done = loopladder("ratchet", "check", "--run", "run.json", "--json", "out.json")
    assert done.returncode == 1
    assert "regressed: own_calls: 12 -> 13 (lower is better)" in done.stdout
    document = json.loads((lab.root / "out.json").read_bytes())
    assert document["verdict"]["state"] == "fail"
    assert [each["name"] for each in document["rows"] if each["state"] == "regressed"] == ["own_calls"]


def test_a_renamed_kpi_ends_with_5_and_under_an_alias_with_0(loopladder: Command, lab: Lab) -> None:
    renamed = own(lab.root, "own_requests")
    renamed.file(renamed.run(1))
    done = loopladder("ratchet", "check", "--run", "run.json")
    assert done.returncode == 5
    assert "removed: own_calls" in done.stdout
    assert "new: own_requests" in done.stdout
    aliased = own(lab.root, "own_requests", 'aliases = ["own_calls"]')
    aliased.file(aliased.run(1))
    assert loopladder("ratchet", "check", "--run", "run.json").returncode == 0


def test_another_machine_ends_with_4_and_the_field_that_differs(loopladder: Command, lab: Lab) -> None:
    lab.file(lab.run(1, facts={"kernel": "6.2"}))
    done = loopladder("ratchet", "check", "--run", "run.json")
    assert done.returncode == 4
    assert "kernel differs: 6.1 on record, 6.2 in this run" in " ".join(done.stdout.split())
    assert loopladder("ratchet", "accept", "--run", "run.json").returncode == 4


def test_accepting_an_unchanged_tree_leaves_the_diff_empty(loopladder: Command, lab: Lab) -> None:
    lab.file(lab.run(0))
    assert loopladder("ratchet", "accept", "--run", "run.json").returncode == 0  # pending since 2031 or since today
    subprocess.run(["git", "init", "--quiet"], cwd=lab.root, check=True)
    subprocess.run(["git", "add", "baselines"], cwd=lab.root, check=True)
    done = loopladder("ratchet", "accept", "--run", "run.json")
    assert done.returncode == 0
    assert "nothing moved, nothing was written" in done.stdout
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    changed = subprocess.run(
        ["git", "status", "--porcelain", "--", "baselines"], cwd=lab.root, env=environment, capture_output=True,
        text=True, check=True,
    ).stdout  # fmt: skip
    assert all(line.startswith("A ") for line in changed.splitlines())


def test_a_worse_count_is_accepted_by_its_name_alone(loopladder: Command, lab: Lab) -> None:
    lab.file(lab.run(1, {"own_calls": 13}))
    done = loopladder("ratchet", "accept", "--run", "run.json")
    assert done.returncode == 1
    assert "refused: own_calls: 12 -> 13" in done.stdout
    assert "accept KPI --why TEXT" in " ".join(done.stdout.split())
    done = loopladder("ratchet", "accept", "own_calls", "--why", "a call more", "--run", "run.json")
    assert done.returncode == 0, done.stderr
    done = loopladder("ratchet", "check", "--run", "run.json")
    assert done.returncode == 0
    assert "moved by hand: own_calls" in done.stdout
    assert "a call more" in done.stdout


def test_a_release_is_anchored(loopladder: Command, lab: Lab) -> None:
    lab.file(lab.run(0))
    done = loopladder("ratchet", "accept", "--release", "v1", "--run", "run.json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert (lab.root / "baselines" / SLUG / "release.toml").read_text().startswith('schema = "harness.baseline/1"\n')
    done = loopladder("ratchet", "check", "--run", "run.json", "--json", "-")
    assert json.loads(done.stdout)["release"] == "v1"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "--run", "absent.json"], "absent.json cannot be read"),
        (["check", "--run", "pyproject.toml"], "is not a run file"),
        (["check", "--run", "run.json", "--json", "run.json"], "names an input and would replace it"),
        (["check", "--run", "run.json", "--json", f"baselines/{SLUG}/turn.toml"], "names an input"),
        (["accept", "nonsense", "--run", "run.json"], "nonsense is neither on record nor a gating KPI"),
        (["accept", "--why", "so", "--run", "run.json"], "--why is for rows that are named"),
        (["accept", "--afresh", "--run", "run.json"], "--afresh begins rows again"),
        (["waive", "own_calls", "--why", "so"], "--until"),
        (["waive", "own_calls", "--until", "2099-01-01"], "--why"),
        (["waive", "own_calls", "--why", "so", "--until", "soon"], "is no day; write it as 2031-01-31"),
        ([], "the following arguments are required: ACTION"),
    ],
)
def test_what_cannot_be_used_ends_with_2(loopladder: Command, lab: Lab, words: list[str], said: str) -> None:
    lab.file(lab.run(1))
    before = lab.bytes()
    done = loopladder("ratchet", *words)
    assert done.returncode == 2, done.stdout
    assert said.lower() in done.stderr.lower()
    assert lab.bytes() == before


def test_a_record_that_cannot_be_read_ends_with_2_and_one_sentence(loopladder: Command, lab: Lab) -> None:
    lab.file(lab.run(1))
    (lab.root / "baselines" / SLUG / "turn.toml").write_text("<<<<<<< HEAD\n=======\n>>>>>>> one\n")
    done = loopladder("ratchet", "check", "--run", "run.json")
    assert done.returncode == 2
    assert "line 1, holds a merge conflict" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_waiver_without_a_record_of_this_machine_ends_with_4(loopladder: Command, lab: Lab) -> None:
    done = loopladder("ratchet", "waive", "own_calls", "--why", "so", "--until", "2099-01-01")
    assert done.returncode == 4
    assert "begin one with" in done.stderr


def test_hostile_reasons_are_inert(loopladder: Command, lab: Lab) -> None:
    lab.file(lab.run(1, {"own_calls": 13}))
    loopladder("ratchet", "accept", "own_calls", "--why", "\x1b[31mred\nregressed: none", "--run", "run.json")
    done = loopladder("ratchet", "check", "--run", "run.json")
    assert "\x1b" not in done.stdout
    assert not any(line.startswith("regressed:") for line in done.stdout.splitlines())
