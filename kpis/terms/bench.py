"""What another benchmark tool measured, as terms: a file of benches, each with the processes that it was measured in.

What can be repeated independently is a process, so values stay with the process that measured them, never pooled. They
keep the unit of the file and the very number that it holds. Refuses to summarise and to judge: what a tool says of its
own values (mean, deviation) is kept apart as ``reported``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from kpis.terms.kpi import Direction

__all__ = ["Bench", "BenchFile", "BenchNote", "BenchTool", "BenchUnit", "MachineField", "Metadata", "Process"]

Metadata = Mapping[str, str | int | float | tuple[str, ...]]
"""Facts about a process under the tool's own names."""


class BenchTool(Enum):
    """The tools whose files can be read."""

    PYPERF = "pyperf"
    PYTEST_BENCHMARK = "pytest-benchmark"


class BenchUnit(Enum):
    """The units that these tools know, by pyperf's names."""

    SECOND = "second"
    BYTE = "byte"
    INTEGER = "integer"

    @property
    def direction(self) -> Direction:
        """Which way is better where the file does not say: nobody knows it of a bare integer."""
        return Direction.NEUTRAL if self is BenchUnit.INTEGER else Direction.LOWER


class MachineField(Enum):
    """What two machines must have in common before their times are compared; ``hostname`` only tells them apart."""

    CPU_MODEL = "cpu_model"
    CPU_COUNT = "cpu_count"
    PYTHON_VERSION = "python_version"
    PYTHON_IMPLEMENTATION = "python_implementation"
    PLATFORM = "platform"
    HOSTNAME = "hostname"


class BenchNote(Enum):
    """Why a bench says less than it seems to."""

    NO_SAMPLES = "no-samples"  # the tool stored its summary only
    SHARED_PROCESS = "shared-process"  # its runs were not made by processes of their own


@dataclass(frozen=True, slots=True)
class Process:
    """What one process measured: ``values`` per call, and ``warmups`` as (loops, value per call) before them.

    ``loops`` is how many calls one value is the mean of.
    """

    values: tuple[float, ...]
    warmups: tuple[tuple[int, float], ...] = ()
    loops: int = 1
    metadata: Metadata = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bench:
    """One benchmark. ``fullname`` identifies it in its file; ``name`` is the short form, often the same.

    ``processes`` hold values; ``calibrations`` are the processes that only looked for the number of loops.
    ``params_digest`` is the SHA-256 of the parameters, whatever their size. ``reported`` is the tool's own summary.
    """

    name: str
    fullname: str
    unit: BenchUnit
    processes: tuple[Process, ...]
    calibrations: tuple[Process, ...] = ()
    machine: Mapping[MachineField, str] = field(default_factory=dict)
    params_digest: str | None = None
    direction: Direction = Direction.LOWER
    notes: tuple[BenchNote, ...] = ()
    reported: Mapping[str, str | int | float] = field(default_factory=dict)

    @property
    def independent(self) -> int:
        """The number of independent processes: what counts as the size of the sample."""
        return min(len(self.processes), 1) if BenchNote.SHARED_PROCESS in self.notes else len(self.processes)


@dataclass(frozen=True, slots=True)
class BenchFile:
    """One file. ``machine`` is the machine in the tool's own words; ``created`` is the text of the file."""

    tool: BenchTool
    tool_version: str | None
    created: str | None
    machine: Mapping[str, Any]
    benches: tuple[Bench, ...]
