"""A folder goes whatever somebody left in it, and nothing else does."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.subject.scratch import LOCK, prune, scratch
from seams.engines import removal
from seams.engines.removal import removed


def nested(folder: Path, depth: int) -> None:
    """Folders in folders, by steps: no path that long could be named. Each has a file beside the next."""
    handle = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
        os.mkdir("d", dir_fd=handle)
        inner = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(handle)


def fixed(place: Path, sign: str) -> None:
    """Make it immutable (``i``) or append-only (``a``), where that is possible."""
    command = ["chattr", f"+{sign}", str(place)]
    if shutil.which("chattr") is None or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("this process may set no such attribute here")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "folder"
    made.mkdir()
    return made


@pytest.mark.parametrize("depth", [0, 1, 1_500, 6_000])
def test_no_depth_is_too_deep(folder: Path, depth: int) -> None:
    nested(folder, depth)
    assert removed(folder)
    assert not folder.exists()


def test_folders_that_are_closed_to_their_owner_go(folder: Path) -> None:
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "a" / "b" / "c" / "file").write_text("x")
    for mode, place in ((0o000, "a/b/c"), (0o500, "a/b"), (0o100, "a"), (0o000, ".")):
        (folder / place).chmod(mode)
    assert removed(folder)
    assert not folder.exists()


@pytest.mark.parametrize("sign", ["i", "a"])
@pytest.mark.parametrize("where", ["file", "a/file", "a/b/file", "a", "a/b", "a/b/c", "."])
def test_what_is_immutable_or_append_only_goes(folder: Path, where: str, sign: str) -> None:
    (folder / "a" / "b" / "c").mkdir(parents=True)
    for name in ("file", "a/file", "a/b/file"):
        (folder / name).write_text("x")
    fixed(folder / where, sign)
    assert removed(folder)
    assert not folder.exists()


@pytest.mark.parametrize("sign", ["i", "a"])
def test_the_mark_and_a_file_in_the_folders_place_go_too(folder: Path, sign: str) -> None:
    for name in ("mark", "alone"):
        (folder / name).write_text("x")
        fixed(folder / name, sign)
    assert removed(folder / "alone")
    assert removed(folder, "mark")
    assert not folder.exists()


def test_a_file_with_a_name_elsewhere_keeps_its_attributes_there(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("precious")
    (folder / "link").hardlink_to(other)
    (folder / "again").hardlink_to(other)
    fixed(other, "i")
    assert removed(folder)
    with pytest.raises(PermissionError):
        other.unlink()
    subprocess.run(["chattr", "-i", str(other)], check=True)
    assert other.read_text() == "precious"


def test_what_this_process_may_not_loosen_stays_and_it_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "file").write_text("x")

    def refusing(name: object, **places: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refusing)
        assert not removed(folder)
    assert (folder / "file").read_text() == "x"
    assert removed(folder)


def test_no_link_is_followed(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    (victim / "deep").mkdir(parents=True)
    (victim / "deep" / "file").write_text("precious")
    victim.chmod(0o500)
    (folder / "inner").mkdir()
    for link in (folder / "link", folder / "inner" / "link"):
        link.symlink_to(victim)
    (folder / "dangling").symlink_to("nowhere")
    assert removed(folder)
    assert (victim / "deep" / "file").read_text() == "precious"
    assert victim.stat().st_mode & 0o777 == 0o500
    folder.symlink_to(victim)
    assert removed(folder), "of a link in its place the link goes"
    assert (victim / "deep" / "file").exists()


def test_pipes_and_sockets_go_unopened(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "d").mkdir()
    os.mkfifo(folder / "d" / "pipe")
    assert removed(folder)


def test_what_is_not_there_is_gone(folder: Path) -> None:
    assert removed(folder / "nothing")
    (folder / "file").write_text("x")
    assert removed(folder / "file")


def test_where_something_stays_the_mark_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "mark").write_text("x")
    (folder / "busy" / "inner").mkdir(parents=True)
    unlock = removal._opened

    def refusing(name: str, at: int | None) -> int:
        if name == "busy":
            raise OSError("busy")
        return unlock(name, at)

    with monkeypatch.context() as patch:
        patch.setattr(removal, "_opened", refusing)
        assert not removed(folder, "mark")
    assert sorted(path.name for path in folder.iterdir()) == ["busy", "mark"]
    assert removed(folder, "mark")
    assert not folder.exists()


def test_what_cannot_be_moved_is_removed_where_it_is(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "a" / "b" / "c").mkdir(parents=True)
    (folder / "a" / "b" / "c" / "file").write_text("x")

    def layered(*names: object, **places: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "rename", layered)
    assert removed(folder)


def test_the_trees_of_a_gate_go_however_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with scratch() as place:
        nested(place, 1_500)
    assert not place.exists()
    with scratch() as place:
        (place / LOCK).rename(tmp_path / LOCK)  # as of an owner that is dead: nobody holds the lock
        (place / LOCK).write_bytes((tmp_path / LOCK).read_bytes())
        nested(place, 1_500)
        assert prune() == [place]
