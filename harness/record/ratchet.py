"""The ratchet file ``harness.ratchet/1``: what one run was against the record, row by row, and the verdict over it.

Written as a run file is: sorted keys, every key present, no NaN. This module refuses to judge; it holds what was said.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from harness.record.plain import plain
from kpis.terms.claim import Claim, Coverage, Verdict
from kpis.terms.comparison import ComparisonNotice, State

__all__ = ["SCHEMA", "RatchetBase", "RatchetFile", "RatchetRow", "RatchetRun", "WaiverNote", "encode", "passed_over"]

SCHEMA = "harness.ratchet/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverNote:
    """A waiver as it is shown; dates are ISO 8601."""

    why: str
    until: str
    expired: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RatchetRow:
    """One comparison. ``anchor`` is ``record`` or the tag of a release; ``decides`` whether the verdict counts it.

    ``recorded`` is the middle of the sessions on record (of a count, its value) and ``measured`` this run's value.
    ``beyond`` is the change for the worse, a fraction, from which on the row gates; ``sessions`` is how many bear it.
    """

    name: str
    kpi: str
    params: dict[str, str]
    runtime: str
    workload: str | None
    anchor: str
    gate: str
    unit: str
    direction: str
    state: State
    decides: bool
    limit: int | float | None
    recorded: int | float | None
    measured: int | float | None
    ratio: float | None
    low: float | None
    high: float | None
    sessions: int
    beyond: float | None
    smallest_visible: float | None
    alpha: float | None
    pending: str | None
    waiver: WaiverNote | None
    moved: dict[str, str] | None
    evidence: list[str]
    warnings: list[ComparisonNotice]


_GOOD = (State.OK, State.UNCHANGED, State.IMPROVED, State.WITHIN)


def passed_over(row: RatchetRow) -> str | None:
    """Why a verdict that passes says nothing of ``row``, as a word for several of them; None where it does.

    A row that nobody owes, for neither the record nor the run has it, is not among them.
    """
    if row.decides or row.state in (*_GOOD, State.NEW):
        return None
    if row.waiver is not None and not row.waiver.expired and row.state is not State.THIN:
        return "waived"
    if row.state is State.THIN:
        return "too thin to judge"
    return "red at the base already" if row.state is State.REGRESSED else "not comparable with the release"


@dataclass(frozen=True, slots=True, kw_only=True)
class RatchetRun:
    """The run that was held against the record."""

    id: str
    created: str
    commit: str | None
    dirty: bool | None
    mode: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RatchetBase:
    """The revision whose own faults are not blamed on the change: its commit, its run, what was red there."""

    commit: str
    run: str | None
    red: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RatchetFile:
    """One check. ``unselected`` counts rows on record that the run was not asked for; ``release`` is the last tag."""

    schema: str = SCHEMA
    slug: str
    run: RatchetRun | None
    verdict: Verdict
    coverage: Coverage
    claims: list[Claim]
    rows: list[RatchetRow]
    unselected: int
    release: str | None
    ruler: dict[str, Any] | None
    base: RatchetBase | None
    notes: list[str]


def encode(file: RatchetFile) -> bytes:
    """The bytes of ``file``: UTF-8 JSON, keys sorted, ending in a newline. ``passed`` is written beside the state.

    Raises:
        RunFileError: a number is not finite, or a value is not plain data.
    """
    document = plain(file, "$")
    document["verdict"]["passed"] = file.verdict.passed
    text = json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode("utf-8")
