"""One row of a run against the record: covered or not, comparable or not, a count compared or a time that waits.

A row is compared only with its like (:mod:`harness.jobs.ratchet_conditions`). Whatever differs is named, and the row
has no baseline. Refuses to judge a time by itself: the timed rows of a run are judged together.
"""

from __future__ import annotations

from datetime import date, timedelta

from harness.jobs.plan import PlannedPoint
from harness.jobs.ratchet_conditions import Held, conditions
from harness.jobs.ratchet_counts import count_compared
from harness.jobs.ratchet_found import Found, Waiting, told
from harness.jobs.ratchet_points import kpi_of
from harness.judge.ratchet import Judged
from harness.judge.ratchet_limit import LOOSE, slack
from harness.judge.ratchet_row import TimedRow
from harness.record.baseline import Row
from harness.record.run import Run
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Direction
from kpis.terms.reading import Reading, Reason

__all__ = ["PENDING_DAYS", "row_compared"]

PENDING_DAYS = 30
"""A new row waits at most a month for the session that bears it out; then nobody is at work on it."""

_ABSENT = (Reason.NOT_OFFERED, Reason.NOT_INSTALLED, Reason.WORKLOAD_KIND)
"""Reasons for which nothing is owed where the record has no row either."""


def _owed(reading: Reading | None, blameless: frozenset[str]) -> bool:
    """Whether the absence of a number is somebody's fault: not where the runtime does not offer the seam."""
    if reading is None or reading.undefined is None:
        return True
    return reading.undefined.reason not in _ABSENT and reading.kpi not in blameless


def row_compared(
    name: str,
    held: Held | None,
    run: Run,
    point: PlannedPoint | None,
    reading: Reading | None,
    today: date,
    blameless: frozenset[str],
) -> Found:
    """What comes of one row, which record, run or catalog may lack; pending for too long, it has no baseline."""
    judged = _judged(name, held, run, point, reading, blameless)
    since = None if held is None else held.row.pending
    compared = judged.comparison.state not in (State.REGRESSED, State.REMOVED, State.VOID, State.NO_BASELINE)
    if since is not None and compared and today - since > timedelta(days=PENDING_DAYS):
        judged = told(
            State.NO_BASELINE,
            f"pending since {since}, for more than {PENDING_DAYS} days: no second session has borne it out; "
            "accept one with: python -m harness ratchet accept",
        )
    return Found(name, "record", judged, held, point, reading)


def _judged(
    name: str,
    held: Held | None,
    run: Run,
    point: PlannedPoint | None,
    reading: Reading | None,
    blameless: frozenset[str],
) -> Judged:
    if held is None:
        if not _owed(reading, blameless) and reading is not None and reading.undefined is not None:
            why = reading.undefined.detail
            notice = ComparisonNotice(ComparisonWarn.LEFT_OUT, why)
            return Judged(Comparison(State.NEW, evidence=(why,), warnings=(notice,)))
        if reading is not None and reading.undefined is not None:
            return told(State.VOID, reading.undefined.detail)
        if reading is None:
            return told(
                State.NEW,
                "in the catalog, and neither on record nor in this run; measure it: python -m harness run --all",
            )
        return told(State.NEW, "in the catalog and not on record; add it with: python -m harness ratchet accept")
    if point is None:
        return told(
            State.REMOVED,
            "on record and no longer gated by the catalog, under no alias; take it off the record with: "
            f"python -m harness ratchet accept {kpi_of(name)} --why TEXT",
        )
    if reading is None:
        return told(State.REMOVED, "on record and not in this run; measure again with: python -m harness run --all")
    if reading.undefined is not None:
        if _owed(reading, blameless):
            return told(State.VOID, reading.undefined.detail)
        return told(State.REMOVED, f"on record and not measured any more: {reading.undefined.detail}")
    if differ := [*_stale(point, reading), *conditions(held, run, reading)]:
        return told(State.NO_BASELINE, *differ)
    if held.row.timed:
        return _open(held.row, reading)
    return Judged(count_compared(held, reading))


def _stale(point: PlannedPoint, reading: Reading) -> list[str]:
    """What the catalog says otherwise of a KPI than when it was measured."""
    return [
        f"{part} differs: {getattr(point.kpi, part).value} in the catalog, {getattr(reading, part).value} in this run; "
        "measure again with: python -m harness run --all"
        for part in ("unit", "direction", "gate", "estimand")
        if getattr(point.kpi, part) is not getattr(reading, part)
    ]


def _open(row: Row, reading: Reading) -> Judged:
    now = float(reading.value or 0)
    if now <= 0:
        return told(State.VOID, f"a time of {now:g} {reading.unit.value} is none")
    centre = _centre(row)
    times = slack(centre, now, row.direction)
    if row.direction is not Direction.NEUTRAL and times >= LOOSE:
        return told(
            State.NO_BASELINE,
            f"the record is {times:.1f} times looser than what is measured ({centre:.4g} {row.unit.value} on record, "
            f"{now:.4g} in this run; {LOOSE:g} are the most that noise explains): it no longer describes it; move it "
            "with: python -m harness ratchet accept",
        )
    return Waiting(Comparison(State.THIN), timed=TimedRow(row.medians, (now,), row.direction, row.limit))


def _centre(row: Row) -> float:
    """The middle session, without a preference: of an even number the slower one."""
    ordered = sorted(row.medians)
    return ordered[len(ordered) // 2]
