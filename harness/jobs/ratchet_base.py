"""What was red at a revision already: its own record, and the newest run that was committed with it.

Whoever comes after a fault is not to blame for it, as long as it does not get worse. Reads through git and lays nothing
out. Refuses to take a record that cannot be read for one in which nothing was red: it says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path, PurePosixPath

from harness.jobs.ratchet_conditions import Held
from harness.jobs.ratchet_counts import histograms, made_of
from harness.jobs.ratchet_found import Found
from harness.jobs.ratchet_points import Names, gating_points, readings_by_name
from harness.jobs.ratchet_rows import compare
from harness.judge.ratchet import worse_than
from harness.judge.ratchet_counts import compare_counts
from harness.judge.ratchet_row import TimedRow
from harness.record.baseline import BaselineFile, Row
from harness.record.baseline_read import BaselineError
from harness.record.baselines import Record, parse
from harness.record.pointed import Pointed
from harness.record.run import Run, RunFileError, decode
from harness.subject.git import find, names
from harness.subject.revisions import resolve
from kpis.terms.comparison import State
from kpis.terms.kpi import Estimand, Gate

__all__ = ["AtBase", "at_base", "held_rows", "release_rows"]


@dataclass(frozen=True, slots=True)
class AtBase:
    """The commit, its newest committed run, and what was red there by (anchor, name); ``note`` says what is missing."""

    commit: str
    run: str | None = None
    red: dict[tuple[str, str], Found] = field(default_factory=dict)
    note: str | None = None

    def blames(self, found: Found) -> bool:
        """Whether a row that is red now is the change's doing: it was not red at the base, or it got worse since."""
        then = self.red.get((found.anchor, found.name))
        if then is None or then.reading is None or found.reading is None or found.held is None:
            return then is None
        was, now = then.reading.value, found.reading.value
        if was is None or now is None:
            return True
        row = found.held.row
        if row.timed:
            level = found.comparison.alpha or 0.0
            spread = TimedRow(row.medians, (float(now),), row.direction)
            return level <= 0 or worse_than(spread, float(was), level)
        if row.gate is Gate.INVARIANT:
            return False  # broken is broken
        both = histograms(then.reading.histogram, found.reading)
        made = (made_of(then.reading), made_of(found.reading)) if row.estimand is Estimand.RATE else None
        return compare_counts(was, now, row.direction, histograms=both, made=made).state is State.REGRESSED


def held_rows(record: Record, rows: Names, pointed: Pointed | None = None) -> dict[str, Held]:
    """Every row of the layers by its present name; ``pointed`` are the run files where rows are to be compared.

    Raises:
        BaselineError: a KPI is on record under its name and under an alias.
    """
    found: dict[str, Held] = {}
    for layer, name, row in record.rows:
        present = rows.canonical(name)
        if present in found:
            raise BaselineError(
                f"baselines/{record.slug}/{layer.value}.toml: [kpi.{name}] and [kpi.{found[present].recorded_as}] are "
                "one KPI under two names; take the older one out, then run `python -m harness ratchet check`."
            )
        found[present] = Held(record.layers[layer], name, row, _made_of(row, present, pointed))
    return found


def _made_of(row: Row, present: str, pointed: Pointed | None) -> Mapping[str, int] | None:
    if row.estimand is not Estimand.RATE or pointed is None:
        return None
    reading = pointed.readings(row.sessions[-1].run, wanted_by=present).get(present)
    return None if reading is None else reading.histogram


def release_rows(record: Record, rows: Names) -> tuple[str, dict[str, Held]] | None:
    """The tag of the last release and its rows by their present names; None where there is none."""
    file: BaselineFile | None = record.release
    if file is None:
        return None
    return file.tag or "", {rows.canonical(name): Held(file, name, row) for name, row in file.rows.items()}


def at_base(root: Path, rev: str, slug: str, rows: Names, today: date) -> AtBase:
    """What was red at the merge base of ``rev`` and HEAD, on the machine ``slug``.

    Raises:
        SubjectError: there is no such revision, or no repository.
    """
    base = resolve(root, rev)
    short = base.commit[:12]
    blobs = _committed(root, base.commit, slug)
    layers = {path.stem: blob for path, blob in blobs.items() if path.suffix == ".toml"}
    try:
        record = parse(slug, layers)
        runs = [decode(blob, path.name) for path, blob in blobs.items() if path.suffix == ".json"]
        if record is None or not runs:
            what = "no record" if record is None else "no committed run"
            return AtBase(base.commit, note=f"The base {short} has {what} of this machine: nothing is known red there.")
        run = max(runs, key=lambda each: (each.created, each.id))
        held = held_rows(record, rows, _pointed(slug, blobs, rows))
    except (BaselineError, RunFileError) as error:
        return AtBase(base.commit, note=f"Of the base {short} it is not known what was red: {error}")
    found = _compared(held, record, run, rows, today)
    red = {(each.anchor, each.name): each for each in found if each.comparison.state is State.REGRESSED}
    return AtBase(base.commit, run.id, red)


def _pointed(slug: str, blobs: Mapping[PurePosixPath, bytes], rows: Names) -> Pointed:
    """The run files among ``blobs``."""
    runs = {path.stem: blob for path, blob in blobs.items() if path.suffix == ".json"}

    def read(run: str) -> bytes:
        if run not in runs:
            raise FileNotFoundError(run)
        return runs[run]

    return Pointed(slug, read, rows.of_reading)


def _compared(held: Mapping[str, Held], record: Record, run: Run, rows: Names, today: date) -> list[Found]:
    points, readings = gating_points(run, rows), readings_by_name(run, rows)
    mine = {name: each for name, each in held.items() if name in points}
    return compare(mine, run, points, readings, today=today, release=release_rows(record, rows))


def _committed(root: Path, commit: str, slug: str) -> dict[PurePosixPath, bytes]:
    """The record's files at ``commit``: the layers' and the run files'."""
    repository = find(root)
    inside = root.resolve().relative_to(repository.top.resolve()).as_posix()
    folder = PurePosixPath(inside) / "baselines" / slug
    listing = repository.ask("ls-tree", "-r", "-z", "--name-only", commit, "--", f"{folder.as_posix()}/")
    found = {}
    for name in names(listing):
        path = PurePosixPath(name)
        of_layer = path.parent == folder and path.suffix == ".toml"
        if of_layer or (path.parent == folder / "runs" and path.suffix == ".json"):
            found[path] = repository.ask("cat-file", "blob", f"{commit}:{name}")
    return found
