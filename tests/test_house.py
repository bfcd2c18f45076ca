"""The house rules that a machine can check: types, lint, the import law, what a worker may import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kpis.registry import load


def _run(repo: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=repo, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_types_are_strict(repo: Path) -> None:
    assert "Success" in _run(repo, sys.executable, "-m", "mypy")


def test_the_linter_is_clean(repo: Path) -> None:
    _run(repo, sys.executable, "-m", "ruff", "check", ".")
    _run(repo, sys.executable, "-m", "ruff", "format", "--check", ".")


def test_the_import_law(repo: Path) -> None:
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    assert "0 broken" in _run(repo, sys.executable, "-c", script)


@pytest.mark.parametrize(
    ("module", "forbidden"),
    [
        (
            "harness.measure.worker",
            {"pydantic", "rich", "scipy", "numpy", "pyperf", "psutil", "msgspec", "kpis", "asyncio"},
        ),
        ("kpis.terms.reading", {"pydantic", "rich", "scipy", "numpy", "pyperf", "psutil", "msgspec", "harness"}),
        ("harness.judge.bounds", {"pydantic", "rich", "pyperf", "psutil", "msgspec"}),
        ("harness.measure.session", {"pydantic", "rich", "scipy", "numpy", "msgspec"}),
    ],
)
def test_what_a_module_must_not_pull_in(module: str, forbidden: set[str], repo: Path) -> None:
    script = f"import {module}, sys, json; print(json.dumps(sorted(name.partition('.')[0] for name in sys.modules)))"
    loaded = set(json.loads(_run(repo, sys.executable, "-c", script)))
    assert not loaded & forbidden


@pytest.mark.parametrize("kpi", ["planner_optimize_ns", "tool_call_p50_ns", "turn_spawn_ns", "reap_latency_kernel"])
def test_a_probe_keeps_the_worker_light(kpi: str, repo: Path) -> None:
    module = "harness.probes." + load().get(kpi).seam.replace("/", ".")
    script = f"import {module}, sys, json; print(json.dumps(sorted(name.partition('.')[0] for name in sys.modules)))"
    loaded = set(json.loads(_run(repo, sys.executable, "-c", script)))
    assert not loaded & {"pydantic", "rich", "scipy", "numpy", "pyperf", "psutil", "msgspec"}


def test_every_package_is_typed_and_says_what_it_is_for(repo: Path) -> None:
    for wing in ("kpis", "seams", "harness"):
        assert (repo / wing / "py.typed").is_file()
        for module in (repo / wing).rglob("*.py"):
            assert module.read_text(encoding="utf-8").lstrip().removeprefix("r").startswith('"""'), module


def test_a_folder_called_harness_does_not_come_in_the_place_of_ours(repo: Path, tmp_path: Path) -> None:
    """The console script keeps the current folder off the path."""
    for name in ("harness", "kpis", "seams"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong package was imported')\n")
    script = tmp_path / "loopladder"
    script.write_text(f"import sys\nsys.path[0] = {str(repo)!r}\nfrom harness.cli.main import main\nsys.exit(main())\n")
    command = [sys.executable, str(script), "run", "--kpi", "denies", "--quick", "--json", "-"]
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["readings"][0]["value"] is not None
