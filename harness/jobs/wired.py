"""Which KPIs a probe of ours emits, read from its source without importing it.

Probes belong to workers: the parent that imported one would import the code under test with it.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

from harness.measure.instrument import INSTRUMENT
from kpis.terms.kpi import Kpi

__all__ = ["probe_file", "wired"]


def probe_file(kpi: Kpi, root: Path = Path(INSTRUMENT)) -> Path:
    """Where the probe of a KPI of ours is in the tree at ``root``, by rule: the twin of its seam's module."""
    floor, _, room = kpi.seam.partition("/")
    return root / "harness" / "probes" / floor / f"{room}.py"


def wired(kpi: Kpi, root: Path = Path(INSTRUMENT)) -> bool:
    """Whether something emits this KPI: a derived row always, a user's row by its probe, ours by the probe's list."""
    return kpi.derived or kpi.probe is not None or kpi.id in _emitted(probe_file(kpi, root))


@cache
def _emitted(file: Path) -> frozenset[str]:
    if not file.is_file():
        return frozenset()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef) and node.name == "Probe":
            for line in node.body:
                names = line.targets if isinstance(line, ast.Assign) else [getattr(line, "target", None)]
                if any(isinstance(name, ast.Name) and name.id == "kpis" for name in names):
                    found = [item.value for item in ast.walk(line) if isinstance(item, ast.Constant)]
                    return frozenset(item for item in found if isinstance(item, str))
    return frozenset()
