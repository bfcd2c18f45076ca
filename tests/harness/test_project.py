"""A pyproject.toml that cannot be used gets one sentence, whatever is wrong with it; a pipe is never waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.project import ProjectError, load_project
from harness.record.store import StoreError, find_root

DEEP = "x = " + "[" * 3000 + "]" * 3000 + "\n"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("tool = 5", "tool must be a table"),
        ('tool = "harness"', "tool must be a table"),
        ("tool = []", "tool must be a table"),
        ("[tool]\nharness = 3", "[tool.harness] must be a table"),
        ('[tool.harness]\nkpis = [""]', "kpis is empty"),
        ('[tool.harness]\nkpis = ["**k/x"]', "names no file inside the project"),
        ('[tool.harness]\nkpis = ["."]', "names no file inside the project"),
        ('[tool.harness]\nkpis = [".."]', "names no file inside the project"),
        ('[tool.harness]\nkpis = ["a\\u0000b"]', "names no file inside the project"),
        ('[tool.harness]\nkpis = ["pipe"]', "names no file inside the project"),
        ('[tool.harness]\nruntime = ""', "runtime is empty"),
        ('[tool.harness]\nbuild = " "', "build is empty"),
        ("[tool.harness]\nruntime = 3", "runtime must be a string"),
        ("[tool.harness]\nkpis = [3]", "kpis must be a list of strings"),
        ("[tool.harness]\n" + DEEP, "nested too deeply"),
        (DEEP, "nested too deeply"),
        ("\ufeff[tool.harness]\n", "begins with a byte order mark"),
        ("\ufeff[project]\n", "begins with a byte order mark"),
        ("[tool.harness]\nx = " + "9" * 5000, "digits"),
        ("x = " + "9" * 5000, "digits"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence_with_the_next_command(text: str, says: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    with pytest.raises((ProjectError, StoreError)) as refused:
        load_project(tmp_path)
    sentence = str(refused.value)
    assert says in sentence
    assert "\n" not in sentence
    assert "python -m harness list" in sentence
    assert len(sentence) < 400


def test_a_pipe_of_that_name_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pyproject.toml")
    assert find_root(tmp_path) == tmp_path
    assert load_project(tmp_path).kpi_files == ()


@pytest.mark.parametrize("text", ["tool = 5 # harness", 'tool = "harness"'])
def test_what_is_no_table_makes_no_root(text: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.harness]\n")
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text(text)
    assert find_root(inner) == tmp_path
