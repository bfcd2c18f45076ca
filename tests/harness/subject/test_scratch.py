"""The temporary folder: private, gone at the end, and cleared away after an owner that was killed."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from harness.subject import SubjectError
from harness.subject.scratch import LOCK, MARK, PREFIX, explained, prune, scratch

OWNER = """
import sys, time
from harness.subject.scratch import scratch
with scratch() as folder:
    (folder / "a").mkdir()
    (folder / "a" / "kept").write_text("x")
    (folder / "a").chmod(0o500)
    print(folder, flush=True)
    time.sleep(60)
"""


def test_it_is_private_and_goes_away(temporary: Path) -> None:
    with scratch() as folder:
        assert folder.parent == temporary.resolve()
        assert folder.name.startswith(PREFIX)
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert [path.name for path in folder.iterdir()] == [LOCK]
        assert prune() == []
        (folder / "sealed").mkdir(mode=0o500)
    assert list(temporary.iterdir()) == []


def test_it_goes_away_when_the_body_fails(temporary: Path) -> None:
    with pytest.raises(KeyboardInterrupt), scratch():
        raise KeyboardInterrupt
    assert list(temporary.iterdir()) == []


def test_the_leftovers_of_a_killed_owner_are_pruned_at_the_next_start(temporary: Path, repo: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True, cwd=repo) as owner:
        assert owner.stdout is not None
        left = Path(owner.stdout.readline().strip())
        try:
            assert prune() == []
            assert (left / "a" / "kept").exists()
        finally:
            owner.send_signal(signal.SIGKILL)
    assert left.exists()
    with scratch() as folder:
        assert list(temporary.iterdir()) == [folder]


def test_what_is_not_ours_stays(temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / LOCK).touch()
    (temporary / f"{PREFIX}link").symlink_to(tmp_path / "precious")
    (temporary / f"{PREFIX}file").touch()
    (temporary / "other").mkdir()
    (temporary / f"{PREFIX}new").mkdir()  # just made, not yet locked
    for name, lock in (("checkout", None), ("own-lock", b""), ("other-lock", MARK + b"and more"), ("folder", None)):
        work = temporary / f"{PREFIX}{name}"
        (work / ".git").mkdir(parents=True)
        if lock is not None:
            (work / LOCK).write_bytes(lock)
        os.utime(work, (0, 0))
    (temporary / f"{PREFIX}folder" / LOCK).mkdir()
    (temporary / "loopladder-main").mkdir()
    old = temporary / f"{PREFIX}old"
    old.mkdir()
    (old / LOCK).write_bytes(MARK)
    with monkeypatch.context() as patch:
        patch.setattr("os.geteuid", lambda: os.getuid() + 1)  # another user's, then
        assert prune() == []
    assert prune() == [old]
    assert len(list(temporary.iterdir())) == 9
    assert all((temporary / f"{PREFIX}{name}" / ".git").is_dir() for name in ("checkout", "own-lock", "other-lock"))
    assert (tmp_path / "precious" / LOCK).exists()


def test_no_place_to_make_it(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(temporary / "gone"))
    with pytest.raises(SubjectError, match=r"export TMPDIR=/path/with/room$"), scratch():
        pass


def test_a_full_disk_and_other_faults() -> None:
    full = OSError(28, os.strerror(28), "/x/a/b")
    assert str(explained(full)).endswith("export TMPDIR=/path/with/room")
    assert "no room" in str(explained(f"error: unable to write file x: {os.strerror(28)}"))
    assert "Look with: df -h" in str(explained(PermissionError(13, "denied", "/x")))
