"""Atomic files, and finding them again: a reader sees the old file or the new one, and no rubbish is left."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from harness.record.atomic import sweep_dead
from harness.record.lock import RunLock
from harness.record.run import decode
from harness.record.store import (
    StoreError,
    checked_id,
    committed_runs,
    find_root,
    new_id,
    runs,
    save,
    state_dir,
    write_atomic,
)
from tests.harness.record.example import IDENTITY, example


def test_a_file_is_written_and_replaced_and_nothing_else_appears(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "run.json"
    write_atomic(target, b"one")
    write_atomic(target, b"two")
    assert target.read_bytes() == b"two"
    assert list(target.parent.iterdir()) == [target]


def test_what_a_killed_writer_left_is_swept(tmp_path: Path) -> None:
    """Only what bears our name, is old, is a plain file, and whose process is gone."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    dead, young = f".{gone.pid}-0123abcd.tmp", f".{gone.pid}-0123abce.tmp"
    kept = {young, f".{os.getpid()}-0123abcd.tmp", f".{gone.pid}-xyz.tmp", "x.tmp", "mine.toml", ".1-00000000.tmp"}
    for name in (dead, *kept):
        (tmp_path / name).write_bytes(b"x")
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / young).touch()
    (tmp_path / f".{gone.pid}-0123abcf.tmp").mkdir()
    os.utime(tmp_path / f".{gone.pid}-0123abcf.tmp", (0, 0))
    sweep_dead(tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == kept | {f".{gone.pid}-0123abcf.tmp"}
    sweep_dead(tmp_path / "nowhere")


def test_the_mode_is_that_of_an_ordinary_file_and_an_existing_one_is_kept(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_atomic(tmp_path / "new", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o644
    (tmp_path / "new").chmod(0o600)
    write_atomic(tmp_path / "new", b"y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o600


def test_a_link_is_followed_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomic(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_a_state_folder_that_leads_out_of_the_project_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside"
    project.mkdir()
    outside.mkdir()
    (project / ".harness").symlink_to(outside)
    with pytest.raises(StoreError, match="is a link that leads out of the project") as refused:
        RunLock(project).__enter__()
    assert "`ls -ld " in str(refused.value)
    assert not list(outside.iterdir())


def test_a_state_folder_may_be_a_link_inside_the_project(tmp_path: Path) -> None:
    (tmp_path / "kept").mkdir()
    (tmp_path / ".harness").symlink_to("kept")
    assert state_dir(tmp_path) == tmp_path / ".harness"
    assert (tmp_path / "kept" / ".gitignore").read_text() == "*\n"


def test_state_folders_that_link_in_a_circle_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / ".harness").symlink_to(".harness")
    with pytest.raises(StoreError, match=r"\.harness"):
        state_dir(tmp_path)


@pytest.mark.parametrize("call", ["fsync", "rename", "write"])
def test_when_a_step_fails_the_old_file_stands_and_the_temporary_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    target = tmp_path / "run.json"
    target.write_bytes(b"old")

    def fails(*_args: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    if call == "rename":
        monkeypatch.setattr(Path, "replace", fails)
    else:
        monkeypatch.setattr(os, call, fails)
    with pytest.raises(StoreError, match="Input/output error; see `ls -ld "):
        write_atomic(target, b"new")
    monkeypatch.undo()
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


def test_ctrl_c_in_the_middle_leaves_no_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_args: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "run.json", b"new")
    assert list(tmp_path.iterdir()) == []


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, view: real(handle, view[:3]))
    write_atomic(tmp_path / "run.json", b"0123456789")
    assert (tmp_path / "run.json").read_bytes() == b"0123456789"


def test_the_data_is_on_disk_before_the_name_and_the_name_before_the_return(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    fsync, replace = os.fsync, Path.replace
    monkeypatch.setattr(
        os,
        "fsync",
        lambda handle: order.append("dir" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file") or fsync(handle),
    )
    monkeypatch.setattr(Path, "replace", lambda self, target: order.append("rename") or replace(self, target))
    write_atomic(tmp_path / "run.json", b"x")
    assert order == ["file", "rename", "dir"]


def test_a_file_system_that_cannot_sync_a_folder_is_accepted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fsync

    def only_files(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        real(handle)

    monkeypatch.setattr(os, "fsync", only_files)
    write_atomic(tmp_path / "run.json", b"x")
    assert (tmp_path / "run.json").read_bytes() == b"x"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_device_is_named_and_survives() -> None:
    with pytest.raises(StoreError, match=r"/dev/full cannot be written: the disk .* is full; see `df -h /dev`"):
        write_atomic(Path("/dev/full"), b"x")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_device_is_written_through() -> None:
    write_atomic(Path(os.devnull), b"x")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("folder", "it is a folder; name a file inside it"),
        ("file/run.json", "is not a folder; see `ls -ld"),
        ("n" * 300, "the name is too long"),
    ],
)
def test_a_target_that_cannot_be_is_refused_in_a_sentence(tmp_path: Path, name: str, words: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError) as caught:
        write_atomic(tmp_path / name, b"x")
    assert words in str(caught.value)
    assert str(caught.value).endswith(".")


CHILD = """
import os, resource, sys
from pathlib import Path
from harness.record.store import StoreError, write_atomic
if sys.argv[2] == "limit":
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
if sys.argv[2] == "nobody":  # here, because another user may be unable to start this interpreter
    try:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    except OSError:
        sys.exit(77)
try:
    write_atomic(Path(sys.argv[1]), b"x" * 100_000)
except StoreError as error:
    print(error)
    sys.exit(9)
"""


def in_child(target: Path, what: str, repo: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-B", "-c", CHILD, str(target), what],
        cwd=repo, env={**os.environ, "PYTHONPATH": str(repo)}, text=True, capture_output=True, check=False,
    )  # fmt: skip


def test_a_size_limit_is_named_and_the_old_file_stands(tmp_path: Path, repo: Path) -> None:
    target = tmp_path / "run.json"
    target.write_bytes(b"old")
    ended = in_child(target, "limit", repo)
    assert ended.returncode == 9, ended.stderr
    assert "it exceeds the file-size limit; see `ulimit -f`" in ended.stdout
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]


@pytest.fixture
def read_only() -> Iterator[Path]:
    # Not tmp_path: its parents are closed to other users, which would be another error than the one wanted.
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o555)
        yield Path(name)
        Path(name).chmod(0o755)


def test_a_read_only_folder_is_named(read_only: Path, repo: Path) -> None:
    ended = in_child(read_only / "run.json", "nobody" if os.geteuid() == 0 else "plain", repo)
    if ended.returncode == 77:
        pytest.skip("root here cannot become another user, and root writes anywhere")
    assert ended.returncode == 9, ended.stderr
    assert "is read-only for you; see `ls -ld" in ended.stdout
    assert list(read_only.iterdir()) == []


def test_a_run_is_saved_under_its_id_and_found_again(tmp_path: Path) -> None:
    path = save(tmp_path, example())
    assert path == tmp_path / ".harness" / "runs" / f"{IDENTITY}.json"
    assert decode(path.read_bytes(), path.name) == example()
    assert runs(tmp_path) == [path]


def test_an_id_that_would_lead_elsewhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is not the id of a run"):
        save(tmp_path, example(id="../../20261130T052031Z-3f9a1c"))
    assert list(tmp_path.rglob("*.json")) == []


def test_runs_are_newest_first_and_other_files_are_not_runs(tmp_path: Path) -> None:
    folder = tmp_path / ".harness" / "runs"
    folder.mkdir(parents=True)
    names = ["20261130T052031Z-aaaaaa.json", "20261129T235959Z-ffffff.json", "20261130T052031Z-000000.json"]
    for age, name in enumerate(names):
        (folder / name).write_bytes(b"{}")
        os.utime(folder / name, ns=(0, 1_000 + age))
    for other in ("20261201T000000Z-abcdef.pyperf.json", "notes.json", "20261201T000000Z-abcdef.journal"):
        (folder / other).write_bytes(b"{}")
    assert [path.name for path in runs(tmp_path)] == [names[2], names[0], names[1]]
    assert runs(tmp_path / "nowhere") == []


def test_a_pipe_or_a_folder_named_like_a_run_is_no_run(tmp_path: Path) -> None:
    folder = tmp_path / ".harness" / "runs"
    folder.mkdir(parents=True)
    committed = tmp_path / "baselines" / "m" / "runs"
    committed.mkdir(parents=True)
    for place in (folder, committed):
        os.mkfifo(place / "20261130T052034Z-3f9a1c.json")
        (place / "20261130T052032Z-3f9a1c.json").mkdir()
        (place / "20261130T052033Z-3f9a1c.json").symlink_to("/dev/zero")
        (place / f"{IDENTITY}.json").touch()
    assert [path.stem for path in runs(tmp_path)] == [IDENTITY]
    assert [path.stem for path in committed_runs(tmp_path)] == [IDENTITY]


def test_an_id_that_is_no_text_is_refused() -> None:
    with pytest.raises(StoreError, match="is not the id of a run"):
        checked_id(5)


def test_committed_runs_are_those_of_every_machine(tmp_path: Path) -> None:
    for slug in ("b", "a"):
        (tmp_path / "baselines" / slug / "runs").mkdir(parents=True)
        (tmp_path / "baselines" / slug / "runs" / "0123456789abcdef.json").write_bytes(b"{}")
    (tmp_path / "baselines" / "a" / "calibration.json").write_bytes(b"{}")
    assert [path.parent.parent.name for path in committed_runs(tmp_path)] == ["a", "b"]


def test_the_state_folder_ignores_itself(tmp_path: Path) -> None:
    assert state_dir(tmp_path) == tmp_path / ".harness"
    assert (tmp_path / ".harness" / ".gitignore").read_text() == "*\n"


def test_what_a_full_disk_left_of_the_ignore_file_is_written_again(tmp_path: Path) -> None:
    ignore = state_dir(tmp_path) / ".gitignore"
    ignore.write_bytes(b"")
    state_dir(tmp_path)
    assert ignore.read_text() == "*\n"
    assert list(ignore.parent.iterdir()) == [ignore]
    ignore.write_text("runs\n")
    state_dir(tmp_path)
    assert ignore.read_text() == "runs\n", "what somebody chose stays"


def test_no_half_of_the_ignore_file_is_ever_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_handle: int, _blob: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("harness.record.atomic.write_all", full)
    with pytest.raises(StoreError, match="gitignore"):
        state_dir(tmp_path)
    assert not list((tmp_path / ".harness").iterdir())


def test_an_ignore_file_that_is_a_pipe_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".harness").mkdir()
    os.mkfifo(tmp_path / ".harness" / ".gitignore")
    assert state_dir(tmp_path).is_dir()


def test_an_id_is_the_second_in_utc_and_unlike_the_next() -> None:
    there = datetime(2026, 11, 30, 7, 20, 31, tzinfo=timezone(timedelta(hours=2)))
    assert new_id(there).startswith("20261130T052031Z-")
    assert len({new_id(there) for _ in range(50)}) == 50
    assert new_id(datetime.now(UTC)) > new_id(there - timedelta(days=9999))
    with pytest.raises(ValueError, match="zone"):
        new_id(datetime(2026, 11, 30))


def test_the_root_is_the_nearest_table_else_the_git_root_else_here(tmp_path: Path) -> None:
    deep = tmp_path / "git" / "project" / "package"
    deep.mkdir(parents=True)
    (tmp_path / "git" / ".git").write_text("gitdir: elsewhere\n")
    assert find_root(deep) == tmp_path / "git"
    (tmp_path / "git" / "project" / "pyproject.toml").write_text("[tool.harness]\n")
    (deep / "pyproject.toml").write_text("[tool.other]\nabout = 'harness'\n")
    assert find_root(deep) == tmp_path / "git" / "project"
    (deep / "bench.py").write_text("")
    assert find_root(deep / "bench.py") == tmp_path / "git" / "project"
    lone = tmp_path / "lone"
    lone.mkdir()
    assert find_root(lone) == lone


def test_a_table_that_is_not_toml_is_named(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.harness\n")
    with pytest.raises(StoreError, match=r"pyproject\.toml is not valid TOML: .*`python -m harness list`"):
        find_root(tmp_path)


def test_a_state_folder_that_is_closed_is_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".harness").mkdir()

    real = Path.stat

    def denied(path: Path, **more: bool) -> os.stat_result:
        if path.name == ".gitignore":
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, **more)

    monkeypatch.setattr(Path, "stat", denied)  # the tests may run as one who may read everything
    with pytest.raises(StoreError) as refused:
        state_dir(tmp_path)
    folder = tmp_path / ".harness"
    assert str(refused.value).endswith(f"{folder} is read-only for you; see `ls -ld {folder}`.")
