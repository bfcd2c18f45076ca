"""One run held against a record, row by row: what each comparison is, before anybody says pass or fail.

A row is compared only with its like (:mod:`harness.jobs.ratchet_conditions`). Whatever differs is named, and the row
has no baseline. Refuses to judge: the numbers go to :mod:`harness.judge.ratchet`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta

from harness.jobs.plan import PlannedPoint
from harness.jobs.ratchet_conditions import RECORDED, Held, conditions
from harness.judge.ratchet import BUDGET, LOOSE, Judged, Made, TimedRow, compare_counts, judge_timed, slack
from harness.record.baseline import Row, different
from harness.record.pointed import session_of
from harness.record.run import Run
from kpis.terms.comparison import Comparison, ComparisonNotice, ComparisonWarn, State
from kpis.terms.kpi import Direction, Estimand, Gate
from kpis.terms.reading import Reading, Reason

__all__ = ["PENDING_DAYS", "RECORDED", "Found", "against_release", "compare", "histograms", "made_of", "owed", "rates"]

PENDING_DAYS = 30
"""A new row waits at most a month for the session that bears it out; then nobody is at work on it."""

_ABSENT = (Reason.NOT_OFFERED, Reason.NOT_INSTALLED, Reason.WORKLOAD_KIND)
"""Reasons for which nothing is owed where the record has no row either."""


@dataclass(frozen=True, slots=True)
class Found:
    """One comparison. ``anchor`` is ``record``, or the tag of a release; what the run or the record lacks is None."""

    name: str
    anchor: str
    judged: Judged
    held: Held | None
    point: PlannedPoint | None
    reading: Reading | None

    @property
    def comparison(self) -> Comparison:
        """What came of it."""
        return self.judged.comparison

    def saying(self, *more: str, state: State | None = None) -> Found:
        """The same with further evidence, and perhaps another state."""
        said = replace(self.comparison, evidence=(*self.comparison.evidence, *more))
        return replace(self, judged=replace(self.judged, comparison=replace(said, state=state or said.state)))


def owed(reading: Reading | None, blameless: frozenset[str]) -> bool:
    """Whether the absence of a number is somebody's fault: not where the runtime does not offer the seam."""
    if reading is None or reading.undefined is None:
        return True
    return reading.undefined.reason not in _ABSENT and reading.kpi not in blameless


def compare(
    rows: Mapping[str, Held],
    run: Run,
    points: Mapping[str, PlannedPoint],
    readings: Mapping[str, Reading],
    *,
    today: date,
    blameless: frozenset[str] = frozenset(),
    slow: str | None = None,
    release: tuple[str, Mapping[str, Held]] | None = None,
) -> list[Found]:
    """Every comparison of ``run`` with the record and with the last release, in the order of names.

    ``rows`` are those that this run answers for; ``slow`` is why the machine's own speed was another one.
    """
    names = sorted({*rows, *points})
    found = [_one(name, rows.get(name), run, points.get(name), readings.get(name), today, blameless) for name in names]
    if release is not None:
        tag, held = release
        found += [
            _since(name, tag, held[name], rows.get(name), run, points.get(name), reading)
            for name in names
            if name in held and (reading := readings.get(name)) is not None and reading.value is not None
        ]
    return [_renamed(each) for each in _timed(found, slow)]


def _renamed(found: Found) -> Found:
    held = found.held
    moved = held is not None and held.recorded_as != found.name
    return found.saying(f"on record as {held.recorded_as}") if held is not None and moved else found


@dataclass(frozen=True, slots=True)
class _Open(Judged):
    """A comparison that waits for those of the other timed rows."""

    timed: TimedRow | None = None


def _said(state: State, *evidence: str) -> Judged:
    return Judged(Comparison(state, evidence=evidence))


