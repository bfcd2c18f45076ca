"""The catalog of a project: files that were found sound are remembered by content, and nothing else is believed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.jobs.rows import project_catalog
from harness.project import Project
from kpis.errors import CatalogError

SEAM = '[seam."own/room"]\ntitle = "a room of our own"\noff_live = "replay only"\n\n'
ROW = """\
[kpi.mine]
layer = "turn"
seam = "own/room"
question = "How long?"
fence = "Mine alone."
unit = "ns"
direction = "lower"
estimand = "call-mean"
probe = "bench.probes:Mine"
params = { n = ["1", "2"], m = ["a"] }
gate_point = { n = "2", m = "a" }
replay_params = { n = "trace" }
takes = "session"
default_workload = false
aliases = ["my_own"]
critical = true
symbol = "MINE"
note = "a mean"

[kpi.priced]
layer = "session"
seam = "own/room"
question = "How much?"
fence = "A model."
unit = "usd"
direction = "lower"
estimand = "count"
gate = "report"
probe = "bench.probes:Priced"
reasons = ["A", "B"]
knobs = { price = 3 }
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "b.toml").write_text(SEAM)
    (tmp_path / "a.toml").write_text(ROW)
    (tmp_path / ".harness").mkdir()
    return Project(tmp_path, kpi_files=(tmp_path / "a.toml", tmp_path / "b.toml"))


def test_the_remembered_catalog_is_the_same(project: Project) -> None:
    fresh = project_catalog(project)
    assert (project.root / ".harness" / "rows.json").is_file()
    again = project_catalog(project)
    assert (again.kpis, again.seams) == (fresh.kpis, fresh.seams)
    assert again.get("MINE").gate_point == {"n": "2", "m": "a"}


def test_it_is_read_without_pydantic(project: Project) -> None:
    project_catalog(project)
    code = (
        "import sys; from pathlib import Path; from harness.project import Project\n"
        "from harness.jobs.rows import project_catalog\n"
        f"root = Path({str(project.root)!r})\n"
        "catalog = project_catalog(Project(root, kpi_files=(root / 'a.toml', root / 'b.toml')))\n"
        "print('mine' in catalog, 'pydantic' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.split() == ["True", "False"]


def test_a_changed_file_is_validated_again(project: Project) -> None:
    project_catalog(project)
    file = project.root / "a.toml"
    file.write_text(ROW.replace("How long?", "How very long?"))
    assert project_catalog(project).get("mine").question == "How very long?"
    file.write_text(ROW.replace('unit = "ns"', 'unit = "furlongs"'))
    with pytest.raises(CatalogError, match="furlongs"):
        project_catalog(project)


@pytest.mark.parametrize("spoil", [b"", b"{", b"[]", b'{"key": 3}', b"\xff"])
def test_a_damaged_memory_is_passed_over(project: Project, spoil: bytes) -> None:
    fresh = project_catalog(project)
    (project.root / ".harness" / "rows.json").write_bytes(spoil)
    assert project_catalog(project).kpis == fresh.kpis


def test_rows_that_no_longer_fit_are_passed_over(project: Project) -> None:
    fresh = project_catalog(project)
    memory = project.root / ".harness" / "rows.json"
    known = json.loads(memory.read_bytes())
    known["rows"][0]["unit"] = "furlongs"
    memory.write_text(json.dumps(known))
    assert project_catalog(project).kpis == fresh.kpis


def test_looking_leaves_no_trace_in_a_project_that_never_measured(project: Project) -> None:
    (project.root / ".harness" / "rows.json").unlink(missing_ok=True)
    (project.root / ".harness").rmdir()
    assert "mine" in project_catalog(project)
    assert not (project.root / ".harness").exists()


def test_a_memory_that_is_a_pipe_is_neither_waited_for_nor_written_to(project: Project) -> None:
    fresh = project_catalog(project)
    memory = project.root / ".harness" / "rows.json"
    memory.unlink()
    os.mkfifo(memory)
    reader = os.open(memory, os.O_RDONLY | os.O_NONBLOCK)  # with a reader there, a writer would go through
    try:
        assert project_catalog(project).kpis == fresh.kpis
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)
    assert project_catalog(project).kpis == fresh.kpis
    assert memory.is_fifo()


def test_a_memory_that_is_nested_too_deeply_is_passed_over(project: Project) -> None:
    fresh = project_catalog(project)
    (project.root / ".harness" / "rows.json").write_bytes(b"[" * 200_000)
    assert project_catalog(project).kpis == fresh.kpis


def test_rows_in_a_pipe_are_refused_and_not_waited_for(project: Project) -> None:
    file = project.kpi_files[0]
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(CatalogError, match="cannot be read: it is no regular file"):
        project_catalog(project)
