"""What git is asked about the tree: no program of the user's configuration runs, and no environment leads elsewhere."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.record.source import tree_state


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    git(folder, "init", "-q")
    (folder / "a.py").write_text("1\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "one")
    return folder


def test_commit_and_changes(tree: Path, tmp_path: Path) -> None:
    commit, dirty = tree_state(tree)
    assert commit is not None
    assert len(commit) == 40
    assert dirty is False
    (tree / "b.py").write_text("2\n")
    assert tree_state(tree) == (commit, True)
    assert tree_state(tmp_path) == (None, None)


def test_the_repository_of_a_hooks_environment_is_not_asked(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tree_state(tree)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    assert tree_state(tree) == found


def test_no_monitor_and_no_filter_is_run(tree: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho x >> {ran}\ncat\n")
    program.chmod(0o755)
    (tree / ".gitattributes").write_text("*.py filter=mine\n")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "two")
    git(tree, "config", "filter.mine.clean", str(program))
    git(tree, "config", "core.fsmonitor", str(program))
    (tree / "a.py").write_text("3\n")
    assert tree_state(tree)[1] is True
    assert not ran.exists()
