"""Whom to record: the timed gate points that run here, and the modules of the subject that each of them touches.

Everything is tried once on a checkout, as a gate does. Refuses to take a point that gives no number into a suite, which
would then never be whole; its sentence says why.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.gating.ground import Ground
from harness.gating.options import GateOptions
from harness.gating.points import gate_points
from harness.gating.rows import label
from harness.jobs.calibrate_trial import LIMIT_S
from harness.jobs.plan import PlannedPoint
from harness.project import Project, runtime_reference
from harness.subject.edits import EDITS, LONGER_PATH
from harness.subject.pristine import takes
from harness.subject.under_test import located
from kpis.registry import Catalog

__all__ = ["Tried", "Whom", "gate_points_of", "modules_of", "said_of", "try_all"]

_NAMED = 2
"""Modules of an edit that are named in full; more are counted, with a digest of their names, for the lines' sake."""


@dataclass(frozen=True, slots=True)
class Tried:
    """A point that runs, and the files, relative to the project's root, that edits may be made in."""

    point: PlannedPoint
    modules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Whom:
    """The points that run, by label, in the order of the gate; and a sentence for each that does not."""

    points: Mapping[str, Tried]
    left_out: tuple[str, ...]
    takes: Mapping[str, frozenset[str]]
    """The modules that have a place for it, by edit."""

    def fits(self) -> dict[str, list[str]]:
        """The points that something changes for, by edit."""
        return {edit: [name for name in self.points if self._fits(edit, name)] for edit in EDITS}

    def _fits(self, edit: str, name: str) -> bool:
        return edit == LONGER_PATH or bool(self.takes[edit] & {*self.points[name].modules})


def gate_points_of(project: Project, catalog: Catalog) -> tuple[PlannedPoint, ...]:
    """The points that a gate of everything would time."""
    return gate_points(catalog, [runtime_reference(project.runtime or "reference")], GateOptions(against="HEAD")).timed


def try_all(points: Sequence[PlannedPoint], on: Ground, under_test: Sequence[str]) -> Whom:
    """Try each point once on the base of ``on``; ``under_test`` are the subject's packages.

    A point that touches none of them is left out: a gate finds it unchanged, whatever is edited there.
    """
    root = on.root("base")
    subject = [place for name in under_test if (place := located(name, root)) is not None]
    found: dict[str, Tried] = {}
    left_out, elsewhere = [], []
    for point in points:
        seen = on.discover(point, "base", limit=LIMIT_S)
        modules_here = modules_of(seen.touched, root, subject)
        if seen.undefined is not None:
            left_out.append(f"{label(point)}: {seen.undefined[1]}")
        elif modules_here or seen.spawns:
            found[label(point)] = Tried(point, modules_here)
        else:
            elsewhere.append(label(point))
    if elsewhere:
        more = f" and {len(elsewhere) - 1} more" if len(elsewhere) > 1 else ""
        left_out.append(f"{elsewhere[0]}{more}: no file of what is under test is touched, so no change can be seen")
    modules = {module for tried in found.values() for module in tried.modules}
    texts = {module: text for module in modules if (text := _text(root / module)) is not None}
    fitting = {
        edit: frozenset(module for module, text in texts.items() if edit != LONGER_PATH and takes(text, edit))
        for edit in EDITS
    }
    return Whom(found, tuple(left_out), fitting)


def modules_of(touched: Mapping[str, str], root: Path, subject: Sequence[Path]) -> tuple[str, ...]:
    """Those of the ``touched`` files that are modules of the ``subject``'s packages, sorted."""
    files = sorted(name for name in touched if name.endswith(".py"))
    return tuple(name for name in files if any((root / name).is_relative_to(place) for place in subject))


def said_of(edit: str, modules: Sequence[str]) -> str:
    """The edit in words. The same words are the same edit: in a floor, its pairs are one pool."""
    if edit == LONGER_PATH:
        return edit
    if len(modules) <= _NAMED:
        return f"{edit} in {', '.join(modules)}"
    digest = hashlib.sha256("\n".join(modules).encode()).hexdigest()[:8]
    return f"{edit} in {len(modules)} modules ({digest})"


def _text(file: Path) -> str | None:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None
