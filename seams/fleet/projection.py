"""The seam ``fleet/projection``: workers in processes of their own, let in by the arbiter of file trees.

A worker is started once its trees are free and there is a place for it; so jobs on one tree are done one after the
other however many could run. It does real work and projects nothing: the model is a formula, and stands beside it.
"""

from __future__ import annotations

import selectors
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from seams.contract import Engine
from seams.contract.fleet_arbiter import Lease, Ruling
from seams.contract.fleet_projection import Job
from seams.fleet.arbiter import TreeArbiter

__all__ = ["WorkerError", "Workers", "offer"]

_PROGRAM = Path(__file__).with_name("work.py")
_NEXT = "Run: python -m harness explain measured_speedup"


class WorkerError(RuntimeError):
    """A worker ended without an answer."""


class Workers:
    """What ``fleet/projection`` offers."""

    def run(self, jobs: Sequence[Job], width: int) -> list[int]:
        """See the contract. No worker outlives the call, whatever ends it.

        Raises:
            ValueError: ``width`` is below 1, or a job's trees are none that can be leased.
            WorkerError: a worker failed.
        """
        if width < 1:
            raise ValueError(f"A width of {width} lets no worker in: take 1 or more. {_NEXT}")
        with _Shift(jobs) as shift:
            while shift.open:
                shift.start(width)
                shift.wait()
            return [shift.done[place] for place in range(len(jobs))]


class _Shift:
    """The jobs of one run: those that wait, those at work by their pipe, and what is done by place."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.done: dict[int, int] = {}
        self._waiting = list(enumerate(jobs))
        self._arbiter = TreeArbiter()
        self._working: dict[IO[bytes], tuple[int, Lease, subprocess.Popen[bytes]]] = {}
        self._pipes = selectors.DefaultSelector()

    def __enter__(self) -> _Shift:
        return self

    def __exit__(self, *error: Any) -> None:
        for pipe, (_, _, process) in self._working.items():
            process.kill()
            process.wait()
            pipe.close()
        self._pipes.close()

    @property
    def open(self) -> bool:
        """Whether anything is left to do."""
        return bool(self._waiting or self._working)

    def start(self, width: int) -> None:
        """Start, in their order, those that wait and whose trees are free, up to ``width`` at work."""
        held_back = []
        for place, job in self._waiting:
            if len(self._working) >= width:
                held_back.append((place, job))
                continue
            decision = self._arbiter.acquire(f"worker {place}", job.trees)
            if decision.lease is not None:
                self._begin(place, job, decision.lease)
            elif decision.ruling is Ruling.HELD:
                held_back.append((place, job))
            else:
                trees: object = job.trees
                named = repr(trees) if isinstance(trees, str) else ", ".join(map(repr, job.trees))
                raise ValueError(
                    f"Job {place} names the trees {named or 'of nobody'}, which cannot be "
                    f"leased ({decision.ruling.value}): name paths within the root. {_NEXT}"
                )
        self._waiting = held_back

    def _begin(self, place: int, job: Job, lease: Lease) -> None:
        # Isolated from the user's site and path: the interpreter is part of what a spawn costs, their packages are not.
        command = [sys.executable, "-I", "-S", str(_PROGRAM), str(job.seed), str(job.steps)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        pipe = process.stdout
        assert pipe is not None
        self._working[pipe] = (place, lease, process)
        self._pipes.register(pipe, selectors.EVENT_READ)

    def wait(self) -> None:
        """Until one worker or more is done; take its answer and give its trees back."""
        for key, _ in self._pipes.select():
            pipe: Any = key.fileobj
            place, lease, process = self._working[pipe]
            answer = pipe.read()  # its one line, to the end: it writes nothing before it is done
            code = process.wait()
            self._pipes.unregister(pipe)
            del self._working[pipe]
            pipe.close()
            self._arbiter.release(lease.number)
            if code or not answer.strip().isdigit():
                raise WorkerError(f"The worker of job {place} ended with {code} and without an answer. {_NEXT}")
            self.done[place] = int(answer)


def offer(engine: Engine) -> Workers:  # noqa: ARG001 - the work is the workers' own, and no engine's
    """A crew without a job."""
    return Workers()
