"""Which files a committed number was taken from, and which of them have changed since.

A run file holds the digest of every file that its slices touched, and each reading names those that its own worker
touched: they are what concerns it, no more and no less. A run file of before does not say whose they are. Then it
follows from the tree: the reading's probe, its seam, the formula and the runtime, with all that these import, read from
their source without running it. A touched file that no reading of the run explains in this way (the worker, a module
that is loaded by name) concerns every reading. Imports inside functions count, but in the reference runtime's own
modules behind the seam asked for, where they only compose other seams; a test holds that against what workers really
touch. Refuses to call a number fresh because a file is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from harness.jobs.asking import digest
from harness.jobs.imports import Imports
from harness.jobs.touched import formula_module
from harness.measure.instrument import INSTRUMENT
from harness.project import Project, ProjectError, runtime_reference
from harness.record.run import Run
from harness.report.authority_numbers import Artifact
from harness.report.authority_rows import STALE
from harness.workloads import FILES, shipped
from kpis.registry import Catalog, probe_reference
from kpis.terms.kpi import Kpi
from kpis.terms.quantity import Source
from kpis.terms.reading import Reading

__all__ = ["Sources"]

_NAMED = 3


@dataclass(slots=True)
class Sources:
    """The tree as it is now, for one project and catalog. Each file is read once."""

    project: Project
    catalog: Catalog
    _imports: Imports = field(init=False)
    _digests: dict[str, str | None] = field(default_factory=dict)
    _unexplained: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._imports = Imports(self.project)

    def marks(self, artifact: Artifact, reading: Reading) -> list[str]:
        """Why the reading is stale, in a few words each; empty for a fresh one."""
        run = artifact.run
        found = []
        changed = self.changed(artifact, reading)
        if changed:
            more = f" and {len(changed) - _NAMED} more" if len(changed) > _NAMED else ""
            found.append(f"{STALE}{', '.join(changed[:_NAMED])}{more} changed")
        if reading.workload is not None and self._other_input(reading.workload, run):
            found.append(f"{STALE}the workload {reading.workload} changed")
        if reading.kpi in self.catalog and (gone := _gone(self.catalog.get(reading.kpi), reading)):
            found.append(f"{STALE}{gone}")
        return found

    def changed(self, artifact: Artifact, reading: Reading) -> list[str]:
        """The names of all files of the reading that are not what they were, the instrument's own last."""
        run = artifact.run
        touched = run.source.files(reading.touched)
        if touched is None:
            touched = (self.concerned(reading) | self._everybodys(artifact.hash, run)) & run.source.touched.keys()
        moved = [name for name in touched if self._moved(name, run)]
        return sorted(moved, key=lambda name: (name.startswith("harness/"), name))

    def concerned(self, reading: Reading) -> frozenset[str]:
        """The files that the reading's number may depend on by what the tree imports; named as in a run file."""
        if reading.kpi not in self.catalog:
            return frozenset()
        kpi, reference = self.catalog.get(reading.kpi), reading.runtime == "reference"
        begins = {*self._modules(kpi, ours=reference), *_runtime(reading)}
        lazy = not (reference and kpi.origin == "catalog")
        return frozenset(self._imports.files(tuple(sorted(begins)), lazy=lazy))

    def _modules(self, kpi: Kpi, *, ours: bool) -> set[str]:
        """The modules that the measurement of ``kpi`` begins with; ``ours``: by the reference runtime."""
        formula = formula_module(kpi)
        found: set[str] = set() if formula is None else {formula}
        inputs = (*kpi.inputs, kpi.shares) if kpi.shares else kpi.inputs
        for name in inputs:
            found |= self._modules(self.catalog.get(name), ours=ours)
        if not kpi.derived:
            probe = probe_reference(kpi).partition(":")[0]
            found |= {probe, *(self._offered(kpi.seam, probe) if ours else ())}
        return found

    def _offered(self, seam: str, probe: str) -> set[str]:
        """The reference runtime's module of ``seam``, and of every other seam that the probe asks it for by name."""
        try:
            text = Path(INSTRUMENT, *probe.split(".")).with_suffix(".py").read_text(encoding="utf-8")
        except OSError:  # the probe of an installed plug-in
            text = ""
        asked = {seam, *(name for name in self.catalog.seams if f'"{name}"' in text)}
        return {f"seams.{name.replace('/', '.')}" for name in asked}

    def _everybodys(self, key: str, run: Run) -> frozenset[str]:
        """The touched files that no reading of the run explains."""
        if key not in self._unexplained:
            explained: set[str] = set()
            for reading in run.readings:
                explained |= self.concerned(reading)
            self._unexplained[key] = frozenset(run.source.touched.keys() - explained)
        return self._unexplained[key]

    def _moved(self, name: str, run: Run) -> bool:
        if name not in self._digests:
            own = self.project.root / name
            self._digests[name] = digest(str(own if own.is_file() else Path(INSTRUMENT) / name))
        return self._digests[name] != run.source.touched[name]

    def _other_input(self, name: str, run: Run) -> bool:
        """Whether a workload that ships is another one by now; of anybody's recording it cannot be told."""
        recorded = run.workloads.get(name)
        ours = {load.workload.name: load.workload for load in map(shipped, FILES)}
        return recorded is not None and name in ours and recorded.sha256 != ours[name].sha256


def _runtime(reading: Reading) -> list[str]:
    try:
        return [runtime_reference(reading.runtime)[1].partition(":")[0]]
    except ProjectError:  # a plug-in that is not installed here: its files are outside of the project
        return []


def _gone(kpi: Kpi, reading: Reading) -> str:
    """That the catalog has no such reading any more; empty where it has."""
    if reading.unit is not kpi.unit:
        return f"it is in {reading.unit.value}, and its KPI in {kpi.unit.value} by now"
    replayed = reading.source is Source.REPLAY  # its points follow the recording
    return "" if replayed or reading.params in kpi.points() else "the catalog has no such point by now"
