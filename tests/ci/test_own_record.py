"""The project's record on itself: counts and coverage block; times and another machine's record are only reported."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ci.decision import Decision
from ci.own_record import decide, newest_whole, own_record
from harness.cli.exits import Exit
from harness.jobs.rows import project_catalog
from harness.project import load_project
from harness.record.baseline import Waiver
from harness.record.baselines import run_name, save, save_run
from harness.record.ratchet import RatchetFile, encode
from harness.record.run import Mode, Run
from tests.harness.cli.own import SEAM, row
from tests.harness.jobs.recorded import SLUG, Lab

TIMES = ("page_fault_latency_ns", "tool_call_p50_ns")


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A project with a record of five sessions, so that times gate."""
    made = Lab(tmp_path)
    made.sessions(5)
    return made


def parsed(file: RatchetFile) -> dict[str, Any]:
    """A ratchet file as it is written."""
    document: dict[str, Any] = json.loads(encode(file))
    return document


def decided(lab: Lab, run: Run, today: date | None = None) -> Decision:
    return decide(parsed(lab.check(run, today=today)), "this run")


def test_an_unchanged_run_passes_and_says_how_many_counts_held(lab: Lab) -> None:
    found = decided(lab, lab.run(6))
    assert found.code is Exit.OK
    counts = sum(not point.kpi.estimand.timed for point in lab.points.values())
    assert found.lines == [f"Of this run, {counts} counts held. Passed."]


def test_a_count_that_is_worse_blocks_and_names_the_way_in(lab: Lab) -> None:
    found = decided(lab, lab.run(6, {"engine_calls": 13}))
    assert found.code is Exit.FAILED
    assert found.lines[0] == (
        "regressed: engine_calls: 12 -> 13 (lower is better). "
        "If it is meant: python -m harness ratchet accept engine_calls --why TEXT"
    )
    assert found.lines[-1].endswith("Failed.")


def test_a_time_that_is_worse_is_reported_and_blocks_nothing(lab: Lab) -> None:
    file = parsed(lab.check(lab.run(6, dict.fromkeys(TIMES, 9000.0))))
    assert file["verdict"]["state"] == "fail", "the ratchet itself fails on it"
    found = decide(file, "this run")
    assert found.code is Exit.OK
    told = [line for line in found.lines if line.startswith("reported only: regressed: ")]
    assert [line.split(": ")[2] for line in told] == list(TIMES)


@pytest.mark.parametrize("name", ["engine_calls", "tool_call_p50_ns"])
def test_a_row_that_is_no_longer_covered_blocks_whatever_its_kind(lab: Lab, name: str) -> None:
    found = decided(lab, lab.run(6, without=(name,)))
    assert found.code is Exit.UNCOVERED
    assert found.lines[0].startswith(f"removed: {name}: on record and not in this run")


def test_a_row_that_is_not_on_record_blocks(lab: Lab) -> None:
    for file in (lab.root / "baselines" / SLUG).glob("*.toml"):
        tables = file.read_text().split("[kpi.")
        file.write_text("[kpi.".join(table for table in tables if not table.startswith("engine_calls]")))
    found = decided(lab, lab.run(6))
    assert found.code is Exit.UNCOVERED
    assert found.lines[0].startswith("new: engine_calls: in the catalog and not on record")


def test_a_count_that_cannot_be_compared_is_reported(lab: Lab) -> None:
    found = decided(lab, lab.run(6, {"engine_calls": 13}, facts={"python": "3.12.0"}))
    assert found.code is Exit.OK
    assert any("python differs" in line for line in found.lines)
    assert any("no count of this run was held against a record, so nothing is known" in line for line in found.lines)


