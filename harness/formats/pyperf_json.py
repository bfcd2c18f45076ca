"""pyperf's files, version 1.0: three levels of metadata merged on reading.

One process is one run with values; runs that only calibrated are kept apart. A file stores what several runs have in
common once, so that nothing can be read from a run alone. Refuses the formats before pyperf 1.0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.formats import bench_json
from harness.formats.bench_json import Node
from harness.formats.limits import FormatError, Limits, printable
from harness.formats.pyperf_in_process import in_one_process
from harness.formats.pyperf_metadata import MACHINE, PARAMS, SHORT, TOOL, TOOL_VERSION, agreeing, metadata_of, shared
from kpis.terms.bench import Bench, BenchFile, BenchNote, BenchTool, BenchUnit, Metadata, Process
from kpis.terms.kpi import Direction

__all__ = ["VERSION", "heaviest", "read_document"]

VERSION = "1.0"
_NAME = re.compile(rb'"name"\s*:\s*"((?:[^"\\]|\\.){1,400})"')


def _process(run: Node, outer: Mapping[str, Any]) -> Process:
    values, warmups = run.get("values"), run.get("warmups")
    metadata = {**outer, **metadata_of(run.get("metadata"))}
    read = Process(
        values=values.amounts(zero=False) if values else (),
        warmups=tuple(_warmup(each) for each in warmups.items()) if warmups else (),
        loops=Node(metadata.get("loops", 1), f"{run.path}.metadata.loops", run.where).whole(1),
        metadata=metadata,
    )
    if not read.values and not read.warmups:
        raise FormatError(
            f"{printable(run.where)} cannot be read: {run.path} has neither values nor warmups; measure it again."
        )
    return read


def _warmup(node: Node) -> tuple[int, float]:
    pair = list(node.items())
    if len(pair) != 2:
        raise node.refuse("a pair of loops and value")
    return pair[0].whole(1), pair[1].amount(zero=True)


def _unit(node: Node, metadata: Metadata) -> BenchUnit:
    named = metadata.get("unit", BenchUnit.SECOND.value)
    try:
        return BenchUnit(named)
    except ValueError:
        raise Node(named, f"{node.path}.metadata.unit", node.where).refuse("second, byte or integer") from None


def _direction(node: Node, metadata: Metadata, unit: BenchUnit) -> Direction:
    named = metadata.get("direction")
    try:
        return unit.direction if named is None else Direction(named)
    except ValueError:
        raise Node(named, f"{node.path}.metadata.direction", node.where).refuse("lower, higher or neutral") from None


def _bench(node: Node, outer: Mapping[str, Any]) -> Bench:
    metadata = {**outer, **metadata_of(node.get("metadata"))}
    runs = [_process(run, metadata) for run in node.need("runs").items()]
    if not runs:
        raise node.need("runs").refuse("a list of at least one run")
    common = agreeing(node, runs)
    name = common.get("name")
    if not isinstance(name, str) or not name:
        raise Node(name, f"{node.path}.metadata.name", node.where).refuse("a name")
    processes = tuple(run for run in runs if run.values)
    unit = _unit(node, common)
    params = common.get(PARAMS)
    return Bench(
        name=str(common.get(SHORT, name)),
        fullname=name,
        unit=unit,
        processes=processes,
        calibrations=tuple(run for run in runs if not run.values),
        machine={each: str(common[key]) for each, key in MACHINE.items() if key in common},
        params_digest=params if isinstance(params, str) else None,
        direction=_direction(node, common, unit),
        notes=() if processes else (BenchNote.NO_SAMPLES,),
    )


def read_document(document: Node) -> BenchFile:
    """The terms of a decoded file.

    Raises:
        FormatError: another version, a missing or impossible value (the path says where), or a name that comes twice.
    """
    version = document.need("version")
    if version.value != VERSION:
        raise FormatError(
            f"{printable(document.where)} is a pyperf file of version {printable(repr(version.value), 20)}, and "
            f"{VERSION} is read; rewrite it with `python -m pyperf convert OLD.json -o NEW.json`."
        )
    outer = metadata_of(document.get("metadata"))
    benches = tuple(_bench(node, outer) for node in document.need("benchmarks").items())
    if not benches:
        raise document.need("benchmarks").refuse("a list of at least one benchmark")
    seen: set[str] = set()
    for bench in benches:
        if bench.fullname in seen:
            raise FormatError(
                f"{printable(document.where)} holds two benchmarks called {printable(bench.fullname)}; "
                "merge their runs with `python -m pyperf convert --add`."
            )
        seen.add(bench.fullname)
    if in_one_process(run for bench in benches for run in (*bench.calibrations, *bench.processes)):
        benches = tuple(replace(bench, notes=(*bench.notes, BenchNote.SHARED_PROCESS)) for bench in benches)
    every = [run.metadata for bench in benches for run in (*bench.calibrations, *bench.processes)]
    dates = sorted(date for each in every if isinstance(date := each.get("date"), str))
    common = shared(every)
    try:
        tool = BenchTool(common.get(TOOL, BenchTool.PYPERF.value))
    except ValueError:
        tool = BenchTool.PYPERF
    version_key = "perf_version" if tool is BenchTool.PYPERF else TOOL_VERSION
    tool_version = common.get(version_key)
    return BenchFile(
        tool=tool,
        tool_version=tool_version if isinstance(tool_version, str) else None,
        created=dates[0] if dates else None,
        machine=common,
        benches=benches,
    )


def heaviest(head: bytes, limits: Limits) -> FormatError | None:
    """Which bench makes a file too large to be read, by its ``head``; None if no bench is named there.

    The tool writes the runs of a bench, each with its own metadata, between the name of the bench and that of the next.
    """
    shown = bench_json.heaviest(head, _NAME)
    if shown is None:
        return None
    return FormatError(
        f"The file is larger than {limits.max_bytes:,} bytes and was not read; most of it belongs to {shown}: measure "
        "it with fewer values and without long metadata, in a file of its own with `python -m pyperf convert`."
    )
