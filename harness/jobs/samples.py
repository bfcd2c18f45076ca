"""The raw samples of a run, beside the run file: ordinary pyperf JSON, and the stamped calls that it cannot hold.

One file a point, written whole: ``<id>.samples/<kpi>,<param>=<value>@<runtime>@<workload>.json`` is what
``python -m pyperf stats`` reads; ``….stamps.json`` is the histogram of single calls, ``….rounds.json`` the parts of a
ratio's arms, round by round. No two points share a file.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from pathlib import Path

from harness.jobs.measure_point import Outcome
from harness.jobs.plan import PlannedPoint
from harness.record.store import write_atomic

__all__ = ["file_stem", "save_samples"]

_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
"""Besides what file systems mind, what the name itself is put together with."""

_LONGEST = 180


def file_stem(point: PlannedPoint) -> str:
    """A file name for the point: readable, safe whatever a parameter holds, and no other point's.

    Where a part had to be altered the digest of the point's key is appended, behind a ``~`` that no part can hold.
    """
    workload = point.workload.workload.name if point.workload else "-"
    named = [item for pair in point.params.items() for item in pair]
    parts = [point.kpi.id, *named, point.runtime[0], workload]
    kpi, *clean, runtime, recorded = (_UNSAFE.sub("_", part) for part in parts)
    params = "".join(f",{key}={value}" for key, value in zip(clean[::2], clean[1::2], strict=True))
    name = f"{kpi}{params}@{runtime}@{recorded}"
    # A workload may be called "-" or "x.stamps", and would then meet "none" or the stamps of "x".
    doubtful = recorded.endswith(".stamps") or (point.workload is not None and workload == "-")
    if doubtful or [kpi, *clean, runtime, recorded] != parts or len(name) > _LONGEST:
        name = f"{name[:_LONGEST]}~{hashlib.sha256(point.key.encode()).hexdigest()[:12]}"
    return name


def save_samples(folder: Path, point: PlannedPoint, outcome: Outcome) -> None:
    """Write what the processes of ``point`` measured.

    Raises:
        StoreError: a file cannot be written.
    """
    if outcome.ratios:
        folder.mkdir(parents=True, exist_ok=True)
        parts = [ratio["rounds"] for ratio in outcome.ratios]
        named = {"schema": "harness.rounds/1", "kpi": point.kpi.id, "params": point.params, "unit": "ns"}
        rounds = json.dumps({**named, "processes": parts}, sort_keys=True, separators=(",", ":")) + "\n"
        write_atomic(folder / f"{file_stem(point)}.rounds.json", rounds.encode())
    if not outcome.processes:
        return
    # Here, because pyperf takes as long to import as a small run takes to plan.
    import pyperf

    runs = []
    for process in outcome.processes:
        raw = process["pyperf"]
        metadata = {**raw["metadata"], "name": point.kpi.id, "unit": "second"}
        warmups = [(loops, value) for loops, value in raw["warmups"]]
        runs.append(pyperf.Run(raw["values"], warmups=warmups, metadata=metadata, collect_metadata=False))
    suite = pyperf.BenchmarkSuite([pyperf.Benchmark(runs)])
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / f"{file_stem(point)}.json"
    # pyperf writes its own format, and not atomically: it gets a name of its own, and the bytes are then moved.
    scratch = target.with_suffix(".part")
    try:
        suite.dump(str(scratch), replace=True)
        write_atomic(target, scratch.read_bytes())
    finally:
        scratch.unlink(missing_ok=True)
    calls: Counter[int] = Counter()
    for process in outcome.processes:
        calls.update({int(edge): n for edge, n in process.get("calls", {}).items()})
    if calls:
        document = {
            "schema": "harness.stamps/1",
            "kpi": point.kpi.id,
            "params": point.params,
            "unit": "ns",
            "n": calls.total(),
            "stamp_ns": [process["stamp_ns"] for process in outcome.processes],
            "buckets": [[edge, calls[edge]] for edge in sorted(calls)],
        }
        blob = json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
        write_atomic(folder / f"{file_stem(point)}.stamps.json", blob.encode())
