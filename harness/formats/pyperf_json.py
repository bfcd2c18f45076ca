"""pyperf's files, version 1.0: three levels of metadata merged on reading.

One process is one run with values; runs that only calibrated are kept apart. A file stores what several runs have in
common once, so that nothing can be read from a run alone. Runs made in one process (``--in-process``) leave no mark
but one: they follow each other faster than an interpreter starts. Refuses the formats before pyperf 1.0.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from harness.formats import bench_json
from harness.formats.bench_json import Node
from harness.formats.limits import FormatError, Limits, printable
from kpis.terms.bench import Bench, BenchFile, BenchNote, BenchTool, BenchUnit, MachineField, Metadata, Process
from kpis.terms.kpi import Direction

__all__ = [
    "MACHINE",
    "PARAMS",
    "RESERVED",
    "SHORT",
    "TOOL",
    "TOOL_VERSION",
    "VERSION",
    "heaviest",
    "read_document",
    "shared",
]

VERSION = "1.0"

MACHINE = {
    MachineField.CPU_MODEL: "cpu_model_name",
    MachineField.CPU_COUNT: "cpu_count",
    MachineField.PYTHON_VERSION: "python_version",
    MachineField.PYTHON_IMPLEMENTATION: "python_implementation",
    MachineField.PLATFORM: "platform",
    MachineField.HOSTNAME: "hostname",
}
# Runs that differ in one of these are not one sample; pyperf refuses to put them together too.
_COMMON = ("name", "unit", "inner_loops", "direction", "aslr", *MACHINE.values())
# Between two runs lies the start of an interpreter and the import of pyperf, 50 ms and more; in one process, 1 ms.
_NO_START_S = 0.010
_RUNS_TO_TELL = 3
# Where a file made by another tool keeps what pyperf has no place for.
TOOL, TOOL_VERSION, SHORT, PARAMS = "tool", "tool_version", "short_name", "params_sha256"
RESERVED = frozenset(
    {*_COMMON, "loops", "date", "mem_max_rss", "duration", "perf_version", TOOL, TOOL_VERSION, SHORT, PARAMS}
)
"""Metadata with a meaning of its own here; the rest is carried along."""
_NAME = re.compile(rb'"name"\s*:\s*"((?:[^"\\]|\\.){1,400})"')


def _metadata(node: Node | None) -> dict[str, Any]:
    if node is None:
        return {}
    if type(node.value) is not dict:
        raise node.refuse("an object")
    return {key: _fact(Node(value, f"{node.path}.{key}", node.where)) for key, value in node.value.items()}


def _fact(node: Node) -> str | int | float | tuple[str, ...]:
    value = node.value
    if isinstance(value, str | int | float):
        return value
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return tuple(value)
    raise node.refuse("a text, a number or a list of texts")


def _process(run: Node, outer: Mapping[str, Any]) -> Process:
    values, warmups = run.get("values"), run.get("warmups")
    metadata = {**outer, **_metadata(run.get("metadata"))}
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


def _agreeing(node: Node, runs: Sequence[Process]) -> Metadata:
    """The metadata of the first run, once all runs agree on what makes them one sample."""
    first = runs[0].metadata
    for index, run in enumerate(runs):
        for key in _COMMON:
            if run.metadata.get(key) != first.get(key):
                raise FormatError(
                    f"{printable(node.where)} cannot be read: {node.path}.runs[{index}] differs from runs[0] in {key}, "
                    "so that they are not one sample; keep such runs in files of their own with "
                    "`python -m pyperf convert`."
                )
    return first


def _one_process(runs: Iterable[Process]) -> bool:
    """Whether ``runs``, all those of a file in order, were made in one process: no time for a start between them."""
    spans = [span for run in runs if (span := _span(run.metadata)) is not None]
    if len(spans) < _RUNS_TO_TELL or spans[0] == spans[-1]:  # one stamp copied to all runs tells nothing of them
        return False
    # A run is dated somewhere in its span: counting half of each neighbour's leaves no bias, and the median no outlier.
    gaps = [(later - earlier).total_seconds() - (one + two) / 2 for (earlier, one), (later, two) in pairwise(spans)]
    return abs(statistics.median(gaps)) < _NO_START_S


def _span(metadata: Metadata) -> tuple[datetime, float] | None:
    """A time within a run and how many seconds it lasted, where pyperf says so."""
    date, lasted = metadata.get("date"), metadata.get("duration")
    if not isinstance(date, str) or not isinstance(lasted, float):
        return None
    try:
        return datetime.fromisoformat(date).replace(tzinfo=UTC), lasted
    except ValueError:
        return None


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
    metadata = {**outer, **_metadata(node.get("metadata"))}
    runs = [_process(run, metadata) for run in node.need("runs").items()]
    if not runs:
        raise node.need("runs").refuse("a list of at least one run")
    common = _agreeing(node, runs)
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
    outer = _metadata(document.get("metadata"))
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
    if _one_process(run for bench in benches for run in (*bench.calibrations, *bench.processes)):
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


def shared(every: Sequence[Metadata]) -> dict[str, Any]:
    """What all of ``every`` say alike. Type for type: 1 and 1.0 are equal, and hoisting one would lose the other."""
    if not every:
        return {}
    first = every[0]
    return {
        key: value
        for key, value in first.items()
        if all(type(each.get(key)) is type(value) and each.get(key) == value for each in every)
    }


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
