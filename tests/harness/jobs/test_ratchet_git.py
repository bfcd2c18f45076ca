"""The record in a real repository: an empty diff, branches that merge, and faults that an earlier commit brought."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli.exits import Exit
from harness.cli.ratchet import exit_code
from harness.jobs.ratchet_waive import waive
from harness.record.baseline_read import BaselineError
from harness.record.baselines import folder, run_name, save_run
from harness.record.run import Run
from harness.subject import SubjectError
from kpis.terms.comparison import State
from kpis.terms.kpi import Gate
from tests.harness.jobs.recorded import DAY, SLUG, Lab, row_of

SPAWN = "turn_spawn_ns[phase=all]"
SETTINGS = (
    "-c",
    "user.name=A",
    "-c",
    "user.email=a@example.org",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "core.hooksPath=",
)


def git(root: Path, *words: str, ends: int = 0) -> str:
    done = subprocess.run(["git", *SETTINGS, *words], cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == ends, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def lab(tmp_path: Path) -> Lab:
    """A repository with a record of two sessions, committed on main."""
    made = Lab(tmp_path)
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    (tmp_path / ".gitignore").write_text("run.json\n.harness/\n")
    made.sessions(2)
    commit(made, "record")
    return made


def commit(lab: Lab, message: str) -> None:
    git(lab.root, "add", "--all")
    git(lab.root, "commit", "--quiet", "--message", message)


def test_after_accepting_an_unchanged_tree_the_diff_is_empty(lab: Lab) -> None:
    lab.accept(lab.run(1))
    lab.accept(lab.run(1, seed=7))
    assert git(lab.root, "status", "--porcelain") == ""


def test_branches_that_tighten_different_kpis_merge(lab: Lab) -> None:
    """Neighbours in the file, too: a row's table is the smallest thing that a branch touches."""
    first, second = "engine_calls", "preflight_catch_rate[source=ladder]"
    names = sorted(name for name, point in lab.points.items() if point.kpi.layer.value == "syscall")
    git(lab.root, "checkout", "--quiet", "-b", "one")
    lab.accept(lab.run(1, {first: 11}))
    commit(lab, "one")
    git(lab.root, "checkout", "--quiet", "-b", "two", "main")
    better = names[names.index(first) - 1]  # denies is neutral, and moves by name
    lab.accept(lab.run(1, {"transforms": 11, better: 11}), better, "transforms", why="fewer")
    commit(lab, "two")
    git(lab.root, "merge", "--quiet", "--no-edit", "one")
    assert lab.row(first).limit == 11
    assert lab.row("transforms").limit == 11
    values = {first: 11, "transforms": 11, better: 11}
    file = lab.check(lab.run(3, {name: value for name, value in values.items() if lab.row(name).limit == value}))
    assert exit_code(file, strict=False) is Exit.OK
    assert second in {row.name for row in file.rows}


