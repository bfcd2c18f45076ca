"""What becomes of one row when a run is accepted: a pure function of the row, the comparison and the run.

A count moves to a better value, for it is exact. A time moves only by what is left of a change when the stray of its
sessions is taken off, and its sessions begin again. Nothing moves for the worse unless a person names it and says why.
A session of a day and boot that is there already adds nothing. Refuses to move a time on a machine of another speed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum

from harness.jobs.ratchet_conditions import Held, conditions
from harness.jobs.ratchet_counts import histograms, rates
from harness.jobs.ratchet_found import Found
from harness.judge.bounds import median
from harness.judge.ratchet_counts import compare_counts, made_otherwise
from harness.judge.ratchet_limit import LOOSE, first_limit, past_limit, slack, supported_gain
from harness.judge.ratchet_row import LEAST_SESSIONS, TimedRow
from harness.record.baseline import MOST_SESSIONS, Moved, Row, Session, different
from harness.record.pointed import session_of, workload_of
from harness.record.run import Run
from kpis.terms.comparison import State
from kpis.terms.kpi import Direction, Estimand, Gate
from kpis.terms.reading import Reading

__all__ = ["Intent", "Move", "Refusal", "moved_row"]


class Refusal(Enum):
    """Why a row stays as it is although something was asked of it."""

    WORSE = "worse"
    GONE = "gone"
    UNLIKE = "unlike"  # another machine, workload, effort or kind
    VOID = "void"
    SLOW = "slow"
    LIMIT = "limit"  # a session beyond its row's limit would loosen what comes next


@dataclass(frozen=True, slots=True)
class Intent:
    """What a person wants: ``why`` a row that they named may move for the worse; why all unlike rows begin ``afresh``.

    ``slow`` is why the timings of the run are those of a machine at another speed.
    """

    today: date
    why: str | None = None
    afresh: str | None = None
    slow: str | None = None


@dataclass(frozen=True, slots=True)
class Move:
    """The row afterwards (None: none), what is to be said of it (without its name), and why it was refused."""

    row: Row | None
    said: str | None = None
    refusal: Refusal | None = None


def moved_row(found: Found, run: Run, name: str, intent: Intent) -> Move:
    """What becomes of the row of ``found``; ``name`` is what the run file of ``run`` is called on record."""
    held, reading = found.held, found.reading
    row = None if held is None else held.row
    state = found.comparison.state
    if row is not None and state is State.REMOVED:
        if intent.why is not None and (found.point is None or reading is not None):
            return Move(None, f"taken off the record ({intent.why})")
        return Move(row, _last(found), Refusal.GONE)
    if reading is None:
        return Move(row, _last(found), Refusal.GONE)
    if reading.value is None:
        quiet = state is not State.VOID
        return Move(row) if quiet else Move(row, _last(found), Refusal.VOID)
    if row is None or held is None:
        if reading.estimand.timed and intent.slow is not None:
            return Move(None, intent.slow, Refusal.SLOW)
        return Move(replace(_begun(run, name, reading), pending=intent.today), "new, pending")
    if differ := conditions(held, run, reading):
        why = intent.why or intent.afresh
        if why is None:
            return Move(row, differ[0], Refusal.UNLIKE)
        return Move(_again(run, name, reading, why, intent.today), f"begun again ({why})")
    move = _timed(found, row, run, name, reading, intent) if row.timed else _counted(held, run, name, reading, intent)
    return replace(move, row=_without_ended(move.row, move.refusal, intent.today))


def _last(found: Found) -> str:
    return (found.comparison.evidence or (found.comparison.state.value,))[-1].rstrip(".")


def _without_ended(row: Row | None, refusal: Refusal | None, today: date) -> Row | None:
    """A waiver whose day has passed goes once the row needs it no more."""
    if row is None or row.waiver is None or refusal is not None or row.waiver.until >= today:
        return row
    return replace(row, waiver=None)


def _begun(run: Run, name: str, reading: Reading) -> Row:
    """A row of which this run is the first session."""
    rate = reading.denominator is not None
    counted = not reading.estimand.timed
    taken = None if counted else reading.distribution
    return Row(
        unit=reading.unit,
        direction=reading.direction,
        gate=reading.gate,
        estimand=reading.estimand,
        limit=reading.value if counted else None,
        mode=run.mode,
        isolation=reading.isolation,
        workload=workload_of(run, reading),
        sessions=(session_of(run, name, reading),),
        loops=None if taken is None else taken.loops,
        values=None if taken is None else taken.values,
        numerator=reading.numerator if counted and rate else None,
        denominator=reading.denominator if counted else None,
        histogram=dict(reading.histogram or {}) if reading.estimand is Estimand.HISTOGRAM else None,
    )


def _timed_as(row: Row, reading: Reading) -> Row:
    """The row with the loops of its newest session, which ``reading`` is."""
    taken = reading.distribution
    return row if taken is None else replace(row, loops=taken.loops, values=taken.values)


def _again(run: Run, name: str, reading: Reading, why: str, today: date) -> Row:
    return replace(_begun(run, name, reading), moved=Moved(why, today))


def _counted(held: Held, run: Run, name: str, reading: Reading, intent: Intent) -> Move:
    row, limit, now = held.row, held.row.limit, reading.value
    if limit is None or now is None:
        raise ValueError("A count on record has a value, and so has a reading that is defined.")
    made = rates(held, reading)
    against = compare_counts(
        limit,
        now,
        row.direction,
        holds=row.gate is Gate.INVARIANT,
        histograms=histograms(row.histogram, reading),
        made=made,
    )
    change = "; ".join(against.evidence)
    begun = _begun(run, name, reading)
    if against.state is State.REGRESSED:
        if intent.why is None:
            return Move(row, change, Refusal.WORSE)
        if now == limit and row.gate is Gate.INVARIANT:
            return Move(row, "broken on record already", Refusal.WORSE)
        return Move(_again(run, name, reading, intent.why, intent.today), f"{change}: moved ({intent.why})")
    if against.state is State.IMPROVED:
        return Move(replace(begun, pending=row.pending, waiver=row.waiver), f"{change}: tightened")
    if made is not None and (otherwise := made_otherwise(*made)):
        return Move(replace(begun, pending=row.pending, waiver=row.waiver), otherwise)
    sessions = (*row.sessions, session_of(run, name, reading))
    if row.pending is not None and len(different(sessions)) > len(different(row.sessions)):
        return Move(replace(row, pending=None, sessions=sessions), "borne out, no longer pending")
    return Move(row)


def _timed(found: Found, row: Row, run: Run, name: str, reading: Reading, intent: Intent) -> Move:
    session = session_of(run, name, reading)
    now = float(reading.value or 0)
    medians = row.medians
    centre = median(medians)
    worse = slack(now, centre, row.direction) > 1 or row.direction is Direction.NEUTRAL
    if now <= 0:
        return Move(row, f"a time of {now:g} {reading.unit.value} is none", Refusal.VOID)
    if intent.slow is not None:
        return Move(row, intent.slow, Refusal.SLOW)
    if intent.why is not None and worse:
        change = f"{100 * (now / centre - 1):+.1f} % against {len(medians)} sessions"
        return Move(_again(run, name, reading, intent.why, intent.today), f"{change}: moved ({intent.why})")
    state = found.comparison.state
    twice = row.direction is not Direction.NEUTRAL and slack(now, centre, row.direction) >= LOOSE
    if state is State.REGRESSED or twice:
        change = f"{100 * (now / centre - 1):+.1f} % against {len(medians)} sessions"
        return Move(row, change, Refusal.WORSE)
    better = row.direction is not Direction.NEUTRAL and slack(centre, now, row.direction) >= LOOSE
    if state is State.IMPROVED or better:
        return _improved(found, _timed_as(row, reading), session, now)
    sessions = (*row.sessions, session)
    if len(different(sessions)) == len(medians):
        return Move(row)
    if past_limit(TimedRow(medians, (now,), row.direction, row.limit)):
        return Move(row, f"beyond its limit of {row.limit:.6g}, so not taken as a session", Refusal.LIMIT)
    return Move(_longer(_timed_as(row, reading), sessions))


def _improved(found: Found, row: Row, session: Session, now: float) -> Move:
    """The limit moves by the least gain that the sessions support; they tell of slower code, and begin again."""
    gain = supported_gain(TimedRow(row.medians, (now,), row.direction), found.comparison.alpha or 0.005)
    limit = row.limit
    if limit is not None:
        sign = -1 if row.direction is Direction.HIGHER else 1
        limit *= math.exp(-sign * (gain or 0.0))
        # Between this session and twice it: tighter would be a point estimate, looser would describe other code.
        edges = sorted((now, now * LOOSE if sign > 0 else now / LOOSE))
        limit = min(max(limit, edges[0]), edges[1])
    least = "" if gain is None else f" by at least {100 * -math.expm1(-gain):.1f} %"
    said = f"better than {len(row.medians)} sessions{least}; its sessions begin again"
    return Move(replace(row, limit=limit, sessions=(session,), moved=None), said)


def _longer(row: Row, sessions: tuple[Session, ...]) -> Row:
    """The row with one session more; the five that its limit rests on stay, and of the others the oldest goes."""
    if len(sessions) > MOST_SESSIONS:
        sessions = (*sessions[:LEAST_SESSIONS], *sessions[LEAST_SESSIONS + 1 :])
    longer = replace(row, sessions=sessions, pending=None)
    if len(longer.medians) != LEAST_SESSIONS:
        return longer
    first = first_limit(longer.medians, row.direction)
    if first is None or row.limit is None:
        return replace(longer, limit=first if row.limit is None else row.limit)
    tighter = max if row.direction is Direction.HIGHER else min
    return replace(longer, limit=tighter(first, row.limit))
