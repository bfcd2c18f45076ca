"""One row of a run against the last release, from which it may stray by a budget in however many steps.

What has crept by less than a step shows is seen in the sum. Refuses to move the anchor: only a release does.
"""

from __future__ import annotations

from harness.jobs.plan import PlannedPoint
from harness.jobs.ratchet_conditions import Held, conditions
from harness.jobs.ratchet_counts import count_compared
from harness.jobs.ratchet_found import Found, Waiting, told
from harness.judge.ratchet import BUDGET, Judged
from harness.judge.ratchet_row import TimedRow
from harness.record.baseline import Row, different
from harness.record.pointed import session_of
from harness.record.run import Run
from kpis.terms.comparison import Comparison, State
from kpis.terms.reading import Reading

__all__ = ["against_release", "since_release"]


def since_release(
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
        judged: Judged = told(State.NO_BASELINE, *differ)
    elif not then.row.timed:
        judged = Judged(count_compared(then, reading, BUDGET))
    elif float(reading.value or 0) <= 0:
        judged = told(State.VOID, f"a time of {reading.value} {reading.unit.value} is none")
    else:
        judged = Waiting(Comparison(State.THIN), timed=against_release(then.row, held, run, reading))
    return Found(name, tag, judged, held, point, reading)


def against_release(then: Row, held: Held | None, run: Run, reading: Reading) -> TimedRow:
    """The sessions of a release against those since, this run the last of them; what is in both is the release's."""
    this = session_of(run, "", reading)
    known = {session.run for session in then.sessions}
    since = [] if held is None else [session for session in held.row.sessions if session.run not in known]
    _, *others = different([this, *since])
    medians = [session.median for session in (*others, this) if session.median is not None]
    return TimedRow(then.medians, tuple(medians), then.direction, budget=BUDGET)
