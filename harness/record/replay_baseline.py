"""The record of recorded runs: ``baselines/replay/<name>.toml``, what their metrics were when somebody accepted them.

A table a metric in stable order, numbers as they were counted, nothing of a machine: what is counted from a recording
is the same everywhere. Refuses a file that it did not write: merge marks, another schema, a value of another kind.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli_w

from harness.formats.limits import regular_bytes
from harness.record.atomic import StoreError
from kpis.recorded_metrics import load
from kpis.terms.quantity import Unit

__all__ = ["BOUND", "SCHEMA", "Recorded", "ReplayBaseline", "baseline_path", "encode", "read_baseline"]

SCHEMA = "harness.replay-baseline/1"

BOUND = "a bound: the recordings do not say all of it"
"""Why a metric on record has no value where only a bound of it was known."""

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_KEYS = frozenset(("value", "undefined", "why", "of"))
_ID = re.compile(r"[a-z][a-z0-9_]*")
_SHARES = re.compile(
    r"success|success_ratio|availability|steadiness|frozen_share|provenance_coverage|cache_hit_ratio.*|dwr_.*"
    r"|(tool_error|looped_step|duplicate_call|output_observed)_ratio"
)
"""Ratios of a part to its whole."""

_MOST = 1 << 63
"""No count of tokens or of calls, and no bill, gets here."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """One metric on record: its value, or why it had none. ``why`` is the reason of a move for the worse.

    ``of`` is how many judged or scored attempts it rests on, of a metric that rests on some of them only.
    """

    value: float | int | None
    undefined: str | None = None
    why: str | None = None
    of: int | None = None


@dataclass(frozen=True, slots=True)
class ReplayBaseline:
    """What is on record: how many runs it was, how many of them recorded for their context, and the metrics by id."""

    runs: int
    metrics: Mapping[str, Recorded]
    contexts: int = 0


def baseline_path(root: Path, name: str) -> Path:
    """Where the record ``name`` lies.

    Raises:
        StoreError: ``name`` is no plain name.
    """
    if _NAME.fullmatch(name) is None:
        raise StoreError(f"{name!r} names no record: use small letters, digits, points and dashes, as --gate sessions.")
    return root / "baselines" / "replay" / f"{name}.toml"


def encode(baseline: ReplayBaseline) -> bytes:
    """The file of ``baseline``: the same bytes for the same numbers."""
    tables: dict[str, Any] = {}
    for metric_id, row in sorted(baseline.metrics.items()):
        plain = {"value": row.value, "undefined": row.undefined, "why": row.why, "of": row.of}
        tables[metric_id] = {key: value for key, value in plain.items() if value is not None}
    contexts = {"contexts": baseline.contexts} if baseline.contexts else {}
    return tomli_w.dumps({"schema": SCHEMA, "runs": baseline.runs, **contexts, "metric": tables}).encode("utf-8")


def read_baseline(path: Path) -> ReplayBaseline | None:
    """The record at ``path``; None where there is none.

    Raises:
        StoreError: it cannot be read, or holds something else.
    """
    try:
        body = regular_bytes(path, 16 << 20)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}; see `ls -ld {path}`.") from None
    try:
        tables = tomllib.loads(body.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise StoreError(f"{path} is no record ({error}); take it back with `git checkout -- {path}`.") from None
    if tables.get("schema") != SCHEMA:
        raise StoreError(f"{path} is of schema {tables.get('schema')!r}, not {SCHEMA}; see `git log -- {path}`.")
    rows, runs, contexts = tables.get("metric"), tables.get("runs"), tables.get("contexts", 0)
    counted = all(type(each) is int and each >= 0 for each in (runs, contexts))
    if not isinstance(rows, dict) or not counted or tables.keys() - {"contexts"} != {"schema", "runs", "metric"}:
        raise StoreError(
            f"{path} was edited by hand: it has `runs` and `contexts`, numbers, and tables `metric`; take it back "
            f"with `git checkout -- {path}`."
        )
    found = {metric_id: _row(path, metric_id, row) for metric_id, row in rows.items()}
    return ReplayBaseline(int(tables["runs"]), found, contexts)


def _row(path: Path, metric_id: str, row: Any) -> Recorded:
    said = f"{path}: metric {metric_id} was edited by hand"
    if _ID.fullmatch(metric_id) is None or not isinstance(row, dict) or row.keys() - _KEYS:
        raise StoreError(f"{said}: it has a value or why it is undefined; take it back with `git checkout -- {path}`.")
    value, undefined, why, of = (row.get(key) for key in ("value", "undefined", "why", "of"))
    if (
        (value is None) is (undefined is None)
        or not isinstance(undefined, str | None)
        or not isinstance(why, str | None)
        or not (of is None or (type(of) is int and of >= 0))
    ):
        raise StoreError(f"{said}: it has a value or why it is undefined; take it back with `git checkout -- {path}`.")
    if value is not None and (type(value) not in (int, float) or abs(value) > 1e300 or not math.isfinite(value)):
        raise StoreError(f"{said}: {str(value)[:40]} is no value; take it back with `git checkout -- {path}`.")
    if value is not None and not _may_be(metric_id, value):
        raise StoreError(f"{said}: it is never {value:g}; take it back with `git checkout -- {path}`.")
    return Recorded(value, undefined, why, of)


def _may_be(metric_id: str, value: float) -> bool:
    """Whether the metric can have ``value``: a share lies in 0..1, and what is counted or paid is never below 0.

    A score may be anything, and so may a metric that is no longer known.
    """
    row = load().get(metric_id)
    if row is None:
        return True
    if _SHARES.fullmatch(metric_id) is not None:
        return 0 <= value <= 1
    return row.unit not in (Unit.COUNT, Unit.TOK, Unit.USD) or 0 <= value <= _MOST
