"""JSON values against schemas."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kpis.rules.json_schema import SchemaError, satisfies
from kpis.rules.work import TooMuchWork

# a schema, values that satisfy it, values that do not
TABLE: list[tuple[Any, list[Any], list[Any]]] = [
    (True, [1, None], []),
    (False, [], [1, None]),
    ({}, [1, "a"], []),
    ({"unknownWord": 5, "format": "email"}, ["x"], []),
    ({"type": "integer"}, [1, 1.0, -3], [1.5, True, "1"]),
    ({"type": "number"}, [1, 1.5], [True, None]),
    ({"type": ["string", "null"]}, ["", None], [0, []]),
    ({"enum": [1, "a", None, [1]]}, [1, 1.0, "a", None, [1.0]], [True, "b", [2]]),
    ({"const": {"a": 1}}, [{"a": 1}, {"a": 1.0}], [{"a": True}, {}]),
    ({"minimum": 2, "exclusiveMaximum": 5}, [2, 4.9, "x"], [1, 5]),
    ({"exclusiveMinimum": 2, "maximum": 5}, [2.1, 5], [2, 6]),
    ({"multipleOf": 0.1}, [0.3, 1], [0.35]),
    ({"minLength": 2, "maxLength": 3}, ["ab", "\U0001f600\U0001f600", 5], ["a", "abcd"]),
    ({"pattern": "^a.c$"}, ["abc", 5], ["ab", "xabc"]),
    ({"minItems": 1, "maxItems": 2, "uniqueItems": True}, [[1], [1, 2], [1, True]], [[], [1, 2, 3], [1, 1.0]]),
    ({"items": {"type": "string"}}, [["a"], [], 5], [["a", 1]]),
    ({"prefixItems": [{"type": "string"}], "items": False}, [["a"], []], [["a", 1], [1]]),
    ({"contains": {"const": 1}}, [[0, 1]], [[], [0]]),
    ({"contains": {"const": 1}, "minContains": 0, "maxContains": 1}, [[], [1]], [[1, 1]]),
    ({"required": ["a"]}, [{"a": None}, 5], [{}]),
    ({"properties": {"a": {"type": "string"}}}, [{"a": "x"}, {"b": 1}], [{"a": 1}]),
    ({"properties": {"a": {}}, "additionalProperties": False}, [{"a": 1}, {}], [{"b": 1}]),
    (
        {"patternProperties": {"^x": {"type": "string"}}, "additionalProperties": False},
        [{"xa": "s"}],
        [{"xa": 1}, {"b": 1}],
    ),
    ({"additionalProperties": {"type": "integer"}}, [{"a": 1}], [{"a": "x"}]),
    ({"propertyNames": {"maxLength": 1}}, [{"a": 1}], [{"ab": 1}]),
    ({"minProperties": 1, "maxProperties": 1}, [{"a": 1}], [{}, {"a": 1, "b": 2}]),
    ({"dependentRequired": {"a": ["b"]}}, [{}, {"a": 1, "b": 1}], [{"a": 1}]),
    ({"dependentSchemas": {"a": {"required": ["b"]}}}, [{}, {"a": 1, "b": 1}], [{"a": 1}]),
    ({"allOf": [{"minimum": 1}, {"maximum": 2}]}, [1, 2], [0, 3]),
    ({"anyOf": [{"const": 1}, {"const": 2}]}, [1, 2], [3]),
    ({"oneOf": [{"minimum": 1}, {"maximum": 2}]}, [0, 3], [1, 2]),
    ({"not": {"type": "string"}}, [1], ["a"]),
    ({"if": {"minimum": 10}, "then": {"multipleOf": 10}, "else": {"maximum": 5}}, [20, 3], [15, 7]),
    ({"$defs": {"p/q": {"type": "string"}}, "$ref": "#/$defs/p~1q"}, ["a"], [1]),
    ({"properties": {"next": {"$ref": "#"}}, "required": ["v"]}, [{"v": 1, "next": {"v": 2}}], [{"v": 1, "next": {}}]),
]


@pytest.mark.parametrize(("schema", "inside", "outside"), TABLE)
def test_what_satisfies(schema: Any, inside: list[Any], outside: list[Any]) -> None:
    assert [value for value in inside if not satisfies(value, schema)] == []
    assert [value for value in outside if satisfies(value, schema)] == []


@pytest.mark.parametrize(
    "schema",
    [
        5,
        {"type": "thing"},
        {"type": []},
        {"properties": []},
        {"properties": {"a": 5}},
        {"allOf": []},
        {"anyOf": [1]},
        {"minLength": -1},
        {"minLength": 1.5},
        {"multipleOf": 0},
        {"minimum": "1"},
        {"pattern": "("},
        {"patternProperties": {"(": {}}},
        {"required": "a"},
        {"required": [1]},
        {"enum": 1},
        {"uniqueItems": 1},
        {"dependentRequired": {"a": "b"}},
        {"$ref": "https://elsewhere.org/schema"},
        {"$ref": "#/$defs/missing"},
        {"properties": {"unsent": {"$ref": "#/$defs/missing"}}},
        {"$defs": {"a": {"anyOf": [True, {"not": {"$ref": "#/$defs/missing"}}]}}},
        {"unevaluatedProperties": False},
        {"items": [{}]},
    ],
)
def test_what_is_no_schema_is_refused_whatever_the_value(schema: Any) -> None:
    with pytest.raises(SchemaError):
        satisfies({"a": [1]}, schema)


def test_a_schema_that_only_refers_to_itself_is_stopped() -> None:
    with pytest.raises(TooMuchWork):
        satisfies(1, {"$ref": "#"})


ITEMS = 20_000


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"required": ["a"] * ITEMS}}, [{"a": 1}] * ITEMS),
        ({"items": {"dependentRequired": {f"k{n}": ["a"] for n in range(ITEMS)}}}, [{"a": 1}] * ITEMS),
        ({"items": {"dependentSchemas": {f"k{n}": True for n in range(ITEMS)}}}, [{"a": 1}] * ITEMS),
        ({"items": {f"note{n}": True for n in range(ITEMS)}}, [1] * ITEMS),
        ({"patternProperties": {f"x{n}": True for n in range(500)}}, {f"k{n}": 1 for n in range(ITEMS)}),
        ({"allOf": [{"items": True}] * 300}, [1] * ITEMS),
    ],
)
def test_what_takes_long_for_a_long_value_is_stopped(schema: Any, value: Any) -> None:
    with pytest.raises(TooMuchWork):
        satisfies(value, schema)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"items": {"enum": [f"v{n}" for n in range(2000)]}}, ["v1999"] * ITEMS),
        ({"items": {"not": {"const": ["x"] * ITEMS}}}, [1] * ITEMS),
        ({"allOf": [{"uniqueItems": True}] * 300}, list(range(ITEMS))),
        (
            {"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"properties": {f"p{n}": {} for n in range(ITEMS)}}}},
            [1] * 999,
        ),
    ],
)
def test_what_is_compared_or_referred_to_again_and_again_is_read_once(schema: Any, value: Any) -> None:
    assert satisfies(value, schema)


@pytest.mark.parametrize("at", ["9" * 5000, "\u0661", "-1", "1", ""])
def test_a_reference_to_no_item_leads_nowhere(at: str) -> None:
    with pytest.raises(SchemaError, match="leads nowhere"):
        satisfies(1, {"$ref": f"#/allOf/{at}", "allOf": [True]})


def test_a_reference_into_what_is_no_word_is_read_as_well() -> None:
    assert satisfies(1, {"$ref": "#/kept/0", "kept": [{"type": "integer"}]})
    with pytest.raises(SchemaError, match="leads nowhere"):
        satisfies(1, {"anyOf": [True, {"$ref": "#/kept"}], "kept": {"$ref": "#/lost"}})
    with pytest.raises(SchemaError, match="names no type"):
        satisfies(1, {"anyOf": [True, {"$ref": "#/kept"}], "kept": {"type": "none"}})


def test_a_number_beyond_a_double_is_a_number_and_breaks_nothing() -> None:
    for value in (json.loads("1e999"), 10**400):
        for schema in ({"multipleOf": 3}, {"maximum": 5}, {"enum": [1]}, {"type": "string"}):
            assert not satisfies(value, schema)
        assert satisfies(value, {"type": "integer", "minimum": 5})
        assert satisfies(value, {"minimum": 5})


def test_what_nests_beyond_the_limit_is_stopped() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(TooMuchWork):
        satisfies(deep, {"const": 1})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)
_WORDS = st.sampled_from([word for schema, *_ in TABLE if isinstance(schema, dict) for word in schema])


@given(_JSON, st.dictionaries(_WORDS, _JSON, max_size=4))
def test_any_schema_answers_or_is_refused(value: Any, schema: dict[str, Any]) -> None:
    with suppress(SchemaError, TooMuchWork):
        assert satisfies(value, schema) in {True, False}


@given(_JSON)
def test_a_value_is_its_own_constant(value: Any) -> None:
    assert satisfies(value, {"const": value, "enum": [value]})
    assert not satisfies(value, {"not": {"const": value}})


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("typ", "type"),
        ("requierd", "required"),
        ("propertys", None),
        ("Items", "items"),
        ("minlength", "minLength"),
        ("maxLenght", "maxLength"),
        ("enums", "enum"),
        ("note", None),
        ("when", None),
        ("example", None),
        ("x-type", None),
        ("t" * 10_000, None),
    ],
)
def test_a_word_that_is_a_letter_off_is_told_from_an_annotation(word: str, known: str | None) -> None:
    if known is None:
        assert satisfies(1, {word: 5})
        return
    with pytest.raises(SchemaError, match=rf"#/{word} is no word of a schema \(did you mean {known}\?\)"):
        satisfies(1, {word: 5})


def test_a_property_may_be_called_as_it_likes() -> None:
    assert satisfies({"typ": 1}, {"properties": {"typ": True, "item": True}, "required": ["typ"]})
