"""Which run bears out each KPI: the newest complete one that says anything about it.

A run says something about a KPI when it holds a reading of it by the default runtime on the workload that ships (or on
none), or when it covered the KPI's whole layer and has no reading of it. Somebody's own runtime or workload says
nothing about the default one; a user's own row counts with the project's runtime and with those of installed plug-ins.
Local runs come first, then the committed ones. Nothing is judged here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.formats.limits import regular_bytes
from harness.jobs.own_hook import PARAM
from harness.project import Project, installed_runtimes
from harness.record.store import committed_runs, runs
from harness.report.naming import typed
from kpis.registry import Catalog
from kpis.status import derive
from kpis.terms.kpi import Kpi, Layer, Status
from kpis.terms.reading import Reading, Reason

if TYPE_CHECKING:
    from harness.record.run import Run, Selection

__all__ = ["Evidence", "Told", "covers", "gather"]

LOOK_BACK = 64
"""How many local runs are looked through: `list` must answer at once, however many runs have piled up."""

_SILENT = (Reason.WORKLOAD_KIND, Reason.OUT_OF_BUDGET)
"""Reasons that come from what was asked of a run, and say nothing about whether the KPI is emitted."""


@dataclass(frozen=True, slots=True)
class Told:
    """What the run ``run`` (its id), in the file ``name``, says about one KPI; no readings: it emitted nothing."""

    run: str
    name: str
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """By KPI, what bears it out; ``refused`` are the sentences about files that cannot be read."""

    told: dict[str, Told] = field(default_factory=dict)
    refused: tuple[str, ...] = ()

    def of(self, kpi: Kpi) -> tuple[Reading, ...] | None:
        """The readings of ``kpi``, None where no run says anything about it."""
        found = self.told.get(kpi.id)
        return None if found is None else found.readings

    def status(self, catalog: Catalog, kpi: Kpi) -> Status:
        """The derived status of ``kpi``."""
        return derive(kpi, catalog.seam(kpi), self.of(kpi) or ())

    def statuses(self, catalog: Catalog) -> dict[str, Status]:
        """The derived status of every KPI, by id."""
        return {kpi.id: self.status(catalog, kpi) for kpi in catalog}

    def source(self, kpi: Kpi) -> str:
        """Where the status of ``kpi`` comes from, in a few words."""
        found = self.told.get(kpi.id)
        if found is None:
            return "no run here yet"
        committed = "" if found.name == f"{found.run}.json" else f" (committed as {found.name})"
        return f"run {found.run}{committed}"


def covers(selection: Selection, layer: Layer, runtimes: frozenset[str]) -> bool:
    """Whether a run of this selection measured the whole ``layer`` by ``runtimes``."""
    if selection.kpis or selection.params or selection.workloads or not runtimes.issuperset(selection.runtimes):
        return False
    return selection.all or layer.value in selection.layers


def gather(project: Project, kpis: Iterable[Kpi]) -> Evidence:
    """Look through the runs of ``project`` for what they say about ``kpis``."""
    wanted = {kpi.id: kpi for kpi in kpis}
    default = frozenset({"reference"} | ({project.runtime} if project.runtime else set()))
    own = default.union(installed_runtimes()) if any(kpi.origin != "catalog" for kpi in wanted.values()) else default
    told: dict[str, Told] = {}
    refused: list[str] = []
    for head in _newest_first(project.root, refused):
        if not wanted:
            break
        covered = {layer for layer in Layer if covers(head.selection, layer, default)}
        if not head.complete or not (covered or head.emitted & wanted.keys()):
            continue
        run = _decoded(head, refused)
        if run is None:
            continue
        held: dict[str, list[Reading]] = {}
        for reading in run.readings:
            held.setdefault(reading.kpi, []).append(reading)
        for kpi in list(wanted.values()):
            found = held.get(kpi.id, [])
            readings = tuple(_telling(kpi, found, run, default if kpi.origin == "catalog" else own))
            if readings or (kpi.layer in covered and not found):
                told[kpi.id] = Told(run.id, head.path.name, readings)
                del wanted[kpi.id]
    return Evidence(told, tuple(refused))


def _telling(kpi: Kpi, readings: Iterable[Reading], run: Run, runtimes: frozenset[str]) -> Iterator[Reading]:
    """Those ``readings`` of ``kpi`` in ``run`` that say something about it."""
    for reading in readings:
        if reading.runtime not in runtimes or PARAM in reading.params:  # somebody's own hook says nothing about ours
            continue
        work = run.workloads.get(reading.workload) if reading.workload is not None else None
        if reading.workload is not None and (work is None or work.source != "synthetic"):
            continue
        missing = reading.undefined
        # One point that is not there does not disprove the others, which were not asked for.
        if missing is None or not (missing.reason in _SILENT or run.selection.params or _not_ours(kpi, reading)):
            yield reading


def _not_ours(kpi: Kpi, reading: Reading) -> bool:
    """Whether a user's KPI was put to a runtime that has nothing to do with it."""
    return kpi.origin != "catalog" and reading.undefined is not None and reading.undefined.reason is Reason.NOT_OFFERED


