"""Benches as pyperf's file, version 1.0, that pyperf's own commands accept: no value and no warm-up is lost.

What another tool measured keeps its mark, so that it is never taken for a measurement of pyperf's. Refuses to write
what pyperf would not read: a value of zero, a name of two lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.formats.bench_json import encode
from harness.formats.limits import FormatError, printable
from harness.formats.pyperf_json import VERSION
from harness.formats.pyperf_metadata import MACHINE, PARAMS, SHORT, TOOL, TOOL_VERSION, shared
from kpis.terms.bench import Bench, BenchFile, BenchTool, Process

__all__ = ["loses", "write"]


def loses(file: BenchFile) -> tuple[str, ...]:
    """What pyperf's format cannot hold of ``file``, in sentences."""
    lost = [
        f"{printable(bench.fullname)} has no values, and pyperf holds values only."
        for bench in file.benches
        if not bench.processes and not bench.calibrations
    ]
    if any(bench.reported for bench in file.benches):
        lost.append("The tool's own summary (mean, deviation, quartiles) is left out: pyperf computes its own.")
    return tuple(lost)


def write(file: BenchFile) -> bytes:
    """``file`` as pyperf writes it; benches without any value are left out, as :func:`loses` says.

    Raises:
        FormatError: nothing is left, a value is zero (pyperf takes positive ones only), or a name is not one line.
    """
    benches = [(bench, _run_metadata(file, bench)) for bench in file.benches if bench.processes or bench.calibrations]
    if not benches:
        raise FormatError("There is no value to write as pyperf; measure with `--benchmark-json`, which keeps them.")
    top = shared([each for _, runs in benches for each in runs])
    written = []
    for bench, runs in benches:
        middle = shared(runs)
        entries = [
            _entry(bench, process, metadata, middle)
            for process, metadata in zip((*bench.calibrations, *bench.processes), runs, strict=True)
        ]
        written.append({"metadata": {key: value for key, value in middle.items() if key not in top}, "runs": entries})
    return encode({"version": VERSION, "metadata": top, "benchmarks": written})


def _run_metadata(file: BenchFile, bench: Bench) -> list[dict[str, Any]]:
    own = {"name": bench.fullname, "unit": bench.unit.value}
    if not bench.fullname.strip() or "\n" in bench.fullname or "\r" in bench.fullname:
        raise FormatError(f"{printable(repr(bench.fullname))} is no name for pyperf: give the benchmark one of a line.")
    if bench.direction is not bench.unit.direction:
        own["direction"] = bench.direction.value
    if file.tool is not BenchTool.PYPERF:
        own |= {TOOL: file.tool.value} | ({TOOL_VERSION: file.tool_version} if file.tool_version else {})
        own |= {MACHINE[each]: value for each, value in bench.machine.items()}
    if bench.name != bench.fullname:
        own[SHORT] = bench.name
    if bench.params_digest is not None:
        own[PARAMS] = bench.params_digest
    runs = []
    for process in (*bench.calibrations, *bench.processes):
        metadata: dict[str, Any] = {**process.metadata, **own}
        if process.loops != 1 or "loops" in metadata:
            metadata["loops"] = process.loops
        if file.created and "date" not in metadata and file.tool is not BenchTool.PYPERF:
            # pyperf counts the length of a run from a date without zone.
            metadata["date"] = file.created.split("+")[0].rstrip("Z")
        runs.append({key: value for key, value in metadata.items() if _holds(value)})
    return runs


def _holds(value: object) -> bool:
    """Whether pyperf takes this as metadata: it refuses empty texts and line breaks."""
    return not isinstance(value, str) or bool(value.strip() and "\n" not in value and "\r" not in value)


def _entry(bench: Bench, process: Process, metadata: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    if any(value <= 0 for value in process.values):
        raise FormatError(
            f"{printable(bench.fullname)} holds a value of zero, which pyperf refuses; measure more loops a value."
        )
    entry: dict[str, Any] = {}
    if process.values:
        entry["values"] = process.values
    if process.warmups:
        entry["warmups"] = process.warmups
    own = {key: value for key, value in metadata.items() if key not in above}
    return entry | ({"metadata": own} if own else {})
