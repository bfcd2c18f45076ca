"""The shape of a user's KPI file, and its published JSON Schema.

A user's TOML is refused with one sentence a fault, which names the file and, where it can be found, the line: a typo
in a key must never become a KPI that silently does not gate. The built-in catalog does not pass through here (pydantic
takes longer to import than ``list`` may take); a test holds it to the same rules.
"""

from __future__ import annotations

from datetime import date
from math import prod
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from kpis.retired import Retired
from kpis.terms.kpi import MOST_POINTS, Direction, Estimand, Gate, Kpi, Layer, Seam, Status, Takes
from kpis.terms.quantity import Unit

__all__ = ["KpiFile", "KpiRow", "RetiredRow", "SeamRow", "kpi_schema"]

KpiId = Annotated[str, Field(pattern=r"^[a-z][A-Za-z0-9_]*$")]
SeamName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*/[a-z][a-z0-9_]*$")]
Reference = Annotated[str, Field(pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*$")]
Key = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Values = Annotated[tuple[Annotated[str, Field(min_length=1)], ...], Field(min_length=1)]
Sentence = Annotated[str, Field(min_length=1)]
# Strictly: "yes" is no truth value, true is no amount, and what is not finite cannot be written as JSON.
Truth = Annotated[bool, Field(strict=True)]
Amount = Annotated[float, Field(strict=True, allow_inf_nan=False)]

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

    title: Sentence = Field(description="What happens at this seam, in a few words.")
    frozen_sync: Truth = Field(
        default=False,
        description="Whether it is asynchronous in name and blocks on its engine, so that a probe says "
        "how it cut the engine out.",
    )
    off_live: Sentence | None = Field(
        default=None, description="Why no live turn passes this seam; its KPIs are then guarded at best."
    )


class KpiRow(_Strict):
    """One KPI of the user's: ``[kpi.<id>]``."""

    layer: Layer = Field(description="The layer of the ladder that it belongs to.")
    seam: SeamName = Field(description="The seam that it attaches to, as floor/room.")
    question: Sentence = Field(description="The question that the number answers.")
    fence: Sentence = Field(
        description="What the number does not say; its first sentence is the fence in short and is shown below tables."
    )
    unit: Unit = Field(description="The unit in which it is stored.")
    direction: Direction = Field(description="Which way is better, or neutral.")
    estimand: Estimand = Field(description="What exactly is estimated.")
    probe: Reference = Field(description="The probe that measures it, as module:Name.")
    gate: Gate | None = Field(
        default=None, description="How it gates; by default the first kind that the estimand allows."
    )
    target_status: Status | None = Field(
        default=None, description="The status that it should have; by default the one that the row itself implies."
    )
    params: dict[Key, Values] = Field(
        default_factory=dict, description="Its parameters, each with its values as strings; their product is measured."
    )
    gate_point: dict[Key, str] = Field(
        default_factory=dict,
        description="Where a timed KPI is compared by a gate; by default the first value of every key.",
    )
    sweep: dict[Key, Values] = Field(
        default_factory=dict,
        description="Keys that are varied besides, each at the gate point alone; `history` (turns) adds a growth row.",
    )
    replay_params: dict[Key, str] = Field(
        default_factory=dict, description="What parameters read where a recorded session is replayed."
    )
    takes: Takes = Field(default=Takes.NONE, description="The kind of workload that its probe replays.")
    default_workload: Truth = Field(
        default=True, description="Whether the workload that ships is replayed where none is given."
    )
    reasons: tuple[Sentence, ...] = Field(
        default=(), description="The keys that its histogram may have; empty leaves them open."
    )
    knobs: dict[Key, Amount] = Field(
        default_factory=dict, description="The parameters of a cost model with their defaults; they make it modeled."
    )
    aliases: tuple[Sentence, ...] = Field(default=(), description="Other names by which it is found.")
    critical: Truth = Field(
        default=False, description="Whether a gate fails, instead of reading unknown, where it has no number."
    )
    symbol: Sentence | None = Field(default=None, description="Its name in the field, such as TTFT.")
    note: Sentence | None = Field(default=None, description="How the number is formed.")

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
        if self.direction is Direction.NEUTRAL and (self.gate or _GATES[self.estimand][0]) is Gate.TIMED:
            return "direction: a clock gates one way; say lower or higher, or gate as report"
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
        count = prod(map(len, self.params.values())) + sum(map(len, self.sweep.values()))
        if count > MOST_POINTS:
            return f"params: it has {count:,} points; at most {MOST_POINTS:,}, and the values of all keys multiply"
        for name, point in (("gate_point", self.gate_point), ("replay_params", self.replay_params)):
            for key, value in point.items():
                if key not in self.params:
                    return f"{name}: {key} is not a parameter of this KPI"
                if name == "gate_point" and value not in self.params[key]:
                    return f"gate_point: {key} has no value {value}"
        if twice := self.sweep.keys() & self.params.keys():
            return f"sweep: {min(twice)} is a parameter of this KPI already"
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


class RetiredRow(_Strict):
    """A KPI that is no more: ``[retired.<id>]``."""

    reason: Sentence = Field(description="Why it left the catalog.")
    on: Annotated[date, Field(strict=True)] = Field(description="The day on which it left, as a TOML date.")
    replacement: KpiId | None = Field(default=None, description="The id of the live KPI to read in its place.")
    no_replacement: Sentence | None = Field(default=None, description="Where there is no replacement, why.")

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if (self.replacement is None) == (self.no_replacement is None):
            raise ValueError("replacement: name a live KPI, or say in no_replacement why there is none; one of the two")
        return self

    def stone(self, kpi_id: str, origin: str) -> Retired:
        """The row as the registry holds it."""
        return Retired(kpi_id, self.reason, self.on, self.replacement, self.no_replacement, origin)


class KpiFile(_Strict):
    """A KPI file: tables ``[kpi.<id>]``, ``[seam."floor/room"]`` for seams of one's own, and ``[retired.<id>]``."""

    kpi: dict[KpiId, KpiRow] = Field(default_factory=dict, description="The KPIs of this file, by their id.")
    seam: dict[SeamName, SeamRow] = Field(
        default_factory=dict, description="The seams of the user's own runtime, by floor/room; all files know them."
    )
    retired: dict[KpiId, RetiredRow] = Field(
        default_factory=dict, description="The KPIs that were in this file and are no more, by their id."
    )


def kpi_schema() -> dict[str, Any]:
    """The JSON Schema of a KPI file."""
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, **KpiFile.model_json_schema(), "title": "loopladder KPI file"}
