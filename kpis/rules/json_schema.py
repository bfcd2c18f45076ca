"""Does a JSON value satisfy a JSON Schema: the words of draft 2020-12 that look at the value alone.

References within the schema are followed; one to elsewhere is refused, since nothing here is fetched. ``format`` and
``content`` are annotations, as the draft has them. Words that depend on what other words evaluated are refused rather
than ignored. The work is bounded: a schema that multiplies its own references is cut off, and so is one whose words
take long for a long value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import islice
from typing import Any

from kpis.rules.custom_regex import finder
from kpis.rules.json_keys import Keys
from kpis.rules.json_references import SchemaError, targets
from kpis.rules.json_words import ASSERTIONS, faults_of
from kpis.rules.work import PER_STEP, TooMuchWork

__all__ = ["SchemaError", "satisfies"]

_MOST_STEPS = 4_000_000
"""A step is what looking up a name takes: a million in a fifth of a second, near enough."""

_PER_SCHEMA = 10
"""Steps of holding a value against a schema that says nothing."""

_PER_MATCH = 8
"""Steps of asking for a pattern in a text without a character."""

_DEEPEST = 150


def satisfies(value: object, schema: object) -> bool:
    """Whether ``value``, as ``json.loads`` gives it, satisfies ``schema``.

    Raises:
        SchemaError: the schema cannot be used.
        TooMuchWork: a bound on steps or depth was reached.
    """
    try:
        faults = list(islice(faults_of(schema), 5))
        if faults:
            raise SchemaError("; ".join(faults))
        return _Check(targets(schema)).holds(value, schema, 0)
    except RecursionError:
        raise TooMuchWork("the schema or the value nests too deep") from None


class _Check:
    """One schema held against one value, with the steps that it took."""

    def __init__(self, targets: Mapping[str, Any]) -> None:
        self.targets = targets
        self.keys = Keys(self.take)
        self.finder = cache(finder)  # however many patterns there are, each is compiled once
        self._steps = 0

    def take(self, steps: int) -> None:
        """Count ``steps``.

        Raises:
            TooMuchWork: they were too many.
        """
        self._steps += steps
        if self._steps > _MOST_STEPS:
            raise TooMuchWork("the schema needs more steps than are allowed")

    def holds(self, value: Any, schema: Any, depth: int) -> bool:
        if depth > _DEEPEST:
            raise TooMuchWork("the schema needs more steps than are allowed")
        if isinstance(schema, bool):
            self.take(1)
            return schema
        self.take(_PER_SCHEMA + len(schema))
        for word, argument in schema.items():
            if (plain := ASSERTIONS.get(word)) is not None:
                self.take(_size(argument))
                if not plain(value, argument):
                    return False
            elif (applied := _APPLIED.get(word)) is not None and not applied(self, value, schema, depth + 1):
                return False
        return True

    def count(self, value: Any, schemas: list[Any], depth: int) -> int:
        """How many of ``schemas`` the value satisfies."""
        return sum(self.holds(value, schema, depth) for schema in schemas)

    def matches(self, pattern: str, text: str) -> bool:
        """Whether ``pattern`` is found in ``text``."""
        self.take(_PER_MATCH + len(text) // PER_STEP)
        return self.finder(pattern)(text)


def _size(argument: Any) -> int:
    """Steps that it takes to go through an argument once."""
    return 1 + len(argument) if isinstance(argument, list | dict) else 1


def _properties(check: _Check, value: Any, schema: Any, depth: int) -> bool:
    """Named properties, those that a pattern names, and the rest. Looked at once, for the first of the three words."""
    if not isinstance(value, dict):
        return True
    named = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    rest = schema.get("additionalProperties", True)
    for key, member in value.items():
        inner = [named[key]] if key in named else []
        inner += [by_pattern for pattern, by_pattern in patterns.items() if check.matches(pattern, key)]
        if not all(check.holds(member, each, depth) for each in inner or [rest]):
            return False
    return True


def _unless(*before: str) -> Callable[[_Check, Any, Any, int], bool]:
    """The same, unless one of the words ``before`` has had it looked at."""
    return lambda check, value, schema, depth: (
        any(other in schema for other in before) or _properties(check, value, schema, depth)
    )


def _items(check: _Check, value: Any, schema: Any, depth: int) -> bool:
    first = len(schema.get("prefixItems", ()))
    return not isinstance(value, list) or all(check.holds(item, schema["items"], depth) for item in value[first:])


def _prefix(check: _Check, value: Any, schema: Any, depth: int) -> bool:
    return not isinstance(value, list) or all(
        check.holds(item, inner, depth) for item, inner in zip(value, schema["prefixItems"], strict=False)
    )


def _contains(check: _Check, value: Any, schema: Any, depth: int) -> bool:
    if not isinstance(value, list):
        return True
    count = sum(check.holds(item, schema["contains"], depth) for item in value)
    return bool(schema.get("minContains", 1) <= count <= schema.get("maxContains", len(value)))


def _names(check: _Check, value: Any, schema: Any, depth: int) -> bool:
    return not isinstance(value, dict) or all(check.holds(key, schema["propertyNames"], depth) for key in value)


def _dependent(check: _Check, value: Any, schema: Any, depth: int) -> bool:
    if not isinstance(value, dict):
        return True
    check.take(len(schema["dependentSchemas"]))
    return all(check.holds(value, inner, depth) for key, inner in schema["dependentSchemas"].items() if key in value)


def _branch(check: _Check, value: Any, schema: Any, depth: int) -> bool:
    chosen = "then" if check.holds(value, schema["if"], depth) else "else"
    return check.holds(value, schema.get(chosen, True), depth)


_APPLIED: Mapping[str, Callable[[_Check, Any, Any, int], bool]] = {
    "$ref": lambda check, value, schema, depth: check.holds(value, check.targets[schema["$ref"]], depth),
    "enum": lambda check, value, schema, _: check.keys.among(value, schema["enum"]),
    "const": lambda check, value, schema, _: check.keys.equal(value, schema["const"]),
    "uniqueItems": lambda check, value, schema, _: (
        not schema["uniqueItems"] or not isinstance(value, list) or check.keys.differ(value)
    ),
    "pattern": lambda check, value, schema, _: not isinstance(value, str) or check.matches(schema["pattern"], value),
    "allOf": lambda check, value, schema, depth: all(check.holds(value, each, depth) for each in schema["allOf"]),
    "anyOf": lambda check, value, schema, depth: any(check.holds(value, each, depth) for each in schema["anyOf"]),
    "oneOf": lambda check, value, schema, depth: check.count(value, schema["oneOf"], depth) == 1,
    "not": lambda check, value, schema, depth: not check.holds(value, schema["not"], depth),
    "if": _branch,
    "properties": _properties,
    "patternProperties": _unless("properties"),
    "additionalProperties": _unless("properties", "patternProperties"),
    "items": _items,
    "prefixItems": _prefix,
    "contains": _contains,
    "propertyNames": _names,
    "dependentSchemas": _dependent,
}
