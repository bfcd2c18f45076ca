"""One run held against a record, row by row: what each comparison is, before anybody says pass or fail.

Every row of the record and of the run's selection is in it once, and once more where a release holds it. Refuses to
judge: the numbers go to :mod:`harness.judge.ratchet`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date

from harness.jobs.plan import PlannedPoint
from harness.jobs.ratchet_conditions import Held
from harness.jobs.ratchet_found import Found, Waiting
from harness.jobs.ratchet_release import since_release
from harness.jobs.ratchet_row import row_compared
from harness.judge.ratchet import judge_timed
from harness.record.run import Run
from kpis.terms.comparison import State
from kpis.terms.reading import Reading

__all__ = ["compare"]


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
    found = [
        row_compared(name, rows.get(name), run, points.get(name), readings.get(name), today, blameless)
        for name in names
    ]
    if release is not None:
        tag, held = release
        found += [
            since_release(name, tag, held[name], rows.get(name), run, points.get(name), reading)
            for name in names
            if name in held and (reading := readings.get(name)) is not None and reading.value is not None
        ]
    return [_renamed(each) for each in _judged_together(found, slow)]


def _renamed(found: Found) -> Found:
    held = found.held
    moved = held is not None and held.recorded_as != found.name
    return found.saying(f"on record as {held.recorded_as}") if held is not None and moved else found


def _judged_together(found: list[Found], slow: str | None) -> Iterator[Found]:
    """The timed rows judged together; a machine of another speed decides none of them."""
    waiting = {
        (each.anchor, each.name): each.judged.timed
        for each in found
        if isinstance(each.judged, Waiting) and each.judged.timed is not None
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
