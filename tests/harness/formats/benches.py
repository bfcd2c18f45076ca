"""What the tests of other benchmark tools' files share: documents and benches with a known number of processes."""

from __future__ import annotations

import json
import random
from io import BytesIO
from pathlib import Path
from typing import Any

from harness.formats.bench_detect import read
from harness.formats.limits import Limits
from kpis.terms.bench import Bench, BenchFile, BenchUnit, MachineField, Process
from kpis.terms.kpi import Direction

CASES = Path(__file__).resolve().parent.parent.parent / "cases" / "bench"

MACHINE = {
    MachineField.CPU_MODEL: "Model A",
    MachineField.CPU_COUNT: "2",
    MachineField.PYTHON_VERSION: "3.11.7 (64-bit)",
    MachineField.PYTHON_IMPLEMENTATION: "cpython",
    MachineField.PLATFORM: "Linux-6.1-x86_64",
    MachineField.HOSTNAME: "box",
}
COMMON: dict[str, Any] = {
    "cpu_model_name": "Model A",
    "cpu_count": 2,
    "python_version": "3.11.7 (64-bit)",
    "python_implementation": "cpython",
    "platform": "Linux-6.1-x86_64",
    "hostname": "box",
    "perf_version": "2.11.0",
}


def load(document: object, limits: Limits | None = None) -> BenchFile:
    """The terms of ``document``, which is JSON text, bytes, or a value to be written as JSON."""
    if isinstance(document, str):
        document = document.encode()
    data = document if isinstance(document, bytes) else json.dumps(document).encode()
    return read(BytesIO(data), limits or Limits(), "file.json")


def case(name: str) -> BenchFile:
    """The terms of an authored case."""
    return load((CASES / f"{name}.json").read_bytes())


def noise(n: int, *, seed: int, centre: float = 0.01, spread: float = 0.01) -> list[float]:
    """``n`` process medians around ``centre``, log-normal."""
    rng = random.Random(seed)
    return [centre * rng.lognormvariate(0.0, spread) for _ in range(n)]


def bench(
    medians: list[float],
    *,
    name: str = "parse",
    unit: BenchUnit = BenchUnit.SECOND,
    direction: Direction | None = None,
    machine: dict[MachineField, str] | None = None,
    **more: Any,
) -> Bench:
    """A bench with one process for each of ``medians``, three values each."""
    return Bench(
        name=name,
        fullname=name,
        unit=unit,
        processes=tuple(Process((value, value, value)) for value in medians),
        machine=MACHINE if machine is None else machine,
        direction=direction or unit.direction,
        **more,
    )


def pyperf(benches: dict[str, list[float]], **metadata: Any) -> dict[str, Any]:
    """A pyperf document: for each name one run a value."""
    return {
        "version": "1.0",
        "metadata": {**COMMON, **metadata},
        "benchmarks": [
            {"metadata": {"name": name}, "runs": [{"values": [value]} for value in values]}
            for name, values in benches.items()
        ],
    }


def pytest_benchmark(benches: dict[str, list[float]], params: object = None) -> dict[str, Any]:
    """A pytest-benchmark document: for each full name its rounds."""
    return {
        "machine_info": {"node": "box", "system": "Linux", "python_version": "3.11.7", "cpu": {"count": 2}},
        "benchmarks": [
            {
                "name": name.split("::")[-1],
                "fullname": name,
                "params": params,
                "stats": {"data": values, "iterations": 1, "rounds": len(values)},
            }
            for name, values in benches.items()
        ],
        "version": "5.3.1",
    }
