"""Finding recordings: links, pipes, devices, names and folders that were made, or happen, to be in the way."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from harness.jobs import replay_find
from harness.jobs.replay_find import Finding, find, is_small
from kpis.terms.trace import IssueCode, Severity
from tests.harness.jobs.session_files import put

ROOT = os.geteuid() == 0


def named(found: Finding, top: Path) -> list[str]:
    return [os.path.relpath(each.name, top) for each in found.files]


def test_folders_are_walked_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b/2", "b/1", "a", "c/d/e"):
        put(tmp_path / name, "{}")
    found = find([str(tmp_path)])
    assert named(found, tmp_path) == ["a", "b/1", "b/2", "c/d/e"]
    assert not found.issues
    assert [each.named for each in found.files] == [False] * 4
    assert [each.named for each in find([str(tmp_path / "a")]).files] == [True]


def test_links_that_run_in_a_circle(tmp_path: Path) -> None:
    put(tmp_path / "a" / "one", "{}")
    (tmp_path / "a" / "again").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to("self")
    found = find([str(tmp_path)])
    assert named(found, tmp_path) == ["a/one"]


def test_a_link_to_a_folder_is_followed_only_where_it_is_named(tmp_path: Path) -> None:
    put(tmp_path / "real" / "one", "{}")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "link").symlink_to(tmp_path / "real")
    assert find([str(tmp_path / "tree")]).files == []
    assert [each.name for each in find([str(tmp_path / "tree" / "link")]).files] == [
        str(tmp_path / "tree" / "link" / "one")
    ]


def test_one_file_by_several_names_counts_once(tmp_path: Path) -> None:
    one = put(tmp_path / "one", "{}")
    (tmp_path / "hard").hardlink_to(one)
    (tmp_path / "soft").symlink_to(one)
    assert len(find([str(tmp_path), str(one), str(tmp_path)]).files) == 1


def test_what_is_no_file_is_never_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "null").symlink_to("/dev/zero")
    assert not find([str(tmp_path)]).files
    for path in (str(tmp_path / "pipe"), "/dev/zero"):
        found = find([path])
        assert not found.files
        assert [issue.code for issue in found.issues] == [IssueCode.E_UNREADABLE]
        assert "neither a file nor a folder" in found.issues[0].message


def test_folders_of_tools_are_passed_over(tmp_path: Path) -> None:
    for name in (".git/a", "node_modules/b", "venv/c", ".claude/d"):
        put(tmp_path / name, "{}")
    assert named(find([str(tmp_path)]), tmp_path) == [".claude/d"]
    assert len(find([str(tmp_path / ".git")]).files) == 1, "what is named is looked at"


def test_names_that_are_no_text(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff\xfe.jsonl"
    os.close(os.open(name, os.O_CREAT))
    (each,) = find([str(tmp_path)]).files
    assert os.fsencode(each.path) == name
    assert each.path.exists()


@pytest.mark.parametrize(
    ("path", "why"), [("nowhere", "No such file"), ("a\0b", "no name of a file"), ("x" * 300, "too long")]
)
def test_what_cannot_be_looked_at_is_told(path: str, why: str, tmp_path: Path) -> None:
    good = put(tmp_path / "one", "{}")
    found = find([str(tmp_path / path), str(good)])
    assert len(found.files) == 1
    (issue,) = found.issues
    assert why in issue.message
    assert issue.message.isprintable()


def test_a_folder_that_vanishes_while_it_is_walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "a" / "one", "{}")
    put(tmp_path / "b", "{}")
    scan = os.scandir

    def vanishing(folder: str) -> object:
        if folder.endswith("/a"):
            (tmp_path / "a" / "one").unlink()
            (tmp_path / "a").rmdir()
        return scan(folder)

    monkeypatch.setattr(replay_find.os, "scandir", vanishing)
    found = find([str(tmp_path)])
    assert named(found, tmp_path) == ["b"]
    assert "No such file" in found.issues[0].message


def test_what_is_small_is_told_without_a_walk_of_what_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for at in range(4):
        put(tmp_path / f"f{at}" / "one", b"x" * 10)
    top, one = str(tmp_path), str(tmp_path / "f0" / "one")
    assert is_small([top], 40)
    assert not is_small([top], 39)
    assert is_small([one], 10)
    assert not is_small([one, top], 49)
    assert is_small([str(tmp_path / "none"), one], 10)
    monkeypatch.setattr(replay_find, "_FEW", 1)
    looked: list[str] = []
    scan = os.scandir
    monkeypatch.setattr(replay_find.os, "scandir", lambda folder: looked.append(folder) or scan(folder))
    assert not is_small([top], 1_000)
    assert len(looked) == 3  # the top, and no more folders than hold two files


@pytest.mark.skipif(ROOT, reason="the administrator may read everything")
def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    put(tmp_path / "a" / "one", "{}")
    put(tmp_path / "b", "{}")
    (tmp_path / "a").chmod(0)
    try:
        found = find([str(tmp_path)])
    finally:
        (tmp_path / "a").chmod(stat.S_IRWXU)
    assert named(found, tmp_path) == ["b"]
    assert "Permission denied" in found.issues[0].message


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    put(tmp_path / "one", "{}")
    (tmp_path / "gone").symlink_to(tmp_path / "nothing")
    found = find([str(tmp_path)])
    assert named(found, tmp_path) == ["one"]
    (issue,) = found.issues
    assert (issue.severity, issue.code) == (Severity.WARNING, IssueCode.E_UNREADABLE)
    assert issue.message == f"{tmp_path / 'gone'} is a link that leads nowhere, and was passed over."
