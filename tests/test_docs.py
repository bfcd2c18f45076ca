"""The documentation runs: files that a page shows are written, and its commands end as they should."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPO

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# file: (\S+)\n")
PAGES = ["README.md", *(str(path.relative_to(REPO)) for path in sorted((REPO / "docs").glob("*.md")))]


def lay_out(page: str, folder: Path) -> list[str]:
    """Write the files that ``page`` shows into ``folder``; return its shell commands, one a line."""
    commands = []
    for language, body in BLOCK.findall((REPO / page).read_text(encoding="utf-8")):
        named = FILE.match(body)
        if named:
            target = folder / named[1]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(body[named.end() :], encoding="utf-8")
        elif language == "sh":
            commands += [line for line in body.splitlines() if line.startswith("loopladder ")]
    return commands


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_run(page: str, tmp_path: Path) -> None:
    commands = lay_out(page, tmp_path)
    shutil.copytree(REPO / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    own = {"PYTHONPATH": str(REPO), "PYTHONDONTWRITEBYTECODE": "1", "XDG_CACHE_HOME": str(tmp_path / ".cache")}
    environment = {**os.environ, **own}
    for command in commands:
        words = [sys.executable, "-m", "harness", *command.split()[1:]]
        done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


def test_the_first_page_begins_with_the_two_commands() -> None:
    blocks = [body for language, body in BLOCK.findall((REPO / "README.md").read_text("utf-8")) if language == "sh"]
    assert "run --layer turn --quick" in blocks[0]
    assert ".[test]" in blocks[1]
    assert "pytest" in blocks[1]


@pytest.mark.parametrize("page", PAGES)
def test_links_inside_the_repository_lead_somewhere(page: str) -> None:
    text = (REPO / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((REPO / page).parent / target).exists(), target