def test_a_record_of_another_machine_is_said_and_blocks_nothing(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    found = decided(lab, lab.run(0))
    assert found.code is Exit.OK
    assert found.lines[0].startswith(f"reported only: There is no record of this machine, {SLUG}")
    assert "nothing is known of it here" in found.lines[1]


def test_a_waived_row_passes_until_its_waiver_ends(lab: Lab) -> None:
    worse = lab.run(6, {"engine_calls": 13})
    until, record = date(2031, 2, 1), lab.record()
    file = next(file for file in record.layers.values() if "engine_calls" in file.rows)
    file.rows["engine_calls"] = replace(file.rows["engine_calls"], waiver=Waiver("Known.", until))
    save(lab.root, record)
    assert decided(lab, worse, until).code is Exit.OK
    found = decided(lab, worse, date(2031, 2, 2))
    assert found.code is Exit.FAILED
    assert any(line.startswith("failed: waiver of engine_calls. ") for line in found.lines)


def test_another_schema_is_refused() -> None:
    assert decide({"schema": "harness.run/1"}, "this run").code is Exit.UNUSABLE


def test_the_newest_whole_run_of_each_machine_is_held(lab: Lab) -> None:
    newest = newest_whole(lab.root)
    assert list(newest) == [SLUG]
    quick, later = lab.run(8, mode=Mode.QUICK), lab.run(7)
    for run in (quick, later):
        save_run(lab.root, SLUG, *run_name(run))
    assert newest_whole(lab.root)[SLUG].stem == run_name(later)[0] != newest[SLUG].stem


# The whole of it, on a project of its own that counts one thing

COUNT = (
    "from harness import probe\nfrom harness.measure.clock import Tally\n\n\n@probe\ndef Own():\n    return Tally({})\n"
)


@pytest.fixture
def own(tmp_path: Path, repo: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose ``own_calls`` counts 12."""
    monkeypatch.setenv("PYTHONPATH", str(repo))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "__init__.py").touch()
    (tmp_path / "bench" / "probes.py").write_text(COUNT.format(12))
    (tmp_path / "bench" / "own.toml").write_text(
        SEAM + row("own_calls", "bench.probes:Own", estimand="count", unit="count")
    )
    (tmp_path / "pyproject.toml").write_text('[tool.harness]\nkpis = ["bench/*.toml"]\n')
    return tmp_path


def test_without_any_record_it_fails(own: Path) -> None:
    found = own_record(own, ["own_calls"])
    assert found.code is Exit.UNCOVERED
    assert "There is no record under baselines" in found.lines[0]


def test_the_committed_run_is_held_where_the_record_is_of_another_machine(
    own: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lab = Lab(own, project_catalog(load_project(own)))
    lab.sessions(1)
    found = own_record(own, ["own_calls"])
    assert found.code is Exit.OK, found.lines
    assert found.lines[0].startswith(f"Of the committed run of {SLUG}, ")
    assert any(line.startswith("reported only: There is no record of this machine") for line in found.lines)
    assert "There is no record of this machine" in capfd.readouterr().out
    save_run(own, SLUG, *run_name(lab.run(2, {"own_calls": 13})))
    found = own_record(own, ["own_calls"])
    assert found.code is Exit.FAILED
    assert found.lines[0].startswith("regressed: own_calls: 12 -> 13")


def test_what_the_tree_counts_now_is_held(own: Path) -> None:
    for words in (["run", "--kpi", "own_calls", "--json", "run.json"], ["ratchet", "accept", "--run", "run.json"]):
        subprocess.run([sys.executable, "-m", "harness", *words], cwd=own, check=True)
    found = own_record(own, ["own_calls"])
    assert found.code is Exit.UNCOVERED
    assert "No run of everything of" in found.lines[0]
    assert found.lines[1:] == ["Of the counts as they are now, 1 counts held. Passed."]
    (own / "bench" / "probes.py").write_text(COUNT.format(13))
    found = own_record(own, ["own_calls"])
    assert found.code is Exit.FAILED
    assert found.lines[1].startswith("regressed: own_calls: 12 -> 13 (lower is better)")


def test_counts_that_cannot_be_taken_fail(own: Path) -> None:
    lab = Lab(own, project_catalog(load_project(own)))
    lab.sessions(1)
    found = own_record(own, ["his_calls"])
    assert found.code is Exit.FAILED
    assert found.lines[-1].startswith("The counts were not taken, for the run ended with ")


def test_what_cannot_be_read_is_one_sentence(own: Path) -> None:
    lab = Lab(own, project_catalog(load_project(own)))
    lab.sessions(1)
    (own / "baselines" / SLUG / "runs" / "0123456789abcdef.json").write_text("{")
    found = own_record(own, ["own_calls"])
    assert found.code is Exit.UNUSABLE
    assert found.lines[0].startswith("0123456789abcdef.json is not a run file")
