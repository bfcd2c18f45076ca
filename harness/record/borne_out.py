"""Whether the rows of a record say what the run files say that they rest on.

A limit that somebody typed, a median that was rounded in a merge, a run file that is gone or cut short: each is found
here, before anything is judged by it. Each run file is read once, however many rows point to it. Refuses to repair.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from harness.judge.ratchet import LOOSE, first_limit
from harness.record.baseline import Row, Session
from harness.record.baseline_read import BaselineError
from harness.record.baselines import RELEASE, Record
from harness.record.run import Run, RunFileError, decode
from kpis.terms.kpi import Direction
from kpis.terms.reading import Reading

__all__ = ["Pointed", "require_borne_out", "session_of", "workload_of"]

Name = Callable[[Reading], str]

_DIGITS = 1e-9
"""Relative room for a limit that another build of the mathematics library computes in its last digits."""


@dataclass(slots=True)
class Pointed:
    """The run files that a record points to, by their names; ``read`` gives the content of one, or raises OSError.

    ``name`` says by which row a reading goes.
    """

    slug: str
    read: Callable[[str], bytes]
    name: Name
    _runs: dict[str, tuple[Run, dict[str, Reading]]] = field(default_factory=dict)

    @classmethod
    def in_folder(cls, folder: Path, slug: str, name: Name) -> Pointed:
        """Those in ``folder``."""
        return cls(slug, lambda run: (folder / f"{run}.json").read_bytes(), name)

    def path(self, run: str) -> str:
        """What a run file is called inside the project."""
        return f"baselines/{self.slug}/runs/{run}.json"

    def run(self, run: str, *, wanted_by: str) -> Run:
        """The run of that name; see :meth:`readings`."""
        return self._load(run, wanted_by)[0]

    def readings(self, run: str, *, wanted_by: str) -> Mapping[str, Reading]:
        """Its readings by the names of rows.

        Raises:
            BaselineError: it is missing, cut short or edited; ``wanted_by`` says which row needs it.
        """
        return self._load(run, wanted_by)[1]

    def _load(self, run: str, wanted_by: str) -> tuple[Run, dict[str, Reading]]:
        if run not in self._runs:
            path = self.path(run)
            back = f"bring it back with `git checkout -- {path}`."
            try:
                blob = self.read(run)
            except OSError as error:
                why = "it is missing" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
                raise BaselineError(f"{wanted_by} rests on {path}, and {why}; {back}") from None
            if hashlib.sha256(blob).hexdigest()[:16] != run:
                raise BaselineError(
                    f"{wanted_by} rests on {path}, which was cut short or edited: its content has another digest than "
                    f"its name; {back}"
                )
            try:
                found = decode(blob, path)
            except RunFileError as error:
                raise BaselineError(str(error)) from None
            self._runs[run] = found, {self.name(reading): reading for reading in found.readings}
        return self._runs[run]


def require_borne_out(record: Record, pointed: Pointed, canonical: Callable[[str], str]) -> None:
    """Hold every row of ``record`` against the runs that it points to; ``canonical`` is the present name of a row.

    Raises:
        BaselineError: the first row that its own runs do not bear out.
    """
    for layer, name, row in record.rows:
        _require(f"baselines/{record.slug}/{layer.value}.toml", name, row, pointed, canonical(name))
    if record.release is not None:
        for name, row in sorted(record.release.rows.items()):
            _require(f"baselines/{record.slug}/{RELEASE}.toml", name, row, pointed, canonical(name))


def _require(path: str, name: str, row: Row, pointed: Pointed, present: str) -> None:
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
    if row.timed and (why := _limit_fault(row)) is not None:
        raise _edited(path, where, why)


def _edited(path: str, where: str, why: str) -> BaselineError:
    return BaselineError(
        f"{where} was edited by hand: {why}. Put it back with `git checkout -- {path}`, and move it with "
        "`python -m harness ratchet accept KPI --why TEXT`."
    )


def session_of(run: Run, name: str, reading: Reading) -> Session:
    """The session that ``reading`` of ``run`` (the run file ``name``) makes."""
    timed = reading.distribution if reading.estimand.timed else None
    return Session(
        day=date.fromisoformat(run.created[:10]),
        boot=str(run.noise.get("boot") or "unknown"),
        run=name,
        median=None if timed is None else timed.median,
        n=None if timed is None else timed.n,
    )


def workload_of(run: Run, reading: Reading) -> str | None:
    """The sha256 of what ``reading`` was taken on."""
    return None if reading.workload is None else run.workloads[reading.workload].sha256


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
