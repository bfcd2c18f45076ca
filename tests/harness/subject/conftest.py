"""A temporary folder of its own for every test here, and an environment without a word of git's."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.harness.subject.repository import Repo


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What tempfile gives out during the test."""
    place = tmp_path_factory.mktemp("temporary")
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    for key in [key for key in os.environ if key.startswith("GIT_")]:
        monkeypatch.delenv(key)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return place


@pytest.fixture
def work(tmp_path: Path) -> Repo:
    """An empty repository."""
    return Repo(tmp_path / "work")
