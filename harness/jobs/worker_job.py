"""What every worker is told of a point, and where it finds the workloads. A run and a gate tell it alike.

They differ in the tree that comes first on the path and in what is asked; both add that themselves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.jobs.modes import MIN_TIME_S
from harness.jobs.plan import PlannedPoint

__all__ = ["job_of", "lay_out"]


def job_of(
    point: PlannedPoint,
    *,
    path: Sequence[str],
    instrument: str,
    under_test: Iterable[str],
    workloads: Mapping[str, str],
) -> dict[str, Any]:
    """What of a job does not depend on its task; the folders of ``path`` come first on the worker's path."""
    name = point.workload.workload.name if point.workload else None
    return {
        "kpi": point.kpi.id,
        "estimand": point.kpi.estimand.value,
        "timed": point.kpi.timed,
        "params": point.params,
        "probe": point.probe,
        "runtime": point.runtime[1],
        "runtime_name": point.runtime[0],
        "seam": point.kpi.seam,
        "workload": None if name is None else workloads[name],
        "workload_name": name,
        "path": list(path),
        "roots": [*path, instrument],
        "under_test": list(under_test),
        "min_time": MIN_TIME_S,
    }


def lay_out(points: Iterable[PlannedPoint], folder: Path) -> dict[str, str]:
    """Write each workload of ``points`` once into ``folder``, decoded; returns its file by its name.

    Raises:
        OSError: the folder cannot hold it.
    """
    files: dict[str, str] = {}
    for point in points:
        if point.workload is None or point.workload.workload.name in files:
            continue
        load = point.workload.workload
        file = folder / f"workload-{len(files)}.json"
        document = {"name": load.name, "kind": load.kind, "sha256": load.sha256, "source": load.source}
        file.write_text(json.dumps({**document, "data": load.data}), encoding="utf-8")
        files[load.name] = str(file)
    return files
