"""Fixtures shared by all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No test asserts a time, and a busy machine is no fault of an example.
settings.register_profile("no deadline", deadline=None)
settings.register_profile("reproducible", deadline=None, derandomize=True)
settings.load_profile("reproducible" if os.environ.get("LOOPLADDER_SAME_EXAMPLES") else "no deadline")

REPO = Path(__file__).resolve().parent.parent


def cases_dir() -> Path | None:
    """The folder of external cases: LOOPLADDER_CASES, else the one beside the checkout, else None."""
    named = os.environ.get("LOOPLADDER_CASES")
    folder = Path(named) if named else REPO.parent / "shared" / "cases"
    return folder if folder.is_dir() else None


@pytest.fixture
def cases() -> Path:
    """The folder of external cases; the test is skipped, saying so, where there is none."""
    folder = cases_dir()
    if folder is None:
        pytest.skip("no external cases: set LOOPLADDER_CASES to their folder")
    return folder


@pytest.fixture
def repo() -> Path:
    """The root of the checkout."""
    return REPO
