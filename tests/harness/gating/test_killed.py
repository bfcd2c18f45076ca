"""What a run or a gate leaves behind that is ended by SIGKILL: nothing that the next one does not remove."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.subject.scratch import PREFIX
from tests.harness.cli.own import REPO, Command
from tests.harness.gating.test_gate_command import PROBES, SOURCE, repository

__all__ = ["repository"]

LEAVES = """
import os, tempfile, time

def leave():
    os.makedirs(os.path.join(tempfile.mkdtemp(prefix="left-"), "inner"), mode=0o500)
    time.sleep(600)

"""

HANGS = {
    "count": 'os.environ.get("HANGS") == "count"',
    "pair": 'os.environ.get("HANGS") == "pair" and "LOOPLADDER_PADDING" in os.environ',
}


@pytest.mark.parametrize(
    ("words", "hangs"),
    [
        (("run", "--kpi", "work_count", "--quick"), "count"),
        (("gate", "--against", "HEAD", "--kpi", "work_count"), "count"),
        (("gate", "--against", "HEAD", "--kpi", "work_ns"), "pair"),
    ],
)
def test_the_next_run_removes_all_that_a_killed_one_left(
    words: tuple[str, ...],
    hangs: str,
    loopladder: Command,
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    planted = PROBES.replace("    return mine.work", f"    if {HANGS['pair']}:\n        leave()\n    return mine.work")
    planted = planted.replace("    return Tally", f"    if {HANGS['count']}:\n        leave()\n    return Tally")
    (repository / "bench" / "probes.py").write_text(LEAVES + planted)
    (repository / "mine.py").write_text(SOURCE.replace("2000", "2100").replace("3", "2"))
    with subprocess.Popen(
        [sys.executable, "-m", "harness", *words],
        cwd=repository,
        env={**os.environ, "PYTHONPATH": str(REPO), "TMPDIR": str(temporary), "HANGS": hangs},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        deadline = time.monotonic() + 120
        while not list(temporary.rglob("left-*/inner")):
            assert process.poll() is None, "it ended by itself"
            assert time.monotonic() < deadline, "no worker got as far"
            time.sleep(0.02)
        process.kill()
    left = list(temporary.iterdir())
    assert left
    assert all(path.name.startswith(PREFIX) for path in left), left
    monkeypatch.setenv("TMPDIR", str(temporary))
    done = loopladder("run", "--kpi", "work_count", "--quick", cwd=repository)
    assert done.returncode == 0, done.stderr
    assert list(temporary.iterdir()) == []
