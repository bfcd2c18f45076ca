"""Puts a point's questions to workers, or takes the answers from the journal of an interrupted run.

Each answer is on disk before it is used. The seconds that answers took count against the point's limit, resumed or
not, so that a resumed run ends as the uninterrupted one would have. Where one opening served several counts, the answer
of each is kept, and none of them is asked for again.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.jobs.answers import answer_fault
from harness.jobs.measure_point import Ask, Late
from harness.jobs.modes import Effort
from harness.jobs.plan import PlannedPoint
from harness.jobs.together import TASKS, handed_over
from harness.jobs.worker_job import job_of
from harness.measure.answer import Answer
from harness.measure.instrument import INSTRUMENT
from harness.project import Project
from harness.record.journal import Journal

__all__ = ["LARGEST", "Asker", "Launch", "digest", "digests"]

Launch = Callable[..., Answer]
"""As ``harness.measure.launch.launch``."""


LARGEST = 64 * 2**20
"""Bytes of a file that is read for its digest: a slice that opens a data set must not cost minutes at every look."""

_CHUNK = 2**20


def digests(names: Iterable[str]) -> dict[str, str | None]:
    """:func:`digest` of each file."""
    return {name: digest(name) for name in names}


def digest(name: str) -> str | None:
    """The sha256 of a file; None for one that is gone, unreadable, no regular file, or beyond :data:`LARGEST`."""
    found = hashlib.sha256()
    try:
        # Without waiting: what was a file may be a pipe by now.
        handle = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (OSError, ValueError):
        return None
    try:
        facts = os.fstat(handle)
        left = LARGEST
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > left:
            return None
        while chunk := os.read(handle, _CHUNK):
            left -= len(chunk)
            if left < 0:  # it grew meanwhile
                return None
            found.update(chunk)
    except OSError:
        return None
    finally:
        os.close(handle)
    return found.hexdigest()


@dataclass(slots=True)
class Asker:
    """Puts questions to workers, or takes the answers from the journal of an interrupted run."""

    project: Project
    journal: Journal
    scratch: Path
    workloads: Mapping[str, str]
    deadline: float | None
    launch: Launch
    known: dict[str, dict[str, Any]] = field(default_factory=dict)
    beside: Mapping[str, Sequence[PlannedPoint]] = field(default_factory=dict)
    """By the key of a point, those that its opening may serve as well."""

    def changed(self) -> list[str]:
        """Touched files that are not what they were when their slice was discovered, by name."""
        touched = [answer["touched"] for answer in self.known.values() if answer.get("touched")]
        then = {name: digest for one in touched for name, digest in one.items()}
        now = digests(then)
        return sorted({Path(name).name for one in touched for name, digest in one.items() if now[name] != digest})

    def ask(self, point: PlannedPoint, effort: Effort, *, frozen_sync: bool) -> Ask:
        """The ``ask`` of one point. ``frozen_sync`` is a property of its seam, which the worker enforces."""
        spent: list[float] = []

        def asked(task: str, index: int, extra: Mapping[str, Any]) -> dict[str, Any]:
            name = _name(point, task, index, extra)
            timed = point.kpi.timed
            answer = self.known.get(name)
            if answer is None or answer_fault(task, timed=timed, answer=answer) is not None:
                job = {**self._job(point), "task": task, "frozen_sync": frozen_sync, **extra}
                others = self.beside.get(point.key, ()) if task in TASKS else ()
                job["beside"] = [other.kpi.id for other in others]
                answer = self._fresh(job, index + 1, effort.limit_s - sum(spent))
                for other, own in handed_over(answer, others):
                    theirs = _name(other, task, index, extra)
                    if theirs not in self.known and answer_fault(task, timed=False, answer=own) is None:
                        self._kept(theirs, own)
                fault = answer_fault(task, timed=timed, answer=answer)
                if fault is not None:
                    answer = _unusable(answer, f"Its worker answered without a usable {fault}.")
                answer = self._kept(name, answer)
            spent.append(answer["seconds"])
            return answer

        return asked

    def _kept(self, name: str, answer: dict[str, Any]) -> dict[str, Any]:
        """``answer``, on disk; what cannot be written there is a value that is none."""
        try:
            self.journal.append({"asked": name, "answer": answer})
        except (ValueError, TypeError, RecursionError) as error:
            answer = _unusable(answer, f"Its worker answered what cannot be written down: {str(error)[:200]}.")
            self.journal.append({"asked": name, "answer": answer})
        self.known[name] = answer
        return answer

    def _fresh(self, job: dict[str, Any], seed: int, limit: float) -> dict[str, Any]:
        if self.deadline is not None:
            left = self.deadline - time.monotonic()
            if left <= 0:
                raise Late
            limit = min(limit, left + 1)
        if limit <= 0:
            return {"undefined": {"reason": "timeout", "detail": "Its limit was spent."}, "seconds": 0.0}
        job["limit"] = limit
        answer = self.launch(job, seed=seed, limit=limit, folder=self.scratch, cwd=self.project.root)
        if answer.undefined is not None and answer.undefined[0] == "timeout" and self._late():
            raise Late
        touched = answer.result.get("touched")
        if isinstance(touched, list) and all(isinstance(name, str) for name in touched):
            answer.result["touched"] = digests(touched)
        result = {**answer.result, "printed": answer.printed, "seconds": round(answer.seconds, 3)}
        if answer.notices:
            result["notices"] = answer.notices
        if answer.undefined is not None:
            result["undefined"] = {"reason": answer.undefined[0], "detail": answer.undefined[1]}
        return result

    def _late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline

    def _job(self, point: PlannedPoint) -> dict[str, Any]:
        """What every job of the point says, whatever its task."""
        return job_of(
            point,
            path=self.project.path,
            instrument=INSTRUMENT,
            under_test=self.project.under_test,
            workloads=self.workloads,
        )


def _name(point: PlannedPoint, task: str, index: int, extra: Mapping[str, Any]) -> str:
    """Under which a question stands in the journal."""
    return json.dumps([point.key, task, index, extra.get("loops")])


def _unusable(answer: Mapping[str, Any], detail: str) -> dict[str, Any]:
    """An answer in the place of one that cannot be used."""
    return {"undefined": {"reason": "bad-value", "detail": detail}, "seconds": answer["seconds"]}
