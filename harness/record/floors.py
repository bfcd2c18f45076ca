"""The committed floors of a machine, ``baselines/<slug>/calibration.json``: what neutral edits move each KPI by.

A margin is built on a floor only if it was committed before the data, and found on this very machine: a slug names a
folder, and the facts inside decide. So this reads what stands in the base and refuses to guess. What is absent, cannot
be read or belongs to another machine leaves the floor unknown, and a sentence says why.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.formats.limits import regular_bytes
from harness.judge.floor import Floor
from harness.judge.rule import DELTA
from harness.record.atomic import write_atomic
from harness.record.fingerprints import TIME, differing

__all__ = [
    "FACTS",
    "MOST_FLOOR",
    "SCHEMA",
    "CommittedFloors",
    "calibration",
    "calibration_fault",
    "calibration_path",
    "facts_of",
    "floors",
    "write_floors",
]

SCHEMA = "harness.calibration/1"

FACTS = (*TIME, "python")
"""Of a machine's fingerprint, what a floor belongs to: each of them moves what code costs by its layout."""

MOST_FLOOR = 0.05
"""What ``ok`` excludes: a floor above it would make a margin of 15 % and more, behind which a regression passes."""

Facts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class CommittedFloors:
    """Each point's floor as a fraction, by its label (``kpi[k=v]``), and the sha256 of the file that it stands in.

    ``sizes`` is empty and ``sha256`` None where no file holds here; ``notes`` say why, unless there simply is none. A
    floor above :data:`MOST_FLOOR` is not among them, and a note names it.
    """

    sizes: Mapping[str, float] = field(default_factory=dict)
    sha256: str | None = None
    notes: tuple[str, ...] = ()

    def table(self, label: str) -> str | None:
        """The sha256 of the file if the point called ``label`` has its floor from it."""
        return self.sha256 if label in self.sizes else None


def calibration_path(root: Path, slug: str) -> Path:
    """Where a machine's floors stand."""
    return root / "baselines" / slug / "calibration.json"


def facts_of(fingerprint: Facts) -> dict[str, Any]:
    """Of a fingerprint (:func:`harness.measure.machine.fingerprint`), the :data:`FACTS`; None where it has none."""
    return {name: fingerprint.get(name) for name in FACTS}


def _size(name: str, row: Any) -> float:
    size = row.get("floor") if isinstance(row, dict) else None
    if isinstance(size, bool) or not isinstance(size, int | float) or not 0 <= size < 1:
        raise ValueError(f"the floor of {name} is {size!r}, and has to be a fraction from 0 to 1")
    return float(size)


def _parsed(blob: bytes) -> tuple[dict[str, Any], dict[str, float]]:
    """A calibration and its floors.

    Raises:
        ValueError, RecursionError: it is none, or a floor is no fraction.
    """
    read = json.loads(blob)
    if not isinstance(read, dict) or read.get("schema") != SCHEMA or not isinstance(read.get("floors"), dict):
        raise ValueError(f"it is not a {SCHEMA} file")
    return read, {name: _size(name, row) for name, row in read["floors"].items()}


def calibration_fault(file: Path) -> str | None:
    """Why nobody could take floors from ``file``, which is there; None where a machine could, be it this one or not."""
    try:
        read, _ = _parsed(regular_bytes(file))
        if read.get("machine") != (slug := file.parent.name):
            raise ValueError(f"it is of the machine {read.get('machine')!r}, and lies with those of {slug}")
    except OSError as error:
        return error.strerror or str(error)
    except (ValueError, RecursionError) as error:
        return str(error).rstrip(".")
    return None


def floors(root: Path, slug: str, fingerprint: Facts, commit: str) -> CommittedFloors:
    """The floors that hold on the machine of ``fingerprint``, from the tree of ``commit`` at ``root``."""
    file = calibration_path(root, slug)
    try:
        if not os.path.lexists(file):
            return CommittedFloors()
        blob = regular_bytes(file)
        read, sizes = _parsed(blob)
        _same_machine(read.get("fingerprint"), facts_of(fingerprint))
    except OSError as error:
        return _unknown(file.relative_to(root), commit, error.strerror or str(error))
    except (ValueError, RecursionError) as error:
        return _unknown(file.relative_to(root), commit, str(error))
    held = {name: size for name, size in sizes.items() if size <= MOST_FLOOR}
    wide = [f"{name} ({100 * size:g} %)" for name, size in sizes.items() if name not in held]
    notes = (_too_wide(wide, file.relative_to(root), commit),) if wide else ()
    return CommittedFloors(held, hashlib.sha256(blob).hexdigest(), notes)


def _too_wide(wide: list[str], file: Path, commit: str) -> str:
    more = f" and {len(wide) - 5:,} more" if len(wide) > 5 else ""
    return (
        f"The floor of {', '.join(wide[:5])}{more} is above {100 * MOST_FLOOR:g} % and is not taken: the margin there "
        f"is {100 * DELTA:g} %. Look with: git show {commit[:12]}:./{file.as_posix()}"
    )


def _same_machine(stated: Any, ours: Facts) -> None:
    if not isinstance(stated, dict):
        raise ValueError("it does not state the machine that its floors were found on")
    apart = differing(stated, ours, FACTS)
    apart += [f"{name} cannot be read" for name in FACTS if stated.get(name) is None and ours.get(name) is None]
    if apart:
        raise ValueError(f"its floors are another machine's: {'; '.join(apart)}")


def _unknown(file: Path, commit: str, why: str) -> CommittedFloors:
    said = (
        f"No floor is taken from {file.as_posix()} of the base {commit[:12]}: {why}. "
        f"Every margin is {100 * DELTA:g} %. Look with: git show {commit[:12]}:./{file.as_posix()}"
    )
    return CommittedFloors(notes=(said,))


def calibration(
    slug: str, found: Mapping[str, Floor], facts: Facts | None, more: Mapping[str, Any] | None = None
) -> bytes:
    """The file of a machine: stable order, and beside each floor what it rests on.

    ``facts`` are the machine's :data:`FACTS`; None where the data do not state them, and then no gate takes a floor.
    ``more`` are further tables, which a reader of floors passes over.
    """
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
    whole = {
        "schema": SCHEMA,
        "machine": slug,
        "fingerprint": None if facts is None else facts_of(facts),
        "floors": rows,
        **(more or {}),
    }
    return f"{json.dumps(whole, indent=2, sort_keys=True, allow_nan=False)}\n".encode()


def write_floors(root: Path, slug: str, found: Mapping[str, Floor], facts: Facts | None) -> Path:
    """Write the floors of a machine and return the path."""
    file = calibration_path(root, slug)
    write_atomic(file, calibration(slug, found, facts), within=root)
    return file
