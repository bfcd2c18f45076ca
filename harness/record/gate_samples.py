"""The samples of a gate, ``harness.gate-samples/1``: what each side gave at each point, on which its claims rest.

Pairs are [base, head] in ns a call, each the median of one process, in the order in which they were measured; counts
are the tallies of both sides, as often as they were taken; of a point that was not measured, because it touches the
same files on both sides, the digests of what it touches. This module refuses to judge.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.record.plain import plain
from kpis.terms.claim import Evidence

__all__ = ["SCHEMA", "GateSamples", "encode", "evidence_of", "samples_path"]

SCHEMA = "harness.gate-samples/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSamples:
    """The samples of the gate ``id``; ``base`` and ``head`` are commits, ``points`` go by their labels."""

    schema: str = SCHEMA
    id: str
    base: str | None
    head: str | None
    points: dict[str, dict[str, Any]]


def samples_path(gate: Path) -> Path:
    """Where the samples of the gate file ``gate`` lie: beside it."""
    return gate.with_name(f"{gate.stem}.samples.json")


def encode(samples: GateSamples) -> bytes:
    """The bytes of ``samples``: JSON in ASCII, keys sorted, ending in a newline.

    Raises:
        RunFileError: a number is not finite, or a value is not plain data.
    """
    return (json.dumps(plain(samples, "$"), sort_keys=True, allow_nan=False) + "\n").encode("ascii")


def evidence_of(blob: bytes, points: Mapping[str, Any]) -> dict[str, Evidence]:
    """By label, where the samples of a point stand in the file ``blob``: a JSON pointer (RFC 6901) below its sha256."""
    artifact = hashlib.sha256(blob).hexdigest()
    return {
        label: Evidence(artifact, f"/points/{label.replace('~', '~0').replace('/', '~1')}", None) for label in points
    }
