"""The neutral trace: unknown stays None, parts stay disjoint, and nothing in it can hold a text."""

from __future__ import annotations

import ast
import sys
from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from kpis.terms import trace
from kpis.terms.trace import Node, Provenance, Tokens


def test_a_prompt_is_the_sum_of_its_disjoint_parts() -> None:
    tokens = Tokens(fresh_in=3, cache_read=50, cache_write_5m=40, cache_write_1h=60, cache_write_other=0)
    assert tokens.cache_write == 100
    assert tokens.prompt == 153
    assert tokens.provenance_of("prompt") is Provenance.DERIVED


@pytest.mark.parametrize("known", [{}, {"fresh_in": 3}, {"cache_read": 3}, {"cache_write_5m": 3}])
def test_a_prompt_with_an_unknown_part_is_unknown(known: dict[str, int]) -> None:
    assert Tokens(**known).prompt is None


def test_a_format_without_a_counter_for_writes_still_has_a_prompt() -> None:
    tokens = Tokens(fresh_in=3, cache_read=4)
    assert tokens.cache_write is None
    assert tokens.prompt == 7


def test_provenance_of_an_unknown_part_is_absent_whatever_is_claimed() -> None:
    tokens = Tokens(fresh_in=0, provenance={"out_total": Provenance.PLACEHOLDER})
    assert tokens.provenance_of("out_total") is Provenance.ABSENT
    assert tokens.provenance_of("fresh_in") is Provenance.OBSERVED


def test_a_placeholder_is_known_as_one() -> None:
    tokens = Tokens(out_total=1, provenance={"out_total": Provenance.PLACEHOLDER})
    assert tokens.provenance_of("out_total") is Provenance.PLACEHOLDER


def test_everything_in_a_trace_is_frozen_and_has_slots() -> None:
    node = Node("main", 0, "user", 3, "00", "xx")
    with pytest.raises(FrozenInstanceError):
        node.role = "tool"  # type: ignore[misc]
    for kind in (trace.Recording, trace.Thread, trace.Turn, trace.Request, trace.ToolCall, trace.Event, trace.Trace):
        assert hasattr(kind, "__slots__"), kind


def test_no_field_could_hold_a_text() -> None:
    for kind in (trace.Node, trace.ToolCall, trace.Request, trace.Turn, trace.Event, trace.Thread):
        assert not {field.name for field in fields(kind)} & {"text", "content", "body", "input", "output", "result"}


def test_the_terms_import_the_standard_library_only() -> None:
    for file in Path(trace.__file__).parent.glob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        imported = {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        imported |= {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
        others = {name for name in imported if not name.startswith("kpis.terms")}
        assert {name.partition(".")[0] for name in others} <= sys.stdlib_module_names, file
