"""Which numbers the authority shows: of each machine the newest reading of everything, in the table of its class.

A class is decided by basis and source alone: what was reported, then models, then what was taken from a recording, then
clocks and counts. What is stale, thin or incomplete keeps its row, with marks that say why it leads no table. The order
of the rows is their own: how run files were listed does not matter. Reads no file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from harness.record.run import Mode
from harness.report.authority_numbers import Artifact
from kpis.growth import is_growth
from kpis.registry import Catalog
from kpis.terms.kpi import Estimand, Kpi, Layer
from kpis.terms.quantity import Basis, Source, Unit
from kpis.terms.reading import Leg, Reading

__all__ = ["STALE", "Row", "Table", "arm_fault", "label_fault", "newest_rows", "point_of", "table_of"]

STALE = "stale: "
"""How the mark begins of a reading whose sources, input or row are not what they were."""

Marks = Callable[[Artifact, Reading], Sequence[str]]
"""Why a reading does not lead a table, in a few words each; nothing for one that does."""


class Table(Enum):
    """The tables that never share a number."""

    CLOCK = "clock"
    COUNTED = "counted"
    MODELED = "modeled"
    REPLAY = "replay"
    REPORTED = "reported"


@dataclass(frozen=True, slots=True)
class Row:
    """One reading: where it stands, by which name its KPI is known now, and why it does not lead, if so."""

    kpi: str
    reading: Reading
    index: int
    artifact: Artifact
    marks: tuple[str, ...] = ()

    @property
    def pointer(self) -> str:
        """The JSON pointer of the reading."""
        return f"/readings/{self.index}"

    @property
    def stale(self) -> bool:
        """Whether what the number was taken from is not what it was."""
        return any(mark.startswith(STALE) for mark in self.marks)

    @property
    def table(self) -> Table | None:
        """The table that its number belongs in; None where it has no number."""
        return table_of(self.reading)


def table_of(reading: Reading) -> Table | None:
    """The table of a reading's number; None where it is undefined."""
    if reading.undefined is not None or reading.basis is None:
        return None
    if reading.basis is Basis.REPORTED:
        return Table.REPORTED
    if reading.basis is Basis.MODEL:
        return Table.MODELED
    if reading.source is Source.REPLAY:
        return Table.REPLAY
    return Table.CLOCK if reading.basis is Basis.CLOCK else Table.COUNTED


def point_of(reading: Reading) -> str:
    """What tells a reading from others of its KPI: parameters, leg, and a runtime that is not the reference."""
    named = [f"{key}={value}" for key, value in sorted(reading.params.items())]
    if reading.leg is not Leg.MAIN:
        named.append(f"leg={reading.leg.value}")
    if reading.runtime != "reference":
        named.append(f"runtime={reading.runtime}")
    return " ".join(named)


def newest_rows(artifacts: Iterable[Artifact], catalog: Catalog, marks: Marks) -> list[Row]:
    """A row for each reading of each machine that no newer run has: a whole run before a thin one, then by its time.

    A KPI that was renamed goes by its name of now; one that the catalog does not know keeps the old one.
    """
    newest: dict[object, tuple[object, Row]] = {}
    for artifact in artifacts:
        run = artifact.run
        age = (run.complete and run.mode is not Mode.QUICK, run.created, artifact.hash)
        for index, reading in enumerate(run.readings):
            name = catalog.get(reading.kpi).id if reading.kpi in catalog else reading.kpi
            key = (run.machine.slug, name, *reading.identity[1:])
            if key not in newest or newest[key][0] < age:  # type: ignore[operator]
                row = Row(name, reading, index, artifact, (*_thin(artifact), *marks(artifact, reading)))
                newest[key] = (age, row)
    return sorted((row for _, row in newest.values()), key=_order)


def _thin(artifact: Artifact) -> list[str]:
    thin = [] if artifact.run.complete else ["the run is incomplete"]
    return [*thin, "a quick run, too few processes for an interval"] if artifact.run.mode is Mode.QUICK else thin


def _order(row: Row) -> tuple[object, ...]:
    reading = row.reading
    layers = list(Layer)
    params = tuple((key, _natural(value)) for key, value in sorted(reading.params.items()))
    last = (reading.runtime, reading.workload or "", reading.leg.value, row.artifact.run.machine.slug)
    return (layers.index(reading.layer), row.kpi, params, *last, row.artifact.hash, row.index)


def _natural(value: str) -> tuple[tuple[int, int, str], ...]:
    """So that 9 stands before 10, and words stand after numbers."""
    parts = re.split(r"(\d+)", value)
    return tuple((0, int(part), part) if part.isdecimal() else (1, 0, part) for part in parts if part)


def label_fault(reading: Reading, kpi: Kpi | None, workload_source: str | None) -> str | None:
    """What is wrong with the basis or the source that a reading claims; None where nothing is.

    ``workload_source`` is the source of the recording that it was taken from, None where it took none.
    """
    if reading.undefined is not None or reading.basis is None or reading.source is None:
        return None
    says = f"basis {reading.basis.value}"
    if reading.basis is not Basis.CLOCK and reading.distribution is not None:
        return f"it has {says} and a distribution over processes, which only a clock has"
    if kpi is not None and kpi.knobs and reading.basis is not Basis.MODEL:
        return f"it has {says}, and its KPI is a model with knobs"
    if kpi is not None and not kpi.knobs and reading.basis is Basis.MODEL and not kpi.derived:
        return f"it has {says}, and its KPI is no model"
    ours = kpi is not None and not kpi.derived and not kpi.knobs and reading.basis is not Basis.REPORTED
    # A rate of two times is read off a clock, and has one ratio a process.
    of_times = kpi is not None and kpi.estimand is Estimand.RATE and reading.distribution is not None
    if ours and kpi is not None and (kpi.estimand.timed or of_times) != (reading.basis is Basis.CLOCK):
        return f"it has {says}, and its KPI is a {kpi.estimand.value}"
    if workload_source == Source.REPLAY.value and reading.source is Source.LIVE:
        return "it has source live and was taken from a recording"
    if workload_source == Source.SYNTHETIC.value and reading.source is not Source.SYNTHETIC:
        return f"it has source {reading.source.value} and was taken from an authored input"
    return None


def arm_fault(reading: Reading, kpi: Kpi | None) -> str | None:
    """What is wrong with the two arms of a ratio; None where nothing is, or where it has no arms by its nature."""
    if reading.undefined is not None or reading.unit is not Unit.RATIO:
        return None
    above, below = reading.numerator, reading.denominator
    if above is None or below is None:
        owes = reading.estimand is Estimand.RATE and not (kpi is not None and (is_growth(kpi) or kpi.inputs))
        return "it is a ratio without both of its arms" if owes else None
    if below and above / below == reading.value:
        return None
    if above and below / above == reading.value:
        return "its arms are swapped: it is the denominator over the numerator"
    return f"it is not {above:g} over {below:g}"
