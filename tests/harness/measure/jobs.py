"""The job of a hostile probe, as the parent would write it, and the worker that is launched on it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.measure.answer import Answer
from harness.measure.launch import launch

HOSTILE = "tests.cases.probes.hostile"


def hostile_job(probe: str, repo: Path, **more: Any) -> dict[str, Any]:
    """What a worker is told of ``probe`` of the hostile module; ``more`` adds to it or takes its place."""
    return {
        "kpi": "x",
        "estimand": "call-mean",
        "timed": True,
        "params": {},
        "probe": f"{HOSTILE}:{probe}",
        "runtime": "seams.runtimes.reference:make",
        "runtime_name": "reference",
        "seam": "turn/view",
        "frozen_sync": False,
        "workload": None,
        "workload_name": None,
        "path": [str(repo)],
        "roots": [str(repo)],
        "under_test": [],
        **more,
    }


def ask(probe: str, repo: Path, tmp_path: Path, *, limit: float = 30, seed: int = 1, **more: Any) -> Answer:
    job = hostile_job(probe, repo, **{"task": "discover", "min_time": 0.005, "limit": limit, **more})
    return launch(job, seed=seed, limit=limit, folder=tmp_path, cwd=repo)
