"""Whether a row on record and a reading were taken in the same way, so that their numbers may be compared at all.

Whatever differs is named in a sentence of its own: the machine, the workload, how the engine was cut out, the effort,
the loops. Refuses to compare the numbers themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from harness.judge.loops import MOST, unexplained
from harness.record.baseline import BaselineFile, Row
from harness.record.fingerprints import EXACT, TIME, differing
from harness.record.pointed import workload_of
from harness.record.run import Mode, Run
from kpis.terms.reading import Reading

__all__ = ["RECORDED", "Held", "conditions"]

RECORDED = (Mode.DEFAULT, Mode.FULL)
"""What a record is made of. Three processes are too few for a median with bounds; a budget gives any number of them."""


@dataclass(frozen=True, slots=True)
class Held:
    """A row on record: the file's machine facts, what the row is called there, and the row.

    ``made_of`` is what the numerator of a rate was made of, by the newest of its runs; None where that is not known.
    """

    file: BaselineFile
    recorded_as: str
    row: Row
    made_of: Mapping[str, int] | None = None


def conditions(held: Held, run: Run, reading: Reading) -> list[str]:
    """What differs between how a row was recorded and how ``reading`` was taken; empty where they may be compared."""
    row = held.row
    found = [
        f"{part} differs: {getattr(row, part).value} on record, {getattr(reading, part).value} in this run"
        for part in ("unit", "direction", "gate", "estimand")
        if getattr(row, part) is not getattr(reading, part)
    ]
    if row.workload != workload_of(run, reading):
        digests = [(digest or "none")[:12] for digest in (row.workload, workload_of(run, reading))]
        found.append(f"it was recorded on another workload: {digests[0]} on record, {digests[1]} in this run")
    found += differing(held.file.exact, run.machine.fingerprint, EXACT)
    if not row.timed:
        return found
    found += differing(held.file.time, run.machine.fingerprint, TIME)
    if row.isolation != reading.isolation:
        found.append(
            f"it was recorded with another isolation: the engine was {row.isolation or 'none'} then and is "
            f"{reading.isolation or 'none'} now; {_again(reading)}"
        )
    if row.mode not in RECORDED:
        found.append(f"it was recorded with --{row.mode.value}, and a record needs a default or full run")
    elif run.mode is not row.mode:
        found.append(f"it was recorded with another effort: {row.mode.value} on record, {run.mode.value} in this run")
    else:
        found += _repeats(row, reading)
    # What differs by itself explains other loops, and says more.
    return found or _loops(row, reading)


def _again(reading: Reading) -> str:
    return f"begin the row again with: python -m harness ratchet accept {reading.kpi} --why TEXT"


def _repeats(row: Row, reading: Reading) -> list[str]:
    """A median of fewer processes, or of fewer values in each, strays further, and makes no sample with others."""
    taken = reading.distribution
    now = None if taken is None else taken.n
    then = sorted({session.n for session in row.sessions if session.n is not None and session.n != now})
    counts = ", ".join(map(str, then))
    found = [f"it was recorded with other loops: {counts} processes on record, {now} in this run"] if then else []
    values = None if taken is None else taken.values
    if row.values is not None and values is not None and row.values != values:
        found.append(
            f"it was recorded with other loops: {row.values} values a process on record, {values} in this run; "
            f"{_again(reading)}"
        )
    return found


def _loops(row: Row, reading: Reading) -> list[str]:
    """That one value took another number of calls than the time of a call explains; nothing where it was not noted."""
    taken, newest = reading.distribution, row.sessions[-1]
    if row.loops is None or newest.median is None or taken is None or taken.loops is None or taken.median <= 0:
        return []
    times = unexplained((row.loops, newest.median), (taken.loops, taken.median))
    if times <= MOST:
        return []
    few = "more" if taken.loops > row.loops else "fewer"
    unit = row.unit.value
    return [
        f"it was recorded with other loops: a value took {row.loops} calls of {newest.median:.4g} {unit} then and "
        f"takes {taken.loops} of {taken.median:.4g} {unit} now, {times:.0f} times {few} than the time of a call "
        f"explains ({MOST:g} are the most that calibration does): the record no longer describes this measurement; "
        f"{_again(reading)}"
    ]
