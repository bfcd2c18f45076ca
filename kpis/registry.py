"""The registry: every KPI and seam by name, and the selection of some of them.

The built-in catalog is read with ``tomllib`` into the plain dataclasses of ``kpis.terms``, because ``list`` and
``explain`` must answer at once; users' files are validated by ``kpis.schema``, which is imported only when there is
one. Nothing is registered by import: the probe of a KPI follows from its seam by rule. This module runs no probe,
derives no status, and does not know where ``harness`` lies.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

from kpis.errors import CatalogError, SelectionError, did_you_mean
from kpis.growth import with_growth
from kpis.retired import Retired
from kpis.selection import layer_named, narrowed
from kpis.terms.kpi import MOST_POINTS, Direction, Estimand, Gate, Kpi, Layer, Seam, Status, Takes
from kpis.terms.quantity import Unit

__all__ = [
    "Catalog",
    "CatalogError",
    "SelectionError",
    "extend",
    "extend_all",
    "load",
    "probe_reference",
    "row_of",
    "select",
    "with_rows",
]

CATALOG = Path(__file__).parent / "catalog"
"""The folder of the built-in rows: one file a layer."""

Params = Mapping[str, str | Sequence[str]]
"""What a selection narrows: a key to one value or to several."""


@dataclass(frozen=True, slots=True)
class Catalog:
    """KPIs in the order of the ladder, the seams that they attach to, and what is no longer one of them.

    Raises:
        CatalogError: two KPIs claim one name, or one has more than ``MOST_POINTS`` parameter points.
    """

    kpis: tuple[Kpi, ...]
    seams: dict[str, Seam]
    retired: tuple[Retired, ...] = ()
    _names: dict[str, Kpi] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        for kpi in self.kpis:
            if kpi.point_count > MOST_POINTS:  # whoever lists the points would never come back
                raise CatalogError(
                    [
                        f"{kpi.origin}: {kpi.id} has {kpi.point_count:,} points; at most {MOST_POINTS:,}: take "
                        "values out of its params, then run `python -m harness list`."
                    ]
                )
            for name in _names_of(kpi):
                other = self._names.setdefault(name, kpi)
                if other is not kpi:
                    raise CatalogError(
                        [
                            f"{kpi.origin}: the name {name} of KPI {kpi.id} is taken by {other.id} of {other.origin}; "
                            f"see `python -m harness explain {other.id}`."
                        ]
                    )

    def get(self, name: str) -> Kpi:
        """The KPI with this id, alias or symbol.

        Raises:
            SelectionError: there is none; the sentence names the closest one.
        """
        found = self._names.get(name)
        if found is None:
            for stone in self.retired:
                if stone.id == name:
                    next_word = f"explain {stone.replacement}" if stone.replacement in self else "list"
                    raise SelectionError(
                        f"{name} was retired on {stone.on} ({stone.reason.rstrip('.')}); {stone.instead.rstrip('.')}: "
                        f"try `python -m harness {next_word}`."
                    )
            raise SelectionError(
                f"There is no KPI named {name}{did_you_mean(name, self._names)}; `python -m harness list` shows all."
            )
        return found

    def seam(self, kpi: Kpi) -> Seam:
        """The seam that ``kpi`` attaches to."""
        return self.seams[kpi.seam]

    @property
    def names(self) -> frozenset[str]:
        """Every id, alias and symbol of a live KPI."""
        return frozenset(self._names)

    def __iter__(self) -> Iterator[Kpi]:
        return iter(self.kpis)

    def __len__(self) -> int:
        return len(self.kpis)

    def __contains__(self, name: object) -> bool:
        return name in self._names


def _names_of(kpi: Kpi) -> Iterator[str]:
    yield kpi.id
    yield from kpi.aliases
    if kpi.symbol:
        yield kpi.symbol


def row_of(kpi_id: str, layer: Layer, row: dict[str, Any]) -> Kpi:
    """The KPI of a table that is known to be sound; ``row`` is used up."""
    params = {key: tuple(values) for key, values in row.pop("params", {}).items()}
    sweep = {key: tuple(values) for key, values in row.pop("sweep", {}).items()}
    gate_point = row.pop("gate_point", None) or {key: values[0] for key, values in params.items()}
    return Kpi(
        id=kpi_id,
        layer=layer,
        unit=Unit(row.pop("unit")),
        direction=Direction(row.pop("direction")),
        estimand=Estimand(row.pop("estimand")),
        gate=Gate(row.pop("gate")),
        target_status=Status(row.pop("target_status")),
        params=params,
        gate_point=gate_point,
        sweep=sweep,
        takes=Takes(row.pop("takes", "none")),
        inputs=tuple(row.pop("inputs", ())),
        reasons=tuple(row.pop("reasons", ())),
        aliases=tuple(row.pop("aliases", ())),
        **row,  # the rest are plain strings, numbers and tables; an unknown key is a TypeError that a test would see
    )


@cache
def load() -> Catalog:
    """The built-in catalog. It is read once a process; it takes a few milliseconds."""
    kpis: list[Kpi] = []
    seams: dict[str, Seam] = {}
    retired: list[Retired] = []
    for layer in Layer:
        tables = tomllib.loads((CATALOG / f"{layer.value}.toml").read_text(encoding="utf-8"))
        for name, table in tables.get("seam", {}).items():
            seams[name] = Seam(name, **table)
        for kpi_id, row in tables["kpi"].items():
            kpis.append(row_of(kpi_id, layer, row))
        retired += [Retired(kpi_id, **row) for kpi_id, row in tables.get("retired", {}).items()]
    return Catalog(tuple(with_growth(kpis)), seams, tuple(retired))


def extend(catalog: Catalog, path: str | Path, text: str | bytes) -> Catalog:
    """``catalog`` with the rows of one TOML file of a user's, as :func:`extend_all`."""
    return extend_all(catalog, {str(path): text})


