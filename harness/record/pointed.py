"""The run files that a record points to: each is read once, however many rows rest on it, and held against its name.

What a run makes of a row, a session and a workload, is said here too. Refuses a file that is missing, cut short or
edited, in a sentence that names the row that needs it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from harness.formats.limits import regular_bytes
from harness.record.baseline import UNKNOWN_BOOT, Session
from harness.record.baseline_read import BaselineError
from harness.record.run import Run, RunFileError, decode
from kpis.terms.reading import Reading

__all__ = ["Pointed", "session_of", "workload_of"]

Name = Callable[[Reading], str]


@dataclass(slots=True)
class Pointed:
    """The run files that a record points to, by their names; ``read`` gives the content of one, or raises OSError.

    ``name`` says by which row a reading goes; ``committed`` are the names of all run files that are there.
    """

    slug: str
    read: Callable[[str], bytes]
    name: Name
    committed: tuple[str, ...] = ()
    _runs: dict[str, tuple[Run, dict[str, Reading]]] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)

    @classmethod
    def in_folder(cls, folder: Path, slug: str, name: Name) -> Pointed:
        """Those in ``folder``."""
        committed = tuple(sorted(path.stem for path in folder.glob("*.json")))
        return cls(slug, lambda run: regular_bytes(folder / f"{run}.json"), name, committed)

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

    def place(self, run: str, name: str) -> tuple[str, int] | None:
        """(sha256 of the run file, number of the reading in it) of the row ``name``; None where it has none.

        Raises:
            BaselineError: as :meth:`readings`.
        """
        decoded, readings = self._load(run, name)
        reading = readings.get(name)
        if reading is None:
            return None
        return self._digests[run], next(at for at, each in enumerate(decoded.readings) if each is reading)

    def every_session(self, name: str) -> list[Session]:
        """The sessions of the row ``name`` in all run files that are there and can be read, whatever points to them."""
        found = []
        for run in self.committed:
            try:
                taken, readings = self._load(run, name)
            except BaselineError:
                continue  # what points to it says so
            if name in readings and readings[name].value is not None:
                found.append(session_of(taken, run, readings[name]))
        return found

    def hold(self, run: str, blob: bytes) -> None:
        """Take ``blob`` for the run file called ``run``, which is not written yet.

        Raises:
            RunFileError: it is none.
        """
        self._take(run, blob)
        self.committed = tuple({*self.committed, run})

    def _take(self, run: str, blob: bytes) -> None:
        decoded = decode(blob, self.path(run))
        self._digests[run] = hashlib.sha256(blob).hexdigest()
        self._runs[run] = decoded, {self.name(reading): reading for reading in decoded.readings}

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
                self._take(run, blob)
            except RunFileError as error:
                raise BaselineError(str(error)) from None
        return self._runs[run]


def session_of(run: Run, name: str, reading: Reading) -> Session:
    """The session that ``reading`` of ``run`` (the run file ``name``) makes."""
    timed = reading.distribution if reading.estimand.timed else None
    return Session(
        day=date.fromisoformat(run.created[:10]),
        boot=str(run.noise.get("boot") or UNKNOWN_BOOT),
        run=name,
        median=None if timed is None else timed.median,
        n=None if timed is None else timed.n,
    )


def workload_of(run: Run, reading: Reading) -> str | None:
    """The sha256 of what ``reading`` of ``run`` was taken on; None where it took nothing."""
    return None if reading.workload is None else run.workloads[reading.workload].sha256
