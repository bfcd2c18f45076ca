"""The format of gatebench: one trial a line of JSON, so that files can be appended to, cut and joined with any tool.

A trial is one comparison of one KPI: its pairs in the order in which they were measured, and what was true. Reading
refuses what is not of that shape, by file and line; it never repairs, and never drops a trial.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

__all__ = ["Kind", "Trial", "TrialError", "line_of", "read", "read_file", "trial_of"]

Pair = tuple[float, float]
Values = tuple[tuple[float, ...], tuple[float, ...]]


class TrialError(ValueError):
    """A line is not a trial; the sentence names the file and the line."""


class Kind(Enum):
    """What was done to the head."""

    NULL = "null"  # nothing: both sides are checkouts of one commit
    INJECTED = "injected"  # more calls of the same slice
    NEUTRAL = "neutral"  # an edit that must not cost time


@dataclass(frozen=True, slots=True)
class Trial:
    """One comparison.

    ``pairs`` are (base, head) in ns a call, each the median of a process; ``values``, if there, are single values of
    the processes of the first pairs, base and head of each. ``truth`` is the ratio head over base that was brought
    about; ``asked`` the one that was asked for. Trials of one ``seed`` belong together: one checkout of both sides,
    and for nulls one suite. ``void`` says why a trial broke off.

    ``planned`` is the number of pairs that was fixed before the first; the judge asked for those beyond it, because it
    suspected something. ``fingerprint`` holds the facts of the machine that time depends on
    (:data:`harness.record.floors.FACTS`). Both are None where the line does not say.
    """

    kpi: str
    kind: Kind
    truth: float
    seed: int
    machine: str
    load: str
    pairs: tuple[Pair, ...]
    values: tuple[Values, ...] = ()
    asked: float = 1.0
    edit: str | None = None
    void: str | None = None
    planned: int | None = None
    fingerprint: Mapping[str, Any] | None = None


def line_of(trial: Trial) -> str:
    """The trial as one line, without the line's end. Times have one decimal: a tenth of a nanosecond."""
    row: dict[str, Any] = {
        "kpi": trial.kpi,
        "kind": trial.kind.value,
        "truth": trial.truth,
        "seed": trial.seed,
        "machine": trial.machine,
        "load": trial.load,
        "pairs": [[round(value, 1) for value in pair] for pair in trial.pairs],
    }
    if trial.asked != 1.0:
        row["asked"] = trial.asked
    if trial.edit is not None:
        row["edit"] = trial.edit
    if trial.values:
        row["values"] = [[[round(value, 1) for value in side] for side in pair] for pair in trial.values]
    if trial.void is not None:
        row["void"] = trial.void
    if trial.planned is not None:
        row["planned"] = trial.planned
    if trial.fingerprint is not None:
        row["fingerprint"] = dict(trial.fingerprint)
    return json.dumps(row, allow_nan=False, separators=(",", ":"))


def _time(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value) or value <= 0:
        raise ValueError(f"a time is a positive finite number, not {value!r}")
    return float(value)


def _two(pair: Any) -> Sequence[Any]:
    if not isinstance(pair, list) or len(pair) != 2:
        raise ValueError("a pair is a list of two: base and head")
    return pair


def trial_of(line: str) -> Trial:
    """The trial of a line.

    Raises:
        ValueError: it is not of the documented shape.
    """
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("a trial is an object")
    for name, kind in (("kpi", str), ("kind", str), ("machine", str), ("load", str), ("seed", int), ("pairs", list)):
        if not isinstance(row.get(name), kind):
            raise ValueError(f"{name!r} is missing or not a {kind.__name__}")
    pairs = [_two(pair) for pair in row["pairs"]]
    values = [_two(pair) for pair in row.get("values", [])]
    if len(values) > len(pairs):
        raise ValueError(f"{len(values)} entries of 'values' for {len(pairs)} pairs")
    planned, fingerprint = row.get("planned"), row.get("fingerprint")
    if planned is not None and (type(planned) is not int or planned < 1):
        raise ValueError(f"'planned' is a number of pairs, not {planned!r}")
    if planned is not None and len(pairs) < planned and row.get("void") is None:
        raise ValueError(f"{planned} pairs were planned, {len(pairs)} are there, and no 'void' says why")
    if fingerprint is not None and not isinstance(fingerprint, dict):
        raise ValueError("'fingerprint' is not an object")
    return Trial(
        kpi=row["kpi"],
        kind=Kind(row["kind"]),
        truth=_time(row.get("truth")),
        seed=row["seed"],
        machine=row["machine"],
        load=row["load"],
        pairs=tuple((_time(base), _time(head)) for base, head in pairs),
        values=tuple((tuple(map(_time, base)), tuple(map(_time, head))) for base, head in values),
        asked=_time(row.get("asked", 1.0)),
        edit=row.get("edit"),
        void=row.get("void"),
        planned=planned,
        fingerprint=fingerprint,
    )


def read(folder: Path) -> Iterator[Trial]:
    """Every trial of the ``*.jsonl`` files of a folder, file by file in the order of their names.

    Raises:
        TrialError: a line is not a trial.
    """
    for file in sorted(folder.glob("*.jsonl")):
        yield from read_file(file)


def read_file(file: Path) -> Iterator[Trial]:
    """Every trial of one file.

    Raises:
        TrialError: a line is not a trial.
    """
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            yield trial_of(line)
        except ValueError as error:
            raise TrialError(f"{file.name}, line {number}: {error}. Look: sed -n {number}p {file}") from error
