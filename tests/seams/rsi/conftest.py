"""A repository a test, and a temporary folder of its own, in which nothing may be left behind."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.seams.rsi.repository import Repo


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def repo_of_one(tmp_path: Path, temporary: Path) -> Iterator[Repo]:
    repo = Repo(tmp_path / "repository")
    yield repo
    assert list(temporary.iterdir()) == [], "a loop left a folder behind"
    assert repo.trees() == 1, "a loop left a worktree behind"
    assert not (repo.top / ".git" / "worktrees").exists()