def test_a_branch_that_waives_and_one_that_tightens_merge(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.measure.machine.slug", lambda _facts: SLUG)
    git(lab.root, "checkout", "--quiet", "-b", "one")
    waive(lab.project, lab.catalog, ["transforms"], why="known", until=DAY.replace(year=2032), today=DAY)
    commit(lab, "one")
    git(lab.root, "checkout", "--quiet", "-b", "two", "main")
    lab.accept(lab.run(1, {"engine_calls": 11}))
    commit(lab, "two")
    git(lab.root, "merge", "--quiet", "--no-edit", "one")
    assert lab.row("transforms").waiver is not None
    assert lab.row("engine_calls").limit == 11


def test_a_conflict_is_told_and_mended_by_accepting_the_other_run_again(lab: Lab) -> None:
    git(lab.root, "checkout", "--quiet", "-b", "one")
    lab.accept(lab.run(2, {SPAWN: 5001.0}))
    commit(lab, "one")
    git(lab.root, "checkout", "--quiet", "-b", "two", "main")
    other = lab.run(3, {SPAWN: 5002.0})
    lab.accept(other)
    commit(lab, "two")
    git(lab.root, "merge", "--quiet", "--no-edit", "one", ends=1)
    with pytest.raises(BaselineError, match=r"syscall\.toml, line \d+, holds a merge conflict") as caught:
        lab.check(lab.run(4))
    assert "git checkout --theirs -- baselines/linux-test-2c/syscall.toml" in str(caught.value)
    git(lab.root, "checkout", "--theirs", "--", f"baselines/{SLUG}")
    lab.accept(other)
    assert [session.median for session in lab.row(SPAWN).sessions][-2:] == [5001.0, 5002.0]
    assert exit_code(lab.check(lab.run(5)), strict=False) is Exit.OK


# What was red before


def red_at_main(lab: Lab, run: Run) -> None:
    """Commit ``run`` beside the record, as whoever broke it would have: on file, and not accepted."""
    save_run(lab.root, SLUG, *run_name(run))
    commit(lab, "a run that is red")


def test_what_was_red_before_is_not_blamed_on_the_change(lab: Lab) -> None:
    red_at_main(lab, lab.run(2, {"engine_calls": 13}))
    alike = lab.run(3, {"engine_calls": 13})
    assert exit_code(lab.check(alike), strict=False) is Exit.FAILED
    file = lab.check(alike, against="main")
    row = row_of(file, "engine_calls")
    assert (row.state, row.decides) == (State.REGRESSED, False)
    assert "already: not blamed on this change" in row.evidence[-1]
    assert file.base is not None
    assert file.base.red == ["engine_calls"]
    assert exit_code(file, strict=False) is Exit.OK


def test_what_got_worse_since_is(lab: Lab) -> None:
    red_at_main(lab, lab.run(2, {"engine_calls": 13}))
    assert exit_code(lab.check(lab.run(3, {"engine_calls": 14}), against="main"), strict=False) is Exit.FAILED
    both = lab.run(3, {"engine_calls": 13, "denies": 13})
    file = lab.check(both, against="main")
    assert file.verdict.by == ("denies",)
    assert exit_code(file, strict=False) is Exit.FAILED


def test_a_histogram_that_shifted_again_is(lab: Lab) -> None:
    name = "verdict_reason_distribution"
    red_at_main(lab, lab.run(2, changed={name: {"histogram": {"allow": 7, "deny": 5}}}))
    same = lab.run(3, changed={name: {"histogram": {"allow": 7, "deny": 5}}})
    again = lab.run(3, changed={name: {"histogram": {"allow": 6, "deny": 6}}})
    assert exit_code(lab.check(same, against="main"), strict=False) is Exit.OK
    assert exit_code(lab.check(again, against="main"), strict=False) is Exit.FAILED


def test_an_invariant_that_was_broken_is_excused(lab: Lab) -> None:
    name = next(name for name, point in lab.points.items() if point.kpi.gate is Gate.INVARIANT)
    red_at_main(lab, lab.run(2, {name: 0}))
    assert exit_code(lab.check(lab.run(3, {name: 0}), against="main"), strict=False) is Exit.OK


def test_a_time_as_slow_as_before_is_excused_and_a_slower_one_is_not(tmp_path: Path, lab: Lab) -> None:
    for session in range(2, 7):
        lab.accept(lab.run(session))
    commit(lab, "more sessions")
    red_at_main(lab, lab.run(7, {SPAWN: 8000.0}))
    assert exit_code(lab.check(lab.run(8, {SPAWN: 8050.0}), against="main"), strict=False) is Exit.OK
    assert exit_code(lab.check(lab.run(8, {SPAWN: 12_000.0}), against="main"), strict=False) is Exit.FAILED


def test_a_base_that_knows_nothing_excuses_nothing(lab: Lab) -> None:
    first = git(lab.root, "rev-list", "--max-parents=0", "HEAD").strip()
    git(lab.root, "checkout", "--quiet", "--orphan", "bare")
    git(lab.root, "rm", "-r", "--quiet", "--cached", "baselines")
    git(lab.root, "commit", "--quiet", "--message", "no record", "--only", ".gitignore")
    file = lab.check(lab.run(3, {"engine_calls": 13}), against="HEAD")
    assert "no record of this machine" in file.notes[0]
    assert exit_code(file, strict=False) is Exit.FAILED
    with pytest.raises(SubjectError, match="no commit in common"):
        lab.check(lab.run(3), against=first)


def test_a_base_that_cannot_be_read_says_so(lab: Lab) -> None:
    path = folder(lab.root, SLUG) / "turn.toml"
    sound = path.read_bytes()
    path.write_text("<<<<<<< one\n")
    commit(lab, "broken")
    path.write_bytes(sound)
    file = lab.check(lab.run(3, {"engine_calls": 13}), against="HEAD")
    assert "it is not known what was red" in file.notes[0]
    assert exit_code(file, strict=False) is Exit.FAILED


def test_the_newest_committed_run_is_the_bases(lab: Lab) -> None:
    red_at_main(lab, lab.run(2, {"engine_calls": 13}))
    sound = lab.run(3)
    save_run(lab.root, SLUG, *run_name(replace(sound, id="20310104T130000Z-ffffff")))
    commit(lab, "mended since")
    file = lab.check(lab.run(4, {"engine_calls": 13}), against="main")
    assert file.base is not None
    assert (file.base.run, file.base.red) == ("20310104T130000Z-ffffff", [])
    assert exit_code(file, strict=False) is Exit.FAILED
