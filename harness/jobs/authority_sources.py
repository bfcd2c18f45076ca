"""Which files a committed number was taken from, and which of them have changed since.

A run file holds the digest of every file that its slices touched, all slices together. Which of them concern one
reading follows from the tree: its probe, its seam, the formula and the runtime, with all that these import, read from
their source without running it. A touched file that no reading of the run explains in this way (the worker, a module
that is loaded by name) concerns every reading. Imports inside functions count, but in the reference runtime's own
modules behind the seam asked for, where they only compose other seams; a test holds that against what workers really
touch. Refuses to call a number fresh because a file is gone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from harness.jobs.asking import digest
from harness.measure.launch import INSTRUMENT
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
    _imports: dict[tuple[Path, bool], frozenset[str]] = field(default_factory=dict)
    _closures: dict[tuple[tuple[str, ...], bool], frozenset[str]] = field(default_factory=dict)
    _digests: dict[str, str | None] = field(default_factory=dict)
    _unexplained: dict[str, frozenset[str]] = field(default_factory=dict)

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
        concerned = self.concerned(reading) | self._everybodys(artifact.hash, artifact.run)
        touched = concerned & artifact.run.source.touched.keys()
        moved = [name for name in touched if self._moved(name, artifact.run)]
        return sorted(moved, key=lambda name: (name.startswith("harness/"), name))

    def concerned(self, reading: Reading) -> frozenset[str]:
        """The files that the reading's number may depend on, named as a run file names them."""
        if reading.kpi not in self.catalog:
            return frozenset()
        kpi, reference = self.catalog.get(reading.kpi), reading.runtime == "reference"
        begins = {*self._modules(kpi, ours=reference), *_runtime(reading)}
        return self._closure(tuple(sorted(begins)), lazy=not (reference and kpi.origin == "catalog"))

    def _modules(self, kpi: Kpi, *, ours: bool) -> set[str]:
        """The modules that the measurement of ``kpi`` begins with; ``ours``: by the reference runtime."""
        found: set[str] = set()
        if kpi.formula:
            found.add(f"kpis.formulas.{kpi.formula.partition(':')[0].replace('/', '.')}")
        inputs = (*kpi.inputs, kpi.shares) if kpi.shares else kpi.inputs
        for name in inputs:
            found |= self._modules(self.catalog.get(name), ours=ours)
        if not kpi.derived:
            found.add(probe_reference(kpi).partition(":")[0])
            found |= {f"seams.{kpi.seam.replace('/', '.')}"} if ours else set()
        return found

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

    def _closure(self, begins: tuple[str, ...], *, lazy: bool) -> frozenset[str]:
        """The files of the modules ``begins`` and of what they import; ``lazy``: inside functions too, all the way."""
        if (begins, lazy) not in self._closures:
            names: set[str] = set()
            waiting = list(begins)
            while waiting:
                module = waiting.pop()
                for name, file in self._files(module):
                    if name not in names:
                        names.add(name)
                        waiting += () if file is None else self._imported(file, name, lazy=lazy or module in begins)
            self._closures[begins, lazy] = frozenset(names)
        return self._closures[begins, lazy]

    def _files(self, module: str) -> Iterator[tuple[str, Path | None]]:
        """The names, as in a run file, of a module and of the packages around it, and their files; None for no file.

        What the project has comes first. One that is gone keeps the names that it can have had.
        """
        parts = module.split(".")
        bases = [(Path(folder), self.project.root) for folder in self.project.path]
        bases.append((Path(INSTRUMENT), Path(INSTRUMENT)))
        for length in range(1, len(parts) + 1):
            inside = "/".join(parts[:length])
            can_be = [(base / end, root) for base, root in bases for end in (f"{inside}.py", f"{inside}/__init__.py")]
            found = next(((path, root) for path, root in can_be if path.is_file()), None)
            if found is not None:
                yield found[0].relative_to(found[1]).as_posix(), found[0]
            else:
                yield from ((path.relative_to(root).as_posix(), None) for path, root in can_be)

    def _imported(self, file: Path, name: str, *, lazy: bool) -> frozenset[str]:
        """The modules that a file may import; ``lazy``: inside functions too."""
        if (file, lazy) not in self._imports:
            try:
                tree = ast.parse(file.read_bytes())
            except (OSError, SyntaxError, ValueError):
                tree = ast.Module([], [])
            package = name.removesuffix(".py").removesuffix("/__init__").removeprefix("src/").split("/")
            if file.name != "__init__.py":
                package = package[:-1]
            self._imports[file, lazy] = frozenset(_modules_in(tree.body, package, lazy))
        return self._imports[file, lazy]


def _modules_in(body: Iterable[ast.AST], package: list[str], lazy: bool) -> Iterator[str]:
    """What statements import; what stands below ``if TYPE_CHECKING`` is never loaded."""
    for node in body:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                yield from _modules_in(node.orelse, package, lazy)
            case ast.FunctionDef() | ast.AsyncFunctionDef() if not lazy:
                continue
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom():
                above = package[: len(package) - node.level + 1] if node.level else []
                base = ".".join([*above, *([node.module] if node.module else [])])
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)
            case _:
                yield from _modules_in(ast.iter_child_nodes(node), package, lazy)


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
