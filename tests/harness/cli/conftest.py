"""A small project of its own for each test of the command line, and a way to run the command in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.cli.main import main
from tests.harness.cli.own import REPO, Command, Said


@pytest.fixture
def loopladder(tmp_path: Path) -> Command:
    """Run ``python -m harness ARGS`` in ``tmp_path`` (or ``cwd``) with this checkout's packages."""

    def run(*words: str, cwd: Path | None = None, **more: object) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "80"}
        return subprocess.run(
            [sys.executable, "-m", "harness", *words],
            cwd=cwd or tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
            **more,  # type: ignore[call-overload]
        )

    return run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with three KPIs of its own: sound ones, and one slot for whatever a test plants."""
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "__init__.py").touch()
    (tmp_path / "pyproject.toml").write_text('[tool.harness]\nkpis = ["bench/*.toml"]\n')
    return tmp_path


@pytest.fixture
def caches(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for caches of the test's own."""
    folder = tmp_path_factory.mktemp("caches")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def replay(
    tmp_path: Path, caches: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Said]:
    """Run ``replay`` in ``tmp_path``, on eighty columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def call(*words: object) -> Said:
        code = main(["replay", *map(str, words)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call
