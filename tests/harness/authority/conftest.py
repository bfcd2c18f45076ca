"""One sound project for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.jobs.authority import Written, write
from tests.harness.authority.project import lay_out


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    """The run file of a project in ``tmp_path`` whose documents are true."""
    path = lay_out(tmp_path)
    assert write(tmp_path) == Written(("BENCHMARK-AUTHORITY.md", "docs/page.md"))
    return path
