"""The committed floors of a machine, ``baselines/<slug>/calibration.json``: what neutral edits move each KPI by.

A margin is built on a floor only if it was committed before the data; so this reads what stands in the repository and
refuses to guess. No file, or a point that is not in it, means that the floor is not known.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from harness.judge.floor import Floor
from harness.record.atomic import write_atomic
from harness.record.store import StoreError

__all__ = ["SCHEMA", "FloorError", "calibration", "calibration_path", "floors", "write_floors"]

SCHEMA = "harness.calibration/1"


class FloorError(StoreError):
    """The committed file cannot be used; the sentence names it and says what to type."""


def calibration_path(root: Path, slug: str) -> Path:
    """Where a machine's floors stand."""
    return root / "baselines" / slug / "calibration.json"


def _size(name: str, row: Any) -> float:
    size = row.get("floor") if isinstance(row, dict) else None
    if isinstance(size, bool) or not isinstance(size, int | float) or not 0 <= size < 1:
        raise ValueError(f"the floor of {name} is {size!r}, and has to be a fraction from 0 to 1")
    return float(size)


def floors(root: Path, slug: str) -> dict[str, float]:
    """Each point's floor as a fraction, by its label (``kpi[k=v]``); empty where this machine has none on record.

    Raises:
        FloorError: the file is there and is not what it should be.
    """
    file = calibration_path(root, slug)
    try:
        if not file.is_file():
            return {}
        read = json.loads(file.read_bytes())
        if not isinstance(read, dict) or read.get("schema") != SCHEMA or not isinstance(read.get("floors"), dict):
            raise ValueError(f"it is not a {SCHEMA} file")
        return {name: _size(name, row) for name, row in read["floors"].items()}
    except (OSError, ValueError, RecursionError) as error:
        # From None: a cause from the operating system would read as a failure to write.
        raise FloorError(f"{file}: {error}; put it back with: git checkout -- {file.relative_to(root)}") from None


def calibration(slug: str, found: Mapping[str, Floor]) -> bytes:
    """The file of a machine: stable order, and beside each floor what it rests on."""
    rows = {
        name: {
            "floor": round(floor.size, 5),
            "edits": floor.edits,
            "pairs": floor.pairs,
            "spread": round(floor.spread, 5),
            "largest": round(floor.largest, 5),
        }
        for name, floor in found.items()
    }
    whole = {"schema": SCHEMA, "machine": slug, "floors": rows}
    return f"{json.dumps(whole, indent=2, sort_keys=True, allow_nan=False)}\n".encode()


def write_floors(root: Path, slug: str, found: Mapping[str, Floor]) -> Path:
    """Write the floors of a machine and return the path."""
    file = calibration_path(root, slug)
    write_atomic(file, calibration(slug, found))
    return file
