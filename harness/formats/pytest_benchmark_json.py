"""pytest-benchmark's files: one file is one process, whatever the number of rounds.

The rounds of a bench share one memory layout and one hash seed, so their deviation says nothing of what another run
would show. A file saved without its data holds summaries only: its benches then have no process at all. Benches that
raised are absent from the file, and so is any word of them. Parameters, which the tool writes whole, become a digest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

import msgspec

from harness.formats import bench_json
from harness.formats.bench_json import Node
from harness.formats.limits import FormatError, Limits, printable
from kpis.terms.bench import Bench, BenchFile, BenchNote, BenchTool, BenchUnit, MachineField, Process

__all__ = ["DIGEST", "SUMMARY", "heaviest", "read_document"]

SUMMARY = (
    *("min", "max", "mean", "stddev", "rounds", "median", "iqr", "q1", "q3", "iqr_outliers", "stddev_outliers"),
    *("outliers", "ld15iqr", "hd15iqr", "ops", "total", "iterations"),
)
DIGEST = "params_sha256"
# The representation of an object that JSON cannot hold carries its address, which no two runs share.
_ADDRESS = re.compile(rb" at 0x[0-9a-fA-F]+")
_FULLNAME = re.compile(rb'"fullname"\s*:\s*"((?:[^"\\]|\\.){1,400})"')


def _digest(params: Node | None) -> str | None:
    if params is None:
        return None
    if isinstance(params.value, dict) and isinstance(params.value.get(DIGEST), str) and len(params.value) == 1:
        return str(params.value[DIGEST])
    canonical = msgspec.json.encode(params.value, order="sorted")
    return hashlib.sha256(_ADDRESS.sub(b"", canonical)).hexdigest()


def _machine(info: Node | None) -> dict[MachineField, str]:
    if info is None:
        return {}
    found: dict[MachineField, object] = {}
    cpu = info.get("cpu")
    if cpu is not None and isinstance(cpu.value, dict):
        found[MachineField.CPU_MODEL] = cpu.value.get("brand_raw", cpu.value.get("brand"))
        found[MachineField.CPU_COUNT] = cpu.value.get("count")
    fields = {key: value for key, value in info.value.items() if isinstance(value, str)}
    found[MachineField.PYTHON_VERSION] = fields.get("python_version")
    found[MachineField.PYTHON_IMPLEMENTATION] = fields.get("python_implementation")
    found[MachineField.HOSTNAME] = fields.get("node")
    found[MachineField.PLATFORM] = "-".join(fields[key] for key in ("system", "release", "machine") if fields.get(key))
    return {key: str(value) for key, value in found.items() if value not in (None, "")}


def _bench(node: Node, machine: Mapping[MachineField, str], created: str | None) -> Bench:
    fullname = node.need("fullname").text()
    stats = node.need("stats")
    iterations = stats.get("iterations")
    data = stats.get("data")
    # A round may be zero seconds on a coarse clock: the judge must see that, so it is read.
    values = data.amounts(zero=True) if data is not None else ()
    reported: dict[str, str | int | float] = {}
    for key in SUMMARY:
        entry = stats.get(key)
        if entry is not None and isinstance(entry.value, str | int | float):
            reported[key] = entry.value
    # As pyperf dates its runs: in the file's own time, without a zone.
    dated = {} if created is None else {"date": created.split("+")[0].rstrip("Z")}
    process = Process(values, loops=iterations.whole(1) if iterations is not None else 1, metadata=dated)
    name = node.get("name")
    return Bench(
        name=name.text() if name is not None else fullname,
        fullname=fullname,
        unit=BenchUnit.SECOND,
        processes=(process,) if values else (),
        machine=machine,
        params_digest=_digest(node.get("params")),
        notes=() if values else (BenchNote.NO_SAMPLES,),
        reported=reported,
    )


def read_document(document: Node) -> BenchFile:
    """The terms of a decoded file. A file may hold no bench: every one of them may have raised.

    Raises:
        FormatError: a missing or impossible value (the path says where), or a full name that comes twice.
    """
    info = document.get("machine_info")
    machine = _machine(info)
    stated = document.get("datetime")
    created = stated.text() if stated is not None else None
    benches: dict[str, Bench] = {}
    for node in document.need("benchmarks").items():
        bench = _bench(node, machine, created)
        if bench.fullname in benches:
            raise FormatError(
                f"{printable(document.where)} holds two benchmarks called {printable(bench.fullname)}; "
                "give the repetitions ids of their own, then run pytest again with `--benchmark-json FILE`."
            )
        benches[bench.fullname] = bench
    version = document.get("version")
    return BenchFile(
        tool=BenchTool.PYTEST_BENCHMARK,
        tool_version=version.text() if version is not None else None,
        created=created,
        machine=dict(info.value) if info is not None else {},
        benches=tuple(benches.values()),
    )


def heaviest(head: bytes, limits: Limits) -> FormatError | None:
    """Which bench makes a file too large to be read, by its ``head``; None if no bench is named there.

    The tool writes parameters and rounds after the name of their bench, so the widest gap between names is the culprit.
    """
    shown = bench_json.heaviest(head, _FULLNAME)
    if shown is None:
        return None
    return FormatError(
        f"The file is larger than {limits.max_bytes:,} bytes and was not read; most of it belongs to {shown}, whose "
        "parameters or rounds are written whole: give the parameter a short value, or measure with "
        "`python -m harness gate --pytest PATH`."
    )
