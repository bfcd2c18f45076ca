"""The example project: installed, it measures itself, and says what it does not offer."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

IGNORED = shutil.ignore_patterns(".harness", "__pycache__", "*.egg-info", ".venv")


def test_the_example_installs_and_measures_its_own_asyncio_turn(repo: Path, tmp_path: Path) -> None:
    project = tmp_path / "own_runtime"
    shutil.copytree(repo / "examples" / "own_runtime", project, ignore=IGNORED)
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "--target", str(site), str(project)], check=True, capture_output=True)
    assert (site / "turnloop" / "turn.py").is_file()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(repo), str(site)])}
    command = [sys.executable, "-m", "harness", "run", "--layer", "turn", "--quick", "--json", "-"]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    run = json.loads(done.stdout)
    found = {(item["kpi"], *item["params"].values()): item for item in run["readings"]}
    own = found["own_turn_ns", "4"]
    assert own["value"] > 0
    assert found["own_turn_ns", "1"]["value"] > 0
    assert (own["basis"], own["source"], own["isolation"]) == ("clock", "live", "mock")
    assert found["own_assemble_ns",]["distribution"]["n"] == 3
    assert found["own_model_calls",]["value"] == 3
    assert found["own_model_calls",]["evidence"] == ["three turns on turnloop 1.0.0"]
    spawned = found["turn_spawn_ns", "all"]
    assert spawned["value"] > 0
    assert spawned["runtime"] == "turnloop.adapter:make"
    assert found["turn_spawn_ns", "plan"]["undefined"]["reason"] == "not-offered"
    assert found["planner_optimize_ns", "1000", "greedy"]["undefined"]["reason"] == "not-offered"
    touched = run["source"]["touched"]
    assert "src/turnloop/turn.py" in touched, "the tree is measured, not the installed copy"
