"""The corpus is what its script writes, and the page shows what the corpus gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.parametrize("script", ["author_corpus.py", "accuracy_page.py"])
def test_what_is_kept_is_what_the_script_writes(script: str, repo: Path) -> None:
    command = [sys.executable, str(repo / "ci" / script)]
    done = subprocess.run([*command, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    wrong = subprocess.run([*command, "--force"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "--check" in wrong.stderr