def extend_all(catalog: Catalog, files: Mapping[str, str | bytes]) -> Catalog:
    """``catalog`` with the rows of users' TOML files, by the name that messages give each.

    A seam that one file declares is known to all of them. The rows come after the built-in ones of their layer.

    Raises:
        CatalogError: a file cannot be used; one sentence a fault.
    """
    if not files:
        return catalog
    from kpis.schema_files import read_rows  # pydantic takes longer to import than `list` may take

    rows, seams, retired = read_rows(files, catalog.seams, _taken(catalog))
    return with_rows(catalog, rows, seams, retired)


def with_rows(
    catalog: Catalog, rows: Iterable[Kpi], seams: Mapping[str, Seam], retired: Iterable[Retired] = ()
) -> Catalog:
    """``catalog`` with rows, seams and retirements that were found sound before.

    Raises:
        CatalogError: two KPIs claim one name.
    """
    kpis = (*catalog.kpis, *with_growth(rows))
    by_layer = [tuple(kpi for kpi in kpis if kpi.layer is layer) for layer in Layer]
    return Catalog(tuple(chain.from_iterable(by_layer)), {**catalog.seams, **seams}, (*catalog.retired, *retired))


def _taken(catalog: Catalog) -> dict[str | None, str]:
    owners = {kpi.origin: "the catalog" if kpi.origin == "catalog" else kpi.origin for kpi in catalog}
    return {name: owners[kpi.origin] for kpi in catalog for name in _names_of(kpi)}


def select(
    catalog: Catalog, layers: Iterable[str] = (), kpis: Iterable[str] = (), params: Params | None = None
) -> list[Kpi]:
    """The KPIs of ``layers`` and ``kpis`` (all of them where neither is given), in the catalog's order.

    ``params`` narrows: a KPI that has the key keeps the values named and drops out where it has none of them; a KPI
    without the key stays as it is. The gate point is left alone, so that a narrowed run never gates elsewhere.

    Raises:
        SelectionError: an unknown layer, KPI or parameter, or a value that no selected KPI has.
    """
    wanted_layers = {layer_named(name) for name in layers}
    wanted = {catalog.get(name).id for name in kpis}
    everything = not wanted_layers and not wanted
    chosen = [kpi for kpi in catalog if everything or kpi.layer in wanted_layers or kpi.id in wanted]
    for key, given in (params or {}).items():
        values = (given,) if isinstance(given, str) else tuple(given)
        chosen = narrowed(chosen, key, values)
    return chosen


def probe_reference(kpi: Kpi) -> str:
    """Where the probe of ``kpi`` is, as ``module:Class``: named by a user's row, else by rule from the seam."""
    if kpi.probe is not None:
        return kpi.probe
    floor, _, room = kpi.seam.partition("/")
    return f"harness.probes.{floor}.{room}:Probe"
