"""Which runs bear out the catalog: for each layer the newest complete run that covered all of it.

A narrowed run proves nothing about what it left out, and a run of somebody's own runtime or workload nothing about the
default one, so neither counts. Local runs come first, then the committed ones. Nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.record.store import committed_runs, runs
from kpis.registry import Catalog
from kpis.status import derive
from kpis.terms.kpi import Kpi, Layer, Status
from kpis.terms.reading import Reading

if TYPE_CHECKING:
    from harness.record.run import Selection

__all__ = ["Evidence", "LayerEvidence", "covers", "gather"]

LOOK_BACK = 64
"""How many local runs are looked through: `list` must answer at once, however many runs have piled up."""


@dataclass(frozen=True, slots=True)
class LayerEvidence:
    """The readings of one layer in the run file called ``name``."""

    name: str
    readings: tuple[Reading, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """By layer, the run that bears it out; ``refused`` are the sentences about files that cannot be read."""

    layers: dict[Layer, LayerEvidence] = field(default_factory=dict)
    refused: tuple[str, ...] = ()

    def of(self, layer: Layer) -> tuple[Reading, ...] | None:
        """The readings of ``layer``, None where no run covered it."""
        found = self.layers.get(layer)
        return None if found is None else found.readings

    def status(self, catalog: Catalog, kpi: Kpi) -> Status:
        """The derived status of ``kpi``."""
        return derive(kpi, catalog.seam(kpi), self.of(kpi.layer) or ())

    def statuses(self, catalog: Catalog) -> dict[str, Status]:
        """The derived status of every KPI, by id."""
        return {kpi.id: self.status(catalog, kpi) for kpi in catalog}


def covers(selection: Selection, layer: Layer, runtimes: frozenset[str]) -> bool:
    """Whether a run of this selection measured the whole ``layer``.

    ``runtimes`` are those that count: the reference runtime, and the project's own.
    """
    if selection.kpis or selection.params or selection.workloads or not runtimes.issuperset(selection.runtimes):
        return False
    return selection.all or layer.value in selection.layers


def gather(root: Path, layers: Iterable[Layer] = Layer, *, own_runtime: str | None = None) -> Evidence:
    """Look through the runs of the project at ``root`` for ``layers``."""
    open_layers = set(layers)
    allowed = frozenset({"reference"} | ({own_runtime} if own_runtime else set()))
    found: dict[Layer, LayerEvidence] = {}
    refused: list[str] = []
    for head in _newest_first(root, refused):
        wanted = [layer for layer in open_layers if head.complete and covers(head.selection, layer, allowed)]
        readings = _readings(head, refused) if wanted else None
        if readings is None:
            continue
        for layer in wanted:
            own = tuple(reading for reading in readings if reading.layer is layer)
            found[layer] = LayerEvidence(head.path.name, own)
            open_layers.discard(layer)
        if not open_layers:
            break
    return Evidence(found, tuple(refused))


@dataclass(frozen=True, slots=True)
class _Head:
    """What decides whether a run counts; reading it alone spares decoding the readings of those that do not."""

    path: Path
    blob: bytes
    created: str
    complete: bool
    selection: Selection


def _newest_first(root: Path, refused: list[str]) -> Iterator[_Head]:
    yield from _heads(runs(root)[:LOOK_BACK], refused)
    yield from sorted(_heads(committed_runs(root), refused), key=lambda head: head.created, reverse=True)


def _heads(paths: Iterable[Path], refused: list[str]) -> Iterator[_Head]:
    for path in paths:
        import msgspec  # here, so that a project without runs does not pay for it

        from harness.record.run import Selection

        fields = [("created", str), ("complete", bool), ("selection", Selection)]
        shape = msgspec.defstruct("Shape", fields)
        try:
            blob = path.read_bytes()
            head: Any = msgspec.json.decode(blob, type=shape)
        except (OSError, msgspec.MsgspecError) as error:
            refused.append(f"{path.name} is not a readable run file ({error}); move it away, then run this again.")
            continue
        yield _Head(path, blob, head.created, head.complete, head.selection)


def _readings(head: _Head, refused: list[str]) -> list[Reading] | None:
    from harness.record.run import RunFileError, decode

    try:
        return decode(head.blob, head.path.name).readings
    except RunFileError as error:
        refused.append(str(error))
        return None
