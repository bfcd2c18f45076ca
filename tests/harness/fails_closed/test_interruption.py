"""A gate that is stopped keeps every pair, says so by its code, leaves no process behind, and goes on where it was."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.record.lock import RunLock
from tests.harness.cli.own import REPO, Command
from tests.harness.gating.test_gate_command import SOURCE

TIMED = ("gate", "--against", "HEAD", "--kpi", "work_ns")


@pytest.fixture
def edited(repository: Path) -> Path:
    """A repository whose head touches what it times, so that pairs are run."""
    (repository / "mine.py").write_text(f"# another head\n{SOURCE}")
    return repository


@pytest.fixture
def start() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start the command and come back; whatever still runs at the end is ended."""
    begun: list[subprocess.Popen[str]] = []

    def run(root: Path, *words: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "harness", *words]
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        begun.append(subprocess.Popen(command, cwd=root, env=environment, **pipes))
        return begun[-1]

    yield run
    for each in begun:
        each.kill()
        each.communicate()


def until(holds: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if found := holds():
            return found
        time.sleep(0.01)
    raise AssertionError("it did not come about")


def kept(root: Path) -> list[dict[str, Any]]:
    """What the one journal holds, without its header."""
    lines = [line for file in root.glob(".harness/runs/*.journal") for line in file.read_bytes().split(b"\n")[1:-1]]
    return [json.loads(line) for line in lines]


def pairs(root: Path) -> list[dict[str, Any]]:
    return [entry for entry in kept(root) if entry["did"].startswith("pair ")]


def workers_of(pid: int) -> set[int]:
    """Processes whose parent is ``pid``."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int((entry / "stat").read_bytes().rpartition(b")")[2].split()[1]) == pid:
                found.add(int(entry.name))
        except OSError:
            continue
    return found


def gone(pids: set[int]) -> bool:
    return not any(Path(f"/proc/{pid}/cmdline").exists() and Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids)


# https://github.com/renaissance-benchmarks/renaissance/issues/119: Ctrl-C, and hours were lost.
# https://github.com/humanbound/humanbound/issues/75: results were written at the end only.
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_every_pair_before_the_signal_is_kept_and_none_is_run_again(
    number: signal.Signals, code: int, edited: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    first = start(edited, *TIMED)
    until(lambda: len(pairs(edited)) > 1)
    first.send_signal(number)
    _, said = first.communicate(timeout=60)
    assert (first.returncode, "--resume" in said, "Traceback" in said) == (code, True, False)
    before = kept(edited)
    second = start(edited, *TIMED, "--resume")
    until(lambda: len(kept(edited)) > len(before) + 1)
    second.send_signal(number)
    second.communicate(timeout=60)
    assert second.returncode == code
    after = kept(edited)
    assert after[: len(before)] == before
    names = [entry["did"] for entry in after]
    assert len(names) == len(set(names)), "a pair was run twice"
    assert not list(edited.glob(".harness/gates/*.json")), "an unfinished gate leaves no verdict"


def test_a_resume_of_another_head_is_refused(
    edited: Path, start: Callable[..., subprocess.Popen[str]], loopladder: Command
) -> None:
    """Pairs of two heads in one verdict would be about neither; and what would begin anew is no resume."""
    first = start(edited, *TIMED)
    until(lambda: pairs(edited))
    first.send_signal(signal.SIGTERM)
    first.communicate(timeout=60)
    (old,) = edited.glob(".harness/runs/*.journal")
    before = old.read_bytes()
    (edited / "mine.py").write_text(f"# a third head\n{SOURCE}")
    second = loopladder(*TIMED, "--resume", cwd=edited)
    assert second.returncode == 2
    assert "There is no interrupted gate" in second.stderr
    assert [*edited.glob(".harness/runs/*.journal")] == [old]
    assert old.read_bytes() == before, "it is kept for the head that it belongs to"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_worker_outlives_a_gate_that_is_ended(
    number: signal.Signals, edited: Path, start: Callable[..., subprocess.Popen[str]]
) -> None:
    """Two workers that go on would be the noise of the next gate."""
    gate = start(edited, *TIMED)
    until(lambda: pairs(edited))
    workers = until(lambda: workers_of(gate.pid))
    gate.send_signal(number)
    gate.communicate(timeout=60)
    assert until(lambda: gone(workers))


def test_two_gates_at_once_do_not_measure_each_other(edited: Path, loopladder: Command) -> None:
    with RunLock(edited):
        done = loopladder(*TIMED, cwd=edited)
    assert done.returncode == 2
    assert f"process {os.getpid()}" in done.stderr
    assert kept(edited) == []
