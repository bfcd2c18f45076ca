"""The gate file ``harness.gate/1``: what one gate compared, row by row, and the verdict over it.

Written as a run file is: sorted keys, every key present, no NaN. This module refuses to judge; it holds what the
judge said.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from harness.record.plain import plain
from harness.record.run import Machine
from kpis.terms.claim import Claim, Verdict
from kpis.terms.comparison import ComparisonNotice, State
from kpis.terms.reading import Leg

__all__ = ["SCHEMA", "GateFile", "GateRow", "GateSide", "OffCpu", "encode"]

SCHEMA = "harness.gate/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSide:
    """One side: its commit, whether the tree differed from it, and the digest of what its slices touched."""

    commit: str | None
    dirty: bool | None
    touched: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class OffCpu:
    """Waiting (wall minus CPU) of each side in ns a call; ``there`` where the change is in it and not on the CPU."""

    base_ns: float
    head_ns: float
    there: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRow:
    """One comparison. ``functions`` say where it got slower, likeliest first; ``paths`` which touched files differ.

    ``delta`` is the least change that may alarm, as a fraction: the margin that the pairs were held to. None for what
    was not timed.
    """

    kpi: str
    params: dict[str, str]
    runtime: str
    workload: str | None
    leg: Leg
    state: State
    ratio: float | None
    low: float | None
    high: float | None
    pairs: int
    smallest_visible: float | None
    alpha: float | None
    off_cpu: OffCpu | None
    functions: list[str]
    paths: list[str]
    evidence: list[str]
    warnings: list[ComparisonNotice]
    delta: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFile:
    """One gate. ``injected`` marks a self-test: its verdict is about the gate, never about the code."""

    schema: str = SCHEMA
    id: str
    created: str
    argv: list[str]
    base: GateSide
    head: GateSide
    verdict: Verdict
    claims: list[Claim]
    rows: list[GateRow]
    injected: dict[str, float]
    machine: Machine
    environment: dict[str, Any]
    noise: dict[str, Any]
    seed: int
    seconds: float


def encode(gate: GateFile) -> bytes:
    """The bytes of ``gate``: UTF-8 JSON, keys sorted, ending in a newline. ``passed`` is written beside the state.

    Raises:
        RunFileError: a number is not finite, or a value is not plain data.
    """
    document = plain(gate, "$")
    document["verdict"]["passed"] = gate.verdict.passed
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8")