def _one(
    name: str,
    held: Held | None,
    run: Run,
    point: PlannedPoint | None,
    reading: Reading | None,
    today: date,
    blameless: frozenset[str],
) -> Found:
    judged = _judged(name, held, run, point, reading, blameless)
    since = None if held is None else held.row.pending
    compared = judged.comparison.state not in (State.REGRESSED, State.REMOVED, State.VOID, State.NO_BASELINE)
    if since is not None and compared and today - since > timedelta(days=PENDING_DAYS):
        judged = _said(
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
        if not owed(reading, blameless) and reading is not None and reading.undefined is not None:
            why = reading.undefined.detail
            notice = ComparisonNotice(ComparisonWarn.LEFT_OUT, why)
            return Judged(Comparison(State.NEW, evidence=(why,), warnings=(notice,)))
        if reading is not None and reading.undefined is not None:
            return _said(State.VOID, reading.undefined.detail)
        if reading is None:
            return _said(
                State.NEW,
                "in the catalog, and neither on record nor in this run; measure it: python -m harness run --all",
            )
        return _said(State.NEW, "in the catalog and not on record; add it with: python -m harness ratchet accept")
    if point is None:
        return _said(
            State.REMOVED,
            "on record and no longer gated by the catalog, under no alias; take it off the record with: "
            f"python -m harness ratchet accept {name.partition('[')[0].partition(' ')[0]} --why TEXT",
        )
    if reading is None:
        return _said(State.REMOVED, "on record and not in this run; measure again with: python -m harness run --all")
    if reading.undefined is not None:
        if owed(reading, blameless):
            return _said(State.VOID, reading.undefined.detail)
        return _said(State.REMOVED, f"on record and not measured any more: {reading.undefined.detail}")
    if differ := [*_stale(point, reading), *conditions(held, run, reading)]:
        return _said(State.NO_BASELINE, *differ)
    if held.row.timed:
        return _open(held.row, reading)
    return Judged(_counted(held, reading))


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
        return _said(State.VOID, f"a time of {now:g} {reading.unit.value} is none")
    centre = _centre(row)
    times = slack(centre, now, row.direction)
    if row.direction is not Direction.NEUTRAL and times >= LOOSE:
        return _said(
            State.NO_BASELINE,
            f"the record is {times:.1f} times looser than what is measured ({centre:.4g} {row.unit.value} on record, "
            f"{now:.4g} in this run; {LOOSE:g} are the most that noise explains): it no longer describes it; move it "
            "with: python -m harness ratchet accept",
        )
    return _Open(Comparison(State.THIN), timed=TimedRow(row.medians, (now,), row.direction, row.limit))


def _centre(row: Row) -> float:
    """The middle session, without a preference: of an even number the slower one."""
    ordered = sorted(row.medians)
    return ordered[len(ordered) // 2]


def _counted(held: Held, reading: Reading, budget: float = 0.0) -> Comparison:
    row = held.row
    limit, now = row.limit, reading.value
    if limit is None or now is None:
        raise ValueError("A count on record has a value, and so has a reading that is defined.")
    holds, both, made = row.gate is Gate.INVARIANT, histograms(row.histogram, reading), rates(held, reading)
    return compare_counts(limit, now, row.direction, holds=holds, histograms=both, made=made, budget=budget)


def rates(held: Held, reading: Reading) -> tuple[Made, Made] | None:
    """What a rate on record and the one of ``reading`` are made of; None of any other number."""
    if held.row.estimand is not Estimand.RATE:
        return None
    return Made(held.row.numerator, held.row.denominator, held.made_of), made_of(reading)


def made_of(reading: Reading) -> Made:
    """What the rate of ``reading`` is made of."""
    return Made(reading.numerator, reading.denominator, reading.histogram)


def histograms(then: Mapping[str, int] | None, reading: Reading) -> tuple[Mapping[str, int], Mapping[str, int]] | None:
    """The two histograms to compare, of a KPI that is one; that of a rate only says what its numerator is made of."""
    return None if reading.estimand is not Estimand.HISTOGRAM else (then or {}, reading.histogram or {})


def _since(
    name: str,
    tag: str,
    then: Held,
    held: Held | None,
    run: Run,
    point: PlannedPoint | None,
    reading: Reading,
) -> Found:
    """One row against the last release: a count may be worse by the budget, and so may a time, beyond its noise."""
    if differ := conditions(then, run, reading):
        judged: Judged = _said(State.NO_BASELINE, *differ)
    elif not then.row.timed:
        judged = Judged(_counted(then, reading, BUDGET))
    elif float(reading.value or 0) <= 0:
        judged = _said(State.VOID, f"a time of {reading.value} {reading.unit.value} is none")
    else:
        judged = _Open(Comparison(State.THIN), timed=against_release(then.row, held, run, reading))
    return Found(name, tag, judged, held, point, reading)


def against_release(then: Row, held: Held | None, run: Run, reading: Reading) -> TimedRow:
    """The sessions of a release against those since, this run the last of them; what is in both is the release's."""
    this = session_of(run, "", reading)
    known = {session.run for session in then.sessions}
    since = [] if held is None else [session for session in held.row.sessions if session.run not in known]
    _, *others = different([this, *since])
    medians = [session.median for session in (*others, this) if session.median is not None]
    return TimedRow(then.medians, tuple(medians), then.direction, budget=BUDGET)


def _timed(found: list[Found], slow: str | None) -> Iterator[Found]:
    """The timed rows judged together; a machine of another speed decides none of them."""
    waiting = {
        (each.anchor, each.name): each.judged.timed
        for each in found
        if isinstance(each.judged, _Open) and each.judged.timed is not None
    }
    judged = judge_timed(waiting)
    for each in found:
        now = judged.get((each.anchor, each.name))
        if now is None:
            yield each
            continue
        done = replace(each, judged=now)
        thin = now.comparison.state is State.THIN
        yield done.saying(slow, state=State.INCONCLUSIVE) if slow is not None and not thin else done
