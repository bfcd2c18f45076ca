"""What is left of a worker: it ends within its time, with all that it started, and leaves others alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cases.probes import hostile
from tests.harness.measure.jobs import ask
from tests.harness.measure.processes import running, until, workers_on


def test_a_hanging_probe_costs_its_limit_and_nothing_else(repo: Path, tmp_path: Path) -> None:
    answer = ask("Hangs", repo, tmp_path, limit=1)
    assert answer.undefined == ("timeout", "It did not end within its limit of 1.0 s.")


def test_no_child_of_a_probe_outlives_its_worker(repo: Path, tmp_path: Path) -> None:
    assert ask("LeavesAChild", repo, tmp_path).undefined is None
    deadline = time.monotonic() + 5
    while workers_on(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not workers_on(tmp_path)


def test_a_worker_that_does_not_have_the_seed_it_was_told_refuses(repo: Path, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(
        "harness.measure.launch.worker_environment", lambda _seed, **_more: {**os.environ, "PYTHONHASHSEED": "9"}
    )
    monkeypatch.setenv("PYTHONPATH", str(repo))
    answer = ask("Base", repo, tmp_path)
    assert answer.undefined is not None
    assert "hash seed" in answer.undefined[1]


@pytest.mark.parametrize("probe", ["LeavesAThread", "HangsInClose"])
def test_a_worker_that_has_answered_is_done(probe: str, repo: Path, tmp_path: Path) -> None:
    answer = ask(probe, repo, tmp_path, limit=30)
    assert answer.undefined is None
    assert answer.result["slice"] == "batch"
    assert answer.seconds < 20
    assert any("did not end by itself" in notice for notice in answer.notices)


def test_a_close_that_raises_costs_no_answer_and_is_said(repo: Path, tmp_path: Path) -> None:
    answer = ask("RaisesInClose", repo, tmp_path)
    assert answer.result["slice"] == "batch"
    assert answer.notices == ["The worker ended with exit status 1 after it had answered."]
    assert "it is shut" in answer.output


def test_a_daemon_of_a_probe_ends_with_its_worker_and_is_said(repo: Path, tmp_path: Path) -> None:
    answer = ask("LeavesADaemon", repo, tmp_path)
    assert answer.undefined is None
    assert not running(hostile.DAEMON_SLEEPS)
    assert answer.notices == ["A process that the probe had started outlived the worker and had to be ended."]


def test_a_launch_leaves_the_children_of_its_caller_alone(repo: Path, tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "3600"], start_new_session=True) as bystander:
        answer = ask("LeavesADaemon", repo, tmp_path)
        assert bystander.poll() is None
        bystander.kill()
    assert len(answer.notices) == 1


PARENT = """
import sys
from pathlib import Path
from tests.harness.measure.jobs import ask
ask("Hangs", Path(sys.argv[1]), Path(sys.argv[2]), limit=3000)
"""


def test_a_parent_that_is_killed_takes_its_worker_along(repo: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-c", PARENT, str(repo), str(tmp_path)]
    with subprocess.Popen(words, cwd=repo) as parent:
        assert until(lambda: any(pid != parent.pid for pid in workers_on(tmp_path)))
        time.sleep(0.5)
        parent.kill()
    assert until(lambda: not workers_on(tmp_path))
