"""The shape of a user's KPI file, and its published JSON Schema.

A user's TOML is refused with one sentence a fault, which names the file and, where it can be found, the line: a typo
in a key must never become a KPI that silently does not gate. The built-in catalog does not pass through here (pydantic
takes longer to import than ``list`` may take); a test holds it to the same rules.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from kpis.errors import CatalogError
from kpis.schema_faults import sentence, toml_sentence, utf8_text, without_echoes
from kpis.terms.kpi import Direction, Estimand, Gate, Kpi, Layer, Seam, Status, Takes
from kpis.terms.quantity import Unit

__all__ = ["KpiFile", "KpiRow", "SeamRow", "kpi_schema", "read_rows"]

KpiId = Annotated[str, Field(pattern=r"^[a-z][A-Za-z0-9_]*$")]
SeamName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*/[a-z][a-z0-9_]*$")]
Reference = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$")]
Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Values = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
Sentence = Annotated[str, Field(min_length=1)]

_TIMED_GATES = (Gate.TIMED, Gate.INSTRUCTIONS, Gate.REPORT)
_GATES = {
    Estimand.CALL_MEAN: _TIMED_GATES,
    Estimand.CALL_P50: _TIMED_GATES,
    Estimand.CALL_P99: (Gate.REPORT,),
    Estimand.COUNT: (Gate.EXACT, Gate.REPORT),
    Estimand.RATE: (Gate.EXACT, Gate.REPORT),
    Estimand.HISTOGRAM: (Gate.EXACT, Gate.REPORT),
    Estimand.INVARIANT: (Gate.INVARIANT, Gate.REPORT),
}
"""The gate kinds that each estimand can have; the first is the default."""

_UNITS = {
    Estimand.CALL_MEAN: (Unit.NS,),
    Estimand.CALL_P50: (Unit.NS,),
    Estimand.CALL_P99: (Unit.NS,),
    Estimand.RATE: (Unit.RATIO,),
    Estimand.HISTOGRAM: (Unit.COUNT,),
    Estimand.INVARIANT: (Unit.BOOL,),
}
"""The unit that an estimand forces; a count may have any but these of a clock and of a truth value."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SeamRow(_Strict):
    """A seam of the user's own runtime: ``[seam."floor/room"]``."""

    title: Sentence
    frozen_sync: bool = False
    off_live: Sentence | None = None


class KpiRow(_Strict):
    """One KPI of the user's: ``[kpi.<id>]``."""

    layer: Layer
    seam: SeamName
    question: Sentence
    fence: Sentence
    unit: Unit
    direction: Direction
    estimand: Estimand
    probe: Reference
    gate: Gate | None = Field(default=None, description="by default the kind that the estimand allows")
    target_status: Status | None = Field(default=None, description="by default what the row says of itself")
    params: dict[Key, Values] = Field(default_factory=dict)
    gate_point: dict[Key, str] = Field(default_factory=dict)
    replay_params: dict[Key, str] = Field(default_factory=dict)
    takes: Takes = Takes.NONE
    default_workload: bool = True
    reasons: tuple[Sentence, ...] = ()
    knobs: dict[Key, float] = Field(default_factory=dict)
    aliases: tuple[Sentence, ...] = ()
    critical: bool = False
    symbol: Sentence | None = None
    note: Sentence | None = None

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        fault = self._estimand_fault() or self._model_fault() or self._point_fault()
        if fault:
            raise ValueError(fault)
        return self

    def _estimand_fault(self) -> str | None:
        word = self.estimand.value
        units = _UNITS.get(self.estimand)
        if units and self.unit not in units:
            return f"unit: a {word} is in {units[0].value}, not in {self.unit.value}"
        if self.estimand is Estimand.COUNT and self.unit in (Unit.BOOL, Unit.RATIO):
            other = "an invariant" if self.unit is Unit.BOOL else "a rate"
            return f"unit: a count is not in {self.unit.value}; that is {other}"
        if self.gate is not None and self.gate not in _GATES[self.estimand]:
            kinds = " or ".join(gate.value for gate in _GATES[self.estimand])
            return f"gate: a {word} gates as {kinds}, not as {self.gate.value}"
        if self.reasons and self.estimand not in (Estimand.RATE, Estimand.HISTOGRAM, Estimand.COUNT):
            return f"reasons: a {word} has no histogram, so it lists no reasons"
        return None

    def _model_fault(self) -> str | None:
        if self.knobs and self.estimand.timed and self.gate is not Gate.REPORT:
            return "knobs: a clock has none; a cost model in ns gates as report"
        if self.knobs and self.target_status not in (None, Status.MODELED):
            return "target_status: a KPI with knobs is modeled"
        if not self.knobs and self.target_status is Status.MODELED:
            return "knobs: a modeled KPI shows its knobs, and this one has none"
        if self.unit is Unit.MS and not self.knobs:
            return "unit: ms is for models, which have knobs; a clock reads ns"
        return None

    def _point_fault(self) -> str | None:
        for name, point in (("gate_point", self.gate_point), ("replay_params", self.replay_params)):
            for key, value in point.items():
                if key not in self.params:
                    return f"{name}: {key} is not a parameter of this KPI"
                if name == "gate_point" and value not in self.params[key]:
                    return f"gate_point: {key} has no value {value}"
        missing = [key for key in self.params if self.gate_point and key not in self.gate_point]
        return f"gate_point: a whole point is needed, and {missing[0]} is missing" if missing else None

    def kpi(self, kpi_id: str, seam: Seam, origin: str) -> Kpi:
        """The row as a term."""
        status = Status.MODELED if self.knobs else Status.GUARDED if seam.off_live else Status.STANDING
        first = {key: values[0] for key, values in self.params.items()}
        plain = {name: getattr(self, name) for name in type(self).model_fields}
        return Kpi(
            **{
                **plain,
                "id": kpi_id,
                "gate": self.gate or _GATES[self.estimand][0],
                "target_status": self.target_status or status,
                "gate_point": self.gate_point or first,
                "origin": origin,
            }
        )


