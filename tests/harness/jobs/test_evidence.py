"""What lies among the run files and is none: never waited for, never fatal, and said."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.formats.limits import regular_bytes
from harness.jobs import evidence
from harness.jobs.evidence import gather
from harness.project import Project
from kpis.registry import load

NAME = "20260101T00000{}Z-aaaa.json"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of run files of a project."""
    made = tmp_path / ".harness" / "runs"
    made.mkdir(parents=True)
    return made


def refused(root: Path) -> tuple[str, ...]:
    return gather(Project(root), load()).refused


def test_pipes_and_devices_are_never_opened(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / NAME.format(1))
    (folder / NAME.format(2)).symlink_to("/dev/zero")
    (folder / NAME.format(3)).mkdir()
    committed = tmp_path / "baselines" / "here" / "runs"
    committed.mkdir(parents=True)
    os.mkfifo(committed / "one.json")
    assert all("no regular file" in sentence for sentence in refused(tmp_path))
    for path in (*folder.iterdir(), *committed.iterdir()):
        with pytest.raises(OSError, match="no regular file"):
            regular_bytes(path)


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(folder: Path, monkeypatch) -> None:
    pipe, file = folder / "pipe", folder / "file"
    os.mkfifo(pipe)
    file.touch()
    as_file = file.stat()
    monkeypatch.setattr(Path, "stat", lambda *_, **__: as_file)
    with pytest.raises(OSError, match="no regular file"):
        regular_bytes(pipe)


def test_size_is_bounded(folder: Path, tmp_path: Path) -> None:
    with (folder / NAME.format(1)).open("wb") as file:
        file.truncate((64 << 20) + 1)
    (sentence,) = refused(tmp_path)
    assert "cannot be read as a run file: it is larger than 67,108,864 bytes; move it away" in sentence
    (folder / "small").write_bytes(b"123")
    assert regular_bytes(folder / "small", 3) == b"123"
    with pytest.raises(OSError, match="larger than 2 bytes"):
        regular_bytes(folder / "small", 2)


def test_depth_memory_and_encoding_are_findings(folder: Path, tmp_path: Path, monkeypatch) -> None:
    file = folder / NAME.format(1)
    file.write_bytes(b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    assert "cannot be read as a run file: it is nested too deeply" in refused(tmp_path)[0]
    file.write_bytes(b'{"created": "\xff"}')
    assert "cannot be read as a run file" in refused(tmp_path)[0]

    def too_much(_path: Path) -> bytes:
        raise MemoryError

    monkeypatch.setattr(evidence, "regular_bytes", too_much)
    assert "cannot be read as a run file: it needs more memory than there is" in refused(tmp_path)[0]


def test_a_closed_folder_is_not_taken_for_an_empty_one(folder: Path, tmp_path: Path, monkeypatch) -> None:
    def denied(_path: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "scandir", denied)  # the tests may run as one who may read everything
    (sentence,) = refused(tmp_path)
    assert f"{folder} cannot be read: Permission denied; see `ls -ld {folder.parent} {folder}`." == sentence


@pytest.mark.parametrize("words", [("list", "denies"), ("explain", "denies"), ("list", "denies", "--json")])
def test_list_and_explain_say_so_in_one_line(words, folder: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(words) == 0
    assert capsys.readouterr().err == ""
    (folder / NAME.format(1)).write_text("[")
    assert main(words) == 0
    one = capsys.readouterr().err
    assert one.startswith(f"loopladder: Not every run file was read: {NAME.format(1)} cannot be read as a run file")
    (folder / NAME.format(2)).write_text("[")
    assert main(words) == 0
    two = capsys.readouterr().err
    assert two.startswith("loopladder: 2 run files were not read; `python -m harness catalog --check` says why.")
    assert (one.count("\n"), two.count("\n")) == (1, 1)
