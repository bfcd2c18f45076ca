"""``calibrate`` as a command: what it refuses, how it ends, and a few seconds of it for real."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from harness.measure import machine
from harness.record.floors import facts_of
from harness.record.streams import read_machine
from harness.record.trials import Kind
from tests.harness.cli.own import REPO, Command
from tests.harness.gating.test_gate_command import git, repository

__all__ = ["repository"]

SLUG = machine.slug(machine.fingerprint())


@pytest.mark.parametrize(
    ("words", "said"),
    [(("--budget", "soon"), "is no duration"), (("--budget", "0"), "is no duration"), (("--budget", "90h"), "48h")],
)
def test_a_budget_that_is_none_is_refused(
    words: tuple[str, ...], said: str, loopladder: Command, tmp_path: Path
) -> None:
    done = loopladder("calibrate", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_dirty_tree_is_refused_in_one_sentence(loopladder: Command, repository: Path) -> None:
    (repository / "mine.py").write_text("X = 1\n")
    done = loopladder("calibrate", "--budget", "1s", cwd=repository)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("git stash --include-untracked\n")
    assert not (repository / "baselines").exists()


def test_without_a_repository_there_is_nothing_to_check_out(loopladder: Command, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.harness]\n")
    done = loopladder("calibrate", "--budget", "1s")
    assert done.returncode == 2
    assert "not in a git repository" in done.stderr


def test_the_json_file_is_no_input(loopladder: Command, repository: Path) -> None:
    for name in ("bench/kpis.toml", "README.md"):
        (repository / "README.md").touch()
        done = loopladder("calibrate", "--budget", "1s", "--json", name, cwd=repository)
        assert done.returncode == 2
        assert "names an input" in done.stderr


def test_a_budget_too_short_for_one_trial_says_so(loopladder: Command, repository: Path) -> None:
    done = loopladder("calibrate", "--budget", "1ms", cwd=repository)
    assert done.returncode == 3, done.stderr
    assert "before one trial could begin" in " ".join(done.stderr.split())
    assert "0 trials added, of 1 timed gate points" in " ".join(done.stdout.split())
    assert not (repository / "baselines").exists()


def test_a_gate_without_a_record_names_the_command(loopladder: Command, repository: Path) -> None:
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", cwd=repository)
    assert done.returncode == 0, done.stderr
    assert "calibrate --budget 20m" in " ".join(done.stdout.split())


@pytest.mark.slow
def test_two_calls_add_up_and_the_gate_prints_what_is_committed(loopladder: Command, repository: Path) -> None:
    made = []
    for _ in range(2):
        done = loopladder("calibrate", "--budget", "15s", "--json", "-", cwd=repository)
        assert done.returncode == 0, done.stderr
        file = json.loads(done.stdout)
        made.append(file["made"])
        assert file["points"] == ["work_ns"]
        assert max(map(len, done.stderr.splitlines())) <= 80
    trials = read_machine(repository, SLUG)
    assert len(trials) == sum(made) > made[0] > 0
    assert all(trial.void is None and len(trial.pairs) >= 20 for trial in trials)
    assert {trial.kpi for trial in trials} == {"work_ns"}
    assert {trial.edit for trial in trials if trial.kind is Kind.NEUTRAL} <= {
        None, "docstring in mine.py", "unused import in mine.py", "renamed local in mine.py",
        "moved function in mine.py", "unused class in mine.py", "longer path",
    }  # fmt: skip
    assert trials[0].fingerprint == facts_of(machine.fingerprint())
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--message", "calibrated")
    done = loopladder("gate", "--against", "HEAD", "--kpi", "work_count", cwd=repository)
    suites = file["calibration"]["suites"]
    assert f"observed: {suites['red']} of {suites['of']} independent suites red" in " ".join(done.stdout.split())


@pytest.mark.slow
def test_ctrl_c_ends_the_busy_cores_and_keeps_what_was_measured(repository: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "harness", "calibrate", "--budget", "10m"]
    with subprocess.Popen(command, cwd=repository, env=environment, stderr=subprocess.PIPE, text=True) as process:
        mine = psutil.Process(process.pid)
        until = time.monotonic() + 200
        burners: list[psutil.Process] = []
        while not burners and time.monotonic() < until:
            time.sleep(0.05)
            for child in mine.children():
                try:
                    if "getppid" in " ".join(child.cmdline()):
                        burners.append(child)
                except psutil.Error:
                    continue
        assert burners, "no core was ever kept busy"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Go on with the same command" in " ".join(said.split())
    assert not any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in burners)
    assert len(read_machine(repository, SLUG)) > 0