class KpiFile(_Strict):
    """A KPI file: tables ``[kpi.<id>]``, and ``[seam."floor/room"]`` for seams that the catalog does not have."""

    kpi: dict[KpiId, KpiRow] = Field(default_factory=dict)
    seam: dict[SeamName, SeamRow] = Field(default_factory=dict)


def kpi_schema() -> dict[str, Any]:
    """The JSON Schema of a KPI file."""
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, **KpiFile.model_json_schema(), "title": "loopladder KPI file"}


def read_rows(
    path: str, text: str | bytes, known_seams: Mapping[str, Seam], taken: Mapping[str | None, str]
) -> tuple[list[Kpi], dict[str, Seam]]:
    """The KPIs and new seams of a file; ``taken`` maps the names that exist to the file they come from.

    Raises:
        CatalogError: one sentence a fault.
    """
    decoded = utf8_text(path, text)
    try:
        file = KpiFile.model_validate(tomllib.loads(decoded))
    except tomllib.TOMLDecodeError as error:
        raise CatalogError([toml_sentence(path, decoded, error)]) from None
    except ValidationError as error:
        fields = {"kpi": tuple(KpiRow.model_fields), "seam": tuple(SeamRow.model_fields)}
        told = without_echoes([dict(fault) for fault in error.errors()], fields)
        raise CatalogError([sentence(path, decoded, each, fields) for each in told]) from None

    def fault(msg: str, *loc: str) -> str:
        return sentence(path, decoded, {"type": "clash", "loc": loc, "msg": msg}, {})

    seams = {name: Seam(name, row.title, row.frozen_sync, row.off_live) for name, row in file.seam.items()}
    all_seams = {**known_seams, **seams}
    faults = [fault("the catalog has this seam already", "seam", name) for name in seams if name in known_seams]
    rows: list[Kpi] = []
    for kpi_id, row in file.kpi.items():
        clashes = [name for name in (kpi_id, *row.aliases, row.symbol) if name in taken]
        faults += [fault(f"the name {name} is taken by a KPI of {taken[name]}", "kpi", kpi_id) for name in clashes]
        if row.seam in all_seams:
            rows.append(row.kpi(kpi_id, all_seams[row.seam], path))
        else:
            declare = f'there is no seam {row.seam}: declare [seam."{row.seam}"] with a title in this file'
            faults.append(fault(declare, "kpi", kpi_id, "seam"))
    if faults:
        raise CatalogError(faults)
    return rows, seams
