"""The lock: one run at a time, and none left behind by a killed one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness.record.lock import Busy, RunLock
from harness.record.store import StoreError

HOLDER = """
import sys, time
from pathlib import Path
from harness.record.lock import RunLock
with RunLock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_holder_is_told_who_holds_it(tmp_path: Path) -> None:
    with RunLock(tmp_path):
        with pytest.raises(Busy, match="is measuring in this project; repeat the command when it has ended") as caught:
            RunLock(tmp_path).__enter__()
        assert caught.value.pid == os.getpid()
        assert caught.value.since is not None
        assert caught.value.since.endswith("Z")
        assert f"`ps -p {os.getpid()}`." in str(caught.value)
    with RunLock(tmp_path):
        assert (tmp_path / ".harness" / "lock").exists()


def test_it_is_released_when_the_body_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), RunLock(tmp_path):
        raise ZeroDivisionError
    with RunLock(tmp_path) as lock:
        assert lock.path.read_text().startswith('{"pid": ')


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"pid": null}',
        b"\xff",
        b"[" * 3_000,
        b'{"pid": 1e999, "since": "2026-11-30T05:20:31Z"}',
        b'{"pid": 1, "since": "\\u001b[31mnow"}',
    ],
)
def test_a_holder_that_has_not_written_yet_is_busy_all_the_same(tmp_path: Path, content: bytes) -> None:
    with RunLock(tmp_path) as lock:
        lock.path.write_bytes(content)
        with pytest.raises(Busy, match=r"^Another run is measuring") as caught:
            RunLock(tmp_path).__enter__()
    assert caught.value.pid is None


def test_a_killed_holder_leaves_no_lock(tmp_path: Path, repo: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)],
        cwd=repo, env={**os.environ, "PYTHONPATH": str(repo)}, stdout=subprocess.PIPE, text=True,
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(Busy) as caught:
            RunLock(tmp_path).__enter__()
        assert caught.value.pid == holder.pid
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with RunLock(tmp_path) as lock:
            assert str(os.getpid()) in lock.path.read_text()


def test_a_lock_that_cannot_be_opened_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / ".harness" / "lock").mkdir(parents=True)
    with pytest.raises(StoreError, match="cannot be written: it is a folder"):
        RunLock(tmp_path).__enter__()


def test_a_lock_that_is_a_link_or_a_pipe_is_refused_and_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / ".harness").mkdir()
    (tmp_path / "precious").write_text("kept")
    lock = tmp_path / ".harness" / "lock"
    lock.symlink_to(tmp_path / "precious")
    with pytest.raises(StoreError):
        RunLock(tmp_path).__enter__()
    assert (tmp_path / "precious").read_text() == "kept"
    lock.unlink()
    os.mkfifo(lock)
    with pytest.raises(StoreError, match="is no regular file; remove it with"):
        RunLock(tmp_path).__enter__()
