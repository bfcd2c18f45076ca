"""The format of recorded pairs: one trial a line of JSON, so that files can be appended to, cut and joined.

A trial is one comparison of one KPI: its pairs in the order in which they were measured, and what was true. Reading
refuses what is not of that shape; it never repairs, and never drops a trial.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from harness.judge.rule import LEAST_DELTA
from harness.record.atomic import StoreError

__all__ = [
    "VALUES_OF",
    "Kind",
    "LoadState",
    "Trial",
    "TrialError",
    "brief",
    "line_of",
    "trial_of",
    "whole_suites",
]

VALUES_OF = 20
"""Pairs of a trial that single values are kept of: the processes that the rules of other tools take."""

_DIGITS = 5

Pair = tuple[float, float]
Values = tuple[tuple[float, ...], tuple[float, ...]]


class TrialError(StoreError, ValueError):
    """A line is not a trial; the sentence names the file and the line."""


class Kind(Enum):
    """What was done to the head."""

    NULL = "null"  # nothing: both sides are checkouts of one commit
    INJECTED = "injected"  # more calls of the same slice
    NEUTRAL = "neutral"  # an edit that must not cost time


class LoadState(Enum):
    """What the recorder itself put on the machine besides the pairs."""

    IDLE = "idle"
    ONE = "one core busy"
    ALL = "all cores busy"


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

    ``state`` is the load that was made on purpose; None where none was, and the machine did whatever it did. ``suite``
    is the number of windows that the suite of a null is made of, and ``delta`` the margin that the judge had while it
    asked for pairs, as a fraction; where the line does not say, the margin of an unknown floor.
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
    state: LoadState | None = None
    suite: int | None = None
    delta: float | None = None


def brief(value: float) -> float:
    """A time to five significant digits: what is left out is a thousandth of what pairs spread by."""
    return float(f"{value:.{_DIGITS}g}")


def _shown(value: float) -> float:
    """A tenth of a nanosecond, and five significant digits where those are more."""
    return round(value, 1) if value >= 1000 else brief(value)


def line_of(trial: Trial) -> str:
    """The trial as one line, without the line's end. Times have one decimal, or five digits where those are more."""
    row: dict[str, Any] = {
        "kpi": trial.kpi,
        "kind": trial.kind.value,
        "truth": trial.truth,
        "seed": trial.seed,
        "machine": trial.machine,
        "load": trial.load,
        "pairs": [[_shown(value) for value in pair] for pair in trial.pairs],
    }
    if trial.asked != 1.0:
        row["asked"] = trial.asked
    if trial.edit is not None:
        row["edit"] = trial.edit
    if trial.values:
        row["values"] = [[[_shown(value) for value in side] for side in pair] for pair in trial.values]
    if trial.void is not None:
        row["void"] = trial.void
    if trial.planned is not None:
        row["planned"] = trial.planned
    if trial.fingerprint is not None:
        row["fingerprint"] = dict(trial.fingerprint)
    if trial.state is not None:
        row["state"] = trial.state.value
    if trial.suite is not None:
        row["suite"] = trial.suite
    if trial.delta is not None:
        row["delta"] = trial.delta
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
    state, suite, delta = row.get("state"), row.get("suite"), row.get("delta")
    if suite is not None and (type(suite) is not int or suite < 1):
        raise ValueError(f"'suite' is a number of windows, not {suite!r}")
    if delta is not None and not LEAST_DELTA <= _time(delta) < 1:
        raise ValueError(f"'delta' is a margin from {LEAST_DELTA} to 1, not {delta!r}")
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
        state=None if state is None else LoadState(state),
        suite=suite,
        delta=delta,
    )


def whole_suites(trials: Iterable[Trial]) -> Iterator[list[Trial]]:
    """The nulls that belong together. What lacks a window, for it broke off or was stopped, is no suite.

    A suite is as large as its windows say; those that do not say have a window of every KPI of which such windows are
    there.
    """
    nulls = [trial for trial in trials if trial.kind is Kind.NULL]
    every = {trial.kpi for trial in nulls if trial.suite is None}
    found: dict[tuple[str, int], list[Trial]] = {}
    for trial in nulls:
        if trial.void is None:
            found.setdefault((trial.machine, trial.seed), []).append(trial)
    for members in found.values():
        kpis = {trial.kpi for trial in members}
        if kpis == every if members[0].suite is None else len(kpis) == members[0].suite:
            yield members
