"""The page about the gate explains every word that a gate file can hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from enum import Enum
from pathlib import Path

import pytest

from harness.judge import compose
from kpis.terms.claim import Confidence, VerdictBasis
from kpis.terms.comparison import ComparisonWarn, State
from kpis.terms.reading import Leg
from tests.conftest import REPO

PAGE = (REPO / "docs" / "gate.md").read_text(encoding="utf-8")
SECTION = PAGE.partition("## Reading the gate file\n")[2].partition("\n## ")[0]
EXPLAINED = {
    word for row in re.findall(r"^\| ([^|]+) \|", SECTION, re.MULTILINE) for word in re.findall(r"`([^`]+)`", row)
}


def used(kind: type[Enum], files: Iterable[Path]) -> set[str]:
    """The members of ``kind`` that the code in ``files`` names."""
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    named = (node for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))
    return {kind[node.attr].value for node in named if node.value.id == kind.__name__}  # type: ignore[attr-defined]


def test_every_warning_that_the_code_can_give_is_in_the_page() -> None:
    given = used(ComparisonWarn, (REPO / "harness").rglob("*.py"))
    assert {"budget", "demoted", "off-cpu", "spread"} <= given, "what is known to be given is found in the source"
    assert given <= EXPLAINED, given - EXPLAINED
    assert {each.value for each in ComparisonWarn} <= EXPLAINED


@pytest.mark.parametrize("kind", [State, VerdictBasis])
def test_every_state_and_every_basis_is_in_the_page(kind: type[Enum]) -> None:
    words = {each.value for each in kind}
    if kind is VerdictBasis:
        words = used(VerdictBasis, [Path(str(compose.__file__))])
        assert "detector_veto" in words
    assert words <= EXPLAINED, words - EXPLAINED


def test_every_leg_and_key_of_a_verdict_is_in_the_page() -> None:
    legs = used(Leg, (REPO / "harness" / "gating").glob("*.py"))
    assert {"main", "instructions", "alloc_bytes"} <= legs
    assert legs <= EXPLAINED, legs - EXPLAINED
    words = {"by", "basis", "passed", "confidence", "risk", *(each.value for each in Confidence)}
    assert all(f"`{word}`" in SECTION for word in words)
