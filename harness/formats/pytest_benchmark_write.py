"""Benches as pytest-benchmark's file, that its `compare` shows: no value is lost, but the processes are.

The format knows one process and seconds. Refuses to write anything else, and says what it leaves out.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from harness.formats.bench_json import encode
from harness.formats.limits import FormatError, printable
from harness.formats.pytest_benchmark_json import DIGEST, SUMMARY
from kpis.terms.bench import Bench, BenchFile, BenchTool, BenchUnit, MachineField

__all__ = ["loses", "write"]


def loses(file: BenchFile) -> tuple[str, ...]:
    """What pytest-benchmark's format cannot hold of ``file``, in sentences."""
    lost = []
    if any(len(bench.processes) > 1 for bench in file.benches):
        lost.append("Which process a value came from is lost: pytest-benchmark knows one process, so n is 1 from now.")
    if any(bench.calibrations or any(each.warmups for each in bench.processes) for bench in file.benches):
        lost.append("Warm-ups and calibration runs are left out.")
    lost += [
        f"{printable(bench.fullname)} is left out: it is in {bench.unit.value}, and the format knows seconds only."
        for bench in file.benches
        if bench.unit is not BenchUnit.SECOND
    ]
    lost += [
        f"{printable(bench.fullname)} is left out: it has neither values nor a summary."
        for bench in file.benches
        if bench.unit is BenchUnit.SECOND and not bench.processes and not _complete(bench.reported)
    ]
    return tuple(lost)


def write(file: BenchFile) -> bytes:
    """``file`` as pytest-benchmark writes it with ``--benchmark-json``; :func:`loses` says what is left out.

    Raises:
        FormatError: nothing is left to write, or a value or the mean of all is not finite.
    """
    written = [
        _written(file, bench)
        for bench in file.benches
        if bench.unit is BenchUnit.SECOND and (bench.processes or _complete(bench.reported))
    ]
    if file.benches and not written:
        raise FormatError("There is no time in seconds to write as pytest-benchmark; keep the file as it is.")
    info = dict(file.machine) if file.tool is BenchTool.PYTEST_BENCHMARK else _machine_info(file.benches)
    return encode(
        {
            "machine_info": info,
            "commit_info": {},
            "benchmarks": written,
            "datetime": file.created,
            "version": file.tool_version if file.tool is BenchTool.PYTEST_BENCHMARK else None,
        }
    )


def _machine_info(benches: Sequence[Bench]) -> dict[str, Any]:
    told = benches[0].machine if benches else {}
    return {
        "node": told.get(MachineField.HOSTNAME),
        "system": told.get(MachineField.PLATFORM),
        "python_version": told.get(MachineField.PYTHON_VERSION),
        "python_implementation": told.get(MachineField.PYTHON_IMPLEMENTATION),
        "cpu": {"brand_raw": told.get(MachineField.CPU_MODEL), "count": told.get(MachineField.CPU_COUNT)},
    }


def _complete(reported: Mapping[str, object]) -> bool:
    return all(key in reported for key in SUMMARY)


def _written(file: BenchFile, bench: Bench) -> dict[str, Any]:
    values = [value for process in bench.processes for value in process.values]
    stats: dict[str, Any] = dict(bench.reported)
    if values:
        # The values of several processes no longer fit the summary of one; without values it is all there is.
        if not _complete(stats):
            try:
                stats = summary_of(values)
            except OverflowError:
                raise FormatError(
                    f"{printable(bench.fullname)} holds values too large for a mean; keep the file as it is."
                ) from None
            stats["iterations"] = bench.processes[0].loops
        stats["data"] = values
    own = (
        {} if file.tool is BenchTool.PYTEST_BENCHMARK else {"tool": file.tool.value, "tool_version": file.tool_version}
    )
    return {
        "group": None,
        "name": bench.name,
        "fullname": bench.fullname,
        "params": None if bench.params_digest is None else {DIGEST: bench.params_digest},
        "param": None,
        "extra_info": own,
        "options": {},
        "stats": stats,
    }


def summary_of(values: list[float]) -> dict[str, Any]:
    """The fields that the tool shows. Its quartiles are those of the halves around the median."""
    ordered = sorted(values)
    n, total = len(values), sum(values)
    middle = statistics.median(ordered)
    low = statistics.median(ordered[: n // 2]) if n > 1 else middle
    high = statistics.median(ordered[-(n // 2) :]) if n > 1 else middle
    spread = high - low
    # A whole number beyond 2^53 may lie outside of fences that are rounded themselves.
    inside = [value for value in ordered if low - 1.5 * spread <= value <= high + 1.5 * spread] or ordered
    mean, deviation = statistics.fmean(values), statistics.stdev(values) if n > 1 else 0.0
    beyond = n - len(inside)
    ops = n / total if total else 0.0  # the tool too writes 0 for it
    far = sum(abs(value - mean) > deviation for value in values)
    return {
        "min": ordered[0],
        "max": ordered[-1],
        "mean": mean,
        "stddev": deviation,
        "rounds": n,
        "median": middle,
        "iqr": spread,
        "q1": low,
        "q3": high,
        "iqr_outliers": beyond,
        "stddev_outliers": far,
        "outliers": f"{far};{beyond}",
        "ld15iqr": inside[0],
        "hd15iqr": inside[-1],
        "ops": ops if math.isfinite(ops) else 0,
        "total": total,
    }
