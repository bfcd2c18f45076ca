"""The baseline file ``harness.baseline/1``: what the KPIs of a layer have to hold on one machine, and why.

One table a KPI point, in the order of names, so that two branches which move different KPIs merge; the same rows give
the same bytes, and no date stands where nothing moved. Each row points to the run files that bear it out. This module
refuses to read (see :mod:`harness.record.baseline_read`) and to judge.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from harness.record.run import Mode
from kpis.terms.kpi import Direction, Estimand, Gate
from kpis.terms.quantity import Unit

__all__ = [
    "LONGEST_WAIVER",
    "MOST_SESSIONS",
    "SCHEMA",
    "UNKNOWN_BOOT",
    "BaselineFile",
    "Moved",
    "Row",
    "Session",
    "Waiver",
    "different",
    "encode",
]

SCHEMA = "harness.baseline/1"

MOST_SESSIONS = 20
"""Sessions that a row keeps: with twenty the margin after Holm over forty rows is 4.3 spreads, and twenty more would
take a tenth off that."""


LONGEST_WAIVER = 366
"""Days that a waiver holds at most: a year. What is known for longer is no exception but the value of the row."""

UNKNOWN_BOOT = "unknown"
"""The boot of a run that did not say: it may be that of any other session of its day."""


@dataclass(frozen=True, slots=True)
class Session:
    """One run on record: its day (UTC), its boot (``unknown`` where the run did not say), the name of its file.

    ``median`` and ``n`` (processes) are those of a timed row; a count has neither, for its value is the row's limit.
    """

    day: date
    boot: str
    run: str
    median: float | None = None
    n: int | None = None


@dataclass(frozen=True, slots=True)
class Waiver:
    """A row that shall not fail until a day, and why."""

    why: str
    until: date


@dataclass(frozen=True, slots=True)
class Moved:
    """That a person moved the row for the worse, why, and when."""

    why: str
    on: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One KPI at one point.

    ``limit`` of a timed row is what an unchanged value stays under (over, where higher is better), None while there are
    too few sessions to say; of any other row it is the value. ``workload`` is the sha256 of its input. ``pending`` is
    the day on which the row came, until a second session has borne it out. ``loops`` (calls that one value took) and
    ``values`` (of one process) are those of the newest session of a timed row; None where its run did not say.
    """

    unit: Unit
    direction: Direction
    gate: Gate
    estimand: Estimand
    limit: int | float | None
    mode: Mode
    isolation: str | None
    workload: str | None
    sessions: tuple[Session, ...]
    loops: int | None = None
    values: int | None = None
    numerator: int | float | None = None
    denominator: int | float | None = None
    histogram: dict[str, int] | None = None
    pending: date | None = None
    waiver: Waiver | None = None
    moved: Moved | None = None

    @property
    def timed(self) -> bool:
        """Whether a clock reads it."""
        return self.estimand.timed

    @property
    def medians(self) -> tuple[float, ...]:
        """The medians of the sessions that differ by their day or boot, oldest first."""
        return tuple(session.median for session in different(self.sessions) if session.median is not None)


@dataclass(frozen=True, slots=True)
class BaselineFile:
    """The rows of one layer, by name, and the machine facts that counts (``exact``) and times (``time``) belong to.

    ``tag`` names the release, in the file of a release and in no other.
    """

    exact: dict[str, str | int]
    time: dict[str, str | int]
    rows: dict[str, Row] = field(default_factory=dict)
    tag: str | None = None


def different(sessions: Iterable[Session]) -> list[Session]:
    """The first session of each day and boot: what is measured again at once is no new draw.

    One of an unknown boot is none beside another of its day.
    """
    boots: dict[date, set[str]] = {}
    found = []
    for session in sessions:
        of_day = boots.setdefault(session.day, set())
        apart = UNKNOWN_BOOT not in (*of_day, session.boot) and session.boot not in of_day
        if apart or not of_day:
            of_day.add(session.boot)
            found.append(session)
    return found


def _session(session: Session) -> dict[str, Any]:
    whole = {
        "day": session.day, "boot": session.boot, "median": session.median, "n": session.n, "run": session.run
    }  # fmt: skip
    return {key: value for key, value in whole.items() if value is not None}


def _row(row: Row) -> dict[str, Any]:
    whole: dict[str, Any] = {
        "unit": row.unit.value,
        "direction": row.direction.value,
        "gate": row.gate.value,
        "estimand": row.estimand.value,
        "limit": row.limit,
        "numerator": row.numerator,
        "denominator": row.denominator,
        "mode": row.mode.value,
        "isolation": row.isolation,
        "loops": row.loops,
        "values": row.values,
        "workload": row.workload,
        "pending": row.pending,
        "sessions": [_session(session) for session in row.sessions],
        "histogram": None if row.histogram is None else dict(sorted(row.histogram.items())),
        "waiver": None if row.waiver is None else {"why": row.waiver.why, "until": row.waiver.until},
        "moved": None if row.moved is None else {"why": row.moved.why, "on": row.moved.on},
    }
    return {key: value for key, value in whole.items() if value is not None}


def encode(file: BaselineFile) -> bytes:
    """The bytes of ``file``: TOML in UTF-8, rows by name; what does not apply is left out."""
    import tomli_w  # here, so that what only looks at rows does not pay for it

    document: dict[str, Any] = {"schema": SCHEMA}
    if file.tag is not None:
        document["tag"] = file.tag
    document["fingerprint"] = {"exact": dict(sorted(file.exact.items())), "time": dict(sorted(file.time.items()))}
    document["kpi"] = {name: _row(row) for name, row in sorted(file.rows.items())}
    return tomli_w.dumps(document).encode("utf-8")
