"""The JSON Schemas of what stands beside the run file: a baseline file, a gate file, a ratchet file, a calibration.

Each follows from the types that are written, so that it cannot describe another file than ours. A baseline file is
TOML: its tables are objects here, its dates are texts, and what does not apply is left out, not null. Refuses to
check a file; that is the business of whoever reads one.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from harness.record import baseline, floors, gate, gate_from, ratchet
from kpis.terms.kpi import Estimand, Gate

__all__ = ["baseline_schema", "calibration_schema", "gate_from_schema", "gate_schema", "ratchet_schema"]

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_NULL = {"type": "null"}


class FloorRow(TypedDict):
    """What neutral edits move a point by, as a fraction, and what that rests on."""

    floor: float
    edits: int
    pairs: int
    spread: float
    largest: float


class SpreadRow(TypedDict):
    """The spread of unchanged pairs under one load, as a fraction.

    ``visible`` is the smallest change that so many pairs find four times in five, ``power`` how often one is found.
    """

    pairs: int
    spread: float | None
    visible: NotRequired[dict[str, float | None]]
    power: NotRequired[dict[str, float]]


class EditRow(TypedDict):
    """How many different neutral edits were tried, and how often."""

    edits: int
    trials: int


class FoundRow(TypedDict):
    """How many changes of one size were found; ``at_least`` and ``at_most`` are one-sided 95 % bounds of the share."""

    found: int
    of: int
    at_least: float
    at_most: float


class RedRow(TypedDict):
    """How many unchanged windows were called worse; ``at_most`` is the one-sided 95 % bound of the share."""

    red: int
    undecided: int
    of: int
    at_most: float


class SuiteRow(TypedDict):
    """How many unchanged suites were red; ``at_most`` as beside a single window."""

    red: int
    of: int
    at_most: float


class Suites(SuiteRow):
    """The suites of all loads together, and by load."""

    load: dict[str, SuiteRow]


class PointRow(TypedDict):
    """One point: its margin, a fraction, and what its trials came to; ``load`` and ``injected`` by load and factor."""

    delta: float
    load: dict[str, SpreadRow]
    neutral: EditRow
    injected: dict[str, FoundRow]
    null: RedRow


class CalibrationFile(TypedDict):
    """The floors of one machine, and what its recorded trials came to.

    ``fingerprint`` is null where the trials do not state their machine. ``trials`` counts them by load and kind, and
    those that broke off.
    """

    schema: str
    machine: str
    fingerprint: dict[str, str | int | None] | None
    floors: dict[str, FloorRow]
    points: NotRequired[dict[str, PointRow]]
    suites: NotRequired[Suites]
    trials: NotRequired[dict[str, int | dict[str, int]]]


def _of(kind: type, name: str) -> dict[str, Any]:
    import msgspec  # here, so that the commands which read no schema do not pay for it

    return {"$schema": _DRAFT, "title": name, **msgspec.json.schema(kind)}


def gate_schema() -> dict[str, Any]:
    """The JSON Schema of a gate file as we write it: every key is there, null where it does not apply."""
    return _judged(gate.GateFile, gate.SCHEMA)


def gate_from_schema() -> dict[str, Any]:
    """The JSON Schema of what ``gate --from`` writes."""
    return _judged(gate_from.GateFromFile, gate_from.SCHEMA)


def ratchet_schema() -> dict[str, Any]:
    """The JSON Schema of a ratchet file as we write it: every key is there, null where it does not apply."""
    return _judged(ratchet.RatchetFile, ratchet.SCHEMA)


def _judged(kind: type, name: str) -> dict[str, Any]:
    document = _of(kind, name)
    document["$defs"][kind.__name__]["properties"]["schema"] = {"const": name}
    document["$defs"]["Verdict"]["properties"]["passed"] = {"type": "boolean"}
    for definition in document["$defs"].values():
        if "properties" in definition:
            definition["required"] = sorted(definition["properties"])
    return document


def calibration_schema() -> dict[str, Any]:
    """The JSON Schema of a calibration; other tables than these may stand beside them."""
    document = _of(CalibrationFile, floors.SCHEMA)
    document["$defs"]["CalibrationFile"]["properties"]["schema"] = {"const": floors.SCHEMA}
    return document


def baseline_schema() -> dict[str, Any]:
    """The JSON Schema of a baseline file, one of a layer or (with ``tag``) of a release, as its TOML reads."""
    document = _of(baseline.Row, baseline.SCHEMA)
    definitions = document["$defs"]
    for definition in definitions.values():
        _without_nulls(definition)
    definitions["Gate"]["enum"].remove(Gate.REPORT.value)  # what only reports has no row
    definitions["Row"]["properties"]["sessions"].update(minItems=1, maxItems=baseline.MOST_SESSIONS)
    definitions["Row"].update(_by_estimand())
    facts = {"type": "object", "additionalProperties": {"type": ["string", "integer"]}}
    definitions["BaselineFile"] = {
        "title": "BaselineFile",
        "description": "The rows of a layer, by name, and the machine facts that counts (exact) and times belong to.",
        "type": "object",
        "properties": {
            "schema": {"const": baseline.SCHEMA},
            "tag": {"type": "string"},
            "fingerprint": {
                "type": "object",
                "properties": {"exact": facts, "time": facts},
                "required": ["exact", "time"],
                "additionalProperties": False,
            },
            "kpi": {"type": "object", "additionalProperties": {"$ref": "#/$defs/Row"}},
        },
        "required": ["schema", "fingerprint"],
        "additionalProperties": False,
    }
    return {**document, "$ref": "#/$defs/BaselineFile"}


def _without_nulls(definition: dict[str, Any]) -> None:
    """TOML has no null: what may be None is a key that may be absent."""
    properties = definition.get("properties")
    if properties is None:
        return
    for name, described in properties.items():
        kinds = described.get("anyOf", [described])
        if _NULL in kinds:
            left = [kind for kind in kinds if kind != _NULL]
            properties[name] = left[0] if len(left) == 1 else {"anyOf": left}
            definition["required"] = [key for key in definition["required"] if key != name]
    definition["additionalProperties"] = False


def _by_estimand() -> dict[str, Any]:
    """What a row has to hold by the kind of its number."""
    timed = [estimand.value for estimand in Estimand if estimand.timed]
    session = {"required": ["median", "n"]}
    return {
        "if": {"properties": {"estimand": {"enum": timed}}},
        "then": {"properties": {"sessions": {"items": session}}},
        "else": {"required": ["limit"]},
        "allOf": [
            {
                "if": {"properties": {"estimand": {"const": Estimand.RATE.value}}},
                "then": {"required": ["numerator", "denominator"]},
            }
        ],
    }
