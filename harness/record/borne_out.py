"""Whether the rows of a record say what the run files say that they rest on.

A limit that somebody typed, a median that was rounded in a merge, a machine that is not that of the runs, a row that
waits no more for its second session: each is found here, before anything is judged by it. Refuses to repair.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

from harness.judge.ratchet_limit import LOOSE, first_limit
from harness.record.baseline import LONGEST_WAIVER, BaselineFile, Row, Session, different
from harness.record.baseline_read import BaselineError
from harness.record.baselines import RELEASE, Record
from harness.record.fingerprints import EXACT, TIME, differing, stated
from harness.record.pointed import Pointed, session_of, workload_of
from harness.record.run import Run
from kpis.terms.kpi import Direction
from kpis.terms.reading import Reading

__all__ = ["require_borne_out", "require_short_waivers"]

_DIGITS = 1e-9
"""Relative room for a limit that another build of the mathematics library computes in its last digits."""


def require_borne_out(
    record: Record, pointed: Pointed, canonical: Callable[[str], str], known: Callable[[str], bool] = lambda _name: True
) -> dict[str, str]:
    """Hold every row of ``record`` against the runs that it points to; ``canonical`` is the present name of a row.

    Rows that are not ``known``, by a KPI that the catalog does not have, come back by their present names, each with
    what is wrong with it: that they are not covered weighs more.

    Raises:
        BaselineError: the first row that its own runs do not bear out.
    """
    lost = {}
    for layer, name, row in record.rows:
        path, file = f"baselines/{record.slug}/{layer.value}.toml", record.layers[layer]
        try:
            _require(path, file, name, row, pointed, canonical(name))
        except _EditedError as edited:
            if known(name):
                raise
            lost[canonical(name)] = str(edited)
    if record.release is not None:
        for name, row in sorted(record.release.rows.items()):
            _require(f"baselines/{record.slug}/{RELEASE}.toml", record.release, name, row, pointed, canonical(name))
    return lost


def require_short_waivers(record: Record, today: date) -> None:
    """Require that no waiver of ``record`` holds for longer than one that could have been given by now.

    Raises:
        BaselineError: the first one that does.
    """
    last = today + timedelta(days=LONGEST_WAIVER)
    for layer, name, row in record.rows:
        if row.waiver is not None and row.waiver.until > last:
            path = f"baselines/{record.slug}/{layer.value}.toml"
            why = f"its waiver holds until {row.waiver.until}, and the longest one ends on {last}"
            raise _edited(path, f"{path}: [kpi.{name}]", why)


class _EditedError(BaselineError):
    """What a row says is not what its runs say."""


def _require(path: str, file: BaselineFile, name: str, row: Row, pointed: Pointed, present: str) -> None:
    where = f"{path}: [kpi.{name}]"
    for session in row.sessions:
        run = pointed.run(session.run, wanted_by=where)
        reading = pointed.readings(session.run, wanted_by=where).get(present)
        why = _session_fault(row, session, run, reading)
        if why is None and not row.timed:
            why = _count_fault(row, reading)
        if why is None and session is row.sessions[-1]:
            why = _loops_fault(row, reading)
        if why is not None:
            raise _edited(path, where, f"{why}, by {pointed.path(session.run)}")
        for part, facts in (("exact", EXACT), ("time", TIME)):
            if (part == "exact" or row.timed) and (why := _machine_fault(getattr(file, part), run, facts)):
                raise _edited(path, f"{path}: [fingerprint.{part}]", f"{why}, by {pointed.path(session.run)}")
    why = _limit_fault(row) if row.timed else None
    why = why or (_waiting_fault(row, pointed, present) if file.tag is None else _anchor_fault(row))
    if why is not None:
        raise _edited(path, where, why)


def _edited(path: str, where: str, why: str) -> _EditedError:
    return _EditedError(
        f"{where} was edited by hand: {why}. Put it back with `git checkout -- {path}`, and move it with "
        "`python -m harness ratchet accept KPI --why TEXT`."
    )


def _machine_fault(held: dict[str, str | int], run: Run, facts: tuple[str, ...]) -> str | None:
    """Whether a file says another machine than a run that its rows rest on."""
    if held == stated(run.machine.fingerprint, facts):
        return None
    apart = differing(held, run.machine.fingerprint, facts)
    return apart[0] if apart else "it holds a fact that no run states"


def _waiting_fault(row: Row, pointed: Pointed, name: str) -> str | None:
    """Whether a row waits for a session that it has, or no more for one that it never had.

    One that a person moved begins without waiting; and one that was borne out once and got better since has one
    session and does not wait, while the run files of before are still there.
    """
    count = len(different(row.sessions))
    if row.pending is not None:
        return f"it is pending, and {count} sessions bear it out" if count > 1 else None
    if count > 1 or row.moved is not None or len(different(pointed.every_session(name))) > 1:
        return None
    return "it is not pending, and no committed run bears its one session out"


def _anchor_fault(row: Row) -> str | None:
    """An anchor is held against as it stands."""
    extra = [part for part in ("pending", "waiver", "moved") if getattr(row, part) is not None]
    return f"it has {extra[0]}, which no row of a release has" if extra else None


def _session_fault(row: Row, session: Session, run: Run, reading: Reading | None) -> str | None:
    if reading is None or reading.value is None:
        return f"a session of {session.day} rests on a run without a number of it"
    said = session_of(run, session.run, reading)
    for part in ("day", "boot", "median", "n"):
        if getattr(session, part) != getattr(said, part):
            return f"a session says {part} {getattr(session, part)} and its run {getattr(said, part)}"
    for part in ("unit", "direction", "gate", "estimand"):
        if getattr(row, part) is not getattr(reading, part):
            return f"it says {part} {getattr(row, part).value} and its run {getattr(reading, part).value}"
    if row.isolation != reading.isolation:
        return f"it says isolation {row.isolation} and its run {reading.isolation}"
    if row.workload != workload_of(run, reading):
        return "its workload has another digest in its run"
    if row.timed and row.mode is not run.mode:
        return f"it says mode {row.mode.value} and its run {run.mode.value}"
    return None


def _loops_fault(row: Row, reading: Reading | None) -> str | None:
    """Whether a row says other loops than ``reading``, which is of its newest session."""
    said = None if reading is None or not row.timed else reading.distribution
    for part in ("loops", "values"):
        noted = None if said is None else getattr(said, part)
        if getattr(row, part) != noted:
            return f"it says {part} {getattr(row, part)} and its run {noted}"
    return None


def _count_fault(row: Row, reading: Reading | None) -> str | None:
    if reading is None:
        return None
    # The latest session is the one that the value is from; the others bear the same value out.
    if reading.value != row.limit:
        return f"its limit is {row.limit!r} and its run says {reading.value!r}"
    for part in ("numerator", "denominator"):
        held, said = getattr(row, part), getattr(reading, part)
        if held is not None and held != said:
            return f"its {part} is {held!r} and its run says {said!r}"
    if row.histogram is not None and row.histogram != (reading.histogram or {}):
        return "its histogram differs from that of its run"
    return None


def _limit_fault(row: Row) -> str | None:
    """Whether a timed limit lies outside what its sessions support: at most their bound, and no better than the best.

    Until a moved row has five sessions again its limit is one that was carried on, and so at most twice a session's.
    """
    if row.limit is None:
        return None
    sign = -1 if row.direction is Direction.HIGHER else 1
    medians = row.medians
    bound = first_limit(medians, row.direction)
    worst = max(sign * median for median in medians)
    loosest = sign * bound if bound is not None else (worst * LOOSE if sign > 0 else worst / LOOSE)
    best = min(sign * median for median in medians)
    if sign * row.limit > loosest + _DIGITS * abs(loosest):
        return f"its limit {row.limit!r} is looser than its sessions support, which is {abs(loosest):.6g}"
    if sign * row.limit < best - _DIGITS * abs(best):
        return f"its limit {row.limit!r} is tighter than its best session, {abs(best):.6g}"
    return None