@dataclass(frozen=True, slots=True)
class _Head:
    """What decides whether a run is of interest; reading it alone spares decoding the others."""

    path: Path
    blob: bytes
    created: str
    complete: bool
    selection: Selection
    emitted: frozenset[str]


def _newest_first(root: Path, refused: list[str]) -> Iterator[_Head]:
    closed = _closed(root / ".harness" / "runs")
    if closed is None:
        yield from _heads(runs(root)[:LOOK_BACK], refused)
    else:
        refused.append(closed)
    yield from sorted(_heads(committed_runs(root), refused), key=lambda head: head.created, reverse=True)


def _closed(folder: Path) -> str | None:
    """That the folder is there and cannot be looked into, which would pass for a project without runs."""
    try:
        os.scandir(folder).close()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        look = f"`ls -ld {typed(str(folder.parent))} {typed(str(folder))}`"
        return f"{folder} cannot be read: {error.strerror}; see {look}."
    return None


def _heads(paths: Iterable[Path], refused: list[str]) -> Iterator[_Head]:
    for path in paths:
        import msgspec  # here, so that a project without runs does not pay for it

        try:
            blob = regular_bytes(path)
            head: Any = msgspec.json.decode(blob, type=_shape())
        except (OSError, msgspec.MsgspecError, ValueError, RecursionError, MemoryError) as error:
            refused.append(_refusal(path, error))
            continue
        emitted = frozenset(reading.kpi for reading in head.readings)
        yield _Head(path, blob, head.created, head.complete, head.selection, emitted)


@cache
def _shape() -> type:
    import msgspec

    from harness.record.run import Selection

    named = msgspec.defstruct("Named", [("kpi", str)])
    fields = [("created", str), ("complete", bool), ("selection", Selection), ("readings", list[named])]  # type: ignore[valid-type]
    return msgspec.defstruct("Shape", fields)


def _decoded(head: _Head, refused: list[str]) -> Run | None:
    from harness.record.run import RunFileError, decode

    try:
        return decode(head.blob, head.path.name)
    except RunFileError as error:
        refused.append(str(error))
    except (ValueError, RecursionError, MemoryError) as error:
        refused.append(_refusal(head.path, error))
    return None


def _refusal(path: Path, error: BaseException) -> str:
    why = str(error)
    if isinstance(error, RecursionError):
        why = "it is nested too deeply"
    elif isinstance(error, MemoryError):
        why = "it needs more memory than there is"
    elif isinstance(error, OSError) and error.strerror:
        why = error.strerror
    return f"{path.name} cannot be read as a run file: {why.rstrip('.')}; move it away, then run this again."
