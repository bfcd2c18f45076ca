"""The job of a hostile probe, as the parent would write it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
