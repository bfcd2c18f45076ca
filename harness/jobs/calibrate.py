"""``calibrate``: records trials of known truth on this machine until the budget is over. Callable from Python.

What is recorded next follows from what is on record, each trial is on disk when it ends, and the file of the machine
is then computed from all of them. Refuses a tree that differs from HEAD: only what is committed is measured.
"""

from __future__ import annotations

import json
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harness.gating.deadline import Deadline
from harness.jobs.calibrate_batch import batch_after
from harness.jobs.calibrate_recorder import Recorder, Recording
from harness.jobs.calibrate_summary import calibration_of, counted
from harness.jobs.calibrate_trial import INTERRUPTED, PLANNED
from harness.measure import machine
from harness.project import Project
from harness.record.atomic import write_atomic
from harness.record.edit_floors import of_machine
from harness.record.floors import calibration_path, facts_of
from harness.record.lock import RunLock
from harness.record.streams import append, read_machine
from harness.record.trials import Trial
from harness.subject import SubjectError
from harness.subject.git import find, git, names
from harness.subject.revisions import resolve
from harness.subject.scratch import scratch
from kpis.registry import Catalog

__all__ = ["Calibrated", "Step", "calibrate", "require_clean"]

Step = Callable[[str, float], None]
"""Told what is recorded now and the share of the budget that is gone."""


@dataclass(slots=True)
class Calibrated:
    """What a call of :func:`calibrate` added; ``before`` and ``after`` count trials by load state and kind.

    ``floors_before`` are the floors by point, as fractions, that the trials before had given.
    """

    slug: str
    before: dict[str, dict[str, int]]
    after: dict[str, dict[str, int]] = field(default_factory=dict)
    made: int = 0
    points: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False
    seconds: float = 0.0
    path: Path | None = None
    document: dict[str, Any] = field(default_factory=dict)
    floors_before: dict[str, float] = field(default_factory=dict)


def require_clean(project: Project) -> None:
    """Require that the tree is HEAD, but for what ``calibrate`` itself writes.

    Raises:
        SubjectError: it differs, or there is no repository.
    """
    ours = ("baselines/*/streams/**", "baselines/*/calibration.json", "**/__pycache__/**")
    words = ["status", "--porcelain", "-z", "--untracked-files=all", "--", ":(top)"]
    code, out, said = git([*words, *(f":(exclude,glob){path}" for path in ours)], cwd=project.root)
    if code != 0:
        raise SubjectError(f"git status failed and said: {said.strip()[:300]}. Look with: git status")
    if changed := names(out):
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise SubjectError(
            f"The tree differs from HEAD ({changed[0][3:]!r}{more}), and only what is committed is measured. "
            "Put it aside or commit it, then repeat the command: git stash --include-untracked"
        )


def calibrate(
    project: Project,
    catalog: Catalog,
    *,
    budget_s: float,
    recording: Recording | None = None,
    on_step: Step = lambda _what, _share: None,
) -> Calibrated:
    """Record for ``budget_s`` seconds and write the machine's file; what has begun is finished.

    No trial begins that would not end in time at the pace so far; the first ones may, and one that the judge asks more
    pairs of ends late.

    ``recording`` stands in for the machine. Ctrl-C ends it early, with all that was measured.

    Raises:
        SubjectError: the tree differs from HEAD, or cannot be laid out.
        Busy: somebody else is measuring here.
        StoreError: what is on record cannot be read or added to.
    """
    began = time.monotonic()
    deadline = Deadline.of(began, budget_s)
    find(project.root)
    require_clean(project)
    facts = machine.fingerprint()
    slug = machine.slug(facts)
    with RunLock(project.root):
        done = read_machine(project.root, slug)
        found = Calibrated(slug, counted(done))
        given = _recorder(project, catalog) if recording is None else nullcontext(recording)
        try:
            _record(project.root, found, done, given, facts_of(facts), deadline, on_step)
        except KeyboardInterrupt:
            found.interrupted = True
        found.after = counted(done)
        if done:
            _write(project.root, found, done)
    found.seconds = round(time.monotonic() - began, 1)
    return found


@contextmanager
def _recorder(project: Project, catalog: Catalog) -> Iterator[Recording]:
    repository, commit = find(project.root), resolve(project.root, "HEAD").commit
    with scratch() as folder, TemporaryDirectory(dir=folder):
        yield Recorder(project, catalog, repository, commit, folder)


def _record(
    root: Path,
    found: Calibrated,
    done: list[Trial],
    given: AbstractContextManager[Recording],
    facts: Mapping[str, Any],
    deadline: Deadline,
    on_step: Step,
) -> None:
    """Append to ``done``, and to the streams, until the deadline."""
    mine = [trial for trial in done if trial.fingerprint == facts]
    known = _floors(done, facts)
    slowest = 0.0  # seconds a pair
    with given as recording:
        on_step("trying every point", 0.0)
        whom = recording.whom()
        found.points, found.left_out = tuple(whom.points), whom.left_out
        while whom.points and not deadline.over():
            batch = batch_after(whom, mine, known)
            if deadline.left(math.inf) < slowest * PLANNED[batch.kind]:
                return
            seed = random.SystemRandom().randrange(2**32)
            with closing(recording.trials(batch, seed)) as trials:
                on_step(f"{batch.kind.value}, {batch.state.value}", _share(deadline))
                begun = None  # the first trial of a batch is not timed: its checkouts are laid out meanwhile
                for trial in trials:
                    if begun is not None:
                        slowest = max(slowest, (time.monotonic() - begun) / max(len(trial.pairs), 1))
                    append(root, trial)
                    done.append(trial)
                    mine.append(trial)
                    found.made += 1
                    if trial.void == INTERRUPTED:
                        raise KeyboardInterrupt
                    on_step(f"{batch.kind.value}, {batch.state.value}: {trial.kpi}", _share(deadline))
                    begun = time.monotonic()
                    if deadline.left(math.inf) < slowest * PLANNED[batch.kind]:
                        return


def _floors(done: Sequence[Trial], facts: Mapping[str, Any]) -> dict[str, float]:
    """The floors that hold here, which say how many pairs are asked for."""
    known, of = of_machine(done)
    return {name: floor.size for name, floor in known.items()} if of == facts else {}


def _share(deadline: Deadline) -> float:
    return min(deadline.spent() / (deadline.budget_s or 1.0), 1.0)


def _write(root: Path, found: Calibrated, done: Sequence[Trial]) -> None:
    """Write the file, and note where it was not what the trials before had said."""
    before = done[: len(done) - found.made]
    file = calibration_path(root, found.slug)
    then = calibration_of(found.slug, before) if before else None
    if then is not None:
        found.floors_before = {name: row["floor"] for name, row in json.loads(then)["floors"].items()}
    if then is not None and file.is_file() and file.read_bytes() != then:
        found.notes.append(
            f"{file.relative_to(root)} was not what the recorded trials say, and has been written anew; see: git diff"
        )
    blob = calibration_of(found.slug, done)
    write_atomic(file, blob, within=root)
    found.path, found.document = file, json.loads(blob)
