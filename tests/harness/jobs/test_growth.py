"""A user's probe that names ``history``: planted linear and quadratic work, measured for real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.cli.own import REPO, SEAM, row

PROBES = """
from itertools import repeat

from harness import probe
from harness.measure.clock import Tally

def work(steps):
    for _ in repeat(None, steps):  # each step costs alike; a sum would begin cheap, with the integers that are kept
        pass

def grown(steps):
    def call():
        return work(steps)
    call.work = {"steps": steps}
    return call

@probe
def Linear(history):
    return grown(200 * int(history))

@probe
def Quadratic(history):
    return grown(10 * int(history) ** 2)

@probe
def Kept(history):
    return Tally(7 * int(history) ** 2)

@probe
def Nothing(history):
    return Tally(int(history) - 10)

@probe
def Broken(history):
    if history == "40":
        raise RuntimeError("no such history")
    return grown(200 * int(history))
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    names = {"linear_ns": "Linear", "quadratic_ns": "Quadratic", "broken_ns": "Broken"}
    lengths = 'params = {history = ["10", "20", "40"]}\n\n'
    rows = "".join(row(name, f"bench:{probe}").rstrip() + "\n" + lengths for name, probe in names.items())
    for name, made in (("kept_bytes", "Kept"), ("nothing_bytes", "Nothing")):
        counted = row(name, f"bench:{made}", estimand="count", unit="bytes")
        rows += counted.rstrip() + "\n" + lengths
    (tmp_path / "kpis.toml").write_text(SEAM + rows)
    (tmp_path / "bench.py").write_text(PROBES)
    (tmp_path / "pyproject.toml").write_text('[tool.harness]\nkpis = ["kpis.toml"]\n')
    return tmp_path


def run(project: Path, *words: str) -> tuple[int, dict[tuple[str, str], dict]]:
    command = [sys.executable, "-m", "harness", "run", *words, "--json", "-"]
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    done = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    readings = json.loads(done.stdout)["readings"]
    return done.returncode, {(each["kpi"], each["params"].get("history", "")): each for each in readings}


def test_planted_growth_is_told_from_the_clock_with_its_work_beside_it(project: Path) -> None:
    """What a clock says is no more held than that the two differ; the judge's own tests hold the interval."""
    code, readings = run(project, "--kpi", "linear_ns_growth", "--kpi", "quadratic_ns_growth")
    assert code == 0
    assert set(readings) == {("linear_ns_growth", ""), ("quadratic_ns_growth", "")}, "its points are only inputs"
    for name, power in (("linear_ns", 1.0), ("quadratic_ns", 2.0)):
        found = readings[f"{name}_growth", ""]
        assert found["gate"] == "report"
        assert found["unit"] == "ratio"
        assert any(line.startswith("steps (exact): ") for line in found["evidence"]), found["evidence"]
        assert f"slope {power:.2f}" in "".join(found["evidence"])
        low, high = found["distribution"]["ci95"]
        assert low <= found["value"] <= high
    assert readings["linear_ns_growth", ""]["value"] < 1.5 < readings["quadratic_ns_growth", ""]["value"]


def test_a_length_without_a_number_leaves_the_slope_undefined(project: Path) -> None:
    code, readings = run(project, "--kpi", "broken_ns", "--kpi", "broken_ns_growth", "--quick")
    assert code == 3
    assert readings["broken_ns", "20"]["value"] is not None
    found = readings["broken_ns_growth", ""]
    assert found["value"] is None
    assert found["undefined"]["reason"] == "input-undefined"
    assert "broken_ns" in found["undefined"]["detail"]
    assert found["undefined"]["detail"].endswith("at each history of 10, 20, 40, and there is a number at: 10, 20.")


def test_a_count_is_fitted_exactly_and_without_a_clock(project: Path) -> None:
    code, readings = run(project, "--kpi", "kept_bytes_growth")
    assert code == 0
    (found,) = readings.values()
    assert (found["value"], found["basis"], found["distribution"], found["gate"]) == (2.0, "count", None, "report")
    assert found["evidence"] == ["history 10: 700 bytes", "history 20: 2800 bytes", "history 40: 11200 bytes"]


def test_a_count_of_nothing_has_no_slope(project: Path) -> None:
    code, readings = run(project, "--kpi", "nothing_bytes_growth")
    assert code == 3
    (found,) = readings.values()
    assert found["undefined"]["reason"] == "input-undefined"
    assert found["undefined"]["detail"].endswith("and nothing_bytes is so at: 10.")
