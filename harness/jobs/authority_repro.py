"""Measures a committed number again: an exact one to the digit, a timed one against its interval.

The rule for a timed one is a prediction for one new median. The committed interval is stretched about its median by
sqrt(1 + n/m), n processes then and m now: the variance of the difference of two such medians over that of the first. It
holds within a session of one machine; what a machine wanders by between sessions is not in it. Refuses to compare what
another machine or another input gave: the differing field is named in place of a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from harness.formats.workload import LoadedWorkload
from harness.jobs import modes
from harness.jobs.plan import Plan, make_plan
from harness.project import runtime_reference
from harness.record.fingerprints import EXACT, TIME, differing
from harness.record.run import Mode, Run
from harness.report.authority_rows import Row
from harness.report.authority_tables import name_of
from harness.report.units import interval, shown
from harness.workloads import FILES, shipped
from kpis.registry import Catalog
from kpis.terms.quantity import Basis
from kpis.terms.reading import Reading, Warn

__all__ = ["Outcome", "Repeated", "chosen", "compared", "elsewhere", "predicted", "repeat", "repro_plan"]

_EXACT = ("value", "numerator", "denominator", "excluded", "histogram", "knobs")


class Outcome(Enum):
    """What came of measuring a number again."""

    SAME = "the same"
    INSIDE = "inside the prediction"
    DIFFERS = "not reproduced"
    UNKNOWN = "unknown"
    ELSEWHERE = "not comparable here"


@dataclass(frozen=True, slots=True)
class Repeated:
    """One committed number against the new one; the sentence says both."""

    row: Row
    outcome: Outcome
    sentence: str


def predicted(low: float, median: float, high: float, then: int, now: int) -> tuple[float, float]:
    """Where one new median of ``now`` processes may lie, from an interval of a median of ``then``.

    Raises:
        ValueError: no processes, or a median outside of its interval.
    """
    if then < 1 or now < 1 or not low <= median <= high:
        raise ValueError("A prediction needs processes on both sides, and a median inside of its interval.")
    stretch = math.sqrt(1 + then / now)
    return median - (median - low) * stretch, median + (high - median) * stretch


def elsewhere(row: Row, here: Mapping[str, Any], given: Sequence[LoadedWorkload]) -> str | None:
    """The field in which machine or input differ from the committed ones; None where the number may be compared.

    ``here`` is this machine's fingerprint, ``given`` the recordings that are at hand.
    """
    run, reading = row.artifact.run, row.reading
    facts = (*EXACT, *TIME) if reading.basis is Basis.CLOCK else EXACT
    apart = differing(run.machine.fingerprint, here, facts)
    if apart:
        return "; ".join(apart)
    if reading.workload is None:
        return None
    recorded = run.workloads.get(reading.workload)
    at_hand = {load.workload.name: load.workload.sha256 for load in (*map(shipped, FILES), *given)}
    if recorded is None or reading.workload not in at_hand:
        return f"the workload {reading.workload} is not at hand: give it with --workload FILE"
    if recorded.sha256 != at_hand[reading.workload]:
        return (
            f"the workload {reading.workload} differs: sha256 {recorded.sha256[:12]} on record, "
            f"{at_hand[reading.workload][:12]} here"
        )
    return None


def repro_plan(
    catalog: Catalog,
    rows: Sequence[Row],
    *,
    params: Mapping[str, Sequence[str]],
    workloads: Sequence[LoadedWorkload],
) -> Plan:
    """What has to be measured for ``rows`` of one KPI, with as many processes as the committed runs took.

    Raises:
        kpis.registry.SelectionError: a parameter that the KPI does not have.
    """
    taken = {row.artifact.run.mode for row in rows}
    effort = modes.FULL if Mode.FULL in taken else modes.QUICK if taken == {Mode.QUICK} else modes.DEFAULT
    runtimes = [runtime_reference(name) for name in dict.fromkeys(row.reading.runtime for row in rows)]
    replayed = [load for load in workloads if any(row.reading.workload == load.workload.name for row in rows)]
    return make_plan(catalog, kpis=[rows[0].kpi], params=params, runtimes=runtimes, workloads=replayed, effort=effort)


def compared(row: Row, new: Reading | None) -> Repeated:
    """One committed number against the new reading of the same thing, None where there is none."""
    name, where, old = _name(row), _where(row), row.reading
    if new is None:
        return Repeated(row, Outcome.UNKNOWN, f"{name}: the plan of now has no such point ({where})")
    if new.undefined is not None or new.value is None or old.value is None:
        why = "" if new.undefined is None else f", {new.undefined.reason.value}: {new.undefined.detail.rstrip('.')}"
        return Repeated(row, Outcome.UNKNOWN, f"{name}: undefined now{why} ({where})")
    if old.distribution is None:
        return _exact(row, name, where, new)
    return _timed(row, name, where, new)


def _name(row: Row) -> str:
    return name_of(row).replace("`", "").replace("\\", "")


def _where(row: Row) -> str:
    """Where the committed number stands, and what has changed since."""
    return "; ".join((f"{row.artifact.hash}#{row.pointer}", *row.marks))


def _exact(row: Row, name: str, where: str, new: Reading) -> Repeated:
    for field in _EXACT:
        was, now = getattr(row.reading, field), getattr(new, field)
        if was != now:
            return Repeated(row, Outcome.DIFFERS, f"{name}: {field} is {now!r} now, and {was!r} in {where}")
    return Repeated(row, Outcome.SAME, f"{name}: {shown(new.value or 0, new.unit)}, to the digit as in {where}")


def _timed(row: Row, name: str, where: str, new: Reading) -> Repeated:
    old, was, now = row.reading, row.reading.distribution, new.distribution
    assert old.value is not None and new.value is not None and was is not None
    if was.ci95 is None or now is None:
        return Repeated(row, Outcome.UNKNOWN, f"{name}: too few processes for an interval ({where})")
    low, high = predicted(was.ci95[0], was.median, was.ci95[1], was.n, now.n)
    allowed = interval(low, high, old.unit, like=old.value)
    values = f"{shown(new.value, new.unit)} now, {shown(old.value, old.unit)} committed, allowed {allowed}"
    sentence = f"{name}: {values} ({where})"
    if low <= new.value <= high:
        return Repeated(row, Outcome.INSIDE, sentence)
    if any(notice.code in (Warn.LOADED, Warn.OFF_CPU) for notice in new.warnings):
        return Repeated(row, Outcome.UNKNOWN, f"{sentence}; others were at work on this machine")
    return Repeated(row, Outcome.DIFFERS, sentence)


def chosen(
    rows: Sequence[Row],
    kpi: str,
    *,
    params: Mapping[str, Sequence[str]],
    runtimes: Sequence[str],
    workloads: Sequence[LoadedWorkload],
) -> list[Row]:
    """The rows with a number of ``kpi`` that the words of the command line let through; no words let all through."""
    given = {load.workload.name for load in workloads}
    return [
        row
        for row in rows
        if row.kpi == kpi and row.table is not None
        if all(row.reading.params.get(key) in values for key, values in params.items())
        if not runtimes or row.reading.runtime in runtimes
        if not given or row.reading.workload in given
    ]


def repeat(
    rows: Sequence[Row],
    here: Mapping[str, Any],
    workloads: Sequence[LoadedWorkload],
    measure: Callable[[Sequence[Row]], Run],
) -> list[Repeated]:
    """Each number of ``rows`` against a new one, measured all at once by ``measure``.

    Where a number of the same thing may be compared here, those of other machines are left out; nothing is measured
    where none may be.
    """
    apart = {(row.artifact.hash, row.index): elsewhere(row, here, workloads) for row in rows}
    near = [row for row in rows if apart[row.artifact.hash, row.index] is None]
    known = {row.reading.identity[1:] for row in near}
    found = [
        Repeated(row, Outcome.ELSEWHERE, f"{_name(row)}: {why} ({_where(row)})")
        for row in rows
        if (why := apart[row.artifact.hash, row.index]) is not None and row.reading.identity[1:] not in known
    ]
    if near:
        new = {reading.identity[1:]: reading for reading in measure(near).readings if reading.kpi == near[0].kpi}
        found += [compared(row, new.get(row.reading.identity[1:])) for row in near]
    return found
