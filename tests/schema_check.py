"""A document against a JSON Schema, as far as our published ones go.

Refuses a schema that uses a word it does not know, so that nothing passes because it was not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["faults"]

_KINDS: Mapping[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,), "number": (int, float),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip
_SAID = {"$schema", "$defs", "title", "description", "default", "format", "discriminator"}
_HELD = {
    "$ref", "type", "const", "enum", "anyOf", "allOf", "oneOf", "if", "then", "else", "properties",
    "required", "additionalProperties", "items", "minItems", "maxItems", "minimum", "maximum",
}  # fmt: skip


def faults(document: Any, schema: Mapping[str, Any]) -> list[str]:
    """Where ``document`` is not as ``schema`` says, each with its path; empty where it is."""
    return list(_faults(document, schema, schema, "$"))


def _is(value: Any, kind: str) -> bool:
    return isinstance(value, _KINDS[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _faults(value: Any, part: Any, whole: Mapping[str, Any], at: str) -> Iterator[str]:
    if isinstance(part, bool):
        if not part:
            yield f"{at} may not be there"
        return
    if unknown := part.keys() - _SAID - _HELD:
        raise NotImplementedError(f"{at}: {sorted(unknown)}")
    if "$ref" in part:
        yield from _faults(value, whole["$defs"][part["$ref"].removeprefix("#/$defs/")], whole, at)
    kinds = part.get("type", list(_KINDS))
    if not any(_is(value, kind) for kind in ([kinds] if isinstance(kinds, str) else kinds)):
        yield f"{at} is {value!r}, no {kinds}"
    if ("const" in part and value != part["const"]) or value not in part.get("enum", [value]):
        yield f"{at} is {value!r}"
    if "anyOf" in part and all(list(_faults(value, each, whole, at)) for each in part["anyOf"]):
        yield f"{at} is {value!r}, none of {len(part['anyOf'])} kinds"
    if "oneOf" in part and (fit := sum(not list(_faults(value, each, whole, at)) for each in part["oneOf"])) != 1:
        yield f"{at} is {value!r}, {fit} of {len(part['oneOf'])} kinds"
    if _is(value, "number") and not part.get("minimum", value) <= value <= part.get("maximum", value):
        yield f"{at} is {value!r}, out of bounds"
    for each in part.get("allOf", []):
        yield from _faults(value, each, whole, at)
    if "if" in part:
        branch = "else" if list(_faults(value, part["if"], whole, at)) else "then"
        yield from _faults(value, part.get(branch, {}), whole, at)
    if isinstance(value, dict):
        yield from (f"{at} has no {key}" for key in part.get("required", []) if key not in value)
        for key, member in value.items():
            described = part.get("properties", {}).get(key, part.get("additionalProperties", {}))
            yield from _faults(member, described, whole, f"{at}.{key}")
    if isinstance(value, list):
        if not part.get("minItems", 0) <= len(value) <= part.get("maxItems", len(value)):
            yield f"{at} has {len(value)} items"
        for index, item in enumerate(value):
            yield from _faults(item, part.get("items", {}), whole, f"{at}[{index}]")
