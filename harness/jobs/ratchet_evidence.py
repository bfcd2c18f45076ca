"""What a claim of the ratchet rests on: the reading of the run, and those of the sessions that bear the row.

Each is a place in a run file, by the sha256 of that file, with which its name under ``baselines`` begins. Refuses to
point at what is not there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from harness.jobs.ratchet_found import Found
from harness.record.baseline import different
from harness.record.pointed import Pointed
from harness.record.run import Run, encode
from kpis.terms.claim import Evidence

__all__ = ["evidence_in"]


def evidence_in(run: Run, pointed: Pointed) -> Callable[[Found], tuple[Evidence, ...]]:
    """Of each comparison its evidence: the reading of ``run`` first, then one of each session, oldest first.

    Of a count that is one session, the newest: the others bear it out with the same value.
    """
    artifact = hashlib.sha256(encode(run)).hexdigest()
    at = {id(reading): number for number, reading in enumerate(run.readings)}

    def of(found: Found) -> tuple[Evidence, ...]:
        here = () if found.reading is None else (_reading(artifact, at[id(found.reading)]),)
        if found.held is None:
            return here
        row = found.held.row
        sessions = different(row.sessions) if row.timed else row.sessions[-1:]
        places = (pointed.place(session.run, found.name) for session in sessions)
        return (*here, *(_reading(*place) for place in places if place is not None))

    return of


def _reading(artifact: str, number: int) -> Evidence:
    return Evidence(artifact, f"/readings/{number}", None)
