"""What judges is the instrument's own: of the runtime under test a probe of the call knows the contract alone."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import harness

PROBES = Path(harness.__file__).parent / "probes"
MODULES = sorted([*PROBES.glob("*.py"), *(PROBES / "syscall").glob("*.py")])


def seams_in(tree: ast.AST) -> set[str]:
    """The modules of the subject that are imported anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Import):
            found.update(name.name for name in node.names)
    return {name for name in found if name.partition(".")[0] == "seams"}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_probe_imports_of_the_subject_its_contract_and_nothing_else(module: Path) -> None:
    names = seams_in(ast.parse(module.read_text(encoding="utf-8")))
    assert {name for name in names if not name.startswith("seams.contract.")} == set()


def test_an_import_of_the_subject_is_seen_wherever_it_stands() -> None:
    hidden = "def open():\n    from seams.syscall.sinks import addressed\n    import seams.engines.mock as mock\n"
    assert seams_in(ast.parse(hidden)) == {"seams.syscall.sinks", "seams.engines.mock"}
