"""The words of a JSON Schema: what each takes, and the assertions that need nothing but the value.

``faults_of`` reads a whole schema before any value is held against it, so that a broken one is refused whatever the
value. Words follow draft 2020-12; one that it does not know asserts nothing, unless it is a known one misspelt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from kpis.rules.custom_regex import RegexError, finder
from kpis.rules.json_spelling import meant
from kpis.rules.thresholds import is_number

__all__ = ["ASSERTIONS", "faults_of", "inner_schemas"]

_SCHEMA = {"additionalProperties", "propertyNames", "items", "contains", "not", "if", "then", "else"}
_SCHEMAS = {"allOf", "anyOf", "oneOf", "prefixItems"}
_BY_NAME = {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions"}
_COUNTS = {
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
}
_NUMBERS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
_PLAIN = {*_COUNTS, *_NUMBERS, "type", "enum", "const", "required", "dependentRequired", "uniqueItems", "pattern"}
"""Words whose argument is no schema."""

_REFUSED = {"unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef", "dependencies"}

_TYPES: Mapping[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "integer": lambda value: (
        (isinstance(value, int) and not isinstance(value, bool))
        or (isinstance(value, float) and (value.is_integer() or math.isinf(value)))  # beyond a double all are whole
    ),
}


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def faults_of(schema: object, where: str = "#") -> Iterator[str]:
    """What keeps ``schema`` from being one, each with its place."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, dict):
        yield f"{where} is neither an object nor a truth value"
        return
    for word, argument in schema.items():
        at = f"{where}/{word}"
        if word in _REFUSED:
            yield f"{at} is not supported"
        elif word in _SCHEMA:
            yield from faults_of(argument, at)
        elif word in _SCHEMAS or word in _BY_NAME:
            yield from _inner_faults(word, argument, at)
        else:
            wrong = _argument_fault(word, argument)
            if wrong:
                yield f"{at} {wrong}"
            elif word not in _PLAIN and (known := meant(word)):
                yield f"{at} is no word of a schema (did you mean {known}?)"


def inner_schemas(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The schemas that stand right within ``schema``, in which ``faults_of`` finds no fault."""
    for word, argument in schema.items():
        if word in _SCHEMA:
            yield argument
        elif word in _SCHEMAS:
            yield from argument
        elif word in _BY_NAME:
            yield from argument.values()


def _inner_faults(word: str, argument: object, at: str) -> Iterator[str]:
    if word in _SCHEMAS and isinstance(argument, list) and (argument or word == "prefixItems"):
        for number, inner in enumerate(argument):
            yield from faults_of(inner, f"{at}/{number}")
    elif word in _BY_NAME and isinstance(argument, dict):
        for name, inner in argument.items():
            if word == "patternProperties" and (wrong := _argument_fault("pattern", name)):
                yield f"{at}/{name} {wrong}"
            yield from faults_of(inner, f"{at}/{name}")
    else:
        yield f"{at} holds no schemas"


def _argument_fault(word: str, argument: Any) -> str | None:
    if word == "type":
        types = argument if isinstance(argument, list) else [argument]
        return None if types and all(isinstance(t, str) and t in _TYPES for t in types) else "names no type"
    if word in _COUNTS:
        return None if is_number(argument) and argument >= 0 and argument == int(argument) else "is no count"
    if word in _NUMBERS:
        return None if is_number(argument) and (word != "multipleOf" or argument > 0) else "is no such number"
    if word == "enum":
        return None if isinstance(argument, list) else "is no list"
    if word == "required":
        return None if _names(argument) else "is no list of names"
    if word == "dependentRequired":
        fine = isinstance(argument, dict) and all(map(_names, argument.values()))
        return None if fine else "holds no lists of names"
    if word == "uniqueItems":
        return None if isinstance(argument, bool) else "is no truth value"
    if word == "$ref":
        return None if isinstance(argument, str) and argument[:2] in {"#", "#/"} else "leads out of the schema"
    if word == "pattern":
        try:
            finder(argument if isinstance(argument, str) else "(")
        except RegexError as error:
            return str(error)
    return None


def _multiple(value: float, of: float) -> bool:
    if not is_number(value):  # a number of JSON beyond a double has no remainder to speak of
        return False
    return (Fraction(str(value)) / Fraction(str(of))).denominator == 1


def _of_type(value: Any, types: Any) -> bool:
    return any(_TYPES[name](value) for name in (types if isinstance(types, list) else [types]))


def _for(kind: type | tuple[type, ...], holds: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    """An assertion about values of one kind; others satisfy it."""
    return lambda value, argument: not isinstance(value, kind) or isinstance(value, bool) or holds(value, argument)


_NUMBER = (int, float)

ASSERTIONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "type": _of_type,
    "minimum": _for(_NUMBER, lambda value, least: value >= least),
    "maximum": _for(_NUMBER, lambda value, most: value <= most),
    "exclusiveMinimum": _for(_NUMBER, lambda value, below: value > below),
    "exclusiveMaximum": _for(_NUMBER, lambda value, above: value < above),
    "multipleOf": _for(_NUMBER, _multiple),
    "minLength": _for(str, lambda value, least: len(value) >= least),
    "maxLength": _for(str, lambda value, most: len(value) <= most),
    "minItems": _for(list, lambda value, least: len(value) >= least),
    "maxItems": _for(list, lambda value, most: len(value) <= most),
    "minProperties": _for(dict, lambda value, least: len(value) >= least),
    "maxProperties": _for(dict, lambda value, most: len(value) <= most),
    "required": _for(dict, lambda value, names: all(name in value for name in names)),
    "dependentRequired": _for(
        dict, lambda value, needs: all(name in value for key in needs if key in value for name in needs[key])
    ),
}
"""By word: whether a value satisfies it with this argument, which ``faults_of`` has looked at."""
