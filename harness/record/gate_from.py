"""The file ``harness.gate-from/1``: what two files of another tool came to, bench by bench, and the verdict over them.

Written as a gate file is: sorted keys, every key present, no NaN. This module refuses to judge; it holds what the
judge said.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from harness.record.plain import plain
from kpis.terms.claim import Claim, Verdict
from kpis.terms.comparison import ComparisonNotice, State

__all__ = ["SCHEMA", "GateFromFile", "GateFromRow", "GateFromSide", "encode"]

SCHEMA = "harness.gate-from/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFromSide:
    """One of the two files: its name as it was given, and the sha256 of its bytes, packed where it is packed."""

    file: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFromRow:
    """One bench by its full name, head over base; ``pairs`` counts the independent processes of a side."""

    name: str
    state: State
    ratio: float | None
    low: float | None
    high: float | None
    pairs: int
    smallest_visible: float | None
    alpha: float | None
    evidence: tuple[str, ...]
    warnings: tuple[ComparisonNotice, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFromFile:
    """One comparison of two files; ``delta`` is the margin that all rows were held to, as a fraction.

    A claim names both files by their sha256, and by a JSON pointer (RFC 6901) where its bench stands in each: of a
    packed file, in what it unpacks to.
    """

    schema: str = SCHEMA
    base: GateFromSide
    head: GateFromSide
    delta: float
    verdict: Verdict
    claims: list[Claim]
    rows: list[GateFromRow]


def encode(file: GateFromFile) -> bytes:
    """The bytes of ``file``: JSON in ASCII, keys sorted, ending in a newline. ``passed`` is beside the state.

    Raises:
        RunFileError: a number is not finite.
    """
    document = plain(file, "$")
    document["verdict"]["passed"] = file.verdict.passed
    return (json.dumps(document, indent=1, sort_keys=True, allow_nan=False) + "\n").encode()
