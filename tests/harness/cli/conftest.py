"""A small project of its own for each test of the command line, and a way to run the command in it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.cli.own import REPO, Command


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
