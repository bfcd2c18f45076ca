"""``ratchet`` as it is typed: exit codes, what is printed where, and sentences that end in the next command."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

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
    assert "thin: " in done.stdout
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
        (["waive", "own_calls", "--why", "so", "--until", "2999-01-01"], "is more than 366 days ahead"),
        (["waive", "own_calls", "--why", " ", "--until", "2999-01-01"], "--why is given without a text"),
        (["accept", "own_calls", "--why", "", "--run", "run.json"], "--why is given without a text"),
        (["accept", "own_calls", "--why", "  ", "--run", "run.json"], "--why is given without a text"),
        (["accept", "own_calls", "--why", "\udcff", "--run", "run.json"], "--why holds bytes that are no text"),
        (["accept", "--release", "", "--run", "run.json"], "--release is given without a text"),
        (["accept", "--release", "\udcff", "--run", "run.json"], "--release holds bytes that are no text"),
        (["check", "--run", "run.json", "--json", "README.md"], "names an input"),
        (["check", "--run", "run.json", "--json", "docs/page.md"], "names an input"),
        (["check", "--run", "run.json", "--json", "BENCHMARK-AUTHORITY.md"], "names an input"),
        (["check", "--run", "run.json", "--json", "KPI-CATALOG.md"], "names an input"),
        (["check", "--run", "run.json", "--json", ".harness/runs/20310101T120000Z-000001.json"], "names an input"),
        ([], "the following arguments are required: ACTION"),
    ],
)
def test_what_cannot_be_used_ends_with_2(loopladder: Command, lab: Lab, words: list[str], said: str) -> None:
    lab.file(lab.run(1))
    (lab.root / "docs").mkdir()
    (lab.root / "docs" / "page.md").write_text("# Page\n")
    (lab.root / ".harness" / "runs").mkdir()
    lab.file(lab.run(1), ".harness/runs/20310101T120000Z-000001.json")
    before = lab.bytes()
    done = loopladder("ratchet", *words)
    assert done.returncode == 2, done.stdout
    assert said.lower() in " ".join(done.stderr.lower().split())
    assert lab.bytes() == before
    assert (lab.root / "docs" / "page.md").read_text() == "# Page\n"


def refused(done: subprocess.CompletedProcess[str], lab: Lab, before: dict[str, bytes]) -> str:
    """The one sentence of a command that refused, and wrote nothing."""
    assert done.returncode == 2, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    assert lab.bytes() == before
    return " ".join(done.stderr.split())


@pytest.mark.parametrize("slug", ["../../../evil", "/tmp/never-written", ".", "", "a/b", "\x1b[2J", "a\0b"])
def test_a_run_of_a_machine_without_a_plain_name_is_written_nowhere(loopladder: Command, lab: Lab, slug: str) -> None:
    path, before = lab.file(lab.run(1)), lab.bytes()
    document = json.loads(path.read_bytes())
    document["machine"]["slug"] = slug
    path.write_text(json.dumps(document))
    for words in (("accept",), ("check",)):
        said = refused(loopladder("ratchet", *words, "--run", "run.json"), lab, before)
        assert "at $.machine.slug: it is no plain name" in said
        assert "\x1b" not in said


def forged(lab: Lab, change: Callable[[dict[str, Any]], None]) -> None:
    path = lab.file(lab.run(1))
    document = json.loads(path.read_bytes())
    change(document)
    path.write_text(json.dumps(document))


def timed(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in document["readings"] if each["distribution"] is not None)
    return found


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda document: document.update(workloads={}), ".workload: it points to nothing"),
        (lambda document: document.update(created="zzz"), "at $.created: it is no time"),
        (lambda document: document.update(created="9999-99-99T12:00:00Z"), "at $.created: it is no time"),
        (lambda document: document.update(created="1-01-01"), "at $.created: it is no time"),
        (
            lambda document: (
                timed(document).update(value=1e-320),
                timed(document)["distribution"].update(median=1e-320),
            ),
            "no clock sees less than 1",
        ),
        (lambda document: timed(document).update(value=4000.0), "distribution.median: it is"),
        (lambda document: timed(document)["distribution"].update(ci95=[9.0, 1.0]), "does not hold the median"),
        (
            lambda document: document["readings"].append({**timed(document), "isolation": "other"}),
            "it is a second reading of",
        ),
    ],
)
def test_a_run_that_cannot_be_is_one_sentence(
    loopladder: Command, lab: Lab, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    before = lab.bytes()
    forged(lab, change)
    for action in ("check", "accept"):
        assert said in refused(loopladder("ratchet", action, "--run", "run.json"), lab, before)


@pytest.mark.parametrize("digits", [400, 4000])
def test_a_limit_of_hundreds_of_digits_is_one_sentence(loopladder: Command, lab: Lab, digits: int) -> None:
    lab.file(lab.run(1))
    path = lab.root / "baselines" / SLUG / "turn.toml"
    path.write_text(path.read_text().replace("limit = 12", f"limit = {'9' * digits}", 1))
    said = refused(loopladder("ratchet", "check", "--run", "run.json"), lab, lab.bytes())
    assert "limit does not fit into 64 bits" in said


def test_a_row_that_was_renamed_by_hand_is_not_covered_and_both_is_said(loopladder: Command, lab: Lab) -> None:
    lab.file(lab.run(1))
    for path in (lab.root / "baselines" / SLUG).glob("*.toml"):
        path.write_text(path.read_text().replace("[kpi.own_calls]", "[kpi.own_cells]"))
    done = loopladder("ratchet", "check", "--run", "run.json")
    assert done.returncode == 5, done.stdout + done.stderr
    said = " ".join(done.stdout.split())
    assert "removed: own_cells: on record and no longer gated by the catalog" in said
    assert "[kpi.own_cells] was edited by hand: a session of 2031-01-01 rests on a run without a number of it" in said
    assert "new: own_calls" in said
    assert loopladder("ratchet", "accept", "--run", "run.json").returncode == 5


def test_a_pass_says_what_it_passed_over(loopladder: Command, lab: Lab) -> None:
    lab.file(lab.run(1))
    done = loopladder("ratchet", "check", "--run", "run.json")
    thin = sum(point.kpi.estimand.timed for point in lab.points.values())
    assert done.stdout.splitlines()[-1] == f"pass: clean; {thin} rows too thin to judge (marginal)."


def test_a_record_that_cannot_be_read_ends_with_2_and_one_sentence(loopladder: Command, lab: Lab) -> None:
    lab.file(lab.run(1))
    (lab.root / "baselines" / SLUG / "turn.toml").write_text("<<<<<<< HEAD\n=======\n>>>>>>> one\n")
    done = loopladder("ratchet", "check", "--run", "run.json")
    assert done.returncode == 2
    assert "line 1, holds a merge conflict" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_waiver_without_a_record_of_this_machine_ends_with_4(loopladder: Command, lab: Lab) -> None:
    soon = (datetime.now(UTC).date() + timedelta(days=30)).isoformat()
    done = loopladder("ratchet", "waive", "own_calls", "--why", "so", "--until", soon)
    assert done.returncode == 4
    assert "begin one with" in done.stderr


def test_hostile_reasons_are_inert(loopladder: Command, lab: Lab) -> None:
    lab.file(lab.run(1, {"own_calls": 13}))
    loopladder("ratchet", "accept", "own_calls", "--why", "\x1b[31mred\nregressed: none", "--run", "run.json")
    done = loopladder("ratchet", "check", "--run", "run.json")
    assert "\x1b" not in done.stdout
    assert not any(line.startswith("regressed:") for line in done.stdout.splitlines())
